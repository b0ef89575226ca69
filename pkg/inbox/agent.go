package inbox

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// agentView is the page of one agent.
type agentView struct {
	Ref     string
	ID      theirs
	RawID   string // as it is, to be added again
	Revoked bool
	Since   template.HTML
	Tokens  []template.HTML
	Hosts   []hostRow
	Secrets []secretRow
	Open    []brief
	Past    []brief
	History string // where all of its past is
	Proof   proofView
	Made    *madeSecret // what has just been made
	Host    string      // as typed
	Name    string
	From    string
	Wrong   map[string]template.HTML
	Owns    bool // the visitor may change all of this

	*attendanceView
	Told    []toldRow // the latest
	Senders *sendersView
	Webhook webhookView
	Limited []template.HTML // which pairs with this agent were limited lately, and why
	Age     age
}

type hostRow struct {
	Host  theirs
	About template.HTML
	Again string // the proof that can be looked at again, or empty
}

type secretRow struct {
	Ref   theirs
	Raw   string
	About template.HTML
	Next  bool // it waits for its time
}

// proofView is how a host shows that it is the agent's.
type proofView struct {
	Line, File, Record string
}

// madeSecret is a secret that the hub has made. It is shown once.
type madeSecret struct {
	Ref   theirs
	Value string
	From  template.HTML
}

// maxAgentMessages is how many messages of an agent its page shows, of those that wait and of those that are over.
const maxAgentMessages = 10

func (v *visit) agent() error { return v.showAgent(http.StatusOK, func(*agentView) {}) }

// showAgent shows the page, with what change makes of it.
func (v *visit) showAgent(status int, change func(*agentView)) error {
	a, err := v.hub.AgentAt(v.r.Context(), v.caller, v.r.PathValue("ref"))
	if err != nil {
		return err
	}
	view := &agentView{
		Ref: v.r.PathValue("ref"), ID: clean(a.ID).or(v.words.plain("untitled")), RawID: a.ID, Revoked: a.Revoked, Wrong: map[string]template.HTML{},
		Since:   v.words.html("agent.since", v.clock.ago(a.CreatedAt)),
		History: "/history?" + url.Values{askAgent: {a.ID}}.Encode(), From: secretTomorrow, Owns: v.caller.Owns(),
		Proof: proofView{Line: a.Challenge, File: hub.WellKnownPath, Record: hub.DNSLabel},
	}
	for i, at := range a.Tokens {
		key := "agent.token"
		if i > 0 {
			key = "agent.token.older"
		}
		view.Tokens = append(view.Tokens, v.words.html(key, v.clock.ago(at)))
	}
	for _, h := range a.Hosts {
		view.Hosts = append(view.Hosts, v.hostRow(h))
	}
	for _, s := range a.Secrets {
		view.Secrets = append(view.Secrets, v.secretRow(s))
	}
	if err := v.fillAgent(view, a); err != nil {
		return err
	}
	view.Webhook = v.webhook(a)
	change(view)
	at := "/agents/" + view.Ref
	view.Age = v.age(at)
	p := v.page("agent", string(view.ID.short(60)), view)
	p.Live = v.liveAt(at)
	p.Notice = v.agentNotice()
	v.render(status, "agent", p)
	return nil
}

// fillAgent adds what is read of an agent beside its own record.
func (v *visit) fillAgent(view *agentView, a *hub.AgentDetail) (err error) {
	if view.attendanceView, err = v.attendance(a.ID); err != nil {
		return err
	}
	thread, err := v.hub.Thread(v.r.Context(), v.caller, a.ID, "", maxTeller)
	if err != nil {
		return err
	}
	for _, t := range thread.Rows {
		view.Told = append(view.Told, v.toldRow(&t))
	}
	if view.Limited, err = v.limited(a.ID); err != nil {
		return err
	}
	if view.Senders, err = v.senders(a); err != nil {
		return err
	}
	return v.agentMessages(view, a.ID)
}

// agentNotice says what has just been done.
func (v *visit) agentNotice() *notice {
	for _, did := range []string{"bound", "unbound", "used", "removed", "stopped", "lifted", "closed", "over", "senders", "pushed", "unpushed"} {
		if v.r.URL.Query().Get("did") == did {
			return &notice{Text: v.words.html("notice.agent." + did)}
		}
	}
	return nil
}

func (v *visit) hostRow(h hub.CallbackHost) hostRow {
	row := hostRow{Host: clean(h.Host), About: v.words.html("host."+string(h.Proof), v.clock.ago(h.At), v.who(h.By))}
	if h.Proof != hub.ProofPerson {
		row.Again = string(h.Proof)
	}
	return row
}

func (v *visit) secretRow(s hub.SecretView) secretRow {
	row := secretRow{Ref: clean(s.Ref), Raw: s.Ref, Next: s.State == hub.SecretNext}
	switch {
	case row.Next:
		row.About = v.words.html("secret.next", v.clock.ago(s.CreatedAt), v.clock.at(s.From))
	case !s.Until.IsZero():
		row.About = v.words.html("secret.until", v.clock.ago(s.CreatedAt), v.clock.at(s.Until))
	default:
		row.About = v.words.html("secret.current", v.clock.ago(s.CreatedAt))
	}
	return row
}

// agentMessages are the latest messages of an agent: those that wait, and those that are over.
func (v *visit) agentMessages(view *agentView, id string) error {
	waiting, err := v.hub.Waiting(v.r.Context(), v.caller, maxWaiting)
	if err != nil {
		return err
	}
	for _, s := range waiting {
		if s.AgentID == id {
			view.Open = append([]brief{v.brief(&s)}, view.Open...)
		}
	}
	view.Open = view.Open[:min(len(view.Open), maxAgentMessages)]
	page, err := v.hub.History(v.r.Context(), v.caller, hub.HistoryFilter{Agent: id}, "", maxAgentMessages)
	if err != nil {
		return err
	}
	messages, err := v.readPage(page)
	if err != nil {
		return err
	}
	for _, m := range messages {
		b := v.brief(&m.Summary)
		if m.Response != nil {
			b.When, b.Outcome = v.clock.ago(m.EndedAt), v.verdict(m)
		}
		b.Urgency = ""
		view.Past = append(view.Past, b)
	}
	return nil
}

// ownAgent is the id of the agent that the path names.
func (v *visit) ownAgent() (string, error) {
	a, err := v.hub.AgentAt(v.r.Context(), v.caller, v.r.PathValue("ref"))
	if err != nil {
		return "", err
	}
	return a.ID, nil
}

// done leads back to the agent's page, which says what was done.
func (v *visit) done(did string) error {
	http.Redirect(v.w, v.r, "/agents/"+v.r.PathValue("ref")+"?did="+did, http.StatusSeeOther)
	return nil
}

// wrong shows the page again with what was typed and what is wrong with it, where the hub says so.
func (v *visit) wrong(err error, change func(view *agentView, at string, why template.HTML)) error {
	e := ma2h.AsError(err)
	if e == nil || e.Code != ma2h.CodeInvalidField {
		return err
	}
	return v.showAgent(e.Status(), func(view *agentView) {
		change(view, strings.TrimPrefix(e.Field, "/"), v.words.html("wrong.is", e.Message))
	})
}

// bindHost binds a host to an agent, by the proof whose button was pressed.
func (v *visit) bindHost() error {
	id, err := v.ownAgent()
	if err != nil {
		return err
	}
	host := strings.TrimSpace(v.r.PostForm.Get("host"))
	_, err = v.hub.BindHost(v.r.Context(), v.caller, id, host, hub.Proof(v.r.PostForm.Get("proof")))
	if err != nil {
		return v.wrong(err, func(view *agentView, _ string, why template.HTML) { view.Host, view.Wrong["host"] = host, why })
	}
	return v.done("bound")
}

func (v *visit) unbindHost() error {
	id, err := v.ownAgent()
	if err == nil {
		err = v.hub.UnbindHost(v.r.Context(), v.caller, id, v.r.PostForm.Get("host"))
	}
	if err != nil {
		return err
	}
	return v.done("unbound")
}

// When a new secret is used from, as the page offers it.
const (
	secretNow      = "now"
	secretTomorrow = "day"
	secretWeek     = "week"
)

// setSecret gives an agent a secret, and shows it once where the hub has made it.
func (v *visit) setSecret() error {
	id, err := v.ownAgent()
	if err != nil {
		return err
	}
	form := v.r.PostForm
	r := hub.SecretRequest{Ref: strings.TrimSpace(form.Get("name")), Value: form.Get("value")}
	switch form.Get("from") {
	case secretNow:
		r.From = v.clock.now
	case secretWeek:
		r.From = v.clock.now.Add(7 * 24 * time.Hour)
	}
	made, err := v.hub.SetSecret(v.r.Context(), v.caller, id, r)
	if err != nil {
		return v.wrong(err, func(view *agentView, at string, why template.HTML) {
			view.Name, view.From, view.Wrong[at] = form.Get("name"), form.Get("from"), why
		})
	}
	return v.showAgent(http.StatusOK, func(view *agentView) {
		view.Made = &madeSecret{Ref: clean(made.Ref), Value: made.Value, From: v.clock.at(made.From)}
	})
}

func (v *visit) useSecret() error {
	id, err := v.ownAgent()
	if err == nil {
		err = v.hub.UseSecretNow(v.r.Context(), v.caller, id, v.r.PostForm.Get("name"))
	}
	if err != nil {
		return err
	}
	return v.done("used")
}

func (v *visit) removeSecret() error {
	id, err := v.ownAgent()
	if err == nil {
		err = v.hub.RemoveSecret(v.r.Context(), v.caller, id, v.r.PostForm.Get("name"), hub.SecretState(v.r.PostForm.Get("only")))
	}
	if err != nil {
		return err
	}
	return v.done("removed")
}

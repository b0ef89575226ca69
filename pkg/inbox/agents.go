package inbox

import (
	"html/template"
	"net/http"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// agentRoutes are the pages of the account's agents, and what they do.
func agentRoutes() []route {
	return []route{
		{http.MethodGet, "/agents", (*visit).agents, false},
		{http.MethodPost, "/agents", (*visit).addAgent, false},
		{http.MethodGet, "/agents/{ref}", (*visit).agent, false},
		{http.MethodPost, "/agents/{ref}/rotate", (*visit).rotateAgent, false},
		{http.MethodGet, "/agents/{ref}/revoke", (*visit).askRevoke, false},
		{http.MethodPost, "/agents/{ref}/revoke", (*visit).revokeAgent, false},
		{http.MethodPost, "/agents/{ref}/senders", (*visit).setSenders, false},
		{http.MethodPost, "/agents/{ref}/hosts", (*visit).bindHost, false},
		{http.MethodPost, "/agents/{ref}/hosts/unbind", (*visit).unbindHost, false},
		{http.MethodPost, "/agents/{ref}/webhook", (*visit).setWebhook, false},
		{http.MethodPost, "/agents/{ref}/secrets", (*visit).setSecret, false},
		{http.MethodPost, "/agents/{ref}/secrets/use", (*visit).useSecret, false},
		{http.MethodPost, "/agents/{ref}/secrets/remove", (*visit).removeSecret, false},
	}
}

// agentsView is the list of agents.
type agentsView struct {
	Agents, Revoked []agentRow
	ID              string        // as it was typed
	Wrong           template.HTML // with it
}

type agentRow struct {
	Ref     string
	ID      theirs
	There   template.HTML // whether it can be reached
	Online  bool
	Stopped bool
	Last    template.HTML // when it asked or told last
	Open    template.HTML // how many of its asks wait, or empty
}

// maxLately is how much of the past is looked through for when agents sent last.
const maxLately = 50

func (v *visit) agents() error { return v.showAgents(http.StatusOK, "", "") }

func (v *visit) showAgents(status int, typed string, wrong template.HTML) error {
	agents, err := v.hub.Agents(v.r.Context(), v.caller)
	if err != nil {
		return err
	}
	view := agentsView{ID: typed, Wrong: wrong}
	rows, err := v.agentRows(agents)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if agents[i].Revoked {
			view.Revoked = append(view.Revoked, row)
		} else {
			view.Agents = append(view.Agents, row)
		}
	}
	p := v.page("agents", v.words.plain("agents.title"), view)
	if v.r.URL.Query().Get("did") == "revoked" {
		p.Notice = &notice{Text: v.words.html("notice.agent.revoked")}
	}
	v.render(status, "agents", p)
	return nil
}

// agentRows says of each agent whether it is there, and what it sent lately.
func (v *visit) agentRows(agents []hub.AgentView) ([]agentRow, error) {
	last, open, err := v.lately()
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(agents))
	for i, a := range agents {
		ids[i] = a.ID
	}
	there, err := v.hub.Attendances(v.r.Context(), v.caller, ids)
	if err != nil {
		return nil, err
	}
	rows := make([]agentRow, len(agents))
	for i, a := range agents {
		rows[i] = agentRow{
			Ref: v.hub.AgentRef(v.caller.Account.Ref, a.ID), ID: clean(a.ID).or(v.words.plain("untitled")),
			There: v.presence(&there[i]), Online: there[i].Online, Stopped: there[i].Stop != nil,
			Last: v.words.html("agent.quiet"),
		}
		if at, ok := last[a.ID]; ok {
			rows[i].Last = v.words.html("agent.last", v.clock.ago(at))
		}
		if n := open[a.ID]; n > 0 {
			rows[i].Open = v.words.counted("agent.open", n)
		}
	}
	return rows, nil
}

// lately says of agents when each sent something last, as far as that is not long past, and how many of its asks and tasks
// are open.
func (v *visit) lately() (last map[string]time.Time, open map[string]int, _ error) {
	last, open = map[string]time.Time{}, map[string]int{}
	note := func(s *hub.Summary) {
		if s.AcceptedAt.After(last[s.AgentID]) {
			last[s.AgentID] = s.AcceptedAt
		}
	}
	waiting, err := v.hub.Waiting(v.r.Context(), v.caller, maxWaiting)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range waiting {
		note(&s)
		open[s.AgentID]++
	}
	past, err := v.hub.History(v.r.Context(), v.caller, hub.HistoryFilter{}, "", maxLately)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range past.Rows {
		note(&p.Summary)
	}
	return last, open, nil
}

// addAgent makes an agent, and shows its token once, with what to do with it.
func (v *visit) addAgent() error {
	id := v.r.PostForm.Get("id")
	made, err := v.hub.AddAgent(v.r.Context(), v.caller, id)
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeInvalidField {
		return v.showAgents(e.Status(), id, v.words.html("wrong.is", e.Message))
	}
	if err != nil {
		return err
	}
	return v.showToken("agent.added", made)
}

// newTokenView is a token that has just been made. It is shown once.
type newTokenView struct {
	Title   template.HTML
	Ref     string
	Snippet snippet
}

func (v *visit) showToken(key string, made *hub.NewCredentials) error {
	view := newTokenView{
		Title: v.words.html(key, clean(made.ID)), Ref: v.hub.AgentRef(v.caller.Account.Ref, made.ID),
		Snippet: v.snippet(made),
	}
	v.render(http.StatusOK, "token", v.page("agents", v.words.plain("fresh.title"), view))
	return nil
}

// rotateAgent gives an agent another token, and shows it once.
func (v *visit) rotateAgent() error {
	a, err := v.hub.AgentAt(v.r.Context(), v.caller, v.r.PathValue("ref"))
	if err != nil {
		return err
	}
	made, err := v.hub.RotateAgent(v.r.Context(), v.caller, a.ID)
	if err != nil {
		return err
	}
	return v.showToken("agent.rotated", made)
}

// revokeView asks whether an agent is to lose what it has.
type revokeView struct {
	Ref string
	ID  theirs
}

func (v *visit) askRevoke() error {
	a, err := v.hub.AgentAt(v.r.Context(), v.caller, v.r.PathValue("ref"))
	if err != nil {
		return err
	}
	v.render(http.StatusOK, "revoke", v.page("agents", v.words.plain("revoke.title"), revokeView{Ref: v.r.PathValue("ref"), ID: clean(a.ID)}))
	return nil
}

func (v *visit) revokeAgent() error {
	a, err := v.hub.AgentAt(v.r.Context(), v.caller, v.r.PathValue("ref"))
	if err != nil {
		return err
	}
	if err := v.hub.RevokeAgent(v.r.Context(), v.caller, a.ID); err != nil {
		return err
	}
	http.Redirect(v.w, v.r, "/agents?did=revoked", http.StatusSeeOther)
	return nil
}

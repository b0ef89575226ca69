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

// threadRoutes are what people tell an agent (spec §13), which every person of the account may do.
func threadRoutes() []route {
	return []route{
		{http.MethodGet, "/agents/{ref}/told", (*visit).thread, false},
		{http.MethodPost, "/agents/{ref}/told", (*visit).tell, false},
		{http.MethodGet, "/agents/{ref}/told/{directive}", (*visit).told, false},
	}
}

// How many directives a part of the thread has, and how many the agent's page.
const (
	maxThread = 20
	maxTeller = 3
)

// threadView is what people told an agent, the latest first, and the form for more.
type threadView struct {
	Ref     string
	ID      theirs
	Revoked bool
	There   *attendanceView
	Form    tellForm
	Rows    []toldRow
	Next    string // where what came before these stands, or empty
	First   string // where the latest stand, of an earlier part
	Age     age
}

// tellForm is what was typed.
type tellForm struct {
	Title, Body string
	Sessions    []selectable // to one of which it may go; none where none lives
	Expiry      []selectable
	Wrong       map[string]template.HTML
}

// toldRow is one directive.
type toldRow struct {
	Path    string
	Title   theirs
	Meta    template.HTML // by whom, when
	To      template.HTML // which session, or empty
	Urgency string
	Body    theirs // its beginning
	More    bool   // there is more on its own page
	Fate    template.HTML
	Lost    bool // it never reached the agent
}

func (v *visit) thread() error { return v.showThread(http.StatusOK, url.Values{}, nil) }

// showThread shows the thread; form is what was typed, and wrong what is wrong with it.
func (v *visit) showThread(status int, form url.Values, wrong map[string]template.HTML) error {
	a, err := v.hub.AgentAt(v.r.Context(), v.caller, v.r.PathValue("ref"))
	if err != nil {
		return err
	}
	there, err := v.attendance(a.ID)
	if err != nil {
		return err
	}
	cursor := v.r.URL.Query().Get(askCursor)
	thread, err := v.hub.Thread(v.r.Context(), v.caller, a.ID, cursor, maxThread)
	if err != nil {
		return err
	}
	at := "/agents/" + v.r.PathValue("ref") + "/told"
	view := threadView{Ref: v.r.PathValue("ref"), ID: clean(a.ID), Revoked: a.Revoked, There: there, Form: v.tellForm(there, form, wrong)}
	for _, t := range thread.Rows {
		view.Rows = append(view.Rows, v.toldRow(&t))
	}
	here := at
	if cursor != "" {
		view.First, here = at, at+"?"+url.Values{askCursor: {cursor}}.Encode()
	}
	if thread.Next != "" {
		view.Next = at + "?" + url.Values{askCursor: {thread.Next}}.Encode()
	}
	view.Age = v.age(here)
	p := v.page("agent", v.words.plain("thread.tab", string(clean(a.ID).short(60))), view)
	p.Live = v.liveAt(here)
	if v.r.URL.Query().Get("did") == "told" {
		p.Notice = &notice{Text: v.words.html("notice.told")}
	}
	v.render(status, "thread", p)
	return nil
}

// How long a directive holds, as the page offers it.
const (
	holdsHour = "hour"
	holdsDay  = "day"
	holdsWeek = "week"
)

func (v *visit) tellForm(there *attendanceView, form url.Values, wrong map[string]template.HTML) tellForm {
	f := tellForm{Title: form.Get("title"), Body: form.Get("body"), Wrong: wrong}
	if len(there.Live) > 0 || form.Get("session") != "" {
		s := selection{}
		s.offer("", v.words.html("tell.anyone"))
		for _, line := range there.Live {
			s.offer(line.ID, v.words.html("tell.session", line.Label.short(60), line.ID))
		}
		s.choose(form.Get("session"))
		f.Sessions = s.Options
	}
	s := selection{}
	s.offer("", v.words.html("tell.holds"))
	s.offer(holdsHour, v.words.html("tell.holds.hour"))
	s.offer(holdsDay, v.words.html("tell.holds.day"))
	s.offer(holdsWeek, v.words.html("tell.holds.week"))
	s.choose(form.Get("holds"))
	f.Expiry = s.Options
	return f
}

// tell sends a directive.
func (v *visit) tell() error {
	id, err := v.ownAgent()
	if err != nil {
		return err
	}
	form := v.r.PostForm
	to := ma2h.Address{AgentID: id, Session: form.Get("session")}
	request := map[string]string{"to": to.String(), "title": strings.TrimSpace(form.Get("title"))}
	if body := form.Get("body"); body != "" {
		request["body"] = body
	}
	if until := v.holdsUntil(form.Get("holds")); !until.IsZero() {
		request["expires_at"] = ma2h.FormatTime(until)
	}
	d, invalid := ma2h.ReadDirective(hub.Encode(request), v.hub.Settings.Limits)
	if invalid == nil {
		_, err = v.hub.Direct(v.r.Context(), v.caller, d)
		invalid = ma2h.AsError(err)
	}
	switch {
	case invalid != nil && (invalid.Field != "" || invalid.Code == ma2h.CodeInvalidField):
		return v.showThread(http.StatusUnprocessableEntity, form, v.wrongDirective(invalid))
	case invalid != nil:
		return invalid
	case err != nil:
		return err
	}
	http.Redirect(v.w, v.r, "/agents/"+v.r.PathValue("ref")+"/told?did=told", http.StatusSeeOther)
	return nil
}

func (v *visit) holdsUntil(choice string) time.Time {
	switch choice {
	case holdsHour:
		return v.clock.now.Add(time.Hour)
	case holdsDay:
		return v.clock.now.Add(day)
	case holdsWeek:
		return v.clock.now.Add(7 * day)
	}
	return time.Time{}
}

// wrongDirective says what is wrong with a directive, at its field.
func (v *visit) wrongDirective(e *ma2h.Error) map[string]template.HTML {
	switch e.Field {
	case "/title":
		return map[string]template.HTML{"title": v.words.html("tell.wrong.title")}
	case "/to":
		return map[string]template.HTML{"session": v.words.html("tell.wrong.session")}
	}
	return map[string]template.HTML{"body": v.words.html("wrong.is", e.Message)}
}

// maxToldChars is how many characters of a directive its thread shows.
const maxToldChars = 600

func (v *visit) toldRow(t *hub.Told) toldRow {
	row := toldRow{
		Path: "/agents/" + v.r.PathValue("ref") + "/told/" + t.ID, Title: v.title(t.Title), Urgency: urgency(t.Priority),
		Meta: v.words.html("told.by", v.who(t.From), v.clock.ago(t.SentAt)), To: v.toSession(t.To), Fate: v.toldFate(t),
	}
	body := cleanLines(t.Body)
	row.Body = body.short(maxToldChars)
	row.More = row.Body != body || len(t.Context) > 0
	if t.Sensitive {
		row.Body, row.More = "", row.More || body != ""
	}
	row.Lost = t.Mailbox.State == ma2h.TrackBounced || t.Mailbox.State == ma2h.TrackExpired
	return row
}

// toSession says to which session mail is addressed, or nothing.
func (v *visit) toSession(to string) template.HTML {
	address, _ := ma2h.ParseAddress(to)
	if address.Session == "" {
		return ""
	}
	return v.words.html("told.session", theirs(address.Session))
}

// toldFate says what became of a directive.
func (v *visit) toldFate(t *hub.Told) template.HTML {
	if t.Mailbox.State == ma2h.TrackQueued {
		if expires, ok := ma2h.ParseTime(t.ExpiresAt); ok {
			return v.words.html("mail.queued.until", v.clock.at(expires))
		}
	}
	return v.mailFate(t.Mailbox, t.EndedAt)
}

// toldView is one directive on its own page.
type toldView struct {
	Ref    string
	ID     theirs
	Row    toldRow
	Body   template.HTML
	Parts  []part
	Events []event
	Tags   []theirs
	Age    age
}

func (v *visit) told() error {
	a, err := v.hub.AgentAt(v.r.Context(), v.caller, v.r.PathValue("ref"))
	if err != nil {
		return err
	}
	t, err := v.hub.ToldAt(v.r.Context(), v.caller, v.r.PathValue("directive"))
	if err != nil {
		return err
	}
	if to, _ := ma2h.ParseAddress(t.To); to.AgentID != a.ID {
		return ma2h.Errorf(ma2h.CodeNotFound, "The agent was told nothing of this id.")
	}
	view := toldView{Ref: v.r.PathValue("ref"), ID: clean(a.ID), Row: v.toldRow(t), Parts: v.parts(t.Context)}
	view.Age = v.age(view.Row.Path)
	if t.Body != "" {
		view.Body = v.in.markdown.html(t.Body)
	}
	for _, tag := range t.Tags {
		view.Tags = append(view.Tags, clean(tag).short(60))
	}
	view.Events = append([]event{v.said("event.told", v.who(t.From), v.clock.at(t.SentAt))}, v.webhookEvents(t.Webhook)...)
	view.Events = append(view.Events, v.mailEvents(v.words.html("event.the.agent"), t.Mailbox, t.EndedAt)...)
	p := v.page("agent", string(view.Row.Title.short(60)), view)
	p.Live = v.liveAt(view.Row.Path)
	v.render(http.StatusOK, "told", p)
	return nil
}

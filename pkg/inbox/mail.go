package inbox

import (
	"html/template"
	"net/http"
	"net/url"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// mailRoutes are what agents write to each other: of the whole account, and of one agent.
func mailRoutes() []route {
	return []route{
		{http.MethodGet, "/mail", (*visit).accountMail, false},
		{http.MethodGet, "/agents/{ref}/mail", (*visit).agentMail, false},
	}
}

// maxMail is how many messages a page of mail holds.
const maxMail = 25

// mailView is a part of the mail, the latest first.
type mailView struct {
	Ref      string // of the agent whose mail it is, or empty for the account's
	ID       theirs
	On       bool            // agents may write to each other
	Limited  []template.HTML // which pairs of agents were limited lately, and why
	Rows     []mailRow
	Next     string        // where what came before these stands, or empty
	First    string        // where the latest stand, of an earlier part
	Searched template.HTML // how far back was looked, where that was not the end
	Age      age
}

// mailRow is one message from one agent to another.
type mailRow struct {
	brief
	Kind string // a key of the catalogue
	To   theirs
	Fate template.HTML // of the message on its way
	Lost bool
}

func (v *visit) accountMail() error { return v.showMail("/mail", &mailView{}, "") }

func (v *visit) agentMail() error {
	id, err := v.ownAgent()
	if err != nil {
		return err
	}
	ref := v.r.PathValue("ref")
	return v.showMail("/agents/"+ref+"/mail", &mailView{Ref: ref, ID: clean(id)}, id)
}

func (v *visit) showMail(at string, view *mailView, agentID string) error {
	cursor := v.r.URL.Query().Get(askCursor)
	page, err := v.hub.Mail(v.r.Context(), v.caller, agentID, cursor, maxMail)
	if err != nil {
		return err
	}
	if view.Limited, err = v.limited(agentID); err != nil {
		return err
	}
	view.On = v.caller.Account.InterAgent
	for _, m := range page.Rows {
		view.Rows = append(view.Rows, v.mailRow(m))
	}
	here := at
	if cursor != "" {
		view.First, here = at, at+"?"+url.Values{askCursor: {cursor}}.Encode()
	}
	if page.Next != "" {
		view.Next = at + "?" + url.Values{askCursor: {page.Next}}.Encode()
	}
	if !page.SearchedTo.IsZero() {
		view.Searched = v.words.html("history.searched", v.clock.at(page.SearchedTo))
	}
	view.Age = v.age(here)
	p := v.page("agent", v.words.plain("mail.title"), view)
	p.Live = v.liveAt(here)
	v.render(http.StatusOK, "mail", p)
	return nil
}

// maxLimited is how many pairs that were limited a page shows.
const maxLimited = 20

// limited says which pairs of agents were limited lately, and why: of one agent, or of the account.
func (v *visit) limited(agentID string) ([]template.HTML, error) {
	list, err := v.hub.Limited(v.r.Context(), v.caller, agentID)
	var out []template.HTML
	for _, p := range list[:min(len(list), maxLimited)] {
		out = append(out, v.words.html("limited.pair", clean(p.From), clean(p.To), p.PerMinute, v.clock.ago(p.At)))
	}
	return out, err
}

func (v *visit) mailRow(m *hub.Reading) mailRow {
	row := mailRow{brief: v.brief(&m.Summary), Kind: "kind." + string(m.Type), To: v.addressee(m), Fate: v.mailFate(m.Mailbox, m.MailEndedAt)}
	if m.Response != nil {
		row.Outcome = v.words.html("verdict.at", v.verdictOfAll(m), v.clock.ago(m.EndedAt))
	}
	row.Lost = m.Mailbox.State == ma2h.TrackBounced || m.Mailbox.State == ma2h.TrackExpired
	return row
}

// addressee is the agent that a message is addressed to.
func (v *visit) addressee(m *hub.Reading) theirs {
	to, _ := ma2h.ParseAddress(m.Message.To)
	return clean(to.AgentID)
}

// way is one end of a message: the agent, and the session if there is one, each with its page.
type way struct {
	Ref     string
	Agent   theirs
	Session string
}

func (v *visit) way(agentID, session string) way {
	return way{Ref: v.hub.AgentRef(v.caller.Account.Ref, agentID), Agent: clean(agentID), Session: string(clean(session))}
}

// wayTo is where a message goes; nil for one that is for people.
func (v *visit) wayTo(m *hub.Reading) *way {
	if m.Mailbox == nil {
		return nil
	}
	to, _ := ma2h.ParseAddress(m.Message.To)
	w := v.way(to.AgentID, to.Session)
	return &w
}

// mailStory is the story of a message from one agent to another.
func (v *visit) mailStory(m *hub.Reading) []event {
	to := v.words.html("who.agent", v.addressee(m))
	from := v.words.html("who.agent", clean(m.AgentID))
	out := []event{v.said("event.sent", from, to, v.clock.at(m.AcceptedAt))}
	out = append(out, v.mailEvents(to, m.Mailbox, m.MailEndedAt)...)
	switch {
	case m.Type == ma2h.TypeNotify:
		return out
	case m.Response == nil:
		return append(out, v.toBeAnswered(m), v.still("todo", "event.todo.answer.fetched", from))
	}
	out = append(out, event{Text: v.outcome(m)})
	return append(out, inOrder(append(v.attempts(m.Callback), v.answerTrack(from, m)...))...)
}

// answerTrack is what is known of an answer's way back to the agent that asked (spec §14.2).
func (v *visit) answerTrack(from template.HTML, m *hub.Reading) []event {
	d := m.Delivery
	switch {
	case d == nil:
		return []event{v.still("todo", "event.todo.answer.fetched", from)}
	case d.State == ma2h.TrackExpired:
		return []event{v.still("missed", "event.answer.unseen", from)}
	}
	out := []event{v.said("event.answer.fetched", from, v.at(d.DeliveredAt)).on(d.DeliveredAt)}
	if d.AcknowledgedAt != "" {
		out = append(out, v.said("event.answer.acknowledged", from, v.at(d.AcknowledgedAt)).on(d.AcknowledgedAt))
	}
	return out
}

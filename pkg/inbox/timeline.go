package inbox

import (
	"html/template"
	"slices"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// event is one step of what has happened to a message, or is still to come.
type event struct {
	Text  template.HTML
	State string // todo for what is still to come, maybe for what need not come, missed for what did not, or empty

	at time.Time // of attempts and of what shows that one was not needed any more
}

// dated is the event with its time, and on with one as the hub writes it.
func (e event) dated(at time.Time) event {
	e.at = at
	return e
}

func (e event) on(stamp string) event {
	at, _ := ma2h.ParseTime(stamp)
	return e.dated(at)
}

// inOrder puts attempts and deliveries in the order of their times; what has none stays behind them.
func inOrder(all []event) []event {
	slices.SortStableFunc(all, func(a, b event) int {
		switch {
		case a.at.IsZero() == b.at.IsZero():
			return a.at.Compare(b.at)
		case a.at.IsZero():
			return 1
		}
		return -1
	})
	return all
}

// events is the story of a message: asked, seen, ended, delivered, acknowledged, and the pushes between.
func (v *visit) events(m *hub.Reading) []event {
	if m.Mailbox != nil {
		return v.mailStory(m)
	}
	if m.Type == ma2h.TypeNotify {
		return nil // nothing more will happen to it
	}
	out := []event{v.said("event.asked", v.words.html("who.agent", clean(m.AgentID)), v.clock.at(m.AcceptedAt))}
	if !m.SeenAt.IsZero() {
		out = append(out, v.said("event.seen", v.who(m.SeenBy), v.clock.at(m.SeenAt)))
	}
	switch {
	case m.Response == nil && m.SeenAt.IsZero():
		out = append(out, v.still("todo", "event.todo.seen"))
	case m.Response != nil && m.SeenAt.IsZero() && m.Status == ma2h.StatusExpired:
		out = append(out, v.still("missed", "event.missed.seen"))
	}
	if m.Response == nil {
		return append(out, v.toBeAnswered(m), v.toBeDelivered(m), v.mayAcknowledge())
	}
	out = append(out, event{Text: v.outcome(m)})
	return append(out, inOrder(append(v.attempts(m.Callback), v.track(m)...))...)
}

func (v *visit) said(key string, parts ...any) event { return event{Text: v.words.html(key, parts...)} }

func (v *visit) still(state, key string, parts ...any) event {
	return event{Text: v.words.html(key, parts...), State: state}
}

// attempts are the tries to push an answer or a directive to the agent; none where there is no callback.
func (v *visit) attempts(c *hub.CallbackView) []event {
	var out []event
	if c == nil {
		return nil
	}
	for i, a := range c.Attempts {
		out = append(out, v.said("event.push", c.Earlier+i+1, v.attempt(a), v.clock.at(a.At)).dated(a.At))
	}
	return out
}

func (v *visit) attempt(a hub.Attempt) template.HTML {
	switch {
	case a.Status >= 300 && a.Status < 400:
		return v.words.html("push.redirect", a.Status)
	case a.Status != 0:
		return v.words.html("push.status", a.Status)
	}
	return v.words.html("push." + string(a.Failure))
}

// toBeAnswered says what is still to come of an open message.
func (v *visit) toBeAnswered(m *hub.Reading) event {
	label, mode := v.defaultOf(m)
	switch {
	case m.Type == ma2h.TypeTask:
		return v.still("todo", "event.todo.task")
	case m.ExpiresAt.IsZero():
		return v.still("todo", "event.todo.ask")
	case mode == ma2h.ModeInput:
		return v.still("todo", "event.todo.ask.form", v.clock.at(m.ExpiresAt))
	case mode != "":
		return v.still("todo", "event.todo.ask.default", v.clock.at(m.ExpiresAt), label)
	}
	return v.still("todo", "event.todo.ask.by", v.clock.at(m.ExpiresAt))
}

// toBeDelivered says how the agent will get the answer: to where it is pushed, or by asking for it.
func (v *visit) toBeDelivered(m *hub.Reading) event {
	if c := m.Callback; c != nil && c.State != hub.CallbackGivenUp {
		return v.still("todo", "event.todo.pushed", clean(c.Host))
	}
	return v.still("todo", "event.todo.delivered")
}

// track is what is known of the answer's way to the agent (spec §14.2).
func (v *visit) track(m *hub.Reading) []event {
	d := m.Delivery
	switch {
	case d == nil:
		return []event{v.toBeDelivered(m), v.mayAcknowledge()}
	case d.State == ma2h.TrackExpired:
		return []event{v.still("missed", "event.unseen")}
	}
	out := []event{v.said("event.delivered", v.at(d.DeliveredAt)).on(d.DeliveredAt)}
	if d.AcknowledgedAt == "" {
		return append(out, v.mayAcknowledge())
	}
	e := v.said("event.acknowledged", v.at(d.AcknowledgedAt))
	if d.Ack != nil && d.Ack.Note != "" {
		e = v.said("event.acknowledged.note", v.at(d.AcknowledgedAt), clean(d.Ack.Note).short(300))
	}
	return append(out, e.on(d.AcknowledgedAt))
}

// mayAcknowledge is the last step, which no agent has to take.
func (v *visit) mayAcknowledge() event { return v.still("maybe", "event.maybe.acknowledged") }

// at is a time as the hub writes it, in words.
func (v *visit) at(s string) template.HTML {
	t, ok := ma2h.ParseTime(s)
	if !ok {
		return ""
	}
	return v.clock.at(t)
}

package inbox

import (
	"html/template"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// mailFate says where mail is on its way, or how that ended (spec §14.2).
func (v *visit) mailFate(m *ma2h.Mailbox, ended time.Time) template.HTML {
	switch m.State {
	case ma2h.TrackDelivered:
		return v.words.html("mail.delivered", v.ago(m.DeliveredAt))
	case ma2h.TrackAcknowledged:
		if m.Ack != nil && m.Ack.Note != "" {
			return v.words.html("mail.acknowledged.note", v.clock.ago(ended), clean(m.Ack.Note).short(300))
		}
		return v.words.html("mail.acknowledged", v.clock.ago(ended))
	case ma2h.TrackBounced:
		if m.Prior == ma2h.TrackDelivered {
			return v.words.html("mail.bounced.fetched", v.clock.ago(ended))
		}
		return v.words.html("mail.bounced", v.clock.ago(ended))
	case ma2h.TrackExpired:
		return v.words.html("mail.expired", v.clock.ago(ended))
	}
	return v.words.html("mail.queued")
}

// ago is how long ago a time was as the hub writes it.
func (v *visit) ago(s string) template.HTML {
	t, ok := ma2h.ParseTime(s)
	if !ok {
		return ""
	}
	return v.clock.ago(t)
}

// mailEvents are what has happened to mail since it was sent to somebody, and what is still to come.
func (v *visit) mailEvents(to template.HTML, m *ma2h.Mailbox, ended time.Time) []event {
	var out []event
	if m.DeliveredAt != "" {
		out = append(out, v.said("event.fetched", to, v.at(m.DeliveredAt)))
	}
	switch m.State {
	case ma2h.TrackQueued:
		return append(out, v.still("todo", "event.todo.fetched", to), v.still("todo", "event.todo.acknowledged", to))
	case ma2h.TrackDelivered:
		return append(out, v.still("todo", "event.todo.acknowledged", to))
	case ma2h.TrackAcknowledged:
		if m.Ack != nil && m.Ack.Note != "" {
			return append(out, v.said("event.acked.note", to, v.clock.at(ended), clean(m.Ack.Note).short(300)))
		}
		return append(out, v.said("event.acked", to, v.clock.at(ended)))
	case ma2h.TrackBounced:
		if m.Prior == ma2h.TrackDelivered {
			return append(out, v.still("missed", "event.bounced.fetched", v.clock.at(ended)))
		}
		return append(out, v.still("missed", "event.bounced", v.clock.at(ended)))
	case ma2h.TrackExpired:
		return append(out, v.still("missed", "event.expired", v.clock.at(ended)))
	}
	return out
}

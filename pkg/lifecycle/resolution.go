package lifecycle

import (
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// Terminal says whether a message in this status is past every transition of spec §7.
func Terminal(s ma2h.Status) bool {
	switch s {
	case ma2h.StatusAnswered, ma2h.StatusDeclined, ma2h.StatusCancelled, ma2h.StatusExpired,
		ma2h.StatusCompleted, ma2h.StatusDismissed:
		return true
	}
	return false
}

// Initial returns the status in which a message is accepted for the human inbox (spec §5.1, §7).
func Initial(t ma2h.Type) ma2h.Status {
	if t == ma2h.TypeNotify {
		return ma2h.StatusDelivered
	}
	return ma2h.StatusOpen
}

// Overdue says whether a deadline has passed at now: a resolve at the deadline still wins, one strictly after it loses
// (spec §7 "Expiry vs answer"). A zero deadline never passes.
func Overdue(deadline, now time.Time) bool { return !deadline.IsZero() && now.After(deadline) }

// Resolution is the outcome that a transition to a terminal writes (spec §6).
type Resolution struct {
	Status    ma2h.Status
	At        time.Time
	Actor     string       // attested; empty for a task that nobody ended
	Detail    *ma2h.Detail // nil for a task of which nothing but the outcome is known
	Defaulted bool
}

// Expire returns the outcome of a message that nobody resolved by its deadline: dated at the deadline, never in a
// person's name, and with the default of an ask that has one (spec §6, §7).
func Expire(m *ma2h.Message, deadline time.Time) Resolution {
	r := Resolution{Status: ma2h.StatusExpired, At: deadline}
	if m.Type != ma2h.TypeAsk {
		return r
	}
	r.Actor = ma2h.ActorDefaultOnExpire
	r.Detail = &ma2h.Detail{Actor: r.Actor, ResolvedAt: ma2h.FormatTime(deadline)}
	if m.Request.HasDefault() {
		r.Detail.Value = m.Request.DefaultOnExpire
		r.Defaulted = true
	}
	return r
}

// Resolve returns the outcome that actor's answer brings about at now (spec §8.8). A task's has a detail only where there
// is a comment or a checklist to carry (spec §6).
func Resolve(a ma2h.Answer, actor string, now time.Time) Resolution {
	out := Resolution{Status: a.Resolution, At: now, Actor: actor}
	if a.Type == ma2h.TypeTask && a.Comment == "" && a.Checklist == nil {
		return out
	}
	out.Detail = &ma2h.Detail{
		Value: a.Value, Edited: a.Edited, Actor: actor, ResolvedAt: ma2h.FormatTime(now),
		Comment: a.Comment, Checklist: a.Checklist,
	}
	return out
}

// Cancel returns the outcome of the submitter's withdrawal of an ask at now (spec §8.4).
func Cancel(actor string, now time.Time) Resolution {
	return Resolution{
		Status: ma2h.StatusCancelled, At: now, Actor: actor,
		Detail: &ma2h.Detail{Actor: actor, ResolvedAt: ma2h.FormatTime(now)},
	}
}

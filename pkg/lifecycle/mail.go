package lifecycle

import (
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// Post is what decides about a mailbox entry that nobody has acknowledged: a directive or an addressed message (spec §14.2).
type Post struct {
	Delivered bool      // whether it was ever drained
	ExpiresAt time.Time // zero for never
	KeepUntil time.Time // the end of its retention
	EndedAt   time.Time // when the session that it is addressed to ended; zero while it lives and where there is none
}

// MailEnd is how the mailbox track of an entry ended.
type MailEnd struct {
	Track ma2h.Track // expired or bounced
	Prior ma2h.Track // of bounced: queued or delivered
	At    time.Time
}

// End says how the track has ended by now, whichever came first: expired means never delivered, and bounced that nobody
// will ever take it, whether or not it was seen.
func (p Post) End(now time.Time) (end MailEnd, over bool) {
	bounced := MailEnd{Track: ma2h.TrackBounced, Prior: ma2h.TrackQueued}
	if p.Delivered {
		bounced.Prior = ma2h.TrackDelivered
	}
	unseen := MailEnd{Track: ma2h.TrackExpired}
	kept := unseen
	if p.Delivered {
		kept = bounced
	}
	if !p.Delivered && Overdue(p.ExpiresAt, now) {
		end = unseen.at(p.ExpiresAt)
	}
	if !p.EndedAt.IsZero() && end.after(p.EndedAt) {
		end = bounced.at(p.EndedAt)
	}
	if Overdue(p.KeepUntil, now) && end.after(p.KeepUntil) {
		end = kept.at(p.KeepUntil)
	}
	return end, end.Track != ""
}

func (e MailEnd) at(t time.Time) MailEnd { e.At = t; return e }

// after says whether t comes before this end, or there is none.
func (e MailEnd) after(t time.Time) bool { return e.Track == "" || t.Before(e.At) }

// Undeliverable returns the outcome of an ask or task that no addressee can ever see (spec §7).
func Undeliverable(t ma2h.Type, at time.Time) Resolution {
	r := Resolution{
		Status: ma2h.StatusCancelled, At: at, Actor: ma2h.ActorUndeliverable,
		Detail: &ma2h.Detail{Actor: ma2h.ActorUndeliverable, ResolvedAt: ma2h.FormatTime(at)},
	}
	if t == ma2h.TypeTask {
		r.Status = ma2h.StatusDismissed
	}
	return r
}

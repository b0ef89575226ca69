package hub

import (
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// TimerKind is what a Timer is for.
type TimerKind string

// The kinds of Timer. Whatever else falls due is told to nobody, so that a sweep does.
const (
	TimerExpiry   TimerKind = "expiry"   // of an open message whose sender is to be called back: Hub.Expire
	TimerCallback TimerKind = "callback" // one that is owed, with all its attempts: Hub.Deliver
	TimerLease    TimerKind = "lease"    // of a session, from its registration on: Hub.Expire
)

// TimerHorizon is how long after its acceptance a message may expire and still have a Timer, and after its registration a
// session. What lasts longer can wait for a sweep.
const TimerHorizon = 24 * time.Hour

// Timer is what should happen promptly of a record, where another than the one who wrote it sees to that. Its name is the
// same however often it is decided, and another for another obligation: letters, digits and hyphens, fewer than 80.
type Timer struct {
	Kind TimerKind
	Name string
	Key  record.Key
	At   time.Time
}

// TimerOf decides from a record alone which Timer it needs; nil for none. The record may be out of date: a Timer too many
// does no harm, since what it calls decides anew. An error is about a record that nobody can read.
func TimerOf(r record.Record) (*Timer, error) {
	if r.Kind == KindSession {
		return leaseTimer(r)
	}
	if r.Kind != KindState || r.Due.IsZero() {
		return nil, nil
	}
	var s State
	if err := Decode(r, &s); err != nil {
		return nil, err
	}
	kind, at := s.timer()
	if kind == "" {
		return nil, nil
	}
	tail, directive, ok := letterOf(s.ID)
	if !ok || r.Key != letterKey(directive, tail, "state") {
		return nil, fmt.Errorf("decode %s %s: it says that it is of message %q", r.Kind, r.Key, s.ID)
	}
	return &Timer{Kind: kind, Name: s.timerName(kind, tail), Key: r.Key, At: at}, nil
}

// leaseTimer is the one Timer of a session. It is decided from the session as it was registered: whoever it calls looks when the
// lease ends, as often as it is renewed, so that a renewal needs none.
func leaseTimer(r record.Record) (*Timer, error) {
	var s Session
	if err := Decode(r, &s); err != nil {
		return nil, err
	}
	if key, ok := SessionKey(s.ID); !ok || key != r.Key {
		return nil, fmt.Errorf("decode %s %s: it says that it is of session %q", r.Kind, r.Key, s.ID)
	}
	if s.ended() || !s.LastSeen.Equal(s.CreatedAt) {
		return nil, nil
	}
	return &Timer{Kind: TimerLease, Name: "lease-" + s.tail(), Key: r.Key, At: afterDeadline(s.ExpiresAt)}, nil
}

// timerName names what of a state should happen. Of one outcome there is one callback, and another one each time that a
// person has it sent again.
func (s *State) timerName(kind TimerKind, tail string) string {
	switch {
	case kind == TimerExpiry:
		return fmt.Sprintf("%s-%d", tail, s.ExpiresAt.UnixMilli())
	case s.Push.Round > 0:
		return fmt.Sprintf("%s-%d-%d", tail, s.owedAt().UnixMilli(), s.Push.Round)
	default:
		return fmt.Sprintf("%s-%d", tail, s.owedAt().UnixMilli())
	}
}

// owedAt is since when a callback is owed: a Response from the outcome on, a directive from its acceptance on.
func (s *State) owedAt() time.Time {
	if s.Type == ma2h.TypeDirective {
		return s.AcceptedAt
	}
	return s.StatusAt
}

// timer is what of a state should happen promptly, and when; nothing for "".
func (s *State) timer() (TimerKind, time.Time) {
	switch {
	case s.Deleted || s.Push == nil, s.Type == ma2h.TypeDirective && !s.Mail.lives():
	case s.Status == ma2h.StatusOpen:
		if !s.ExpiresAt.IsZero() && s.ExpiresAt.Sub(s.AcceptedAt) <= TimerHorizon {
			return TimerExpiry, afterDeadline(s.ExpiresAt)
		}
	case !s.Push.Done && !s.Push.Next.IsZero():
		return TimerCallback, s.Push.Next
	}
	return "", time.Time{}
}

// next is when something of a state must happen: expiry, push or an end of retention; zero for never.
func (h *Hub) next(s *State) time.Time { return h.earliest(s, 0) }

// due is when a sweep must look at a state: what a Timer is meant to do is left to it for a while.
func (h *Hub) due(s *State) time.Time { return h.earliest(s, h.Settings.Grace) }

func (h *Hub) earliest(s *State, grace time.Duration) time.Time {
	settles := h.settles(s)
	kind, at := s.timer()
	switch at = at.Add(grace); {
	case kind == TimerExpiry, kind == TimerCallback && at.Before(settles):
		return at
	default:
		return settles
	}
}

// settles is when the clock decides something about a state: the first instant at which settle has work, zero for never.
func (h *Hub) settles(s *State) time.Time {
	switch {
	case s.Deleted:
		return time.Time{}
	case s.Mail.lives():
		return afterDeadline(s.mailOrExpiry())
	case s.Status == ma2h.StatusOpen:
		return afterDeadline(s.ExpiresAt)
	case s.RetainedAt.IsZero():
		return afterDeadline(h.retentionEnd(s))
	default:
		return afterDeadline(h.deletion(s))
	}
}

// mailOrExpiry is the first deadline of a state whose mail is on its way.
func (s *State) mailOrExpiry() time.Time {
	at := s.Mail.next()
	if s.Status == ma2h.StatusOpen && !s.ExpiresAt.IsZero() && s.ExpiresAt.Before(at) {
		return s.ExpiresAt
	}
	return at
}

// afterDeadline is the first instant of the hub's clock at which a deadline has passed.
func afterDeadline(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Truncate(time.Millisecond).Add(time.Millisecond)
}

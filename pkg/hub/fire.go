package hub

import (
	"context"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Fire does what is due of the record under key, and returns when to look at it again, zero for never. It reads and
// decides anew, so that firing early, late or twice is harmless. An error leaves the record due: fire it again later.
func (h *Hub) Fire(ctx context.Context, key record.Key) (again time.Time, _ error) {
	if ofSession(key) {
		return h.fireSession(ctx, key)
	}
	m, err := h.fire(ctx, key, 0)
	if m == nil || err != nil {
		return time.Time{}, err
	}
	if err := h.redate(ctx, m); err != nil {
		return time.Time{}, err
	}
	return h.next(&m.state), nil
}

// TakeOver is Fire for a sweep that others work beside: it makes no callback before its time is over by Settings.Grace,
// since until then whoever has the Timer is at it.
func (h *Hub) TakeOver(ctx context.Context, key record.Key) error {
	if ofSession(key) {
		_, err := h.fireSession(ctx, key)
		return err
	}
	m, err := h.fire(ctx, key, h.Settings.Grace)
	if m == nil || err != nil {
		return err
	}
	return h.redate(ctx, m)
}

// Expire does what a TimerExpiry or TimerLease is for, and returns when to do it if it is too early, zero when it is done. A
// callback is then owed, for which there is another Timer.
func (h *Hub) Expire(ctx context.Context, key record.Key) (again time.Time, _ error) {
	if ofSession(key) {
		return h.lapse(ctx, key)
	}
	m, err := h.settled(ctx, key)
	if m == nil || err != nil {
		return time.Time{}, err
	}
	if kind, at := m.state.timer(); kind == TimerExpiry {
		return at, nil
	}
	return time.Time{}, nil
}

// Deliver does what the TimerCallback of this name is for: one attempt, if it is time. It returns when to make the next,
// zero when the callback is done, none is owed, or the one that is has a Timer of another name, since a person has had it
// sent again. That an attempt failed is no error. An empty name is that of the first one.
func (h *Hub) Deliver(ctx context.Context, key record.Key, name string) (again time.Time, _ error) {
	m, err := h.settled(ctx, key)
	if m == nil || err != nil || !m.state.timed(name, m.tail) {
		return time.Time{}, err
	}
	if err := h.pushDue(ctx, m, 0); err != nil {
		return time.Time{}, err
	}
	if kind, at := m.state.timer(); kind == TimerCallback && m.state.timed(name, m.tail) {
		return at, nil
	}
	return time.Time{}, nil
}

// timed says whether the callback that is owed is the one of the Timer of this name.
func (s *State) timed(name, tail string) bool {
	if s.Push == nil || name == "" {
		return s.Push != nil && s.Push.Round == 0
	}
	return name == s.timerName(TimerCallback, tail)
}

// fire settles the record under key and makes a callback that has been due for grace. It returns nil for a record that is
// not there, or of a kind that never falls due.
func (h *Hub) fire(ctx context.Context, key record.Key, grace time.Duration) (*message, error) {
	m, err := h.settled(ctx, key)
	if m == nil || err != nil {
		return nil, err
	}
	return m, h.pushDue(ctx, m, grace)
}

func (h *Hub) settled(ctx context.Context, key record.Key) (*message, error) {
	kind, tail, ok := strings.Cut(key.Part, "#")
	m := &message{tail: tail, directive: kind == "d"}
	if !ok || kind != "m" && kind != "d" || key.Sort != m.stateKey().Sort {
		return nil, nil
	}
	m, err := h.loadLetter(ctx, &Caller{}, m)
	if e := ma2h.AsError(err); e != nil {
		return nil, nil // garbage was collected meanwhile
	}
	if err != nil {
		return nil, err
	}
	if kind, _ := m.state.timer(); m.directive && kind == TimerCallback {
		return m, h.withAddressee(ctx, m)
	}
	return m, h.settle(ctx, m, h.now())
}

// redate writes anew when a record is due whose Due has come without there being anything to do, say because the
// retention was prolonged after it was written. Otherwise it would be fired for ever.
func (h *Hub) redate(ctx context.Context, m *message) error {
	if m.rec.Due.IsZero() || m.rec.Due.After(h.now()) {
		return nil
	}
	was := m.rec.Rev
	return h.change(ctx, m, nil, func(*State) bool { return m.rec.Rev == was })
}

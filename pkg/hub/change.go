package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// end makes the resolution, decided at now, the message's outcome unless it has one, and says whether it did. The
// resolution_id is minted for this very try: an outcome that carries it is ours, even if the answer to our write was lost
// and others have written since. with is committed beside it.
func (h *Hub) end(
	ctx context.Context, m *message, r lifecycle.Resolution, now time.Time, with ...record.Write,
) (ours bool, _ error) {
	resolutionID := ma2h.NewID(ma2h.PrefixResolution + m.tail)
	from, err := h.settledSession(ctx, &Caller{}, m.state.Session, now)
	if err != nil {
		return false, err
	}
	row := h.responseRow(&m.state, from, now)
	err = h.change(ctx, m, append(row.writes(), with...), func(s *State) bool {
		if s.Status != ma2h.StatusOpen {
			return false
		}
		s.decide(r, resolutionID, row.at(), now)
		return true
	})
	if err != nil {
		return false, err
	}
	ours = m.state.Response != nil && m.state.Response.ResolutionID == resolutionID
	if ours {
		h.observe(&m.state, false)
		h.announce(ctx, m)
		if at := row.at(); at != nil {
			h.Bell.Ring(ctx, at.Part)
		}
	}
	return ours, nil
}

// decide makes the resolution a state's outcome. The Response stands in the row as well, where its session lives.
func (s *State) decide(r lifecycle.Resolution, resolutionID string, row *record.Key, now time.Time) {
	s.Status, s.StatusAt, s.EndedBy = r.Status, r.At, r.Actor
	s.Response = &ma2h.Response{
		Version: s.Version, InReplyTo: s.ID, ResolutionID: resolutionID,
		Resolution: r.Status, Response: r.Detail, Defaulted: r.Defaulted,
	}
	s.ResponseRow = row
	if s.Push != nil {
		w := *s.Push
		w.Next = now
		s.Push = &w
	}
}

// announce tells, after the Commit, whoever waits for the message or must do something about it.
func (h *Hub) announce(ctx context.Context, m *message) {
	h.Bell.Ring(ctx, MessageLane(m.tail))
	if at := h.next(&m.state); !at.IsZero() {
		h.Clockwork.Arm(ctx, m.rec.Key, at)
	}
}

// change commits what f makes of a copy of the message's state, and decides again on the winner when another was faster.
// When f returns false there is nothing to do. f replaces what pointers point to and never writes through them.
// Afterwards m is what stands.
func (h *Hub) change(ctx context.Context, m *message, with []record.Write, f func(*State) bool) error {
	for {
		before := m.rec
		next := m.state
		if !f(&next) {
			return nil
		}
		put := record.Put(h.stateRecord(m.tail, &next), before.Rev)
		err := h.Store.Commit(ctx, append([]record.Write{put}, with...)...)
		if err == nil {
			m.rec, m.state = put.Record, next
			h.Bell.Ring(ctx, AccountLane(next.Account))
			return nil
		}
		if err := h.follow(m, put.Record.Key, err); err != nil {
			return err
		}
	}
}

// follow takes over the winner of a lost Commit. One that lost over something else than the state is an error of ours.
func (h *Hub) follow(m *message, key record.Key, err error) error {
	conflict := record.AsConflict(err)
	if conflict == nil {
		return fmt.Errorf("write message %s: %w", m.state.ID, err)
	}
	winner, ok := conflict.Winner(key)
	if !ok {
		return fmt.Errorf("write message %s: %w", m.state.ID, err)
	}
	return m.take(winner)
}

package hub

import (
	"context"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// retentionEnd is when a message that has ended was served for its whole retention; deletion, when it goes.
func (h *Hub) retentionEnd(s *State) time.Time { return s.StatusAt.Add(h.retention()) }
func (h *Hub) deletion(s *State) time.Time     { return s.StatusAt.Add(2 * h.retention()) }

// settle applies everything that the clock has decided about a message, each step one Commit, and leaves m as it then
// stands. Every read settles first, so that no answer depends on a timer (spec §7). now is read once by the use case, so
// that what it decides afterwards is decided at the very instant for which it settled.
func (h *Hub) settle(ctx context.Context, m *message, now time.Time) error {
	if m.state.Deleted {
		return nil
	}
	if err := h.settleMail(ctx, m, now); err != nil {
		return err
	}
	if m.state.Mail.lives() && m.state.Status != ma2h.StatusOpen {
		return nil // it is kept for as long as its mail
	}
	if m.state.Status == ma2h.StatusOpen {
		if !lifecycle.Overdue(m.state.ExpiresAt, now) {
			return nil
		}
		if err := h.expire(ctx, m, now); err != nil {
			return err
		}
	}
	if m.state.RetainedAt.IsZero() && lifecycle.Overdue(h.retentionEnd(&m.state), now) {
		if err := h.retire(ctx, m); err != nil {
			return err
		}
	}
	if !m.state.RetainedAt.IsZero() && lifecycle.Overdue(h.deletion(&m.state), now) {
		return h.delete(ctx, m)
	}
	return nil
}

// expire ends an overdue message at its deadline (spec §7).
func (h *Hub) expire(ctx context.Context, m *message, now time.Time) error {
	envelope, err := m.message()
	if err != nil {
		return err
	}
	_, err = h.end(ctx, m, lifecycle.Expire(envelope, m.state.ExpiresAt), now)
	return err
}

// retire ends the response track with the retention: an answer that the agent never got was never seen (spec §14.2).
func (h *Hub) retire(ctx context.Context, m *message) error {
	return h.change(ctx, m, nil, func(s *State) bool {
		if s.Deleted || !s.RetainedAt.IsZero() || s.Status == ma2h.StatusOpen {
			return false
		}
		s.RetainedAt = h.retentionEnd(s)
		if s.Type == ma2h.TypeNotify || s.Type == ma2h.TypeDirective {
			return true
		}
		var d Delivery
		if s.Delivery != nil {
			d = *s.Delivery
		}
		d.State, _ = lifecycle.Retire(d.State)
		s.Delivery = &d
		if s.Push != nil {
			w := *s.Push
			w.Done = true
			s.Push = &w
		}
		return true
	})
}

// delete leaves a tombstone, which answers that the message is gone (spec §8.2), to the same callers as before.
func (h *Hub) delete(ctx context.Context, m *message) error {
	var erase []record.Write
	if m.content.Rev != "" {
		erase = append(erase, record.Erase(m.content.Key, m.content.Rev))
	}
	return h.change(ctx, m, erase, func(s *State) bool {
		if s.Deleted {
			return false
		}
		*s = State{
			ID: s.ID, Account: s.Account, AgentRef: s.AgentRef, From: s.From, Type: s.Type, Digest: s.Digest,
			Resolvers: s.Resolvers, ResolversListed: s.ResolversListed, ResolversDefaulted: s.ResolversDefaulted,
			Status: s.Status, StatusAt: s.StatusAt, Deleted: true, DeletedAt: h.deletion(s),
		}
		return true
	})
}

// gone says whether a message is deleted, and whether so long ago that it is unknown again.
func gone(s *State, now time.Time) error {
	switch {
	case !s.Deleted:
		return nil
	case now.After(s.DeletedAt.Add(tombstone)):
		return errUnknown()
	default:
		return errDeleted()
	}
}

package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Key names a record; whoever passes keys on need not know the store.
type Key = record.Key

// message is one message as it was read: its state, and its content where that was asked for.
type message struct {
	tail  string
	rec   record.Record // of the state
	state State

	content  record.Record
	envelope *ma2h.Message // decoded on first use
}

// MessageKeys returns the keys under which the message with this id lies, so that they can be read together with the
// caller's credential; none when id has not the form of one of ours.
func (h *Hub) MessageKeys(id string) []record.Key {
	tail, ok := messageTailOf(id)
	if !ok {
		return nil
	}
	return []record.Key{stateKey(tail), contentKey(tail)}
}

func messageTailOf(id string) (string, bool) {
	if !strings.HasPrefix(id, ma2h.PrefixMessage) {
		return "", false
	}
	return ma2h.MessageTail(id)
}

// errUnknown is what every caller gets who may not know whether the id exists (spec §9.1).
func errUnknown() error {
	return ma2h.Errorf(ma2h.CodeNotFound, "There is no message with this id.")
}

func errDeleted() error {
	return ma2h.Errorf(ma2h.CodeGone, "The message was deleted at the end of its retention.")
}

// load returns the message with this id, from what was read with the credential where that has it. An absent one is
// errUnknown.
func (h *Hub) load(ctx context.Context, c *Caller, id string) (*message, error) {
	tail, ok := messageTailOf(id)
	if !ok {
		return nil, errUnknown()
	}
	m := &message{tail: tail}
	rec, okState := c.seen(stateKey(tail))
	content, okContent := c.seen(contentKey(tail))
	if !okState || !okContent {
		recs, err := h.Store.Get(ctx, stateKey(tail), contentKey(tail))
		if err != nil {
			return nil, fmt.Errorf("read message %s: %w", id, err)
		}
		rec, content = recs[0], recs[1]
	}
	m.content = content
	return m, m.take(rec)
}

// loadTail reads a message by its tail.
func (h *Hub) loadTail(ctx context.Context, tail string) (*message, error) {
	return h.load(ctx, &Caller{}, ma2h.PrefixMessage+tail)
}

// take makes rec the message's state. Absent is errUnknown.
func (m *message) take(rec record.Record) error {
	if rec.Rev == "" {
		return errUnknown()
	}
	m.rec, m.state = rec, State{}
	return Decode(rec, &m.state)
}

// message returns the submitted envelope.
func (m *message) message() (*ma2h.Message, error) {
	if m.envelope != nil {
		return m.envelope, nil
	}
	var c Content
	if err := Decode(m.content, &c); err != nil {
		return nil, err
	}
	var e ma2h.Message
	if err := json.Unmarshal(c.Envelope, &e); err != nil {
		return nil, fmt.Errorf("decode envelope of %s: %w", m.state.ID, err)
	}
	m.envelope = &e
	return m.envelope, nil
}

// version returns the version that the message declared.
func (m *message) version() ma2h.Version {
	v, _ := ma2h.ParseVersion(m.state.Version) // it was accepted once
	return v
}

// stateRecord returns the record for a state: with its tags, and due when something of it must happen.
func (h *Hub) stateRecord(tail string, s *State) record.Record {
	r := record.Record{Key: stateKey(tail), Kind: KindState, Body: Encode(s), Due: h.due(s)}
	if s.Deleted {
		r.Erase = s.DeletedAt.Add(tombstone)
		return r
	}
	r.Tags = stateTags(s)
	return r
}

// stateTags places a message in the lists of its account and of its submitter.
func stateTags(s *State) [2]record.Tag {
	switch {
	case s.Status == ma2h.StatusOpen:
		order := ascending(s.AcceptedAt)
		return [2]record.Tag{{Name: "open#" + s.Account, Order: order}, {Name: "open#" + s.AgentRef, Order: order}}
	case s.Type == ma2h.TypeNotify:
		order := descending(s.StatusAt)
		return [2]record.Tag{{Name: "told#" + s.Account, Order: order}, {Name: "done#" + s.AgentRef, Order: order}}
	default:
		order := descending(s.StatusAt)
		return [2]record.Tag{{Name: "done#" + s.Account, Order: order}, {Name: "done#" + s.AgentRef, Order: order}}
	}
}

// ascending and descending write times so that they sort oldest or newest first.
func ascending(t time.Time) string { return fmt.Sprintf("%019d", t.UnixMicro()) }
func descending(t time.Time) string {
	return fmt.Sprintf("%019d", int64(9_000_000_000_000_000_000)-t.UnixMicro())
}

// due is when a worker must look at a state: the earliest of expiry, push and the ends of retention.
func (h *Hub) due(s *State) time.Time {
	var due time.Time
	add := func(t time.Time) {
		if !t.IsZero() && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	if s.Deleted {
		return due
	}
	if s.Status == ma2h.StatusOpen {
		add(afterDeadline(s.ExpiresAt))
		return due
	}
	if s.Push != nil && !s.Push.Done {
		add(s.Push.Next)
	}
	if s.RetainedAt.IsZero() {
		add(afterDeadline(h.retentionEnd(s)))
	} else {
		add(afterDeadline(h.deletion(s)))
	}
	return due
}

// afterDeadline is the first instant of the hub's clock at which a deadline has passed.
func afterDeadline(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Truncate(time.Millisecond).Add(time.Millisecond)
}

// retentionEnd is when a message that has ended was served for its whole retention; deletion, when it goes.
func (h *Hub) retentionEnd(s *State) time.Time { return s.StatusAt.Add(h.retention()) }
func (h *Hub) deletion(s *State) time.Time     { return s.StatusAt.Add(2 * h.retention()) }

// settle applies everything that the clock has decided about a message, each step one Commit, and leaves m as it then
// stands. Every read settles first, so that no answer depends on a timer (spec §7).
func (h *Hub) settle(ctx context.Context, m *message) error {
	now := h.now()
	if m.state.Deleted {
		return nil
	}
	if m.state.Status == ma2h.StatusOpen {
		if !lifecycle.Overdue(m.state.ExpiresAt, now) {
			return nil
		}
		if err := h.expire(ctx, m); err != nil {
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
func (h *Hub) expire(ctx context.Context, m *message) error {
	envelope, err := m.message()
	if err != nil {
		return err
	}
	_, err = h.end(ctx, m, lifecycle.Expire(envelope, m.state.ExpiresAt), ma2h.NewID(ma2h.PrefixResolution+m.tail), nil)
	return err
}

// retire ends the response track with the retention: an answer that the agent never got was never seen (spec §14.2).
func (h *Hub) retire(ctx context.Context, m *message) error {
	return h.change(ctx, m, nil, func(s *State) bool {
		if s.Deleted || !s.RetainedAt.IsZero() || s.Status == ma2h.StatusOpen {
			return false
		}
		s.RetainedAt = h.retentionEnd(s)
		if s.Type == ma2h.TypeNotify {
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
			ID: s.ID, Account: s.Account, AgentRef: s.AgentRef, Type: s.Type, Digest: s.Digest,
			Resolvers: s.Resolvers, ResolversListed: s.ResolversListed, ResolversDefaulted: s.ResolversDefaulted,
			Status: s.Status, StatusAt: s.StatusAt, Deleted: true, DeletedAt: h.deletion(s),
		}
		return true
	})
}

// gone says whether a message is deleted, and whether so long ago that it is unknown again.
func (h *Hub) gone(s *State) error {
	switch {
	case !s.Deleted:
		return nil
	case h.now().After(s.DeletedAt.Add(tombstone)):
		return errUnknown()
	default:
		return errDeleted()
	}
}

// end makes the resolution the message's outcome unless it has one, and says whether it did. resolutionID was minted for
// this very try: an outcome that carries it is ours, even if the answer to our write was lost and others have written
// since. with is committed beside it.
func (h *Hub) end(
	ctx context.Context, m *message, r lifecycle.Resolution, resolutionID string, with []record.Write,
) (ours bool, _ error) {
	err := h.change(ctx, m, with, func(s *State) bool {
		if s.Status != ma2h.StatusOpen {
			return false
		}
		s.Status, s.StatusAt, s.EndedBy = r.Status, r.At, r.Actor
		s.Response = &ma2h.Response{
			Version: s.Version, InReplyTo: s.ID, ResolutionID: resolutionID,
			Agent:      ma2h.ResponseAgent{ID: s.AgentID, RunID: s.RunID},
			Resolution: r.Status, Response: r.Detail, Defaulted: r.Defaulted,
		}
		if s.Push != nil {
			w := *s.Push
			w.Next = h.now()
			s.Push = &w
		}
		return true
	})
	if err != nil {
		return false, err
	}
	ours = m.state.Response != nil && m.state.Response.ResolutionID == resolutionID
	if ours {
		h.announce(ctx, m)
	}
	return ours, nil
}

// announce tells, after the Commit, whoever waits for the message or must do something about it.
func (h *Hub) announce(ctx context.Context, m *message) {
	h.Bell.Ring(ctx, MessageLane(m.tail))
	h.Bell.Ring(ctx, AccountLane(m.state.Account))
	if !m.rec.Due.IsZero() {
		h.Clockwork.Arm(ctx, m.rec.Key, m.rec.Due)
	}
}

// MessageLane is the lane that rings when a message changes; AccountLane, when the lists of an account do.
func MessageLane(tail string) string { return "m#" + tail }

// AccountLane is the lane that rings when the lists of an account change.
func AccountLane(ref string) string { return "a#" + ref }

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
			return nil
		}
		if err := h.follow(m, put.Record.Key, err); err != nil {
			return err
		}
	}
}

// errOvertaken stops a change whose other writes lost.
var errOvertaken = errors.New("hub: overtaken")

// follow takes over the winner of a lost Commit.
func (h *Hub) follow(m *message, key record.Key, err error) error {
	conflict := record.AsConflict(err)
	if conflict == nil {
		return fmt.Errorf("write message %s: %w", m.state.ID, err)
	}
	winner, ok := conflict.Winner(key)
	if !ok {
		return fmt.Errorf("write message %s: %w: %w", m.state.ID, errOvertaken, err)
	}
	return m.take(winner)
}

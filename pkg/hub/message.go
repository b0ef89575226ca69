package hub

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

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
	written := *s
	written.Format = s.format()
	r := record.Record{Key: stateKey(tail), Kind: KindState, Body: Encode(&written), Due: h.due(s)}
	if s.Deleted {
		r.Erase = s.DeletedAt.Add(tombstone)
		return r
	}
	r.Tags = stateTags(s)
	return r
}

// format is the format of a state's record: an older hub would give up a callback whose credential it cannot attach, and
// forget that one is sent again.
func (s *State) format() int {
	if w := s.Push; w != nil && (attaches(w.Auth.Scheme) || w.Round > 0) {
		return 2
	}
	return 0 // the first, which is not written
}

// stateTags places a message in the lists of its account and of its submitter.
func stateTags(s *State) [2]record.Tag {
	switch {
	case s.Status == ma2h.StatusOpen:
		order := record.DueOrder(s.AcceptedAt)
		return [2]record.Tag{{Name: "open#" + s.Account, Order: order}, {Name: "open#" + s.AgentRef, Order: order}}
	case s.Type == ma2h.TypeNotify:
		order := descending(s.StatusAt)
		return [2]record.Tag{{Name: "told#" + s.Account, Order: order}, {Name: "done#" + s.AgentRef, Order: order}}
	default:
		order := descending(s.StatusAt)
		return [2]record.Tag{{Name: "done#" + s.Account, Order: order}, {Name: "done#" + s.AgentRef, Order: order}}
	}
}

// descending writes times so that they sort newest first.
func descending(t time.Time) string {
	return fmt.Sprintf("%019d", int64(9_000_000_000_000_000_000)-t.UnixMicro())
}

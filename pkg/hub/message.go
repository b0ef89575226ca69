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

// message is one message, or directive, as it was read: its state, and its content where that was asked for.
type message struct {
	tail  string
	rec   record.Record // of the state
	state State

	content  record.Record
	envelope *ma2h.Message // decoded on first use
	entry    *Row          // of its mail, as it was read, while that lives
	row      record.Record // of entry

	directive bool
	addressee record.Record // the agent that a directive is for, where an attempt may be made to push it
	live      record.Record // of the addressee, likewise
}

func (m *message) stateKey() record.Key   { return letterKey(m.directive, m.tail, "state") }
func (m *message) contentKey() record.Key { return letterKey(m.directive, m.tail, "content") }

// letterKey is where one of the two records of a message or directive lies.
func letterKey(directive bool, tail, sort string) record.Key {
	if directive {
		return record.Key{Part: "d#" + tail, Sort: sort}
	}
	return record.Key{Part: "m#" + tail, Sort: sort}
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

// letterOf is messageTailOf for an id of a message or a directive.
func letterOf(id string) (tail string, directive, ok bool) {
	if tail, ok := strings.CutPrefix(id, ma2h.PrefixDirective); ok {
		return tail, true, ma2h.Minted(tail, ma2h.TailLength)
	}
	tail, ok = messageTailOf(id)
	return tail, false, ok
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
	return h.loadLetter(ctx, c, &message{tail: tail})
}

// loadLetter reads the message or directive that m says, as load does.
func (h *Hub) loadLetter(ctx context.Context, c *Caller, m *message) (*message, error) {
	rec, okState := c.seen(m.stateKey())
	content, okContent := c.seen(m.contentKey())
	if !okState || !okContent {
		recs, err := h.Store.Get(ctx, m.stateKey(), m.contentKey())
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", m.stateKey(), err)
		}
		rec, content = recs[0], recs[1]
	}
	m.content = content
	return m, m.take(rec)
}

// take makes rec the message's state. Absent is errUnknown.
func (m *message) take(rec record.Record) error {
	if rec.Rev == "" {
		standInState()
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
		return nil, fmt.Errorf("the envelope of %s does not decode", m.state.ID) // the error itself may quote it
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
	key := letterKey(s.Type == ma2h.TypeDirective, tail, "state")
	r := record.Record{Key: key, Kind: KindState, Body: Encode(&written), Due: h.due(s)}
	if s.Deleted {
		r.Erase = s.DeletedAt.Add(tombstone)
		return r
	}
	r.Tags = stateTags(s)
	return r
}

// format is the format of a state's record: an older hub would give up a callback whose credential it cannot attach, and
// forget that one is sent again; it knows nothing of mail, and nothing of pushing directives. That it would forget who first
// opened a message is put up with.
func (s *State) format() int {
	if s.Type == ma2h.TypeDirective && s.Push != nil {
		return 4
	}
	if s.Mail != nil || s.Session != "" {
		return 3
	}
	if w := s.Push; w != nil && (attaches(w.Auth.Scheme) || w.Round > 0) {
		return 2
	}
	return 0 // the first, which is not written
}

// stateTags places a message in the lists of its account and of its submitter.
func stateTags(s *State) [2]record.Tag {
	if s.Mail != nil {
		return mailTags(s)
	}
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

// mailTag begins the names of the lists of mail.
const mailTag = "mail#"

// mailTags places mail in the list of its account, out of those of what people are asked; and a directive in that of its
// agent, a message in those of its submitter.
func mailTags(s *State) [2]record.Tag {
	mail := record.Tag{Name: mailTag + s.Account, Order: descending(s.AcceptedAt)}
	switch {
	case s.Type == ma2h.TypeDirective:
		return [2]record.Tag{mail, {Name: mailTag + s.Mail.ToRef, Order: descending(s.AcceptedAt)}}
	case s.Status == ma2h.StatusOpen:
		return [2]record.Tag{mail, {Name: "open#" + s.AgentRef, Order: record.DueOrder(s.AcceptedAt)}}
	default:
		return [2]record.Tag{mail, {Name: "done#" + s.AgentRef, Order: descending(s.StatusAt)}}
	}
}

// descending writes times so that they sort newest first.
func descending(t time.Time) string {
	return fmt.Sprintf("%019d", int64(9_000_000_000_000_000_000)-t.UnixMicro())
}

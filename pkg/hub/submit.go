package hub

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Submitted is the answer to a submit.
type Submitted struct {
	Ack      ma2h.SubmitAck
	Warnings []Warning
}

// Submit accepts a message (spec §8.1). A repeated key with the same payload gets the first one's id and its current
// status; with another payload it is an idempotency_conflict. A refused message leaves nothing behind.
func (h *Hub) Submit(ctx context.Context, c *Caller, e *ma2h.Envelope) (*Submitted, error) {
	if err := agentOnly(c); err != nil {
		return nil, err
	}
	if e.Message.Agent.ID != c.Agent.ID {
		return nil, ma2h.FieldErrorf(ma2h.CodeAgentIDMismatch, "/agent/id",
			"The credential belongs to another agent.id; send the id that the token was made for.")
	}
	if err := h.LimitRate(c); err != nil {
		return nil, err
	}
	if err := h.attest(ctx, c, e, h.now()); err != nil {
		return nil, err
	}
	if e.Message.IdempotencyKey == nil {
		return h.create(ctx, c, e, ma2h.NewTail(), nil, "")
	}
	return h.submitOnce(ctx, c, e)
}

// LimitRate counts a submit of an agent, and refuses it with rate_limited when there were too many of late (spec §8.6).
// Submit does so itself; whoever refuses one before that calls it.
func (h *Hub) LimitRate(c *Caller) error {
	if c.Agent == nil {
		return nil
	}
	wait, ok := h.limiter.take(c.Agent.Ref, h.Settings.RequestsPerMinute, h.Now())
	if ok {
		return nil
	}
	return &ma2h.Error{
		Code: ma2h.CodeRateLimited, RetryAfter: wait,
		Message: fmt.Sprintf("More submits than %d a minute, or too many at once; wait as long as Retry-After says.",
			h.Settings.RequestsPerMinute),
	}
}

// submitOnce creates the message of an idempotency key unless it exists.
func (h *Hub) submitOnce(ctx context.Context, c *Caller, e *ma2h.Envelope) (*Submitted, error) {
	digest := e.Digest()
	tail := h.messageTail(c.Agent.Ref, *e.Message.IdempotencyKey)
	rec, ok := c.seen(stateKey(tail))
	if !ok {
		recs, err := h.Store.Get(ctx, stateKey(tail))
		if err != nil {
			return nil, fmt.Errorf("read message %s: %w", tail, err)
		}
		rec = recs[0]
	}
	for {
		if rec.Rev != "" {
			replayed, err := h.replay(ctx, c, e, tail, rec, digest)
			if replayed != nil || err != nil {
				return replayed, err
			}
		}
		made, err := h.create(ctx, c, e, tail, digest, rec.Rev)
		conflict := record.AsConflict(err)
		if conflict == nil {
			return made, err
		}
		if rec, ok = conflict.Winner(stateKey(tail)); !ok {
			return nil, fmt.Errorf("write message %s: %w", tail, err)
		}
	}
}

// replay answers a submit whose key is taken; nil when the message that had it is so long gone that it is unknown.
func (h *Hub) replay(
	ctx context.Context, c *Caller, e *ma2h.Envelope, tail string, rec record.Record, digest []byte,
) (*Submitted, error) {
	m, now := &message{tail: tail}, h.now()
	if err := m.take(rec); err != nil {
		return nil, err
	}
	if err := h.settleWhole(ctx, m, now); err != nil {
		return nil, err
	}
	if err := gone(&m.state, now); err != nil {
		if ma2h.AsError(err).Code == ma2h.CodeNotFound {
			return nil, nil
		}
		return nil, err
	}
	if !bytes.Equal(m.state.Digest, digest) {
		return nil, &ma2h.Error{
			Code: ma2h.CodeIdempotencyConflict, Field: "/idempotency_key", ID: m.state.ID,
			Message: "This key was used for another payload; send the same bytes again, or use a new key.",
		}
	}
	warnings, err := h.warnings(ctx, c, e, &m.state)
	if err != nil {
		return nil, err
	}
	ack, err := h.submitAck(ctx, c, m, now)
	return &Submitted{Ack: ack, Warnings: warnings}, err
}

// settleWhole settles a message of which only the state was read, reading the content when something is to be done. Mail may
// end at any time, with its session.
func (h *Hub) settleWhole(ctx context.Context, m *message, now time.Time) error {
	return h.settleKnown(ctx, &Caller{}, m, now)
}

// settleKnown is settleWhole with what was read already of the row of the mail and of its sessions.
func (h *Hub) settleKnown(ctx context.Context, read *Caller, m *message, now time.Time) error {
	at := h.settles(&m.state)
	if due := !at.IsZero() && !now.Before(at); !due {
		if !m.state.Mail.lives() {
			return nil
		}
		p, err := h.loadPost(ctx, read, m, now)
		if err != nil {
			return err
		}
		if _, over := p.end(m.state.Mail, now); !over && p.row.Rev != "" {
			m.row, m.entry = p.row, &p.entry
			return nil
		}
	}
	if err := h.afresh(ctx, m); err != nil {
		return err
	}
	return h.settle(ctx, m, now)
}

// create checks what only matters for a new message and writes it. was is the revision of a forgotten message's
// tombstone under the same key, mostly none.
func (h *Hub) create(
	ctx context.Context, c *Caller, e *ma2h.Envelope, tail string, digest []byte, was string,
) (*Submitted, error) {
	now := h.now()
	s, err := h.newState(ctx, c, e, tail, digest, now)
	if err != nil {
		return nil, err
	}
	writes, err := h.address(ctx, c, e, s, now)
	if err != nil {
		return nil, err
	}
	if err := h.limitDepth(ctx, c.Agent, s); err != nil {
		return nil, err
	}
	state := h.stateRecord(tail, s)
	if err := h.roomToEnd(e, &state); err != nil {
		return nil, err
	}
	warnings, err := h.warnings(ctx, c, e, s)
	if err != nil {
		return nil, err
	}
	content := record.Record{Key: contentKey(tail), Kind: KindContent, Body: Encode(Content{Envelope: e.Known()})}
	put := record.Put(state, was)
	if err := h.Store.Commit(ctx, append(writes, record.Put(content, ""), put)...); err != nil {
		if record.AsConflict(err) != nil {
			return nil, err
		}
		return nil, fmt.Errorf("write message %s: %w", s.ID, err)
	}
	h.limiter.opened(c.Agent.Ref)
	h.observe(s, true)
	m := &message{tail: tail, rec: put.Record, state: *s, content: content}
	h.announce(ctx, m)
	h.Bell.Ring(ctx, AccountLane(s.Account))
	return &Submitted{Ack: h.accepted(ctx, c, m, now), Warnings: warnings}, nil
}

// accepted is the ack of a message that has just been committed. What of its destination cannot be read any more is not known: an
// error would have it sent twice, where it has no key.
func (h *Hub) accepted(ctx context.Context, c *Caller, m *message, now time.Time) ma2h.SubmitAck {
	if m.state.Mail == nil {
		return h.ackOfSubmit(m)
	}
	session, err := h.arrived(ctx, m, now)
	ack := h.ackOfSubmit(m)
	if err == nil {
		ack.Destination, err = h.reachability(ctx, c.having(session), m.state.Mail.To, now)
	}
	if err != nil {
		ack.Destination = &ma2h.Destination{State: lifecycle.Unknown}
	}
	return ack
}

// address makes a state that of an addressed message, where e is one, and returns the write of its row.
func (h *Hub) address(ctx context.Context, c *Caller, e *ma2h.Envelope, s *State, now time.Time) ([]record.Write, error) {
	d, err := h.sendsTo(ctx, c, e.Message.To, now)
	if d == nil || err != nil {
		return nil, err
	}
	mail, row := h.post(d, EntryMessage, s.ID, s.mailExpiry(&e.Message), now)
	s.Mail = mail
	if s.Type == ma2h.TypeNotify {
		s.Status = ma2h.StatusQueued
	}
	return []record.Write{row}, nil
}

// roomToEnd refuses a message whose state has no room left for its outcome: it could be accepted and never end.
func (h *Hub) roomToEnd(e *ma2h.Envelope, state *record.Record) error {
	const overhead = 8 << 10 // of an outcome's other members, of attempts and an ack
	outcome := h.Settings.Limits.AnswerBytes
	if e.Message.Request != nil {
		outcome = max(outcome, len(e.Message.Request.DefaultOnExpire))
	}
	if state.Size()+outcome+h.Settings.Limits.NoteBytes+overhead <= record.MaxRecordBytes {
		return nil
	}
	return ma2h.FieldErrorf(ma2h.CodeInvalidField, "",
		"agent.run_id, title, allowed_resolvers and callback together are too long; shorten them.")
}

// newState is the state in which a message is accepted.
func (h *Hub) newState(
	ctx context.Context, c *Caller, e *ma2h.Envelope, tail string, digest []byte, now time.Time,
) (*State, error) {
	if err := e.Rules(h.Settings.Limits); err != nil {
		return nil, err
	}
	expires, expiryErr := e.Message.CheckExpiry(now)
	if expiryErr != nil {
		return nil, expiryErr
	}
	push, err := h.pushWork(ctx, c.Agent, &e.Message)
	if err != nil {
		return nil, err
	}
	m := &e.Message
	s := &State{
		ID: ma2h.PrefixMessage + tail, Account: c.Account.Ref, AgentRef: c.Agent.Ref, AgentID: c.Agent.ID,
		RunID: m.Agent.RunID, Version: m.Version, Type: m.Type, Title: m.Title, Priority: m.Priority,
		Digest: digest, AcceptedAt: now, ExpiresAt: expires,
		Status: lifecycle.Initial(m.Type), StatusAt: now, Push: push, Session: m.Agent.Session,
	}
	s.Resolvers, s.ResolversListed = m.AllowedResolvers()
	if !s.ResolversListed && m.Type != ma2h.TypeNotify && m.To == "" && len(c.Account.DefaultResolvers) > 0 {
		s.Resolvers, s.ResolversDefaulted = c.Account.DefaultResolvers, true
	}
	if m.Type == ma2h.TypeNotify {
		s.ExpiresAt = time.Time{} // a notify has no lifecycle to end (spec §5.1)
	}
	return s, nil
}

// mailExpiry is when the mail of a message is not delivered any more; zero for never.
func (s *State) mailExpiry(m *ma2h.Message) time.Time {
	t, _ := ma2h.ParseTime(m.ExpiresAt) // it was checked
	return t
}

// limitDepth refuses an ask or task of an agent that has too many open (spec §8.6). The count comes from the index and
// may lag by seconds.
func (h *Hub) limitDepth(ctx context.Context, a *Agent, s *State) error {
	limit := h.Settings.InboxDepth
	if limit <= 0 || s.Status != ma2h.StatusOpen {
		return nil
	}
	now := h.Now()
	open, fresh := h.limiter.depth(a.Ref, now)
	if !fresh {
		n, err := h.countOpen(ctx, a.Ref, limit)
		if err != nil {
			return err
		}
		open = n
		h.limiter.counted(a.Ref, n, now)
	}
	if open < limit {
		return nil
	}
	return &ma2h.Error{
		Code: ma2h.CodeRateLimited, RetryAfter: 30 * time.Second,
		Message: fmt.Sprintf("%d messages may wait for an answer at once, and that many of yours do; wait for some to be answered, or cancel them.", limit),
	}
}

func (h *Hub) countOpen(ctx context.Context, agentRef string, limit int) (int, error) {
	n, after := 0, record.Entry{}
	for n < limit {
		entries, err := h.Store.Index(ctx, 2, "open#"+agentRef, after, min(limit-n, record.MaxListLimit))
		if err != nil {
			return 0, fmt.Errorf("count open messages: %w", err)
		}
		n += len(entries)
		if len(entries) < min(limit-n+len(entries), record.MaxListLimit) {
			break
		}
		after = entries[len(entries)-1]
	}
	return n, nil
}

// submitAck is the answer that a message's submit gets when it comes again (spec §8.1): of a notify that is addressed, its mailbox
// track as it stands.
func (h *Hub) submitAck(ctx context.Context, c *Caller, m *message, now time.Time) (ma2h.SubmitAck, error) {
	ack := h.ackOfSubmit(m)
	if m.state.Mail == nil {
		return ack, nil
	}
	var err error
	ack.Destination, err = h.reachability(ctx, c, m.state.Mail.To, now)
	return ack, err
}

// ackOfSubmit is the ack of a submit without its destination.
func (h *Hub) ackOfSubmit(m *message) ma2h.SubmitAck {
	return ma2h.SubmitAck{
		ID: m.state.ID, Status: m.status(),
		PollURL:   h.Settings.BaseURL + "/v1/messages/" + m.state.ID,
		ReviewURL: h.Settings.BaseURL + "/inbox/" + m.state.ID,
	}
}

// status is that of a message as it is shown: of one that has nothing but a mailbox track, that.
func (m *message) status() ma2h.Status {
	if m.state.oneWay() && m.state.Mail.lives() {
		return ma2h.Status(m.track())
	}
	return m.state.Status
}

// track is where mail is on its way, as far as it was read: its row decides until it has ended.
func (m *message) track() ma2h.Track {
	switch {
	case !m.state.Mail.lives():
		return m.state.Mail.Track
	case m.entry != nil && !m.entry.DeliveredAt.IsZero():
		return ma2h.TrackDelivered
	default:
		return ma2h.TrackQueued
	}
}

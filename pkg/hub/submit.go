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

// Warning is a word of the Mash-Warning header: something lawful that the sender should know.
type Warning string

// The warnings of a submit; a resolve has the first.
const (
	// WarningInexactNumber: an integer beyond ±(2^53−1) occurs, and signatures see it rounded (spec §9.2).
	WarningInexactNumber Warning = "inexact_number"

	// WarningNoHumanResolver: the message lists no resolver, so nobody but its sender may answer it (spec §9.1).
	WarningNoHumanResolver Warning = "no_human_resolver"
)

// Submitted is the answer to a submit.
type Submitted struct {
	Ack      ma2h.SubmitAck
	Warnings []Warning
}

// SubmitKeys returns the keys to read with the credential of the agent with this ref, so that an earlier submit with the
// same idempotency key comes along with it (spec §8.1).
func (h *Hub) SubmitKeys(agentRef string, e *ma2h.Envelope) []record.Key {
	if e.Message.IdempotencyKey == nil {
		return nil
	}
	return []record.Key{stateKey(h.messageTail(agentRef, *e.Message.IdempotencyKey))}
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
	if err := legsNotBuilt(e); err != nil {
		return nil, err
	}
	if err := h.LimitRate(c); err != nil {
		return nil, err
	}
	if e.Message.IdempotencyKey == nil {
		return h.create(ctx, c, e, ma2h.NewTail(), nil, "")
	}
	return h.submitOnce(ctx, c, e)
}

// legsNotBuilt refuses what DIVERGENCES.md says is not built yet, rather than misroute it to a person.
func legsNotBuilt(e *ma2h.Envelope) error {
	if e.Message.To != "" {
		return ma2h.FieldErrorf(ma2h.CodeNotAuthorized, "/to",
			"The account has not turned on messages between agents; leave to out to reach a person.")
	}
	if e.Message.Agent.Session != "" {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/agent/session",
			"No session with this id is yours; leave agent.session out.")
	}
	return nil
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
		Message: fmt.Sprintf("That is more than %d submits a minute, or too many at once; wait as long as Retry-After says.",
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
			replayed, err := h.replay(ctx, e, tail, rec, digest)
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
	ctx context.Context, e *ma2h.Envelope, tail string, rec record.Record, digest []byte,
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
	return &Submitted{Ack: h.submitAck(&m.state), Warnings: warnings(e, &m.state)}, nil
}

// settleWhole settles a message of which only the state was read, reading the content when something is due.
func (h *Hub) settleWhole(ctx context.Context, m *message, now time.Time) error {
	if at := h.settles(&m.state); at.IsZero() || now.Before(at) {
		return nil
	}
	recs, err := h.Store.Get(ctx, stateKey(m.tail), contentKey(m.tail))
	if err != nil {
		return fmt.Errorf("read message %s: %w", m.state.ID, err)
	}
	m.content = recs[1]
	if err := m.take(recs[0]); err != nil {
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
	if err := h.limitDepth(ctx, c.Agent, s); err != nil {
		return nil, err
	}
	state := h.stateRecord(tail, s)
	if err := h.roomToEnd(e, &state); err != nil {
		return nil, err
	}
	content := record.Record{Key: contentKey(tail), Kind: KindContent, Body: Encode(Content{Envelope: e.Known()})}
	if err := h.Store.Commit(ctx, record.Put(content, ""), record.Put(state, was)); err != nil {
		if record.AsConflict(err) != nil {
			return nil, err
		}
		return nil, fmt.Errorf("write message %s: %w", s.ID, err)
	}
	h.limiter.opened(c.Agent.Ref)
	h.observe(s, true)
	h.announce(ctx, &message{tail: tail, rec: state, state: *s})
	h.Bell.Ring(ctx, AccountLane(s.Account))
	return &Submitted{Ack: h.submitAck(s), Warnings: warnings(e, s)}, nil
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

func warnings(e *ma2h.Envelope, s *State) []Warning {
	var w []Warning
	if e.Inexact {
		w = append(w, WarningInexactNumber)
	}
	if s.Type != ma2h.TypeNotify && len(s.Resolvers) == 0 {
		w = append(w, WarningNoHumanResolver)
	}
	return w
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
		Status: lifecycle.Initial(m.Type), StatusAt: now, Push: push,
	}
	s.Resolvers, s.ResolversListed = m.AllowedResolvers()
	if !s.ResolversListed && m.Type != ma2h.TypeNotify && len(c.Account.DefaultResolvers) > 0 {
		s.Resolvers, s.ResolversDefaulted = c.Account.DefaultResolvers, true
	}
	if m.Type == ma2h.TypeNotify {
		s.ExpiresAt = time.Time{} // a notify has no lifecycle to end (spec §5.1)
	}
	return s, nil
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
		Message: fmt.Sprintf("%d of your messages wait for an answer already, which is the limit; wait for some to be answered, or cancel them.", limit),
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

// submitAck is the answer that a message's submit gets, the first time and ever after (spec §8.1).
func (h *Hub) submitAck(s *State) ma2h.SubmitAck {
	return ma2h.SubmitAck{
		ID: s.ID, Status: s.Status,
		PollURL:   h.Settings.BaseURL + "/v1/messages/" + s.ID,
		ReviewURL: h.Settings.BaseURL + "/inbox/" + s.ID,
	}
}

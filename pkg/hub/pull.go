package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// PullOptions is the query of a pull (spec §8.2).
type PullOptions struct {
	Wait  time.Duration // how long to hold while the message is open; cut to Settings.MaxWait
	Since time.Time     // answer "not modified" when the status is as old as this; zero for always answering

	// Unread is for who is not shown the body, as by HEAD: nothing is delivered by it.
	Unread bool

	Stop <-chan struct{} // closed when nothing may be held any longer; nil for never
}

// Pull returns the body of a message for its submitter: the envelope as submitted, its status, and once terminal the
// Response, which thereby counts as delivered to the agent (spec §8.2, §14.2). A nil body means not modified; it stamps
// nothing. Whoever did not submit the message learns nothing (spec §9.1).
func (h *Hub) Pull(ctx context.Context, c *Caller, id string, o PullOptions) ([]byte, error) {
	now := h.now()
	m, err := h.submitted(ctx, c, id, now)
	if err != nil {
		return nil, err
	}
	if o.Wait > 0 {
		if err := h.seenNow(ctx, c, now); err != nil {
			return nil, err
		}
	}
	if wait := min(o.Wait, h.Settings.MaxWait); wait > 0 && m.state.Status == ma2h.StatusOpen {
		c.Read = nil // nothing of the message is held while it is waited for
		if m, err = h.await(ctx, c, m.state.ID, wait, o.Stop); err != nil {
			return nil, err
		}
	}
	if !o.Since.IsZero() && !m.newsSince(o.Since) {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err // nobody is there to be told, so nothing was delivered
	}
	if o.Unread {
		m.state.deliver(h.now()) // what a reader would get, and nothing is written of it
	} else if err := h.stampDelivered(ctx, m); err != nil {
		return nil, err
	}
	return h.pullBody(m)
}

// newsSince says whether the status is younger than t. An outcome is always news until the agent has shown that it has it:
// the caller's clock may run ahead of ours, and an answer that was written to a connection may never have been read.
func (m *message) newsSince(t time.Time) bool {
	s := &m.state
	if s.oneWay() && s.Mail.lives() && m.entry != nil && m.entry.DeliveredAt.After(t) {
		return true // the status is that of the row, which has no time in the state
	}
	return s.StatusAt.After(t) || s.Response != nil && !s.shown()
}

// shown says whether the agent has shown that it has the outcome: it acknowledged it, or took a push of it.
func (s *State) shown() bool {
	return s.Delivery != nil && s.Delivery.Ack != nil || s.Push.taken()
}

// taken says whether the last attempt was answered with 2xx. A nil PushWork had none.
func (w *PushWork) taken() bool {
	if w == nil || len(w.Attempts) == 0 {
		return false
	}
	return PushResult{Status: w.Attempts[len(w.Attempts)-1].Status}.Delivered()
}

// submitted loads a message for its submitter, settled at now.
func (h *Hub) submitted(ctx context.Context, c *Caller, id string, now time.Time) (*message, error) {
	if c.Agent == nil {
		return nil, errUnknown()
	}
	m, err := h.load(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if m.state.AgentRef != c.Agent.Ref {
		return nil, errUnknown()
	}
	if err := h.settle(ctx, m, now); err != nil {
		return nil, err
	}
	return m, gone(&m.state, now)
}

// await holds until the message is no longer open, or wait is over. Whatever happens it looks once more at the end, and
// whether the caller's credential is still good.
func (h *Hub) await(
	ctx context.Context, c *Caller, id string, wait time.Duration, halt <-chan struct{},
) (*message, error) {
	tail, _ := messageTailOf(id)
	rung, stop := h.Bell.Listen(ctx, MessageLane(tail))
	defer stop()
	end := time.NewTimer(wait)
	defer end.Stop()
	for over := false; ; {
		m, err := h.lookAgain(ctx, c, id)
		if err != nil || m.state.Status != ma2h.StatusOpen || over {
			return m, err
		}
		deadline, cancel := h.untilExpiry(&m.state)
		select {
		case <-rung:
		case <-deadline:
		case <-end.C:
			over = true
		case <-halt:
			over = true
		case <-ctx.Done():
			cancel()
			return nil, ctx.Err()
		}
		cancel()
	}
}

// lookAgain reads a message for its submitter anew, and the agent with it: who has lost meanwhile the credential that they
// came with gets nothing, even where the agent has got another since.
func (h *Hub) lookAgain(ctx context.Context, c *Caller, id string) (*message, error) {
	recs, err := h.Store.Get(ctx, append(h.MessageKeys(id), AgentKey(c.Agent.Ref))...)
	if err != nil {
		return nil, fmt.Errorf("read message %s: %w", id, err)
	}
	var agent Agent
	if err := Decode(recs[len(recs)-1], &agent); err != nil {
		return nil, err
	}
	if !agent.Knows(c.Credential) {
		return nil, ma2h.Errorf(ma2h.CodeUnauthenticated, "The token was taken away while you waited with it.")
	}
	again := *c
	again.Read = recs
	return h.submitted(ctx, &again, id, h.now())
}

// untilExpiry returns a channel that receives when an open message's deadline has passed.
func (h *Hub) untilExpiry(s *State) (<-chan time.Time, func()) {
	if s.ExpiresAt.IsZero() {
		return nil, func() {}
	}
	t := time.NewTimer(afterDeadline(s.ExpiresAt).Sub(h.Now()))
	return t.C, func() { t.Stop() }
}

// stampDelivered advances the response track of a terminal ask or task once its agent has the Response.
func (h *Hub) stampDelivered(ctx context.Context, m *message) error {
	now := h.now()
	return h.change(ctx, m, nil, func(s *State) bool { return s.deliver(now) })
}

// deliver advances the response track, and says whether that is news (spec §14.2).
func (s *State) deliver(now time.Time) bool {
	if s.Response == nil || s.Deleted {
		return false
	}
	var d Delivery
	if s.Delivery != nil {
		d = *s.Delivery
	}
	next, changed := lifecycle.Deliver(d.State)
	if !changed {
		return false
	}
	d.State, d.DeliveredAt = next, now
	s.Delivery = &d
	return true
}

// pullBody composes the answer from the envelope as it was sent and what became of it.
func (h *Hub) pullBody(m *message) ([]byte, error) {
	var c Content
	if err := Decode(m.content, &c); err != nil {
		return nil, err
	}
	tail := struct {
		ID       string         `json:"id"`
		Status   ma2h.Status    `json:"status"`
		Response *ma2h.Response `json:"response,omitzero"`
		Delivery *ma2h.Delivery `json:"delivery,omitzero"`
		Mailbox  *ma2h.Mailbox  `json:"mailbox,omitzero"`
	}{ID: m.state.ID, Status: m.status(), Delivery: m.state.Delivery.wire(), Mailbox: m.mailbox()}
	if m.state.Response != nil {
		r, err := m.response()
		if err != nil {
			return nil, err
		}
		tail.Response = r
	}
	rest, err := json.Marshal(tail)
	if err != nil {
		return nil, err
	}
	envelope, err := m.shownEnvelope(c.Envelope)
	if err != nil {
		return nil, err
	}
	body := make([]byte, 0, len(envelope)+len(rest))
	body = append(body, envelope[:len(envelope)-1]...)
	body = append(body, ',')
	return append(body, rest[1:]...), nil
}

// shownEnvelope is the envelope with the account's default resolvers where they stand in for a missing list.
func (m *message) shownEnvelope(envelope jsontext.Value) (jsontext.Value, error) {
	if !m.state.ResolversDefaulted {
		return envelope, nil
	}
	block := "request"
	if m.state.Type == ma2h.TypeTask {
		block = "action"
	}
	list, err := json.Marshal(m.state.Resolvers)
	if err != nil {
		return nil, err
	}
	return withMember(envelope, block, "allowed_resolvers", list)
}

// withMember adds a member to the object under name in an object.
func withMember(object jsontext.Value, name, member string, value jsontext.Value) (jsontext.Value, error) {
	var outer, inner map[string]jsontext.Value
	if err := json.Unmarshal(object, &outer); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(outer[name], &inner); err != nil {
		return nil, err
	}
	inner[member] = value
	var err error
	if outer[name], err = json.Marshal(inner, json.Deterministic(true)); err != nil {
		return nil, err
	}
	return json.Marshal(outer, json.Deterministic(true))
}

// response is the Response as its submitter gets it on every channel: the stored outcome and the agent's own state
// (spec §6).
func (m *message) response() (*ma2h.Response, error) {
	envelope, err := m.message()
	if err != nil {
		return nil, err
	}
	r := m.state.outcome()
	r.State = envelope.State
	return r, nil
}

// outcome is the Response without the submitter's state; nil while there is none. The Caller is filled in here, since it
// stands in the state already.
func (s *State) outcome() *ma2h.Response {
	if s.Response == nil {
		return nil
	}
	r := *s.Response
	r.Agent = ma2h.ResponseAgent{ID: s.AgentID, RunID: s.RunID}
	return &r
}

// wire is the track as the spec writes it; nothing while it has not begun.
func (d *Delivery) wire() *ma2h.Delivery {
	if d == nil || d.State == "" {
		return nil
	}
	return &ma2h.Delivery{
		State: d.State, DeliveredAt: formatTime(d.DeliveredAt), AcknowledgedAt: formatTime(d.AcknowledgedAt), Ack: d.Ack,
	}
}

// mailbox is the outbound track of mail as its sender sees it (spec §8.2, §14.2); nil of a message that is not addressed.
func (m *message) mailbox() *ma2h.Mailbox {
	mail := m.state.Mail
	if mail == nil {
		return nil
	}
	box := &ma2h.Mailbox{
		State: m.track(), DeliveredAt: formatTime(mail.DeliveredAt), AcknowledgedAt: formatTime(mail.AcknowledgedAt),
		Ack: mail.Ack, Prior: mail.Prior,
	}
	if mail.lives() && m.entry != nil {
		box.DeliveredAt = formatTime(m.entry.DeliveredAt)
	}
	return box
}

// formatTime writes a time, or nothing for none.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ma2h.FormatTime(t)
}

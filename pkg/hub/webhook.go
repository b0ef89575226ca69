package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/signature"
)

// Webhook is where what people tell an agent is pushed, beside its mailbox (spec §8.7).
type Webhook struct {
	URL string    `json:"url"`
	At  time.Time `json:"at"`
	By  string    `json:"by"` // the actor who set it
}

// WebhookView is a webhook as people see it: whole to owners, and to others its host, for the rest may be a secret.
type WebhookView struct {
	URL   string    `json:"url,omitzero"`
	Host  string    `json:"host"`
	Bound bool      `json:"bound"` // whether the host is still the agent's own; else nothing is pushed there
	At    time.Time `json:"at"`
	By    string    `json:"by"`
}

// maxWebhookURL is how many bytes the URL of a webhook may have.
const maxWebhookURL = 2000

// SetWebhook has directives to the agent with this id pushed to a URL from now on, or no more where that is empty. The host must
// be one of the agent's (spec §8.7, §9.4). The errors are invalid_field with /url.
func (h *Hub) SetWebhook(ctx context.Context, c *Caller, agentID, url string) error {
	if err := ownerOnly(c); err != nil {
		return err
	}
	if url != "" {
		if err := h.checkWebhook(url); err != nil {
			return err
		}
	}
	return h.changeOwn(ctx, c, agentID, "webhook", func(a *Agent) (bool, error) {
		switch {
		case url == "":
			gone := a.Webhook != nil
			a.Webhook = nil
			return gone, nil
		case a.Revoked:
			return false, errRevoked()
		case !h.boundTo(a, url):
			return false, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/url",
				"The host is not known to be this agent's own; bind it to the agent first.")
		case a.Webhook != nil && a.Webhook.URL == url:
			return false, nil
		}
		a.Webhook = &Webhook{URL: url, At: h.now(), By: c.Actor()}
		return true, nil
	})
}

func (h *Hub) checkWebhook(url string) error {
	if len(url) > maxWebhookURL {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/url", "A URL has at most %d bytes.", maxWebhookURL)
	}
	if h.Settings.SigningKey != nil {
		return nil
	}
	if err := h.Pusher.Check(url); err != nil {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/url", "%s", err.Error())
	}
	return nil
}

// webhook is an agent's webhook as the caller sees it; nil for none.
func (h *Hub) webhook(c *Caller, a *Agent) *WebhookView {
	if a.Webhook == nil {
		return nil
	}
	v := &WebhookView{Host: shownHost(a.Webhook.URL), Bound: h.boundTo(a, a.Webhook.URL), At: a.Webhook.At, By: a.Webhook.By}
	if ownerOnly(c) == nil {
		v.URL = a.Webhook.URL
	}
	return v
}

// webhookWork is the obligation to push a directive, accepted at now; nil where there is none. One that is for a session is seen
// by drains that present it alone (spec §13.2).
func (d *addressee) webhookWork(now time.Time) *PushWork {
	if d.agent.Webhook == nil || d.session != nil {
		return nil
	}
	return &PushWork{URL: d.agent.Webhook.URL, Next: now}
}

// owed says whether there is something that a callback could bring: a Response, or a directive that is still in its mailbox.
func (s *State) owed() bool {
	if s.Type == ma2h.TypeDirective {
		return s.Mail.lives()
	}
	return s.Response != nil
}

// withAddressee reads with one request what an attempt at a directive needs beside it, and settles the directive by it.
func (h *Hub) withAddressee(ctx context.Context, m *message) error {
	agent, live := AgentKey(m.state.Mail.ToRef), LiveKey(m.state.Mail.ToRef)
	read, err := h.along(ctx, &Caller{}, append(m.state.postKeys(), agent, live)...)
	if err != nil {
		return fmt.Errorf("read who %s is for: %w", m.state.ID, err)
	}
	m.addressee, _ = read.seen(agent)
	m.live, _ = read.seen(live)
	return h.settleKnown(ctx, read, m, h.now())
}

// signedDirective composes and signs an attempt at a directive, anew each time (spec §9.7): to where the agent's webhook is now.
func (h *Hub) signedDirective(ctx context.Context, m *message, attempt int) (*Push, Failure, error) {
	var agent Agent
	var live Live
	if err := errors.Join(decodeAny(m.addressee, &agent), decodeAny(m.live, &live)); err != nil {
		return nil, "", err
	}
	switch {
	case agent.Revoked || agent.Ref == "":
		return nil, FailureRevoked, nil
	case live.Stop != nil:
		return nil, FailureStopped, nil
	case agent.Webhook == nil:
		return nil, FailureNoWebhook, nil
	case !h.boundTo(&agent, agent.Webhook.URL):
		return nil, FailureUnbound, nil
	}
	var c Content
	if err := Decode(m.content, &c); err != nil {
		return nil, "", err
	}
	signed, err := signature.Directive(c.Envelope)
	if err != nil {
		return nil, "", fmt.Errorf("sign %s: %w", m.state.ID, err)
	}
	header, err := signed.Sign(h.mailSigner(ctx), h.now(), ma2h.NewID(ma2h.PrefixNonce))
	if errors.Is(err, ErrNoKey) {
		return nil, FailureNoKey, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("sign %s: %w", m.state.ID, err)
	}
	headers := map[string]string{"Content-Type": "application/json", signature.HeaderName: header}
	return &Push{MessageID: m.state.ID, Attempt: attempt, URL: agent.Webhook.URL, Headers: headers, Body: c.Envelope}, "", nil
}

// stampDirective writes what came of an attempt at a directive. A 2xx is evidence that the agent got it (spec §15.1), which its
// row says as after a drain; it stays in the mailbox until it is acknowledged.
func (h *Hub) stampDirective(ctx context.Context, m *message, t try, result PushResult) error {
	now := h.now()
	for {
		next := m.state
		if !h.noteAttempt(&next, t, result, now) {
			return nil
		}
		if t.url != "" {
			next.Push.URL = t.url // which may have been changed since it was sent
		}
		put := record.Put(h.stateRecord(m.tail, &next), m.rec.Rev)
		err := h.Store.Commit(ctx, append(m.broughtBy(result, now), put)...)
		if err == nil {
			m.rec, m.state = put.Record, next
			h.Bell.Ring(ctx, AccountLane(next.Account))
			return nil
		}
		if record.AsConflict(err) == nil {
			return fmt.Errorf("write directive %s: %w", m.state.ID, err)
		}
		if err := h.reread(ctx, m, now); err != nil {
			return err
		}
	}
}

// broughtBy is the write by which the row of a directive says that the agent got it, if this result is the first to show that.
func (m *message) broughtBy(result PushResult, now time.Time) []record.Write {
	if !result.Delivered() || !m.state.Mail.lives() || m.entry == nil || !m.entry.DeliveredAt.IsZero() {
		return nil
	}
	row, rec := *m.entry, m.row
	row.DeliveredAt = now
	rec.Body = Encode(&row)
	return []record.Write{record.Put(rec, m.row.Rev)}
}

// reread reads a directive and its row anew.
func (h *Hub) reread(ctx context.Context, m *message, now time.Time) error {
	if err := h.afresh(ctx, m); err != nil || !m.state.Mail.lives() {
		return err
	}
	p, err := h.loadPost(ctx, &Caller{}, m, now)
	if err != nil {
		return err
	}
	m.row, m.entry = p.row, &p.entry
	return nil
}

package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// pushWork is the obligation that a message's callback will become once it is resolved; nil for pull (spec §8.3). What
// could never be pushed is refused here, where its sender sees it.
func (h *Hub) pushWork(ctx context.Context, a *Agent, m *ma2h.Message) (*PushWork, error) {
	callback := m.Callback()
	if !callback.Pushes() {
		return nil, nil
	}
	field := "/request/callback"
	if m.Type == ma2h.TypeTask {
		field = "/action/callback"
	}
	if callback.Auth == nil {
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, field+"/auth",
			`A push is signed; name the key, as in {"scheme":"hmac","secret_ref":"%s"}.`, PushSecretRef)
	}
	if h.Settings.SigningKey == nil {
		if err := h.checkCallback(ctx, a, callback, field); err != nil {
			return nil, err
		}
	}
	return &PushWork{URL: callback.URL, Auth: *callback.Auth}, nil
}

func (h *Hub) checkCallback(ctx context.Context, a *Agent, c *ma2h.Callback, field string) error {
	if c.Auth.Scheme != ma2h.SchemeHMAC {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, field+"/auth/scheme",
			"This hub cannot yet prove that the host is yours, so it attaches no %s credential; use hmac.", c.Auth.Scheme)
	}
	if err := h.Pusher.Check(c.URL); err != nil {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, field+"/url", "%s", err.Error())
	}
	if _, err := h.pushKey(ctx, a, c.Auth); err != nil {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, field+"/auth/secret_ref",
			"The agent has no secret of this name here; its push secret is called %s.", PushSecretRef)
	}
	return nil
}

// PushSecretRef is the secret_ref of the push secret that every agent gets.
const PushSecretRef = "env:MASH_PUSH_SECRET" //nolint:gosec // a name, not a secret

// pushKey returns the key that signs pushes under this auth: the newest secret of that name.
func (h *Hub) pushKey(ctx context.Context, a *Agent, auth *ma2h.CallbackAuth) ([]byte, error) {
	if h.Settings.SigningKey != nil {
		return h.Settings.SigningKey, nil
	}
	for _, s := range a.Secrets {
		if s.Ref == auth.SecretRef {
			return h.Keys.Unwrap(ctx, secretPurpose(a.Ref), s.Wrapped)
		}
	}
	return nil, ErrNoKey
}

// secretPurpose binds a wrapped push secret to its agent.
func secretPurpose(agentRef string) string { return "push-secret " + agentRef }

// pushDue makes one attempt at a Response that has been due to be pushed for grace, and commits what came of it (spec
// §8.3). A crash in between means another attempt: delivery is at least once, and the receiver tells by the resolution_id.
func (h *Hub) pushDue(ctx context.Context, m *message, grace time.Duration) error {
	w := m.state.Push
	if w == nil || w.Done || w.Next.IsZero() || w.Next.Add(grace).After(h.now()) || m.state.Response == nil {
		return nil
	}
	attempt := len(w.Attempts) + 1
	p, err := h.signedPush(ctx, m, attempt)
	if errors.Is(err, ErrNoKey) { // waiting brings no key back
		return h.pushed(ctx, m, attempt, PushResult{Failure: FailureRefused})
	}
	if err != nil {
		return err
	}
	result := h.Pusher.Push(ctx, *p)
	if result.Status == 0 && ctx.Err() != nil {
		return ctx.Err() // cut off by ourselves, which says nothing about the receiver
	}
	return h.pushed(context.WithoutCancel(ctx), m, attempt, result) // an answer that is here is not forgotten
}

// signedPush composes and signs an attempt: the very bytes that are sent (spec §9.2).
func (h *Hub) signedPush(ctx context.Context, m *message, attempt int) (*Push, error) {
	r, err := m.response()
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode response of %s: %w", m.state.ID, err)
	}
	agent, err := h.agent(ctx, m.state.AgentRef)
	if err != nil {
		return nil, err
	}
	w := m.state.Push
	key, err := h.pushKey(ctx, agent, &w.Auth)
	if err != nil {
		return nil, fmt.Errorf("key for the push of %s: %w", m.state.ID, err)
	}
	signed, err := signature.Response(body, w.URL)
	if err != nil {
		return nil, fmt.Errorf("sign response of %s: %w", m.state.ID, err)
	}
	header, err := signed.Sign(signature.HMAC(key), h.now(), ma2h.NewID(ma2h.PrefixNonce))
	if err != nil {
		return nil, fmt.Errorf("sign response of %s: %w", m.state.ID, err)
	}
	headers := map[string]string{"Content-Type": "application/json", "MA2H-Signature": header}
	switch w.Auth.Scheme {
	case ma2h.SchemeBearer:
		headers["Authorization"] = "Bearer " + string(key)
	case ma2h.SchemeAPIKey:
		headers["X-API-Key"] = string(key)
	}
	return &Push{MessageID: m.state.ID, Attempt: attempt, URL: w.URL, Headers: headers, Body: body}, nil
}

// pushed commits the result of an attempt, unless another worker has already written that one.
func (h *Hub) pushed(ctx context.Context, m *message, attempt int, result PushResult) error {
	now := h.now()
	if result.Delivered() {
		err := h.stampPush(ctx, m, now, attempt, result, time.Time{})
		if err == nil {
			h.Bell.Ring(ctx, MessageLane(m.tail))
		}
		return err
	}
	next := time.Time{}
	if result.Retryable() {
		if at, ok := h.Settings.Retry.Next(attempt, m.state.StatusAt, now, result.RetryAfter); ok {
			next = at.Truncate(time.Millisecond)
		}
	}
	return h.stampPush(ctx, m, now, attempt, result, next)
}

// stampPush writes an attempt: done when there is no next one, and on a 2xx the response track advances (spec §14.2).
func (h *Hub) stampPush(ctx context.Context, m *message, now time.Time, attempt int, result PushResult, next time.Time) error {
	return h.change(ctx, m, nil, func(s *State) bool {
		if s.Push == nil || s.Push.Done || len(s.Push.Attempts) >= attempt {
			return false
		}
		w := *s.Push
		w.Attempts = append(w.Attempts[:len(w.Attempts):len(w.Attempts)],
			Attempt{At: now, Status: result.Status, Failure: result.Failure})
		w.Next, w.Done = next, next.IsZero()
		s.Push = &w
		if result.Delivered() {
			s.deliver(now)
		}
		return true
	})
}

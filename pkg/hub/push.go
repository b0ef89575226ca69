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
	if err := h.Pusher.Check(c.URL); err != nil {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, field+"/url", "%s", err.Error())
	}
	if attaches(c.Auth.Scheme) && !h.boundTo(a, c.URL) {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, field+"/url",
			"The host is not bound to this agent, so no %s credential goes there; have the owner bind it, or use hmac.", c.Auth.Scheme)
	}
	ref, member := refOf(c.Auth)
	if _, err := h.pushKey(ctx, a, ref); err != nil {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, field+"/auth/"+member,
			"The agent has no secret of this name here; an owner sees their names, such as %s, on the agent's page, and makes others there.", PushSecretRef)
	}
	return nil
}

// PushSecretRef is the name of the push secret that every agent gets.
const PushSecretRef = "env:MASH_PUSH_SECRET" //nolint:gosec // a name, not a secret

// refOf returns the name of the secret of a callback, and the member that it stands in.
func refOf(auth *ma2h.CallbackAuth) (ref, member string) {
	if auth.Scheme == ma2h.SchemeHMAC {
		return auth.SecretRef, "secret_ref"
	}
	return auth.TokenRef, "token_ref"
}

// pushKey returns the secret of this name that is used now, or ErrNoKey.
func (h *Hub) pushKey(ctx context.Context, a *Agent, ref string) ([]byte, error) {
	if h.Settings.SigningKey != nil {
		return h.Settings.SigningKey, nil
	}
	if s := a.secret(ref, h.now()); s != nil {
		return h.Keys.Unwrap(ctx, secretPurpose(a.Ref), s.Wrapped)
	}
	return nil, ErrNoKey
}

// secretPurpose binds a wrapped push secret to its agent.
func secretPurpose(agentRef string) string { return "push-secret " + agentRef }

// try is one attempt of a callback: which of all, of which round, and where it went if it was made.
type try struct {
	number, round int
	url           string
}

// made is how many attempts there were in all.
func (w *PushWork) made() int { return w.Dropped + len(w.Attempts) }

// pushDue makes one attempt at a Response or directive that has been due to be pushed for grace, and commits what came of it
// (spec §8.3, §8.7). A crash in between means another attempt: delivery is at least once, and the receiver tells by the
// resolution_id, or the directive's id.
func (h *Hub) pushDue(ctx context.Context, m *message, grace time.Duration) error {
	w := m.state.Push
	if w == nil || w.Done || w.Next.IsZero() || w.Next.Add(grace).After(h.now()) || !m.state.owed() {
		return nil
	}
	t := try{number: w.made() + 1, round: w.Round}
	p, failure, err := h.signedPush(ctx, m, t.number)
	if err != nil {
		return err
	}
	if failure != "" { // waiting brings neither a key nor a host nor an agent back
		return h.stampPush(ctx, m, t, PushResult{Failure: failure})
	}
	t.url = p.URL
	result := h.Pusher.Push(ctx, *p)
	if result.Status == 0 && ctx.Err() != nil {
		return ctx.Err() // cut off by ourselves, which says nothing about the receiver
	}
	ctx = context.WithoutCancel(ctx) // an answer that is here is not forgotten
	if err := h.stampPush(ctx, m, t, result); err != nil {
		return err
	}
	if result.Delivered() {
		h.Bell.Ring(ctx, MessageLane(m.tail))
	}
	return nil
}

// signedPush composes and signs an attempt: the very bytes that are sent (spec §9.2). Instead it may say why there can be
// none.
func (h *Hub) signedPush(ctx context.Context, m *message, attempt int) (*Push, Failure, error) {
	if m.directive {
		return h.signedDirective(ctx, m, attempt)
	}
	r, err := m.response()
	if err != nil {
		return nil, "", err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, "", fmt.Errorf("encode response of %s: %w", m.state.ID, err)
	}
	agent, err := h.agent(ctx, m.state.AgentRef)
	if err != nil {
		return nil, "", err
	}
	if agent.Revoked {
		return nil, FailureRevoked, nil
	}
	w := m.state.Push
	if attaches(w.Auth.Scheme) && !h.boundTo(agent, w.URL) {
		return nil, FailureUnbound, nil
	}
	ref, _ := refOf(&w.Auth)
	key, err := h.pushKey(ctx, agent, ref)
	if errors.Is(err, ErrNoKey) {
		return nil, FailureNoKey, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("key for the push of %s: %w", m.state.ID, err)
	}
	headers, err := h.pushHeaders(ctx, body, w, key)
	if err != nil {
		return nil, "", fmt.Errorf("sign response of %s: %w", m.state.ID, err)
	}
	return &Push{MessageID: m.state.ID, Attempt: attempt, URL: w.URL, Headers: headers, Body: body}, "", nil
}

// pushHeaders signs a body and attaches the credential of the scheme.
func (h *Hub) pushHeaders(ctx context.Context, body []byte, w *PushWork, key []byte) (map[string]string, error) {
	signed, err := signature.Response(body, w.URL)
	if err != nil {
		return nil, err
	}
	header, err := signed.Sign(h.signer(ctx, w.Auth.Scheme, key), h.now(), ma2h.NewID(ma2h.PrefixNonce))
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"Content-Type": "application/json", signature.HeaderName: header}
	switch w.Auth.Scheme {
	case ma2h.SchemeBearer:
		headers["Authorization"] = "Bearer " + string(key)
	case ma2h.SchemeAPIKey:
		headers["X-API-Key"] = string(key)
	}
	return headers, nil
}

// signer returns what signs the pushes of a scheme: for hmac the agent's secret, and else, where the secret is no secret to
// whoever reads the push, the hub's own key, whose public half is in the JWKS (spec §9.2).
func (h *Hub) signer(ctx context.Context, scheme string, key []byte) signature.Signer {
	if scheme == ma2h.SchemeHMAC || h.Settings.SigningKey != nil {
		return signature.HMAC(key)
	}
	return hubSigner{ctx, h.Keys}
}

// hubSigner signs with the hub's current key.
type hubSigner struct {
	ctx  context.Context //nolint:containedctx // of the one signature that it is made for
	keys Keys
}

// Sign implements signature.Signer.
func (s hubSigner) Sign(data []byte) ([]byte, error) {
	_, signed, err := s.keys.Sign(s.ctx, data)
	return signed, err
}

// maxAttemptsKept is how many attempts a record keeps, the latest.
const maxAttemptsKept = 40

// stampPush writes what came of an attempt, unless another worker has written it: when to try again, or that there is no
// more to do, and on a 2xx the response track advances (spec §14.2).
func (h *Hub) stampPush(ctx context.Context, m *message, t try, result PushResult) error {
	if m.directive {
		return h.stampDirective(ctx, m, t, result)
	}
	now := h.now()
	return h.change(ctx, m, nil, func(s *State) bool {
		if !h.noteAttempt(s, t, result, now) {
			return false
		}
		if result.Delivered() {
			s.deliver(now)
		}
		return true
	})
}

// noteAttempt notes in s what came of an attempt, and says whether there was anything to note.
func (h *Hub) noteAttempt(s *State, t try, result PushResult, now time.Time) bool {
	if s.Push == nil || s.Push.delivered() {
		return false
	}
	w := *s.Push
	superseded := w.Round != t.round // a person has had it sent again meanwhile: that round makes all its attempts
	if !result.Delivered() && !superseded && (w.Done || w.made() >= t.number) {
		return false
	}
	w.note(Attempt{At: now, Status: result.Status, Failure: result.Failure})
	switch {
	case result.Delivered():
		w.Next, w.Done = time.Time{}, true
	case superseded:
		w.Before++
	default:
		w.Next = h.nextTry(s, &w, now, result)
		w.Done = w.Next.IsZero()
	}
	s.Push = &w
	return true
}

// note adds an attempt to those that are kept. It writes through no pointer that others may have.
func (w *PushWork) note(a Attempt) {
	w.Attempts = append(w.Attempts[:len(w.Attempts):len(w.Attempts)], a)
	if over := len(w.Attempts) - maxAttemptsKept; over > 0 {
		w.Attempts = w.Attempts[over:]
		w.Dropped += over
	}
}

// delivered says whether an attempt was taken.
func (w *PushWork) delivered() bool {
	return w.Done && len(w.Attempts) > 0 && PushResult{Status: w.Attempts[len(w.Attempts)-1].Status}.Delivered()
}

// nextTry is when to try again after an attempt that w ends with; zero for never.
func (h *Hub) nextTry(s *State, w *PushWork, now time.Time, result PushResult) time.Time {
	if !result.Retryable() {
		return time.Time{}
	}
	at, ok := h.Settings.Retry.Next(w.made()-w.Before, w.began(s), now, result.RetryAfter)
	if !ok {
		return time.Time{}
	}
	return at.Truncate(time.Millisecond)
}

// began is when the attempts of the current round began to be owed.
func (w *PushWork) began(s *State) time.Time {
	if w.Began.IsZero() {
		return s.owedAt()
	}
	return w.Began
}

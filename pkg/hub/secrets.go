package hub

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// SecretView is what a person sees of a secret of an agent: never the secret itself.
type SecretView struct {
	Ref       string      `json:"ref"` // as in secret_ref and token_ref
	State     SecretState `json:"state"`
	CreatedAt time.Time   `json:"created_at"`
	From      time.Time   `json:"from,omitzero"`  // when a next one begins to be used
	Until     time.Time   `json:"until,omitzero"` // when the current one ends to be used
}

// SecretState says whether a secret is in use.
type SecretState string

// The states of a secret. One that another has replaced is gone.
const (
	SecretCurrent SecretState = "current"
	SecretNext    SecretState = "next" // made, and not used yet, so that the receiver can be told of it
)

// SecretRequest is a secret to be made.
type SecretRequest struct {
	Ref   string
	Value string    // of a person, or empty for one that the hub makes
	From  time.Time // when it is used from; zero for at once where it is the first of its name, else for a day later
}

// NewSecret is a secret that was made. Its value is shown once.
type NewSecret struct {
	Ref   string    `json:"ref"`
	Value string    `json:"value,omitzero"` // where the hub made it
	From  time.Time `json:"from"`
}

// The bounds of secrets.
const (
	secretOverlap  = 24 * time.Hour // what a receiver has to learn a new secret, unless a person says otherwise
	longestOverlap = 90 * secretOverlap
	maxSecretRef   = 200 // bytes
	minSecret      = 8   // bytes of a person's secret
	maxSecret      = 4096
	maxSecretNames = 20 // of one agent
)

// SetSecret gives an agent a secret, which signs its pushes (hmac) or goes with them (bearer, apikey) where a callback names
// it. Where there is one of this name, it is a rotation with overlap (spec §9.2): the old one is used until the new one's
// time has come. One that waited for its time already gives way.
func (h *Hub) SetSecret(ctx context.Context, c *Caller, id string, r SecretRequest) (*NewSecret, error) {
	if err := ownerOnly(c); err != nil {
		return nil, err
	}
	if err := r.check(h.now()); err != nil {
		return nil, err
	}
	made := &NewSecret{Ref: r.Ref}
	err := h.changeOwn(ctx, c, id, "secret_add", func(a *Agent) (bool, error) {
		if a.Revoked {
			return false, errRevoked()
		}
		var err error
		made.Value, made.From, err = h.setSecret(ctx, a, r)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	if r.Value != "" {
		made.Value = ""
	}
	return made, nil
}

func (r *SecretRequest) check(now time.Time) error {
	switch {
	case r.Ref == "" || len(r.Ref) > maxSecretRef || !visible(r.Ref):
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/ref",
			"A secret's name is 1 to %d letters, digits and signs of ASCII without blanks, such as %s.", maxSecretRef, PushSecretRef)
	case r.Value != "" && (len(r.Value) < minSecret || len(r.Value) > maxSecret || !visible(r.Value)):
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/value",
			"A secret is %d to %d letters, digits and signs of ASCII without blanks; leave it out to have one made.", minSecret, maxSecret)
	case r.From.After(now.Add(longestOverlap)):
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/from", "A secret is used from within %d days.", int(longestOverlap/secretOverlap))
	}
	return nil
}

// visible says whether a text has nothing but the signs of ASCII that can be seen, so that it can stand in a header.
func visible(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// setSecret puts a secret in front of those of the agent, and drops what is not used any more.
func (h *Hub) setSecret(ctx context.Context, a *Agent, r SecretRequest) (value string, from time.Time, _ error) {
	if value = r.Value; value == "" {
		value = "mashs_" + rand.Text() + rand.Text()
	}
	wrapped, err := h.Keys.Wrap(ctx, secretPurpose(a.Ref), []byte(value))
	if err != nil {
		return "", from, fmt.Errorf("wrap push secret: %w", err)
	}
	now := h.now()
	made := PushSecret{Ref: r.Ref, Wrapped: wrapped, CreatedAt: now, From: r.From.UTC().Truncate(time.Millisecond)}
	current := a.secret(r.Ref, now)
	switch {
	case current == nil && len(a.secretNames()) >= maxSecretNames:
		return "", from, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/ref", "The agent has secrets of %d names, which is the limit; remove one.", maxSecretNames)
	case r.From.IsZero() && current != nil:
		made.From = now.Add(secretOverlap)
	case current == nil || !made.From.After(now):
		made.From = time.Time{} // from the beginning, which older hubs understand too
	}
	keep := slices.DeleteFunc(slices.Clone(a.Secrets), func(s PushSecret) bool {
		return s.Ref == r.Ref && (made.From.IsZero() || !slices.Equal(s.Wrapped, current.Wrapped))
	})
	a.Secrets = slices.Insert(keep, 0, made)
	return value, made.from(), nil
}

// from is when a secret is used from.
func (s *PushSecret) from() time.Time {
	if s.From.IsZero() {
		return s.CreatedAt
	}
	return s.From
}

// waits says whether a secret is not used yet. One that is used from the beginning never waits, whatever the clock says.
func (s *PushSecret) waits(now time.Time) bool { return s.From.After(now) }

// secret returns the secret of a name that is used now: the newest of those whose time has come. nil for none.
func (a *Agent) secret(ref string, now time.Time) *PushSecret {
	for i := range a.Secrets {
		if s := &a.Secrets[i]; s.Ref == ref && !s.waits(now) {
			return s
		}
	}
	return nil
}

// nextSecret returns the secret of a name whose time is still to come; nil for none.
func (a *Agent) nextSecret(ref string, now time.Time) *PushSecret {
	for i := range a.Secrets {
		if s := &a.Secrets[i]; s.Ref == ref && s.waits(now) {
			return s
		}
	}
	return nil
}

// secretNames returns the names of the agent's secrets, each once, newest first.
func (a *Agent) secretNames() []string {
	var names []string
	for _, s := range a.Secrets {
		if !slices.Contains(names, s.Ref) {
			names = append(names, s.Ref)
		}
	}
	return names
}

// secretViews lists the agent's secrets by name, of each the current one first.
func (a *Agent) secretViews(now time.Time) []SecretView {
	views := []SecretView{}
	for _, ref := range slices.Sorted(slices.Values(a.secretNames())) {
		current, next := a.secret(ref, now), a.nextSecret(ref, now)
		if current != nil {
			v := SecretView{Ref: ref, State: SecretCurrent, CreatedAt: current.CreatedAt}
			if next != nil {
				v.Until = next.from()
			}
			views = append(views, v)
		}
		if next != nil {
			views = append(views, SecretView{Ref: ref, State: SecretNext, CreatedAt: next.CreatedAt, From: next.from()})
		}
	}
	return views
}

// UseSecretNow has the secret of this name that waits for its time used from now on, and forgets the one before it.
func (h *Hub) UseSecretNow(ctx context.Context, c *Caller, id, ref string) error {
	return h.changeOwn(ctx, c, id, "secret_use", func(a *Agent) (bool, error) {
		next := a.nextSecret(ref, h.now())
		if next == nil {
			if a.secret(ref, h.now()) == nil {
				return false, errNoSecret()
			}
			return false, nil // it is used already
		}
		used := *next
		used.From = time.Time{}
		a.Secrets = slices.DeleteFunc(slices.Clone(a.Secrets), func(s PushSecret) bool { return s.Ref == ref })
		a.Secrets = slices.Insert(a.Secrets, 0, used)
		return true, nil
	})
}

// RemoveSecret takes a secret from an agent: only the one that waits for its time for SecretNext, and for "" all of this
// name, so that callbacks that name it fail from then on.
func (h *Hub) RemoveSecret(ctx context.Context, c *Caller, id, ref string, only SecretState) error {
	if only != "" && only != SecretNext {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/only", "Only what is next can be removed alone; to end the current one, have the next one used now.")
	}
	return h.changeOwn(ctx, c, id, "secret_remove", func(a *Agent) (bool, error) {
		now := h.now()
		keep := slices.DeleteFunc(slices.Clone(a.Secrets), func(s PushSecret) bool {
			return s.Ref == ref && (only == "" || s.waits(now))
		})
		if len(keep) == len(a.Secrets) {
			return false, errNoSecret()
		}
		a.Secrets = keep
		return true, nil
	})
}

func errNoSecret() error {
	return ma2h.Errorf(ma2h.CodeNotFound, "The agent has no such secret.")
}

func errRevoked() error {
	return ma2h.Errorf(ma2h.CodeNotFound, "The agent is revoked; add it again.")
}

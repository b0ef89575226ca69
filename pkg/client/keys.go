package client

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/signature"
)

// HubKeys returns the hub's public ed25519 keys, from its JWKS: two while it changes its key. It sends no credential.
func (c *Client) HubKeys(ctx context.Context) ([]ed25519.PublicKey, error) {
	var set struct {
		Keys []struct {
			Type  string `json:"kty"`
			Curve string `json:"crv"`
			X     string `json:"x"`
		} `json:"keys"`
	}
	if err := c.call(ctx, request{name: endpoint.JWKS, into: &set, repeat: true}); err != nil {
		return nil, err
	}
	var keys []ed25519.PublicKey
	for _, k := range set.Keys {
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if k.Type == "OKP" && k.Curve == "Ed25519" && err == nil && len(x) == ed25519.PublicKeySize {
			keys = append(keys, x)
		}
	}
	return keys, nil
}

const (
	keysAfresh  = time.Minute      // how often at most a signature under an unknown key has the keys fetched again
	keysTimeout = 10 * time.Second // of a fetch, for which whoever delivers waits
)

// hubKeys is what a Verifier or a Mailbox knows of its hub's keys.
type hubKeys struct {
	mu      sync.Mutex
	keys    []ed25519.PublicKey
	fetched time.Time // zero before the first success
	tried   time.Time
}

// known returns the keys, fetched at the first use. It fails while they could not be fetched even once.
func (k *hubKeys) known(ctx context.Context, hub *Client, now time.Time) ([]ed25519.PublicKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.fetched.IsZero() {
		return k.keys, nil
	}
	return k.keys, k.fetch(ctx, hub, now)
}

// afresh fetches the keys again, unless they were fetched or tried a moment ago, and says whether it has.
func (k *hubKeys) afresh(ctx context.Context, hub *Client, now time.Time) ([]ed25519.PublicKey, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if age := now.Sub(k.tried); age >= 0 && age < keysAfresh {
		return k.keys, false
	}
	return k.keys, k.fetch(ctx, hub, now) == nil
}

func (k *hubKeys) fetch(ctx context.Context, hub *Client, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, keysTimeout)
	defer cancel()
	k.tried = now
	keys, err := hub.HubKeys(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoKeys, err)
	}
	k.keys, k.fetched = keys, now
	return nil
}

// delivery is a signature and what it has to cover.
type delivery struct {
	covered signature.Context
	header  string
	now     time.Time
	window  time.Duration
}

func (d delivery) verify(keys []signature.Verifier) (signature.Header, error) {
	return d.covered.Verify(d.header, d.now, d.window, keys...)
}

// verify checks a delivery under the keys that are given, and where it is under none of them, under those that the hub, if
// there is one, has by now.
func (k *hubKeys) verify(ctx context.Context, hub *Client, d delivery, given []signature.Verifier) (signature.Header, error) {
	h, err := d.verify(given)
	if hub == nil || !errors.Is(err, signature.ErrMismatch) {
		return h, err
	}
	keys, fetchErr := k.known(ctx, hub, d.now)
	if fetchErr != nil {
		return h, fetchErr
	}
	if h, err = d.verify(publicKeys(keys)); !errors.Is(err, signature.ErrMismatch) {
		return h, err
	}
	if keys, again := k.afresh(ctx, hub, d.now); again {
		return d.verify(publicKeys(keys))
	}
	return h, err
}

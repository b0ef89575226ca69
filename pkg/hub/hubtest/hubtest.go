// Package hubtest holds the contracts of the hub's ports as test suites that every adapter runs.
package hubtest

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

// patience is how long something that must happen may take.
const patience = 20 * time.Second

// Bell holds a Bell to its contract.
func Bell(t *testing.T, newBell func(t *testing.T) hub.Bell) {
	t.Run("a ring wakes all who listen to the lane and nobody else", func(t *testing.T) {
		t.Parallel()
		b := newBell(t)
		first, stopFirst := b.Listen(t.Context(), "m#1")
		defer stopFirst()
		second, stopSecond := b.Listen(t.Context(), "m#1")
		defer stopSecond()
		other, stopOther := b.Listen(t.Context(), "m#2")
		defer stopOther()
		b.Ring(t.Context(), "m#1")
		hears(t, first)
		hears(t, second)
		b.Ring(t.Context(), "m#2")
		hears(t, other)
		silent(t, other) // the first ring was not for it
	})
	t.Run("a ring without listeners is lost and blocks nobody", func(t *testing.T) {
		t.Parallel()
		b := newBell(t)
		b.Ring(t.Context(), "m#1")
		rung, stop := b.Listen(t.Context(), "m#1")
		defer stop()
		silent(t, rung)
	})
	t.Run("many rings may be heard as one, and never block", func(t *testing.T) {
		t.Parallel()
		b := newBell(t)
		rung, stop := b.Listen(t.Context(), "m#1")
		defer stop()
		for range 1000 {
			b.Ring(t.Context(), "m#1")
		}
		hears(t, rung)
	})
	t.Run("rings and listeners come and go together", func(t *testing.T) {
		t.Parallel()
		b := newBell(t)
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				lane := fmt.Sprintf("m#%d", i%4)
				for range 200 {
					rung, stop := b.Listen(t.Context(), lane)
					b.Ring(t.Context(), lane)
					hears(t, rung)
					stop()
				}
			})
		}
		wg.Wait()
	})
}

func hears(t *testing.T, rung <-chan struct{}) {
	t.Helper()
	select {
	case <-rung:
	case <-time.After(patience):
		t.Error("a ring was not heard")
	}
}

func silent(t *testing.T, rung <-chan struct{}) {
	t.Helper()
	select {
	case <-rung:
		t.Error("a ring was heard that was not for this listener")
	default:
	}
}

// Keys holds a Keys to its contract.
func Keys(t *testing.T, newKeys func(t *testing.T) hub.Keys) {
	t.Run("a hash is the same each time and keeps its parts apart", func(t *testing.T) {
		t.Parallel()
		k := newKeys(t)
		parts := []string{"agent", "a", "b"}
		if first, second := k.Hash(parts...), k.Hash(parts...); first != second {
			t.Error("Hash of the same parts differs")
		}
		for _, other := range [][]string{{"agent", "ab", ""}, {"agent", "", "ab"}, {"agenta", "b"}, {"agent", "a", "b", ""}} {
			if k.Hash("agent", "a", "b") == k.Hash(other...) {
				t.Errorf("Hash(agent, a, b) = Hash(%q)", other)
			}
		}
	})
	t.Run("a wrapped secret opens for its purpose only", func(t *testing.T) {
		t.Parallel()
		k, secret := newKeys(t), []byte("a secret")
		wrapped, err := k.Wrap(t.Context(), "push-secret x", secret)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(wrapped, secret) {
			t.Error("Wrap leaves the secret in the clear")
		}
		if got, err := k.Unwrap(t.Context(), "push-secret x", wrapped); err != nil || !bytes.Equal(got, secret) {
			t.Errorf("Unwrap(Wrap(s)) = %q, %v, want s", got, err)
		}
		if _, err := k.Unwrap(t.Context(), "push-secret y", wrapped); !errors.Is(err, hub.ErrNoKey) {
			t.Errorf("Unwrap for another purpose = %v, want ErrNoKey", err)
		}
	})
	t.Run("there is a public key of 32 bytes", func(t *testing.T) {
		t.Parallel()
		for _, p := range newKeys(t).Public() {
			if p.ID != "" && len(p.Key) == 32 {
				return
			}
		}
		t.Error("Public() has no ed25519 key with an id")
	})
	t.Run("what is signed verifies under the public key of its id", func(t *testing.T) {
		t.Parallel()
		k := newKeys(t)
		for _, message := range [][]byte{[]byte("a message"), nil} {
			kid, signature, err := k.Sign(t.Context(), message)
			if err != nil {
				t.Fatal(err)
			}
			known := false
			for _, p := range k.Public() {
				if p.ID == kid {
					known = ed25519.Verify(p.Key, message, signature)
				}
			}
			if !known {
				t.Errorf("Sign(%q) under %q verifies under no public key of that id", message, kid)
			}
		}
	})
}

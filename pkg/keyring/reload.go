package keyring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/record"
)

// ReloadEvery bounds for how long a process works with keys that have been changed by another. Whoever runs a hub sees to
// it that Freshen is called.
const ReloadEvery = 5 * time.Minute

// reloadPause is how soon after keys were read they are not read again because something does not open.
const reloadPause = 10 * time.Second

// origin is where a keyring's keys were read from, with what needs not be asked of the Wrapper again.
type origin struct {
	store   record.Store
	wrapper Wrapper

	mu      sync.Mutex // one reload at a time
	wrapped []byte     // the wrapping key as it lay in its record
	wrap    []byte     // what the Wrapper made of that
}

// open opens the keys of these records. The Wrapper is asked only for what it has not opened yet.
func (o *origin) open(ctx context.Context, recs []record.Record) (*opened, error) {
	bodies, err := bodiesOf(recs)
	if err != nil {
		return nil, err
	}
	wrapped, wrap := bodies[sortWrap].Wrapped, o.wrap
	if !bytes.Equal(wrapped, o.wrapped) {
		if wrap, err = o.wrapper.Unwrap(ctx, purposeWrap, wrapped); err != nil {
			return nil, fmt.Errorf("open hub keys: %w", err)
		}
	}
	out, err := unwrapUnder(wrap, bodies)
	if err != nil {
		return nil, err
	}
	o.wrapped, o.wrap = wrapped, wrap
	return out, nil
}

// Reload reads the hub's keys again, by one request to the store, and to the Wrapper only if the wrapping key was wrapped
// anew. When it fails the keys stay those at hand.
func (k *Keyring) Reload(ctx context.Context) error {
	if k.origin == nil {
		return nil
	}
	k.origin.mu.Lock()
	defer k.origin.mu.Unlock()
	return k.reload(ctx)
}

// Freshen is Reload unless the keys were read within the last ReloadEvery.
func (k *Keyring) Freshen(ctx context.Context) error {
	if k.origin == nil || k.fresh() {
		return nil
	}
	k.origin.mu.Lock()
	defer k.origin.mu.Unlock()
	if k.fresh() {
		return nil // another has done it meanwhile
	}
	return k.reload(ctx)
}

func (k *Keyring) fresh() bool { return k.now().Sub(k.held.Load().readAt) < ReloadEvery }

func (k *Keyring) reload(ctx context.Context) error {
	at := k.now()
	recs, err := list(ctx, k.origin.store)
	if err != nil {
		return err
	}
	opened, err := k.origin.open(ctx, recs)
	if err != nil {
		return err
	}
	k.held.Store(opened.held(at))
	return nil
}

// Reason is a code for why keys were not read: "keys" when they do not open, else "store".
func Reason(err error) string {
	for _, known := range []error{ErrWrongKey, ErrIncomplete, ErrNoKeys} {
		if errors.Is(err, known) {
			return "keys"
		}
	}
	return "store"
}

package keyring_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/record"
)

// clock is a clock that tests set.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.at.Store(time.Now().Unix())
	return c
}
func (c *clock) now() time.Time        { return time.Unix(c.at.Load(), 0) }
func (c *clock) pass(d time.Duration)  { c.at.Add(int64(d / time.Second)) }
func (c *clock) on(k *keyring.Keyring) { k.Now = c.now }

// listed is a Store that counts how often the keys are read.
type listed struct {
	record.Store
	times atomic.Int32
}

func (l *listed) List(ctx context.Context, part, after string, limit int) ([]record.Record, error) {
	l.times.Add(1)
	return l.Store.List(ctx, part, after, limit)
}

// asked is a Wrapper that counts how often it is asked to unwrap.
type asked struct {
	keyring.Wrapper
	times atomic.Int32
}

func (a *asked) Unwrap(ctx context.Context, purpose string, wrapped []byte) ([]byte, error) {
	a.times.Add(1)
	return a.Wrapper.Unwrap(ctx, purpose, wrapped)
}

func signs(k *keyring.Keyring) string {
	kid, _, err := k.Sign(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	return kid
}

func set(k *keyring.Keyring) []string {
	var ids []string
	for _, p := range k.Public() {
		ids = append(ids, p.ID)
	}
	return ids
}

func TestRotate_TheNewKeyIsKnownBeforeItSignsAndTheOldOneAfter(t *testing.T) {
	t.Parallel()
	store, c := newStore(t), newClock()
	file, _ := keyFile(t)
	running := mustOpen(t, store, file)
	c.on(running)
	old := signs(running)
	done, err := keyring.Rotate(t.Context(), store, file, keyring.Rotation{Now: c.now, Overlap: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(done.Old, []string{old}) || !done.SignsFrom.Equal(c.now().Add(keyring.Lead)) ||
		!done.OldUntil.Equal(done.SignsFrom.Add(time.Hour)) {
		t.Errorf("Rotate = %+v at %v", done, c.now())
	}
	see := func(when, signing string, known ...string) {
		t.Helper()
		if err := running.Freshen(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := signs(running); got != signing {
			t.Errorf("%s it signs with %s, want %s", when, got, signing)
		}
		if got := set(running); !slices.Equal(got, known) {
			t.Errorf("%s the key set is %q, want %q", when, got, known)
		}
	}
	see("before it was told", old, old)
	c.pass(keyring.ReloadEvery + time.Second)
	see("once it was told", old, done.ID, old)
	c.pass(keyring.Lead - keyring.ReloadEvery - 2*time.Second)
	see("a second before the time", old, done.ID, old)
	c.pass(time.Second)
	see("at the time", done.ID, done.ID, old)
	c.pass(time.Hour - time.Second)
	see("at the end of the overlap", done.ID, done.ID, old)
	c.pass(time.Second)
	see("after the overlap", done.ID, done.ID)

	if _, err := keyring.Rotate(t.Context(), store, file, keyring.Rotation{Now: c.now}); err != nil {
		t.Errorf("Rotate after the overlap = %v", err)
	}
	if recs, err := store.List(t.Context(), "k#hub", "", 100); err != nil || len(recs) != 4 {
		t.Errorf("%d records of keys, %v, want 4: what has retired is erased", len(recs), err)
	}
}

func TestRotate_TwiceInARowIsRefusedButForALeakedKey(t *testing.T) {
	t.Parallel()
	store, c := newStore(t), newClock()
	file, _ := keyFile(t)
	running := mustOpen(t, store, file)
	c.on(running)
	first, err := keyring.Rotate(t.Context(), store, file, keyring.Rotation{Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	_, err = keyring.Rotate(t.Context(), store, file, keyring.Rotation{Now: c.now})
	if r, ok := errors.AsType[*keyring.RotatingError](err); !ok || !r.OldUntil.Equal(first.OldUntil) || !r.SignsFrom.Equal(first.SignsFrom) {
		t.Errorf("Rotate again = %v, want a refusal until %v", err, first.OldUntil)
	}
	done, err := keyring.Rotate(t.Context(), store, file, keyring.Rotation{Now: c.now, AtOnce: true})
	if err != nil || len(done.Old) != 2 {
		t.Fatalf("Rotate at once = %+v, %v", done, err)
	}
	if err := running.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if signs(running) != done.ID || !slices.Equal(set(running), []string{done.ID}) {
		t.Errorf("it signs with %s of %q, want %s alone", signs(running), set(running), done.ID)
	}
}

func TestRotate_OfManyAtOnceOneWins(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	file, _ := keyFile(t)
	mustOpen(t, store, file)
	var won atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := keyring.Rotate(t.Context(), store, file, keyring.Rotation{})
			if err == nil {
				won.Add(1)
			} else if _, ok := errors.AsType[*keyring.RotatingError](err); !ok {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if k := mustOpen(t, store, file); won.Load() != 1 || len(k.Public()) != 2 {
		t.Errorf("%d of 8 rotations won, and there are %d keys, want 1 and 2", won.Load(), len(k.Public()))
	}
}

func TestRotate_WithoutKeysThereIsNothingToRotate(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	file, _ := keyFile(t)
	if _, err := keyring.Rotate(t.Context(), store, file, keyring.Rotation{}); !errors.Is(err, keyring.ErrNoKeys) {
		t.Errorf("Rotate = %v, want %v", err, keyring.ErrNoKeys)
	}
}

func TestReload_AsksTheStoreNowAndThenAndTheWrapperOnce(t *testing.T) {
	t.Parallel()
	store, c := &listed{Store: newStore(t)}, newClock()
	file, _ := keyFile(t)
	mustOpen(t, store, file)
	wrapper := &asked{Wrapper: file}
	k := mustOpen(t, store, wrapper)
	c.on(k)
	store.times.Store(0)
	for range 10 {
		for range 100 {
			if err := k.Freshen(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		c.pass(keyring.ReloadEvery / 2)
	}
	if reads, asks := store.times.Load(), wrapper.times.Load(); reads < 4 || reads > 5 || asks != 1 {
		t.Errorf("in 10 half intervals the keys were read %d times and unwrapped %d times, want 4 or 5, and once", reads, asks)
	}
}

func TestReload_ThatFailsLeavesWhatThereIs(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	file, _ := keyFile(t)
	k := mustOpen(t, store, file)
	was := signs(k)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Reload(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Reload = %v, want %v", err, context.Canceled)
	}
	if signs(k) != was || k.Hash("x") == [32]byte{} {
		t.Error("the keys are gone after a reload that failed")
	}
	if err := keyring.Ephemeral().Freshen(ctx); err != nil {
		t.Errorf("Freshen of an ephemeral keyring = %v", err)
	}
	var _ hub.Keys = k
}

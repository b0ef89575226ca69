package keyring_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/record"
)

// refusingStore commits nothing.
type refusingStore struct{ record.Store }

var errRefused = errors.New("refused")

func (refusingStore) Commit(context.Context, ...record.Write) error { return errRefused }

func next(t *testing.T, f *keyring.File) *keyring.File {
	t.Helper()
	n, err := f.Next()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func reopened(t *testing.T, path string) *keyring.File {
	t.Helper()
	f, err := keyring.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func wrapped(t *testing.T, k *keyring.Keyring, secret string) []byte {
	t.Helper()
	w, err := k.Wrap(t.Context(), "p", []byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func opens(t *testing.T, k *keyring.Keyring, w []byte, want string) {
	t.Helper()
	if got, err := k.Unwrap(t.Context(), "p", w); err != nil || string(got) != want {
		t.Errorf("Unwrap = %q, %v, want %q", got, err, want)
	}
}

func TestRekey_ReplacesTheWrappingKeyAndNothingElse(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	file, path := keyFile(t)
	before := mustOpen(t, store, file)
	old := wrapped(t, before, "old")
	wasFile, _ := os.ReadFile(path)

	if err := keyring.Rekey(t.Context(), store, file, next(t, file)); err != nil {
		t.Fatal(err)
	}
	if err := file.Replace(); err != nil {
		t.Fatal(err)
	}
	after := mustOpen(t, store, reopened(t, path))
	if after.Hash("x") != before.Hash("x") || signs(after) != signs(before) || !after.Rekeying() {
		t.Error("another key than the wrapping key has changed, or none")
	}
	opens(t, after, old, "old")
	fresh, changed, err := after.Rewrap(t.Context(), "p", old)
	if err != nil || !changed {
		t.Fatalf("Rewrap = %t, %v", changed, err)
	}
	if same, changed, err := after.Rewrap(t.Context(), "p", fresh); err != nil || changed || !slices.Equal(same, fresh) {
		t.Errorf("Rewrap again = %t, %v, want nothing to do", changed, err)
	}
	opens(t, after, fresh, "old")
	if err := keyring.Rekey(t.Context(), store, file, next(t, file)); !errors.Is(err, keyring.ErrUnfinished) {
		t.Errorf("Rekey in the middle of one = %v, want %v", err, keyring.ErrUnfinished)
	}
	for range 2 {
		if err := keyring.FinishRekey(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
	done := mustOpen(t, store, reopened(t, path))
	opens(t, done, fresh, "old")
	if _, err := done.Unwrap(t.Context(), "p", old); !errors.Is(err, hub.ErrNoKey) {
		t.Errorf("what lay under the key before still opens: %v", err)
	}
	if _, _, err := done.Rewrap(t.Context(), "p", old); !errors.Is(err, hub.ErrNoKey) {
		t.Errorf("Rewrap of what does not open = %v, want %v", err, hub.ErrNoKey)
	}
	if err := os.WriteFile(path+".was", wasFile, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keyring.Open(t.Context(), store, reopened(t, path+".was")); !errors.Is(err, keyring.ErrWrongKey) {
		t.Errorf("Open under the key file before = %v, want %v", err, keyring.ErrWrongKey)
	}
}

func TestRekey_CutShortLeavesKeysThatOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		do    func(t *testing.T, store record.Store, file, next *keyring.File)
		moved bool
	}{
		{"once the key file is made", func(t *testing.T, _ record.Store, _, next *keyring.File) {
			if _, err := next.Wrap(t.Context(), "p", nil); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"once the commit has failed", func(t *testing.T, store record.Store, file, next *keyring.File) {
			if err := keyring.Rekey(t.Context(), refusingStore{store}, file, next); !errors.Is(err, errRefused) {
				t.Fatal(err)
			}
		}, false},
		{"once the keys are committed", func(t *testing.T, store record.Store, file, next *keyring.File) {
			if err := keyring.Rekey(t.Context(), store, file, next); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"once the key file is replaced", func(t *testing.T, store record.Store, file, next *keyring.File) {
			if err := errors.Join(keyring.Rekey(t.Context(), store, file, next), file.Replace()); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			file, path := keyFile(t)
			old := wrapped(t, mustOpen(t, store, file), "old")
			was, _ := os.ReadFile(path)
			c.do(t, store, file, next(t, file))
			for range 2 { // a start, and the one after
				f := reopened(t, path)
				opens(t, mustOpen(t, store, f), old, "old")
				if err := f.Settle(); err != nil {
					t.Fatal(err)
				}
			}
			now, err := os.ReadFile(path)
			if moved := string(now) != string(was); err != nil || moved != c.moved {
				t.Errorf("the key file is another: %t, %v, want %t", moved, err, c.moved)
			}
			if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the file beside it is still there: %v", err)
			}
		})
	}
}

func TestRewrap_ChangesWhatTheWrappingKeyLiesUnder(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	file, path := keyFile(t)
	other, _ := keyFile(t)
	running := mustOpen(t, store, &both{file, other})
	old := wrapped(t, running, "old")
	if err := keyring.Rewrap(t.Context(), store, file, other); err != nil {
		t.Fatal(err)
	}
	if err := running.Reload(t.Context()); err != nil {
		t.Errorf("a process that runs cannot go on: %v", err)
	}
	opens(t, running, old, "old")
	opens(t, mustOpen(t, store, other), old, "old")
	if _, err := keyring.Open(t.Context(), store, reopened(t, path)); !errors.Is(err, keyring.ErrWrongKey) {
		t.Errorf("Open under the key before = %v, want %v", err, keyring.ErrWrongKey)
	}
}

// both is a Wrapper that knows two keys, as a key service does.
type both struct {
	keyring.Wrapper
	second keyring.Wrapper
}

func (b *both) Unwrap(ctx context.Context, purpose string, wrapped []byte) ([]byte, error) {
	secret, err := b.Wrapper.Unwrap(ctx, purpose, wrapped)
	if errors.Is(err, keyring.ErrWrongKey) {
		return b.second.Unwrap(ctx, purpose, wrapped)
	}
	return secret, err
}

// TestUnwrap_ReadsTheKeysAgain: what another process has wrapped under newer keys is not taken for lost.
func TestUnwrap_ReadsTheKeysAgain(t *testing.T) {
	t.Parallel()
	store, c := newStore(t), newClock()
	file, path := keyFile(t)
	running := mustOpen(t, store, file)
	c.on(running)
	if err := errors.Join(keyring.Rekey(t.Context(), store, file, next(t, file)), file.Replace()); err != nil {
		t.Fatal(err)
	}
	fresh := wrapped(t, mustOpen(t, store, reopened(t, path)), "new")
	if _, err := running.Unwrap(t.Context(), "p", fresh); !errors.Is(err, hub.ErrNoKey) {
		t.Errorf("Unwrap a moment after the keys were read = %v, want %v", err, hub.ErrNoKey)
	}
	c.pass(keyring.ReloadEvery)
	opens(t, running, fresh, "new")
}

package keyring_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

func newStore(t *testing.T) record.Store {
	t.Helper()
	s, err := sqlitestore.Open(filepath.Join(t.TempDir(), "mash.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	return s
}

func keyFile(t *testing.T) (*keyring.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mash.key")
	f, err := keyring.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return f, path
}

func mustOpen(t *testing.T, s record.Store, w keyring.Wrapper) *keyring.Keyring {
	t.Helper()
	k, err := keyring.Open(t.Context(), s, w)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestASecondStartHasTheKeysOfTheFirst(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	file, path := keyFile(t)
	first := mustOpen(t, store, file)
	wrapped, err := first.Wrap(t.Context(), "p", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := keyring.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := mustOpen(t, store, again)
	if first.Hash("a", "b") != second.Hash("a", "b") {
		t.Error("Hash differs after a restart")
	}
	if got, err := second.Unwrap(t.Context(), "p", wrapped); string(got) != "secret" {
		t.Errorf("Unwrap after a restart = %q, %v, want secret", got, err)
	}
	kid, private := second.Signing()
	public := first.Public()
	if len(public) != 1 || public[0].ID != kid || !bytes.Equal(public[0].Key, private.Public().(ed25519.PublicKey)) {
		t.Errorf("Public() = %v, want the one key %s", public, kid)
	}
}

func TestTwoFirstStartsAgree(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	_, path := keyFile(t)
	rings := make([]*keyring.Keyring, 8)
	var group sync.WaitGroup
	for i := range rings {
		group.Go(func() {
			f, err := keyring.OpenFile(path)
			if err != nil {
				t.Error(err)
				return
			}
			if rings[i], err = keyring.Open(t.Context(), store, f); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, k := range rings {
		if k == nil || k.Hash("x") != rings[0].Hash("x") || k.Public()[0].ID != rings[0].Public()[0].ID {
			t.Fatal("two first starts have different keys")
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestAnotherKeyFileIsAClearErrorWithoutSecrets(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	file, path := keyFile(t)
	mustOpen(t, store, file)
	other, otherPath := keyFile(t)
	if _, err := other.Wrap(t.Context(), "p", nil); err != nil { // makes the file
		t.Fatal(err)
	}
	_, err := keyring.Open(t.Context(), store, other)
	if !errors.Is(err, keyring.ErrWrongKey) || !strings.Contains(err.Error(), otherPath) {
		t.Errorf("Open with another key file = %v, want %v and the file's name", err, keyring.ErrWrongKey)
	}
	for _, p := range []string{path, otherPath} {
		raw, _ := os.ReadFile(p)
		if secret := strings.Fields(string(raw)); strings.Contains(err.Error(), secret[len(secret)-1]) {
			t.Errorf("the error %q names a key", err)
		}
	}
}

func TestALostKeyFileIsNotReplaced(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	file, path := keyFile(t)
	mustOpen(t, store, file)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	again, err := keyring.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keyring.Open(t.Context(), store, again); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open without the key file = %v, want %v", err, os.ErrNotExist)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stat of the lost file = %v, want %v", err, os.ErrNotExist)
	}
}

func TestNothingIsStoredInTheClear(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	file, _ := keyFile(t)
	ring := mustOpen(t, store, file)
	_, private := ring.Signing()
	recs, err := store.List(t.Context(), "k#hub", "", 100)
	if err != nil || len(recs) != 3 {
		t.Fatalf("List(k#hub) = %d records, %v, want 3", len(recs), err)
	}
	for _, r := range recs {
		if plain := base64.StdEncoding.EncodeToString(private.Seed()); bytes.Contains(r.Body, []byte(plain)) || r.Kind != keyring.KindKey {
			t.Errorf("record %s of kind %s holds a key in the clear or is of another kind", r.Key, r.Kind)
		}
	}
}

func TestAnIncompleteOrSwappedSetOfKeysIsRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(recs []record.Record) []record.Write{
		"the derive key is gone": func(recs []record.Record) []record.Write {
			return []record.Write{record.Erase(recs[0].Key, recs[0].Rev)}
		},
		"the signing key is gone": func(recs []record.Record) []record.Write {
			return []record.Write{record.Erase(recs[1].Key, recs[1].Rev)}
		},
		"the wrapping key is gone": func(recs []record.Record) []record.Write {
			return []record.Write{record.Erase(recs[2].Key, recs[2].Rev)}
		},
		"one stands where another was": func(recs []record.Record) []record.Write {
			swapped := recs[0]
			swapped.Body = recs[1].Body
			return []record.Write{record.Put(swapped, recs[0].Rev)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			file, _ := keyFile(t)
			mustOpen(t, store, file)
			recs, err := store.List(t.Context(), "k#hub", "", 100)
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Commit(t.Context(), spoil(recs)...); err != nil {
				t.Fatal(err)
			}
			if _, err := keyring.Open(t.Context(), store, file); !errors.Is(err, keyring.ErrIncomplete) && !errors.Is(err, keyring.ErrWrongKey) {
				t.Errorf("Open = %v, want %v or %v", err, keyring.ErrIncomplete, keyring.ErrWrongKey)
			}
		})
	}
}

func TestAWrappedSecretOpensOnlyForItsPurposeAndUnchanged(t *testing.T) {
	t.Parallel()
	ring, other := keyring.Ephemeral(), keyring.Ephemeral()
	ctx := context.Background()
	wrapped, err := ring.Wrap(ctx, "agent a", []byte("s3cret"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(wrapped, []byte("s3cret")) {
		t.Error("the wrapped form holds the secret")
	}
	if got, err := ring.Unwrap(ctx, "agent a", wrapped); string(got) != "s3cret" {
		t.Errorf("Unwrap = %q, %v, want s3cret", got, err)
	}
	check := func(what string, k *keyring.Keyring, purpose string, w []byte) {
		if got, err := k.Unwrap(ctx, purpose, w); !errors.Is(err, hub.ErrNoKey) || got != nil {
			t.Errorf("Unwrap with %s = %q, %v, want %v", what, got, err, hub.ErrNoKey)
		}
	}
	check("another purpose", ring, "agent b", wrapped)
	check("another keyring", other, "agent a", wrapped)
	check("nothing", ring, "agent a", nil)
	check("a part", ring, "agent a", wrapped[:10])
	for i := range wrapped {
		changed := bytes.Clone(wrapped)
		changed[i] ^= 1
		check("a changed byte", ring, "agent a", changed)
	}
}

func TestHashKeepsPartsApart(t *testing.T) {
	t.Parallel()
	ring := keyring.Ephemeral()
	seen := map[[32]byte][]string{}
	for _, parts := range [][]string{{}, {""}, {"", ""}, {"ab", "c"}, {"a", "bc"}, {"abc"}, {"a", "b", "c"}} {
		sum := ring.Hash(parts...)
		if other, twice := seen[sum]; twice {
			t.Errorf("Hash(%q) = Hash(%q)", parts, other)
		}
		seen[sum] = parts
		if sum != ring.Hash(parts...) {
			t.Errorf("Hash(%q) differs from itself", parts)
		}
	}
	if ring.Hash("a") == keyring.Ephemeral().Hash("a") {
		t.Error("two keyrings hash alike")
	}
}

func TestAKeyFileIsPrivateAndWellFormed(t *testing.T) {
	t.Parallel()
	file, path := keyFile(t)
	if _, err := file.Wrap(t.Context(), "p", nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("Stat = %v, %v, want mode 0600", info.Mode(), err)
	}
	good, _ := os.ReadFile(path)
	header, key, _ := strings.Cut(string(good), "\n")
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		ok   bool
	}{
		"as made":             {string(good), 0o600, true},
		"read-only":           {string(good), 0o400, true},
		"with other newlines": {strings.ReplaceAll(string(good), "\n", "\r\n"), 0o600, true},
		"group may read":      {string(good), 0o640, false},
		"world may read":      {string(good), 0o604, false},
		"empty":               {"", 0o600, false},
		"no header":           {key, 0o600, false},
		"another header":      {strings.Replace(string(good), "file 1", "file 2", 1), 0o600, false},
		"a short key":         {header + "\nAAAA\n", 0o600, false},
		"two keys":            {header + "\n" + key + key, 0o600, false},
		"no key":              {header + "\n", 0o600, false},
		"far too much":        {string(good) + strings.Repeat("\n"+key, 1000), 0o600, false},
	} {
		p := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(p, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, c.mode); err != nil {
			t.Fatal(err)
		}
		_, err := keyring.OpenFile(p)
		if (err == nil) != c.ok {
			t.Errorf("%s: OpenFile = %v, want success: %t", name, err, c.ok)
		}
		if err != nil && strings.Contains(err.Error(), strings.TrimSpace(key)) {
			t.Errorf("%s: the error names the key", name)
		}
	}
	if _, err := keyring.OpenFile(t.TempDir()); err == nil {
		t.Error("OpenFile of a folder succeeded, want an error")
	}
}

func BenchmarkEphemeral(b *testing.B) {
	for b.Loop() {
		keyring.Ephemeral()
	}
}

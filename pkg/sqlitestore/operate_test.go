package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

func openAt(t *testing.T, path string, open func(string) (*sqlitestore.Store, error)) *sqlitestore.Store {
	t.Helper()
	s, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return s
}

func one(part, sort, body string) record.Write {
	return record.Put(record.Record{Key: record.Key{Part: part, Sort: sort}, Kind: "test", Body: []byte(body)}, "")
}

func keysOf(t *testing.T, s *sqlitestore.Store) []string {
	t.Helper()
	var keys []string
	if err := s.Each(t.Context(), func(r record.Record) error {
		keys = append(keys, r.Key.String()+"="+string(r.Body))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestOpenReading_SeesWhatAnotherWritesAndChangesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "it's 100%.db")
	writer := openAt(t, path, sqlitestore.Open)
	if err := writer.Commit(t.Context(), one("b", "1", "x"), one("a", "2", "y"), one("a", "1", "z")); err != nil {
		t.Fatal(err)
	}
	reader := openAt(t, path, sqlitestore.OpenReading)
	if got, want := keysOf(t, reader), []string{"a/1=z", "a/2=y", "b/1=x"}; !slices.Equal(got, want) {
		t.Errorf("Each = %q, want %q", got, want)
	}
	if err := writer.Commit(t.Context(), one("c", "1", "later")); err != nil {
		t.Fatal(err)
	}
	if got := keysOf(t, reader); len(got) != 4 {
		t.Errorf("Each = %q, want what was written since, too", got)
	}
	if err := reader.Commit(t.Context(), one("d", "1", "")); err == nil {
		t.Error("a store that was opened for reading takes a Commit")
	}
	if found, err := reader.Integrity(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Integrity = %q, %v", found, err)
	}
	for _, missing := range []string{path + "-none", t.TempDir()} {
		if _, err := sqlitestore.OpenReading(missing); err == nil {
			t.Errorf("OpenReading(%s) succeeds", missing)
		}
	}
	if _, err := os.Stat(path + "-none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("OpenReading has made a file: %v", err)
	}
}

func TestOpenReading_RefusesWhatIsEmpty(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitestore.OpenReading(path); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("OpenReading of an empty file = %v", err)
	}
}

func TestSnapshot_HasAllThatWasCommittedBefore(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "mash.db")
	s := openAt(t, path, sqlitestore.Open)
	other := openAt(t, path, sqlitestore.OpenReading)
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	var committed []string
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				part := fmt.Sprintf("w%d", w)
				if err := s.Commit(t.Context(), one(part, fmt.Sprintf("%06d", i), "a"), one(part+"-twin", fmt.Sprintf("%06d", i), "a")); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				committed = append(committed, fmt.Sprintf("w%d/%06d=a", w, i))
				mu.Unlock()
			}
		})
	}
	for n := range 10 {
		mu.Lock()
		before := slices.Clone(committed)
		mu.Unlock()
		copied := filepath.Join(folder, fmt.Sprintf("copy'%d.db", n))
		if err := other.Snapshot(t.Context(), copied); err != nil {
			t.Fatal(err)
		}
		there := map[string]bool{}
		got := keysOf(t, openAt(t, copied, sqlitestore.OpenReading))
		for _, k := range got {
			there[k] = true
		}
		for _, k := range before {
			if !there[k] {
				t.Fatalf("%s is missing from copy %d", k, n)
			}
		}
		if len(got)%2 != 0 {
			t.Errorf("copy %d has half of a Commit", n)
		}
	}
	stop()
	writers.Wait()
	if err := other.Snapshot(t.Context(), path); err == nil {
		t.Error("Snapshot overwrites a file")
	}
}

func TestProbeAndVacuum(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mash.db")
	s := openAt(t, path, sqlitestore.Open)
	secret := one("p", "s", "a-secret-that-goes")
	if err := s.Commit(t.Context(), secret, one("p", "other", "stays")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Probe(t.Context()), s.Probe(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), record.Erase(secret.Record.Key, secret.Record.Rev)); err != nil {
		t.Fatal(err)
	}
	if err := s.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal"} {
		raw, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(raw), "a-secret-that-goes") {
			t.Errorf("%s still holds what was erased", filepath.Base(file))
		}
	}
	if got := keysOf(t, s); !slices.Equal(got, []string{"p/other=stays"}) {
		t.Errorf("Each = %q", got)
	}
	reader := openAt(t, path, sqlitestore.OpenReading)
	if err := reader.Probe(t.Context()); err == nil {
		t.Error("Probe of a store that takes no Commit succeeds")
	}
}

func TestObserve_IsToldOfEveryGroup(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "mash.db"), sqlitestore.Open)
	sum := 0
	s.Observe = func(g sqlitestore.Group) {
		sum += g.Commits
		if g.Took <= 0 {
			t.Errorf("a group took %v", g.Took)
		}
	}
	for i := range 5 {
		if err := s.Commit(t.Context(), one("p", fmt.Sprint(i), "")); err != nil {
			t.Fatal(err)
		}
	}
	if sum != 5 {
		t.Errorf("groups of %d Commits together, want 5", sum)
	}
}

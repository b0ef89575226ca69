package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "a store?mode=memory#%41"))
	for sql, want := range map[string]string{
		"PRAGMA journal_mode":   "wal",
		"PRAGMA synchronous":    "2",
		"PRAGMA application_id": strconv.Itoa(0x4d617368),
		"PRAGMA user_version":   strconv.Itoa(sqlitestore.Format),
	} {
		if got, err := s.Value(sql); err != nil || got != want {
			t.Errorf("%s = %s, %v, want %s", sql, got, err, want)
		}
	}
	// Older ones can corrupt the log when a checkpoint meets a commit.
	version, err := s.Value("SELECT sqlite_version()")
	if err != nil || !atLeast(version, 3, 51, 3) {
		t.Errorf("SQLite %s, %v, want at least 3.51.3", version, err)
	}
}

func atLeast(version string, want ...int) bool {
	for i, part := range strings.Split(version, ".") {
		if n, err := strconv.Atoi(part); err != nil || i >= len(want) || n != want[i] {
			return err == nil && (i >= len(want) || n > want[i])
		}
	}
	return true
}

func TestFileIsPrivateAndKeepsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a store?mode=memory#%41")
	s, err := sqlitestore.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	w := record.Put(record.Record{Key: record.Key{Part: "p", Sort: "k"}, Kind: "test"}, "")
	if err := s.Commit(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	closeStore(t, s)
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Close the log is there (%v)", err)
	}
	got, err := openFile(t, path).Get(t.Context(), w.Record.Key)
	if err != nil || got[0].Rev != w.Record.Rev {
		t.Errorf("after opening again Get = %v, %v", got, err)
	}
}

func TestRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, sql, want string }{
		{"newer", "PRAGMA user_version = 99", "has format 99 and this version of Mash knows formats up to"},
		{"foreign", "PRAGMA application_id = 7", "belongs to another program"},
	}
	for _, c := range cases {
		path := filepath.Join(t.TempDir(), c.name)
		s, err := sqlitestore.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(c.sql); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		if _, err := sqlitestore.Open(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open of a %s file = %v, want %q", c.name, err, c.want)
		}
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitestore.Open(text); err == nil {
		t.Error("Open of a text file succeeded")
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "store"))
	closeStore(t, s)
	k := record.Key{Part: "p", Sort: "k"}
	if _, err := s.Get(t.Context(), k); !errors.Is(err, sqlitestore.ErrClosed) {
		t.Errorf("Get after Close = %v", err)
	}
	if err := s.Commit(t.Context(), record.Check(k, "")); !errors.Is(err, sqlitestore.ErrClosed) {
		t.Errorf("Commit after Close = %v", err)
	}
	if _, err := s.Sweep(t.Context(), time.Now()); !errors.Is(err, sqlitestore.ErrClosed) {
		t.Errorf("Sweep after Close = %v", err)
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "store"))
	now := time.Unix(1_800_000_000, 0)
	for i := range 450 {
		r := record.Record{Key: record.Key{Part: "p", Sort: fmt.Sprintf("%03d", i)}, Kind: "test", Erase: now}
		switch i {
		case 7:
			r.Erase = time.Time{}
		case 300:
			r.Erase = now.Add(time.Millisecond)
		}
		if err := s.Commit(t.Context(), record.Put(r, "")); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Sweep(t.Context(), now); err != nil || n != 448 {
		t.Errorf("Sweep = %d, %v, want 448", n, err)
	}
	left, err := s.List(t.Context(), "p", "", 10)
	if err != nil || len(left) != 2 || left[0].Sort != "007" || left[1].Sort != "300" {
		t.Errorf("after Sweep there is %v, %v", left, err)
	}
}

// TestGroup lets Commits queue behind a busy writer, so that they become one transaction, in which some lose, one of
// them to another of the same group.
func TestGroup(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "store"))
	release := s.Hold()
	const each = 20
	errs := make([]error, 2*each)
	var wg sync.WaitGroup
	for i := range errs {
		r := record.Record{Key: record.Key{Part: "p", Sort: strconv.Itoa(i % each)}, Kind: "test"}
		other := record.Record{Key: record.Key{Part: "q", Sort: strconv.Itoa(i)}, Kind: "test"}
		wg.Go(func() { errs[i] = s.Commit(context.Background(), record.Put(other, ""), record.Put(r, "")) })
	}
	abandoned, cancel := context.WithCancel(t.Context())
	var left error
	wg.Go(func() {
		left = s.Commit(abandoned, record.Put(record.Record{Key: record.Key{Part: "p", Sort: "left"}, Kind: "test"}, ""))
	})
	for s.Waiting() < len(errs)+1 {
		runtime.Gosched()
	}
	cancel()
	for s.Waiting() > len(errs) {
		runtime.Gosched()
	}
	release()
	wg.Wait()

	if !errors.Is(left, context.Canceled) {
		t.Errorf("the Commit that left = %v", left)
	}
	for i := range each {
		if (errs[i] == nil) == (errs[i+each] == nil) {
			t.Errorf("two Commits on one key = %v and %v, want one winner", errs[i], errs[i+each])
		}
	}
	for part, want := range map[string]int{"p": each, "q": each} {
		if got, err := s.List(t.Context(), part, "", 1000); err != nil || len(got) != want {
			t.Errorf("List(%s) = %d records, %v, want %d", part, len(got), err, want)
		}
	}
}

// TestFailureOfTheStore makes a statement fail in the middle of a group: nothing of the group may stand, and the store
// must go on working.
func TestFailureOfTheStore(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "store"))
	err := s.Run(`CREATE TRIGGER bad BEFORE INSERT ON record WHEN new.sort = 'bad' BEGIN SELECT raise(ROLLBACK, 'bad'); END`)
	if err != nil {
		t.Fatal(err)
	}
	r := record.Record{Key: record.Key{Part: "p", Sort: "good"}, Kind: "test"}
	bad := record.Record{Key: record.Key{Part: "p", Sort: "bad"}, Kind: "test"}
	err = s.Commit(t.Context(), record.Put(r, ""), record.Put(bad, ""))
	if err == nil || record.AsConflict(err) != nil || !strings.Contains(err.Error(), "commit p/good") {
		t.Errorf("Commit that the store cannot do = %v", err)
	}
	if got, err := s.Get(t.Context(), r.Key); err != nil || got[0].Rev != "" {
		t.Errorf("after it Get = %v, %v", got, err)
	}
	if err := s.Commit(t.Context(), record.Put(r, "")); err != nil {
		t.Errorf("the next Commit = %v", err)
	}
}

// TestManyInMemory makes as many stores as a conformance run has tenants; each must be alone.
func TestManyInMemory(t *testing.T) {
	t.Parallel()
	for i := range 100 {
		s := openMemory(t)
		r := record.Record{Key: record.Key{Part: "p", Sort: "k"}, Kind: "test", Body: []byte{byte(i)}}
		if err := s.Commit(t.Context(), record.Put(r, "")); err != nil {
			t.Fatal(err)
		}
	}
}

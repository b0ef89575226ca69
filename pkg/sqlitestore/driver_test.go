package sqlitestore_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// These tests let the driver fail or panic. A panic is one that net/http recovers from, as it does from any in a request:
// the process goes on, and so must the store.

var (
	errInjected = errors.New("injected")
	errPanicked = errors.New("panicked")
)

func fails() error  { return errInjected }
func panics() error { panic(errInjected) }

// recovering calls f as net/http calls a handler.
func recovering(f func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errPanicked
		}
	}()
	return f()
}

func recordAt(sort string) record.Record {
	return record.Record{Key: record.Key{Part: "p", Sort: sort}, Kind: "test"}
}

// TestAPanicOfTheDriver lets the leader of a group panic at each of its statements. Whoever is in the group learns that
// it failed, nothing of it stands, and the store goes on.
func TestAPanicOfTheDriver(t *testing.T) {
	t.Parallel()
	const callers = 8
	for at, statement := range map[string]int32{"BEGIN": 1, "SAVEPOINT": 1, "INSERT": callers, "RELEASE": 2, "COMMIT": 1} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			s := openFile(t, filepath.Join(t.TempDir(), "store"))
			var left atomic.Int32
			left.Store(statement)
			s.Interpose(func(sql string) error {
				if strings.HasPrefix(sql, at) && left.Add(-1) == 0 {
					panic(errInjected)
				}
				return nil
			})
			got := outcomes(t, s, callers)
			panicked := 0
			for _, err := range got {
				if err == nil || record.AsConflict(err) != nil {
					t.Errorf("Commit = %v, want an error of the store", err)
				}
				if errors.Is(err, errPanicked) {
					panicked++
				}
			}
			if panicked != 1 {
				t.Errorf("outcomes = %v, want one panic", got)
			}
			if found, err := s.List(t.Context(), "p", "", 100); err != nil || len(found) != 0 {
				t.Errorf("after the panic there is %v, %v, want nothing", found, err)
			}
			if err := s.Commit(t.Context(), record.Put(recordAt("1"), "")); err != nil {
				t.Errorf("the next Commit = %v", err)
			}
		})
	}
}

// outcomes lets Commits queue until they are one group, and returns what came of each.
func outcomes(t *testing.T, s *sqlitestore.Store, callers int) []error {
	t.Helper()
	release := s.Hold()
	ended := make(chan error, callers)
	for i := range callers {
		one, two := recordAt(strconv.Itoa(i)), recordAt("beside "+strconv.Itoa(i))
		go func() {
			ended <- recovering(func() error { return s.Commit(t.Context(), record.Put(one, ""), record.Put(two, "")) })
		}()
	}
	for s.Waiting() < callers {
		runtime.Gosched()
	}
	release()
	var errs []error
	for range callers {
		select {
		case err := <-ended:
			errs = append(errs, err)
		case <-time.After(10 * time.Second):
			t.Fatalf("after %v a Commit waits for ever", errs)
		}
	}
	return errs
}

// TestAReaderLeavesNoTransactionOpen lets a statement of every Get of several keys fail or panic, until all readers have
// met it: each must serve afterwards, and see what was committed since.
func TestAReaderLeavesNoTransactionOpen(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"BEGIN fails": fails, "SELECT fails": fails, "COMMIT fails": fails,
		"BEGIN panics": panics, "SELECT panics": panics, "COMMIT panics": panics,
	} {
		at, _, _ := strings.Cut(name, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openFile(t, filepath.Join(t.TempDir(), "store"))
			var broken atomic.Bool
			s.Interpose(func(sql string) error {
				if broken.Load() && strings.HasPrefix(sql, at) {
					return fail()
				}
				return nil
			})
			w := record.Put(recordAt("a"), "")
			keys := []record.Key{w.Record.Key}
			for i := range 20 { // more than one statement reads
				keys = append(keys, recordAt(fmt.Sprint(i)).Key)
			}
			get := func() (rev string, err error) {
				found, err := s.Get(t.Context(), keys...)
				if err != nil {
					return "", err
				}
				return found[0].Rev, nil
			}
			broken.Store(true)
			for range 64 { // more than there are readers
				err := recovering(func() error { _, err := get(); return err })
				if !errors.Is(err, errInjected) && !errors.Is(err, errPanicked) {
					t.Fatalf("Get = %v, want what was injected", err)
				}
			}
			broken.Store(false)
			if err := s.Commit(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for range 64 {
				wg.Go(func() {
					if rev, err := get(); err != nil || rev != w.Record.Rev {
						t.Errorf("Get afterwards = %q, %v, want what was committed, %q", rev, err, w.Record.Rev)
					}
				})
			}
			wg.Wait()
		})
	}
}

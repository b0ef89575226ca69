package recordtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/record"
)

// racers is how many goroutines meet in the cases of this file.
const racers = 8

// race runs f in all racers at once and waits for them.
func race(f func(racer int)) {
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func oneWinner(t *testing.T, s record.Store) {
	k := key("p", "k")
	was := ""
	for round := range 15 {
		var winners atomic.Int32
		revs := make([]string, racers)
		race(func(racer int) {
			w := record.Put(rec("p", "k", fmt.Sprint(racer)), was)
			writes := []record.Write{w}
			if racer%2 == 1 { // transactions and single writes race alike
				writes = append(writes, record.Put(rec("p", fmt.Sprintf("%d by %d", round, racer), "x"), ""))
			}
			err := s.Commit(t.Context(), writes...)
			if err == nil {
				winners.Add(1)
				revs[racer] = w.Record.Rev
			} else if c := record.AsConflict(err); c == nil {
				t.Errorf("round %d: Commit = %v", round, err)
			} else if r, about := c.Winner(k); !about || r.Rev == was {
				t.Errorf("round %d: lost to %s", round, show(r))
			}
		})
		if n := winners.Load(); n != 1 {
			t.Fatalf("round %d has %d winners, want 1", round, n)
		}
		now := get(t, s, k)
		racer, err := strconv.Atoi(string(now.Body))
		if err != nil || revs[racer] != now.Rev {
			t.Fatalf("round %d: %s stands, which did not win", round, show(now))
		}
		was = now.Rev
	}
}

func transfers(t *testing.T, s record.Store) {
	const accounts, each = 5, 100
	at := func(i int) record.Key { return key("bank", fmt.Sprint(i%accounts)) }
	for i := range accounts {
		put(t, s, rec("bank", at(i).Sort, strconv.Itoa(each)), "")
	}
	var done atomic.Int32
	race(func(racer int) {
		for i := 0; i < 10; {
			from, to := at(racer+i), at(racer+i+1+racer%3)
			err := transfer(t.Context(), s, from, to)
			if err == nil {
				done.Add(1)
				i++
			} else if record.AsConflict(err) == nil {
				t.Errorf("transfer = %v", err)
				return
			}
		}
	})
	all, err := s.List(t.Context(), "bank", "", 100)
	if err != nil {
		t.Fatalf("List = %v", err)
	}
	sum := 0
	for _, r := range all {
		n, err := strconv.Atoi(string(r.Body))
		if err != nil {
			t.Fatalf("account %s", show(r))
		}
		sum += n
	}
	if sum != accounts*each || done.Load() != racers*10 {
		t.Errorf("after %d transfers the sum is %d, want %d after %d", done.Load(), sum, accounts*each, racers*10)
	}
}

func transfer(ctx context.Context, s record.Store, from, to record.Key) error {
	got, err := s.Get(ctx, from, to)
	if err != nil {
		return err
	}
	for i, change := range []int{-1, 1} {
		n, err := strconv.Atoi(string(got[i].Body))
		if err != nil {
			return err
		}
		got[i].Body = []byte(strconv.Itoa(n + change))
	}
	return s.Commit(ctx, record.Put(got[0], got[0].Rev), record.Put(got[1], got[1].Rev))
}

// overlapping commits the same keys in every order, most of them in vain. Each answer must be a win or a true loss.
func overlapping(t *testing.T, s record.Store) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var wins atomic.Int32
	race(func(racer int) {
		for i := range 10 {
			var keys []record.Key
			for j := range 4 {
				keys = append(keys, key("p", fmt.Sprint((racer+(racer%2*2-1)*j+4)%5)))
			}
			got, err := s.Get(ctx, keys...)
			if err != nil {
				t.Errorf("Get = %v", err)
				return
			}
			var writes []record.Write
			for j, r := range got {
				now := rec(r.Part, r.Sort, fmt.Sprintf("%d %d", racer, i))
				switch {
				case j == 3:
					writes = append(writes, record.Check(r.Key, r.Rev))
				case r.Rev != "" && (racer+i)%4 == 0:
					writes = append(writes, record.Erase(r.Key, r.Rev))
				default:
					writes = append(writes, record.Put(now, r.Rev))
				}
			}
			if err := s.Commit(ctx, writes...); err == nil {
				wins.Add(1)
			} else if record.AsConflict(err) == nil {
				t.Errorf("Commit = %v", err)
				return
			}
		}
	})
	if wins.Load() == 0 {
		t.Error("nobody won")
	}
}

func endedContext(t *testing.T, s record.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k := key("p", "k")
	calls := []call{
		{"get", getting(k)},
		{"list", listing("p", "", 1)},
		{"index", indexing(1, "n", record.Entry{}, 1)},
		{"due", dueing(time.Now(), record.Entry{}, 1)},
		{"put", committing(record.Put(rec("p", "k", "x"), ""))},
		{"puts", committing(record.Put(rec("p", "k", "x"), ""), record.Put(rec("p", "l", "x"), ""))},
		{"check", committing(record.Check(k, ""))},
	}
	for _, c := range calls {
		if err := c.call(ctx, s); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context = %v", c.name, err)
		}
	}
	stands(t, s, record.Record{Key: k})
}

// contextEndsMeanwhile cancels Commits in their course: a success must have been written, a failure must be the
// context's, and the store must go on working.
func contextEndsMeanwhile(t *testing.T, s record.Store) {
	race(func(racer int) {
		for i := range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			w := record.Put(rec("p", fmt.Sprintf("%d %d", racer, i), "x"), "")
			err := s.Commit(ctx, w, record.Put(rec("q", w.Record.Sort, "x"), ""))
			cancel()
			got, getErr := s.Get(t.Context(), w.Record.Key, key("q", w.Record.Sort))
			switch {
			case getErr != nil:
				t.Errorf("Get = %v", getErr)
			case err != nil && !errors.Is(err, context.Canceled):
				t.Errorf("Commit whose context ended = %v", err)
			case err == nil && got[0].Rev != w.Record.Rev:
				t.Errorf("Commit succeeded and %s is not there", w.Record.Key)
			case (got[0].Rev == "") != (got[1].Rev == ""):
				t.Errorf("half a Commit was written at %s", w.Record.Key)
			}
		}
	})
	put(t, s, rec("p", "afterwards", "x"), "")
}

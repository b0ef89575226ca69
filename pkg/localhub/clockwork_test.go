package localhub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/hub/hubtest"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/record"
)

func TestBellKeepsItsContract(t *testing.T) {
	t.Parallel()
	hubtest.Bell(t, func(*testing.T) hub.Bell { return &Bell{} })
}

func TestKeyringKeepsTheContractOfKeys(t *testing.T) {
	t.Parallel()
	hubtest.Keys(t, func(*testing.T) hub.Keys { return keyring.Ephemeral() })
}

func TestClockworkKeepsItsContract(t *testing.T) {
	t.Parallel()
	hubtest.Clockwork(t, func(t *testing.T, fire hubtest.Fire) hub.Clockwork {
		c := newClockwork(slog.New(slog.DiscardHandler))
		c.fire = fire
		c.due = func(context.Context, time.Time, record.Entry, int) ([]record.Entry, error) { return nil, nil }
		ctx, cancel := context.WithCancel(context.Background())
		var run sync.WaitGroup
		run.Go(func() { c.run(ctx) })
		t.Cleanup(func() { cancel(); run.Wait() })
		return c
	})
}

// firings runs a clockwork in a bubble and remembers when each key was fired.
type firings struct {
	began time.Time
	clock *clockwork

	mu   sync.Mutex
	at   map[record.Key][]time.Duration
	next func(record.Key, int) (time.Time, error) // what the n-th firing of a key returns
	due  []record.Entry
}

func bubble(t *testing.T, test func(t *testing.T, f *firings)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &firings{
			began: time.Now(), at: map[record.Key][]time.Duration{}, clock: newClockwork(slog.New(slog.DiscardHandler)),
			next: func(record.Key, int) (time.Time, error) { return time.Time{}, nil },
		}
		f.clock.fire = f.fire
		f.clock.due = func(_ context.Context, _ time.Time, after record.Entry, limit int) ([]record.Entry, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			from := slices.Index(f.due, after) + 1
			return f.due[from:min(from+limit, len(f.due))], nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { f.clock.run(ctx) })
		test(t, f)
		cancel()
		run.Wait()
	})
}

func (f *firings) fire(_ context.Context, key record.Key) (time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at[key] = append(f.at[key], time.Since(f.began))
	return f.next(key, len(f.at[key]))
}

// after lets the bubble's clock run and returns when the key was fired.
func (f *firings) after(d time.Duration, key record.Key) []time.Duration {
	time.Sleep(d) // the bubble's clock: nobody waits
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at[key]
}

var one = record.Key{Part: "m#1", Sort: "state"}

func TestAnArmedKeyIsFiredAtItsTime(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, f *firings) {
		f.clock.Arm(t.Context(), one, f.began.Add(3*time.Second))
		if got, want := f.after(10*time.Second, one), []time.Duration{3 * time.Second}; !cmp.Equal(got, want) {
			t.Errorf("fired at %v, want %v", got, want)
		}
	})
}

func TestAKeyIsFiredAgainWhenTheHubSays(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, f *firings) {
		f.next = func(_ record.Key, n int) (time.Time, error) {
			if n < 3 {
				return time.Now().Add(2 * time.Second), nil
			}
			return time.Time{}, nil
		}
		f.clock.Arm(t.Context(), one, f.began)
		if got, want := f.after(time.Minute, one), []time.Duration{0, 2 * time.Second, 4 * time.Second}; !cmp.Equal(got, want) {
			t.Errorf("fired at %v, want %v", got, want)
		}
	})
}

func TestAKeyThatFailsIsFiredAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, f *firings) {
		f.next = func(_ record.Key, n int) (time.Time, error) {
			if n == 1 {
				return time.Time{}, errors.New("the store is away")
			}
			return time.Time{}, nil
		}
		f.clock.Arm(t.Context(), one, f.began)
		if got, want := f.after(time.Minute, one), []time.Duration{0, failedWait}; !cmp.Equal(got, want) {
			t.Errorf("fired at %v, want %v", got, want)
		}
	})
}

func TestWhatNobodyArmedIsFoundByTheSweep(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, f *firings) {
		f.mu.Lock()
		f.due = []record.Entry{{Key: one, Order: record.DueOrder(f.began.Add(20 * time.Second))}}
		f.mu.Unlock()
		got := f.after(16*time.Second, one)
		if len(got) != 0 {
			t.Errorf("fired at %v, before it was due", got)
		}
		f.mu.Lock()
		f.next = func(record.Key, int) (time.Time, error) { f.due = nil; return time.Time{}, nil }
		f.mu.Unlock()
		if got := f.after(time.Minute, one); len(got) == 0 || got[0] != 20*time.Second {
			t.Errorf("fired at %v, want first at 20s", got)
		}
	})
}

func TestTheSweepGetsPastAThousandKeysThatFail(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, f *firings) {
		f.mu.Lock()
		for n := range record.MaxListLimit {
			key := record.Key{Part: "m#failing", Sort: fmt.Sprint(n)}
			f.due = append(f.due, record.Entry{Key: key, Order: record.DueOrder(f.began)})
		}
		f.due = append(f.due, record.Entry{Key: one, Order: record.DueOrder(f.began.Add(time.Second))})
		f.next = func(key record.Key, _ int) (time.Time, error) {
			if key == one {
				return time.Time{}, nil
			}
			return time.Time{}, errors.New("it fails")
		}
		f.mu.Unlock()
		if got := f.after(time.Minute, one); len(got) == 0 {
			t.Error("what lies behind a thousand keys that fail was never fired")
		}
	})
}

func TestAKeyIsNeverFiredTwiceAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, f *firings) {
		running, most := 0, 0
		f.clock.fire = func(context.Context, record.Key) (time.Time, error) {
			f.mu.Lock()
			running++
			most = max(most, running)
			f.at[one] = append(f.at[one], time.Since(f.began))
			f.mu.Unlock()
			time.Sleep(time.Second) // the bubble's clock: nobody waits
			f.mu.Lock()
			defer f.mu.Unlock()
			running--
			return time.Time{}, nil
		}
		for range 5 {
			f.clock.Arm(t.Context(), one, f.began)
			f.after(100*time.Millisecond, one)
		}
		if got, want := f.after(time.Minute, one), []time.Duration{0, time.Second}; !cmp.Equal(got, want) || most != 1 {
			t.Errorf("fired at %v, %d at once, want %v, one at a time", got, most, want)
		}
	})
}

func TestAKeyHasOneTimerHoweverOftenItFailsAndIsSwept(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, f *firings) {
		f.clock.fire = func(_ context.Context, key record.Key) (time.Time, error) {
			time.Sleep(3 * time.Millisecond) // the bubble's clock: nobody waits
			f.mu.Lock()
			defer f.mu.Unlock()
			f.at[key] = append(f.at[key], time.Since(f.began))
			return time.Time{}, errors.New("it does not decode")
		}
		f.mu.Lock()
		f.due = []record.Entry{{Key: one, Order: record.DueOrder(f.began)}}
		f.mu.Unlock()
		first := len(f.after(5*time.Minute, one))
		second := len(f.after(5*time.Minute, one)) - first
		if second > first {
			t.Errorf("fired %d times in five minutes and %d in the next five; want no more", first, second)
		}
	})
}

func TestATimeThatIsPastKeepsNobodyBusy(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, f *firings) {
		f.next = func(record.Key, int) (time.Time, error) { return f.began, nil }
		f.clock.Arm(t.Context(), one, f.began)
		if n := len(f.after(time.Second, one)); n > 20 {
			t.Errorf("fired %d times in a second", n)
		}
	})
}

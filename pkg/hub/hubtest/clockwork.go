package hubtest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
)

// Fire stands in for Hub.Fire.
type Fire func(ctx context.Context, key record.Key) (again time.Time, err error)

// The times of the cases of Clockwork, which run in real time. Nothing fails for being late but by patience, so that a busy
// machine breaks nothing.
const (
	shortWait = 300 * time.Millisecond // until what is armed is due
	early     = 100 * time.Millisecond // how much before its time a key may be fired: "about"
	quiet     = 500 * time.Millisecond // how long nothing more must happen
)

// Clockwork holds a Clockwork to its contract. start returns one that calls fire, and that stops when the test ends.
func Clockwork(t *testing.T, start func(t *testing.T, fire Fire) hub.Clockwork) {
	for name, test := range map[string]func(*testing.T, func(*testing.T, Fire) hub.Clockwork){
		"what is armed is fired once, at about its time":     armedForLater,
		"what is due already is fired at once":               armedForThePast,
		"each key is fired at its own time":                  armedInAnyOrder,
		"whoever arms may leave":                             armedByOneWhoLeaves,
		"it is fired again at the time that Fire returns":    firedAgain,
		"after an error it is fired again":                   firedAgainAfterAnError,
		"a key is never fired twice at once":                 neverTwiceAtOnce,
		"what is armed while it is fired is fired once more": armedWhileFired,
		"a key that takes long keeps no other from its time": slowBesideQuick,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start)
		})
	}
}

// keyOf returns the key of a message's state.
func keyOf(tail string) record.Key { return record.Key{Part: "m#" + tail, Sort: "state"} }

func armedForLater(t *testing.T, start func(*testing.T, Fire) hub.Clockwork) {
	fired := make(chan time.Time, 10)
	c := start(t, func(context.Context, record.Key) (time.Time, error) {
		fired <- time.Now()
		return time.Time{}, nil
	})
	at := time.Now().Add(shortWait)
	c.Arm(t.Context(), keyOf("1"), at)
	if got := happens(t, fired); got.Before(at.Add(-early)) {
		t.Errorf("fired %v before its time", at.Sub(got))
	}
	never(t, fired)
}

func armedForThePast(t *testing.T, start func(*testing.T, Fire) hub.Clockwork) {
	fired := make(chan record.Key, 10)
	c := start(t, func(_ context.Context, k record.Key) (time.Time, error) {
		fired <- k
		return time.Time{}, nil
	})
	for _, at := range []time.Time{time.Now(), time.Now().Add(-time.Hour), time.Unix(1, 0)} {
		c.Arm(t.Context(), keyOf("1"), at)
		if got := happens(t, fired); got != keyOf("1") {
			t.Errorf("armed %v, fired %v", keyOf("1"), got)
		}
	}
	never(t, fired)
}

func armedInAnyOrder(t *testing.T, start func(*testing.T, Fire) hub.Clockwork) {
	type firing struct {
		key record.Key
		at  time.Time
	}
	fired := make(chan firing, 10)
	c := start(t, func(_ context.Context, k record.Key) (time.Time, error) {
		fired <- firing{k, time.Now()}
		return time.Time{}, nil
	})
	due, now := map[record.Key]time.Time{}, time.Now()
	for tail, wait := range map[string]time.Duration{"3": 3 * shortWait, "1": shortWait, "2": 2 * shortWait} {
		due[keyOf(tail)] = now.Add(wait)
		c.Arm(t.Context(), keyOf(tail), due[keyOf(tail)])
	}
	for len(due) > 0 {
		got := happens(t, fired)
		at, ok := due[got.key]
		if !ok || got.at.Before(at.Add(-early)) {
			t.Errorf("%v was fired %v before its time, or twice", got.key, at.Sub(got.at))
		}
		delete(due, got.key)
	}
	never(t, fired)
}

func armedByOneWhoLeaves(t *testing.T, start func(*testing.T, Fire) hub.Clockwork) {
	fired := make(chan error, 10)
	c := start(t, func(ctx context.Context, _ record.Key) (time.Time, error) {
		fired <- ctx.Err()
		return time.Time{}, nil
	})
	ctx, leave := context.WithCancel(t.Context())
	c.Arm(ctx, keyOf("1"), time.Now().Add(shortWait))
	leave()
	if err := happens(t, fired); err != nil {
		t.Errorf("fired under a context that says %v", err)
	}
}

func firedAgain(t *testing.T, start func(*testing.T, Fire) hub.Clockwork) {
	fired, returned := make(chan time.Time, 10), make(chan time.Time, 10)
	left := 2
	c := start(t, func(context.Context, record.Key) (time.Time, error) {
		fired <- time.Now()
		if left == 0 {
			return time.Time{}, nil
		}
		left--
		again := time.Now().Add(shortWait)
		returned <- again
		return again, nil
	})
	c.Arm(t.Context(), keyOf("1"), time.Now())
	happens(t, fired)
	for range 2 {
		again := happens(t, returned)
		if got := happens(t, fired); got.Before(again.Add(-early)) {
			t.Errorf("fired again %v before the time that Fire had returned", again.Sub(got))
		}
	}
	never(t, fired)
}

func firedAgainAfterAnError(t *testing.T, start func(*testing.T, Fire) hub.Clockwork) {
	fired := make(chan struct{}, 10)
	failed := false
	c := start(t, func(context.Context, record.Key) (time.Time, error) {
		fired <- struct{}{}
		if !failed {
			failed = true
			return time.Time{}, errors.New("hubtest: the store is away")
		}
		return time.Time{}, nil
	})
	c.Arm(t.Context(), keyOf("1"), time.Now())
	happens(t, fired)
	happens(t, fired)
	never(t, fired)
}

func neverTwiceAtOnce(t *testing.T, start func(*testing.T, Fire) hub.Clockwork) {
	var mu sync.Mutex // taken by who is fired, so that a second one finds it taken
	fired := make(chan struct{}, 1000)
	c := start(t, func(context.Context, record.Key) (time.Time, error) {
		if !mu.TryLock() {
			t.Error("a key was fired while it was being fired")
			return time.Time{}, nil
		}
		defer mu.Unlock()
		fired <- struct{}{}
		time.Sleep(20 * time.Millisecond) // long enough for another one to come
		return time.Time{}, nil
	})
	var arming sync.WaitGroup
	for range 8 {
		arming.Go(func() {
			for range 20 {
				c.Arm(t.Context(), keyOf("1"), time.Now())
				time.Sleep(5 * time.Millisecond) // so that some come amid a firing
			}
		})
	}
	arming.Wait()
	happens(t, fired)
	for settled := false; !settled; {
		select {
		case <-fired:
		case <-time.After(quiet):
			settled = true
		}
	}
}

func armedWhileFired(t *testing.T, start func(*testing.T, Fire) hub.Clockwork) {
	fired, goOn := make(chan struct{}, 10), make(chan struct{})
	release := sync.OnceFunc(func() { close(goOn) })
	defer release()
	c := start(t, func(context.Context, record.Key) (time.Time, error) {
		fired <- struct{}{}
		<-goOn
		return time.Time{}, nil
	})
	c.Arm(t.Context(), keyOf("1"), time.Now())
	happens(t, fired)
	c.Arm(t.Context(), keyOf("1"), time.Now())
	time.Sleep(shortWait) // so that it is due before the firing ends
	release()
	happens(t, fired)
	never(t, fired)
}

func slowBesideQuick(t *testing.T, start func(*testing.T, Fire) hub.Clockwork) {
	fired, goOn := make(chan record.Key, 10), make(chan struct{})
	c := start(t, func(_ context.Context, k record.Key) (time.Time, error) {
		fired <- k
		if k == keyOf("slow") {
			<-goOn
		}
		return time.Time{}, nil
	})
	defer close(goOn)
	c.Arm(t.Context(), keyOf("slow"), time.Now())
	happens(t, fired)
	c.Arm(t.Context(), keyOf("quick"), time.Now())
	if got := happens(t, fired); got != keyOf("quick") {
		t.Errorf("fired %v, want %v", got, keyOf("quick"))
	}
}

// happens returns what comes next, and waits for it as long as patience lasts.
func happens[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("a key was not fired")
		panic("unreachable")
	}
}

// never fails the test if something more comes.
func never[T any](t *testing.T, c <-chan T) {
	t.Helper()
	select {
	case v := <-c:
		t.Errorf("fired once more: %v", v)
	case <-time.After(quiet):
	}
}

package localhub

import (
	"container/heap"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
)

// clockwork is a hub.Clockwork within one process: a timer for what is due soon, and a sweep that finds in the store
// whatever nobody armed, above all what was due when the process before this one died.
type clockwork struct {
	fire func(context.Context, record.Key) (time.Time, error)                        // Hub.Fire
	due  func(context.Context, time.Time, record.Entry, int) ([]record.Entry, error) // Store.Due
	log  *slog.Logger

	// Both are told what was done, and must not block. Nil ones are told nothing.
	fired  func(lag time.Duration, err error)
	looked func(error)

	swept record.Entry // where the next sweep goes on; only run's goroutine sweeps

	mu      sync.Mutex
	timers  timerHeap
	armed   map[record.Key]time.Time // when the one timer of a key that counts goes off
	busy    map[record.Key]bool      // being fired, and whether to fire again
	changed chan struct{}
}

var _ hub.Clockwork = (*clockwork)(nil)

const (
	sweepEvery = 15 * time.Second
	sweepSoon  = time.Second    // after a sweep that did not see everything
	horizon    = 2 * sweepEvery // what is due later is left to a later sweep
	workers    = 256            // mostly waiting for slow receivers
	soonest    = 100 * time.Millisecond
	failedWait = 5 * time.Second // before a key that failed is fired again
)

func newClockwork(log *slog.Logger) *clockwork {
	return &clockwork{log: log, armed: map[record.Key]time.Time{}, busy: map[record.Key]bool{}, changed: make(chan struct{}, 1)}
}

// Arm fires key at about at, unless it is armed for earlier, or that is so far away that the sweep will see it. A key has
// one timer: arming it again and again makes no more of them.
func (c *clockwork) Arm(_ context.Context, key record.Key, at time.Time) {
	if time.Until(at) > horizon {
		return
	}
	c.mu.Lock()
	if armed, ok := c.armed[key]; ok && !at.Before(armed) {
		c.mu.Unlock()
		return
	}
	c.armed[key] = at
	heap.Push(&c.timers, timer{at: at, key: key})
	c.mu.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// attemptGrace is how long what is being fired may go on once the clockwork is to end.
const attemptGrace = 5 * time.Second

// run works until ctx is done, and returns when every firing has ended: those under way get attemptGrace for that, so that an
// attempt at a callback is neither cut off nor made twice.
func (c *clockwork) run(ctx context.Context) {
	working, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	context.AfterFunc(ctx, func() { time.AfterFunc(attemptGrace, cut) })
	var firing sync.WaitGroup
	defer firing.Wait()
	places := make(chan struct{}, workers)
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	sweep.Reset(c.sweep(ctx))
	for {
		for _, due := range c.take() {
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return
			}
			firing.Go(func() {
				defer func() { <-places }()
				c.work(working, due)
			})
		}
		next := time.NewTimer(c.untilNext())
		select {
		case <-c.changed:
		case <-next.C:
		case <-sweep.C:
			sweep.Reset(c.sweep(ctx))
		case <-ctx.Done():
			next.Stop()
			return
		}
		next.Stop()
	}
}

// take removes the timers whose time has come. One that is being fired is fired once more afterwards instead.
func (c *clockwork) take() []timer {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	var due []timer
	for len(c.timers) > 0 && !c.timers[0].at.After(now) {
		t := heap.Pop(&c.timers).(timer)
		if !c.armed[t.key].Equal(t.at) {
			continue // armed for earlier since, and fired then
		}
		delete(c.armed, t.key)
		if _, ok := c.busy[t.key]; ok {
			c.busy[t.key] = true
			continue
		}
		c.busy[t.key] = false
		due = append(due, t)
	}
	return due
}

func (c *clockwork) untilNext() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return sweepEvery
	}
	return time.Until(c.timers[0].at)
}

// work fires one key and arms it again for when the hub says.
func (c *clockwork) work(ctx context.Context, due timer) {
	key, lag := due.key, time.Since(due.at)
	again, err := c.fire(ctx, key)
	if c.fired != nil {
		c.fired(lag, err)
	}
	if err != nil {
		if ctx.Err() == nil {
			c.log.Error("due work failed and is tried again", "key", key.String(), "err", err)
		}
		again = time.Now().Add(failedWait)
	}
	c.mu.Lock()
	once := c.busy[key]
	delete(c.busy, key)
	c.mu.Unlock()
	if floor := time.Now().Add(soonest); !again.IsZero() && again.Before(floor) {
		again = floor // whatever the hub says, no key keeps the machine busy
	}
	if once {
		again = time.Now()
	}
	if !again.IsZero() {
		c.Arm(ctx, key, again)
	}
}

// sweep arms what the store says is due before the next sweep, and returns when to sweep again: soon, to go on where it
// ended, when there was more than one look takes.
func (c *clockwork) sweep(ctx context.Context) time.Duration {
	entries, err := c.due(ctx, time.Now().Add(sweepEvery), c.swept, record.MaxListLimit)
	if c.looked != nil {
		c.looked(err)
	}
	if err != nil {
		if ctx.Err() == nil {
			c.log.Error("sweep failed and is tried again", "err", err)
		}
		return sweepSoon
	}
	for _, e := range entries {
		c.Arm(ctx, e.Key, dueAt(e))
	}
	if len(entries) == record.MaxListLimit {
		c.swept = entries[len(entries)-1]
		return sweepSoon
	}
	c.swept = record.Entry{}
	return sweepEvery
}

// dueAt reads the time out of an entry; one that cannot be read is due now.
func dueAt(e record.Entry) time.Time {
	t, err := record.DueTime(e.Order)
	if err != nil {
		return time.Now()
	}
	return t
}

type timer struct {
	at  time.Time
	key record.Key
}

// timerHeap is a heap of timers, earliest first.
type timerHeap []timer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h timerHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *timerHeap) Push(x any)        { *h = append(*h, x.(timer)) }
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	*h = old[:len(old)-1]
	return t
}

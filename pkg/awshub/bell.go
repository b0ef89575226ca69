package awshub

import (
	"context"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
)

// Bell is a hub.Bell that no ring goes through, since who rings and who waits are two functions that do not know each
// other. Instead it says "look again" at a widening interval. So a ring is heard late, by two seconds at most, and a
// lost ring costs time only: the record decides. Somebody who waits for 25 s looks 16 times.
type Bell struct{}

var _ hub.Bell = Bell{}

// The interval at which a Bell says to look again: at first short, since what comes soon is waited for most keenly.
const (
	firstLook  = 100 * time.Millisecond
	widestLook = 2 * time.Second
)

// Ring does nothing: whoever waits will look.
func (Bell) Ring(context.Context, string) {}

// Listen returns a channel that receives now and then, whether or not anybody rang, and a function that ends it.
func (Bell) Listen(ctx context.Context, _ ...string) (<-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(ctx)
	rung := make(chan struct{}, 1)
	var ticking sync.WaitGroup
	ticking.Go(func() { tick(ctx, rung) })
	return rung, func() {
		cancel()
		ticking.Wait()
	}
}

func tick(ctx context.Context, rung chan<- struct{}) {
	for interval := firstLook; ; interval = min(2*interval, widestLook) {
		look := time.NewTimer(interval)
		select {
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
			return
		}
		select {
		case rung <- struct{}{}:
		default: // told already, and not yet heard
		}
	}
}

// idle is a hub.Clockwork that arms nothing: a function stands still once it has answered, so a timer in it would go off
// whenever the next event comes, or never. What is due stands in the record, which the stream brings to the outbox.
type idle struct{}

var _ hub.Clockwork = idle{}

// Arm does nothing.
func (idle) Arm(context.Context, record.Key, time.Time) {}

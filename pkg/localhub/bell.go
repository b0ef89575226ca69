package localhub

import (
	"context"
	"sync"

	"github.com/mash-hub/mash/pkg/hub"
)

// Bell is a hub.Bell within one process. The zero value is ready.
type Bell struct {
	mu    sync.Mutex
	lanes map[string]map[chan struct{}]struct{}
}

var _ hub.Bell = (*Bell)(nil)

// Ring wakes all who listen to lane.
func (b *Bell) Ring(_ context.Context, lane string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.lanes[lane] {
		select {
		case c <- struct{}{}:
		default: // rung already, and not yet heard
		}
	}
}

// Listen returns a channel that receives after each Ring of one of the lanes from now on, and a function that ends it.
func (b *Bell) Listen(_ context.Context, lanes ...string) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lanes == nil {
		b.lanes = map[string]map[chan struct{}]struct{}{}
	}
	for _, lane := range lanes {
		if b.lanes[lane] == nil {
			b.lanes[lane] = map[chan struct{}]struct{}{}
		}
		b.lanes[lane][c] = struct{}{}
	}
	return c, func() { b.forget(lanes, c) }
}

// Forget does nothing: a lane that nobody listens to takes no room.
func (b *Bell) Forget(context.Context, string) {}

func (b *Bell) forget(lanes []string, c chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, lane := range lanes {
		delete(b.lanes[lane], c)
		if len(b.lanes[lane]) == 0 {
			delete(b.lanes, lane)
		}
	}
}

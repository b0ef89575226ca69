package localhub

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/hub/hubtest"
	"github.com/mash-hub/mash/pkg/record"
)

func TestZZ(t *testing.T) {
	t.Parallel()
	hubtest.Clockwork(t, func(t *testing.T, fire hubtest.Fire) hub.Clockwork {
		c := newClockwork(slog.New(slog.DiscardHandler))
		c.fire = fire
		c.due = func(context.Context, time.Time, int) ([]record.Entry, error) { return nil, nil }
		ctx, stop := context.WithCancel(context.Background())
		var run sync.WaitGroup
		run.Go(func() { c.run(ctx) })
		t.Cleanup(func() { stop(); run.Wait() })
		return c
	})
}

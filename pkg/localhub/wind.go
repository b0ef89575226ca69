package localhub

import (
	"context"
	"log/slog"

	"github.com/mash-hub/mash/pkg/hub"
)

// Wind gives a hub on any store the Clockwork of one process, as Open gives one on SQLite, and returns what runs it until
// its context is done.
func Wind(h *hub.Hub, log *slog.Logger) (run func(context.Context)) {
	c := newClockwork(log)
	c.fire, c.due = h.Fire, h.Store.Due
	h.Clockwork = c
	return c.run
}

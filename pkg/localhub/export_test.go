package localhub

import (
	"context"
	"log/slog"

	"github.com/mash-hub/mash/pkg/hub"
)

// Wind gives a hub on any store the clockwork that Open gives one on SQLite, and returns what runs it.
func Wind(h *hub.Hub) (run func(context.Context)) {
	c := newClockwork(slog.New(slog.DiscardHandler))
	c.fire, c.due = h.Fire, h.Store.Due
	h.Clockwork = c
	return c.run
}

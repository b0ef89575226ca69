package hub

import (
	"context"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Fire does what is due of the record under key, and returns when to look at it again, zero for never. It reads and
// decides anew, so that firing early, late or twice is harmless. An error leaves the record due: fire it again later.
func (h *Hub) Fire(ctx context.Context, key record.Key) (again time.Time, _ error) {
	tail, ok := strings.CutPrefix(key.Part, "m#")
	if !ok || key.Sort != stateKey(tail).Sort {
		return time.Time{}, nil
	}
	m, err := h.loadTail(ctx, tail)
	if e := ma2h.AsError(err); e != nil {
		return time.Time{}, nil // garbage was collected meanwhile
	}
	if err != nil {
		return time.Time{}, err
	}
	if err := h.settle(ctx, m); err != nil {
		return time.Time{}, err
	}
	if err := h.pushDue(ctx, m); err != nil {
		return time.Time{}, err
	}
	return m.rec.Due, nil
}

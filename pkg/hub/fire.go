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
	if err := h.settle(ctx, m, h.now()); err != nil {
		return time.Time{}, err
	}
	if err := h.pushDue(ctx, m); err != nil {
		return time.Time{}, err
	}
	if m.rec.Due.IsZero() || m.rec.Due.After(h.now()) {
		return m.rec.Due, nil
	}
	return h.redate(ctx, m)
}

// redate writes anew when a record is due whose Due has come without there being anything to do, say because the
// retention was prolonged after it was written. Otherwise it would be fired for ever.
func (h *Hub) redate(ctx context.Context, m *message) (time.Time, error) {
	was := m.rec.Rev
	err := h.change(ctx, m, nil, func(*State) bool { return m.rec.Rev == was })
	return m.rec.Due, err
}

package hub

import (
	"context"
	"fmt"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// See notes that the person has opened an ask or task that is open, unless somebody had before, and completes what was read
// of it. It is tried once: whoever was faster has changed more than this, and the next look tries again. Agents are not
// told.
func (h *Hub) See(ctx context.Context, c *Caller, r *Reading) error {
	if err := personOnly(c); err != nil {
		return err
	}
	if r.Type == ma2h.TypeNotify || r.Response != nil || !r.SeenAt.IsZero() {
		return nil
	}
	m, err := h.load(ctx, c, r.ID)
	if err != nil {
		return err
	}
	if m.state.Account != c.Account.Ref {
		return errUnknown()
	}
	if m.state.Status != ma2h.StatusOpen || !m.state.SeenAt.IsZero() {
		return nil
	}
	next := m.state
	next.SeenAt, next.SeenBy = h.now(), c.Actor()
	err = h.Store.Commit(ctx, record.Put(h.stateRecord(m.tail, &next), m.rec.Rev))
	if record.AsConflict(err) != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("note that %s was seen: %w", r.ID, err)
	}
	r.SeenAt, r.SeenBy = next.SeenAt, next.SeenBy
	return nil
}

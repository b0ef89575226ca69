package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// limitMailbox bounds what waits in one lane of a mailbox, so that mail to an agent that never comes does not heap up for as long
// as it is kept (spec §8.6). To count a lane is to read it, so a process counts it once for every tenth part of the limit
// that it has put there: beside others it may exceed the limit by as much.
func (h *Hub) limitMailbox(ctx context.Context, lane string) error {
	limit, now := h.Settings.InboxDepth, h.Now()
	if limit <= 0 {
		return nil
	}
	if h.limiter.mustCount(lane, limit, now) {
		n, err := h.countLane(ctx, lane, limit)
		if err != nil {
			return err
		}
		h.limiter.counted(lane, n, now)
	}
	if h.limiter.fits(lane, limit) {
		return nil
	}
	return &ma2h.Error{
		Code: ma2h.CodeRateLimited, Field: "/to", RetryAfter: 30 * time.Second,
		Message: fmt.Sprintf("%d entries may wait in a mailbox, and that many wait there; nobody has fetched and acknowledged them yet.", limit),
	}
}

// countLane counts the entries of a lane, up to limit.
func (h *Hub) countLane(ctx context.Context, lane string, limit int) (n int, _ error) {
	for after := ""; n < limit; {
		most := min(limit-n, record.MaxListLimit)
		rows, err := h.Store.List(ctx, lane, after, most)
		if err != nil {
			return 0, fmt.Errorf("count what waits in a mailbox: %w", err)
		}
		if n += len(rows); len(rows) < most {
			break
		}
		after = rows[len(rows)-1].Sort
	}
	return n, nil
}

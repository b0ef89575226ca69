package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// bounceLane ends whatever waits in the lane of a session that has ended (spec §14.2, §16.3). What it could not do stays in
// the lane, for the next time.
func (h *Hub) bounceLane(ctx context.Context, s *session, now time.Time) error {
	for after := ""; ; {
		recs, err := h.Store.List(ctx, sessionLane(s.tail()), after, rowsAtOnce)
		if err != nil {
			return fmt.Errorf("list the lane of a session that has ended: %w", err)
		}
		if err := parallel(len(recs), func(i int) error { return h.bounceRow(ctx, recs[i], now) }); err != nil {
			return err
		}
		if len(recs) < rowsAtOnce {
			return nil
		}
		after = recs[len(recs)-1].Sort
	}
}

// bounceNow ends what waits in the lanes of sessions that have just ended, so that whoever ended them sees it and senders
// learn of it at once: a part of each lane, as well as it can. Whoever passes through the lane after the session's end does
// the rest.
func (h *Hub) bounceNow(ctx context.Context, now time.Time, over ...*Session) {
	_ = parallel(len(over), func(i int) error {
		if !over[i].ended() || over[i].Bounced > 0 {
			return nil // somebody has passed through it
		}
		recs, err := h.Store.List(ctx, sessionLane(over[i].tail()), "", rowsAtOnce)
		if err != nil {
			return nil
		}
		return parallel(len(recs), func(j int) error { return h.bounceRow(ctx, recs[j], now) })
	})
}

// bounceRow ends one entry. Responses and receipts never bounce: what they tell is to be pulled (spec §14.2).
func (h *Hub) bounceRow(ctx context.Context, rec record.Record, now time.Time) error {
	var row Row
	if err := Decode(rec, &row); err != nil {
		return err
	}
	if row.Kind == EntryDirective || row.Kind == EntryMessage {
		tail, directive, _ := letterOf(row.ID)
		m, err := h.loadLetter(ctx, &Caller{}, &message{tail: tail, directive: directive})
		if err == nil {
			return h.settle(ctx, m, now)
		}
		if ma2h.AsError(err) == nil {
			return err
		}
	}
	err := h.Store.Commit(ctx, record.Erase(rec.Key, rec.Rev))
	if record.AsConflict(err) != nil {
		return nil // somebody claimed it as the session ended
	}
	return err
}

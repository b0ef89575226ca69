package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// holdOf is for how long a session may be held from now on without a sign of life: as long as a stream, and not so long that
// its lease would lapse (spec §8.7.2).
func (h *Hub) holdOf(s *session) time.Duration {
	return lifecycle.Hold(s.ExpiresAt, h.now(), h.Settings.StreamMaxHold)
}

// watch is somebody who is held at a mailbox: a drain that waits, or a stream.
type watch struct {
	hold time.Duration   // how long at most
	stop <-chan struct{} // ends it earlier; nil for never

	// look looks into the mailbox, and says whether that was all.
	look func(context.Context, *drainer) (got haul, done bool, _ error)
	// again reads anew who is held, before another look.
	again func(context.Context) (*drainer, error)
	// beat is called now and then while nothing happens; nil for never.
	beat func() error

	rung  <-chan struct{} // there may be something to claim
	acked <-chan struct{} // something that was claimed is acknowledged; nil where that is nothing to wait for
	end   <-chan time.Time
	beats <-chan time.Time
}

// beatEvery is how often whoever is held is shown that the hub is still there, so that no proxy takes the connection for
// dead. It renews nothing.
const beatEvery = 15 * time.Second

// until is a context whose deadline is when somebody will stop listening, so that a Bell can arrange itself. It costs no timer,
// and does not end then: that is what stop is for.
type until struct {
	context.Context
	end time.Time
}

// Deadline implements context.Context.
func (u until) Deadline() (time.Time, bool) { return u.end, true }

// keep looks at once, whenever a lane rings and whenever a claim that it saw lapses, until look says that it is done, and once
// more when the time is over, since a ring may have gone astray. It listens before it looks, so that none falls between.
func (h *Hub) keep(ctx context.Context, w *watch, d *drainer) error {
	rung, stop := h.Bell.Listen(until{ctx, time.Now().Add(w.hold)}, d.lanes()...)
	defer stop()
	end := time.NewTimer(w.hold)
	defer end.Stop()
	w.rung, w.end = rung, end.C
	if w.beat != nil {
		beats := time.NewTicker(beatEvery)
		defer beats.Stop()
		w.beats = beats.C
	}
	for over := false; ; {
		got, done, err := w.look(ctx, d)
		if err != nil || done || over {
			return err
		}
		if over, err = w.wait(ctx, got.lapse(h.Now(), w.hold), got.full); err != nil {
			return err
		}
		if d, err = w.again(ctx); err != nil {
			return err
		}
	}
}

// wait returns when it is time to look again, within lapse at the latest, or over when the time is over.
func (w *watch) wait(ctx context.Context, lapse time.Duration, full bool) (over bool, _ error) {
	acked := w.acked
	if !full {
		acked = nil
	}
	again := time.NewTimer(lapse)
	defer again.Stop()
	for {
		select { // first: there may be something to look at all the time
		case <-w.end:
			return true, nil
		case <-w.stop:
			return true, nil
		default:
		}
		select {
		case <-w.rung:
			return false, nil
		case <-acked:
			return false, nil
		case <-again.C:
			return false, nil
		case <-w.beats:
			if w.beat() != nil {
				return false, errUnread
			}
		case <-w.end:
			return true, nil
		case <-w.stop:
			return true, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// drainsStill reads who is held anew: the credential may have been taken away meanwhile, and the session may have ended.
func (h *Hub) drainsStill(ctx context.Context, c *Caller, session string) (*drainer, error) {
	keys := append([]record.Key{AgentKey(c.Agent.Ref)}, h.SessionKeys(session)...)
	recs, err := h.Store.Get(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("look who drains: %w", err)
	}
	var agent Agent
	if err := Decode(recs[0], &agent); err != nil {
		return nil, err
	}
	if !agent.Knows(c.Credential) {
		return nil, ma2h.Errorf(ma2h.CodeUnauthenticated, "The token was taken away while you waited with it.")
	}
	d := &drainer{agent: &agent}
	if session != "" {
		d.session, err = h.presented(ctx, &Caller{Account: c.Account, Agent: &agent, Read: recs[1:]}, session, h.now())
	}
	return d, err
}

// lapse is how long to wait before the next look: until the first of the claims lapses, at most as long as that, and not at
// all where there may be more.
func (t haul) lapse(now time.Time, most time.Duration) time.Duration {
	switch {
	case t.more:
		return 0
	case t.lapses.IsZero():
		return most
	}
	return min(max(t.lapses.Sub(now), 0)+time.Millisecond, most)
}

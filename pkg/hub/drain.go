package hub

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// DrainOptions is the query of a drain (spec §8.7).
type DrainOptions struct {
	Session string        // that the agent presents, or empty for none
	Max     int           // entries at most; 0 for Settings.MaxBatch, which none exceeds
	Wait    time.Duration // how long to hold while there is nothing; cut to Settings.MaxWait
	Unread  bool          // for who is not shown the body, as by HEAD: nothing is claimed

	Stop <-chan struct{} // closed when nothing may be held any longer; nil for never
}

// drainer is somebody who takes entries out of a mailbox: an agent, under a session or not.
type drainer struct {
	agent   *Agent
	session *session
}

// lanes are those that a drainer takes from: without a session the directives to its agent alone (spec §8.7.1).
func (d *drainer) lanes() []string {
	lanes := []string{directiveLane(d.agent.Ref)}
	if d.session != nil {
		lanes = append(lanes, messageLane(d.agent.Ref), sessionLane(d.session.tail()))
	}
	return lanes
}

// DrainKeys are the keys to read with the credential of the agent with this ref, who presents this session, empty for none.
func (h *Hub) DrainKeys(agentRef, session string) []record.Key {
	if session == "" {
		return []record.Key{SeenKey(agentRef)}
	}
	return h.SessionKeys(session)
}

// Drain claims the caller's pending entries in the order of their arrival and returns the body of the answer: each entry in
// its delivered form with a signature of its own, made anew at each delivery (spec §8.7, §9.7, §9.8). What is claimed is
// hidden for Settings.VisibilityTimeout, and then there again unless it was acknowledged. The errors are those of a session
// that cannot be presented: not_found, gone and session_closed_by_operator.
func (h *Hub) Drain(ctx context.Context, c *Caller, o DrainOptions) ([]byte, error) {
	if err := agentOnly(c); err != nil {
		return nil, err
	}
	d, err := h.drainer(ctx, c, o.Session, h.now())
	if err != nil {
		return nil, err
	}
	if o.Unread {
		return drained(nil), nil
	}
	most := h.Settings.MaxBatch
	if o.Max > 0 {
		most = min(most, o.Max)
	}
	wait := h.mayHold(d, o.Wait)
	if wait <= 0 {
		got, err := h.take(ctx, d, most, h.now())
		return drained(got.entries), err
	}
	return h.awaitMail(ctx, c, d, o, most, wait)
}

// drainer is the caller as one who drains, which is a sign of life (spec §15.1, §16.2).
func (h *Hub) drainer(ctx context.Context, c *Caller, session string, now time.Time) (*drainer, error) {
	if session == "" {
		return &drainer{agent: c.Agent}, h.seenNow(ctx, c, now)
	}
	s, err := h.presented(ctx, c, session, now)
	if err != nil {
		return nil, err
	}
	if err := h.renew(ctx, s, now); err != nil {
		return nil, err
	}
	return &drainer{agent: c.Agent, session: s}, nil
}

// mayHold is how long a drain may wait: a session's lease must not run out meanwhile, since an open connection renews
// nothing.
func (h *Hub) mayHold(d *drainer, wait time.Duration) time.Duration {
	wait = min(wait, h.Settings.MaxWait)
	if d.session != nil {
		wait = min(wait, lifecycle.Hold(d.session.ExpiresAt, h.now(), h.Settings.StreamMaxHold))
	}
	return wait
}

// awaitMail holds until there is an entry, or wait is over. It looks at once, whenever a lane rings, whenever a claim that it
// saw lapses, and once more at the end. It listens before it looks, so that no ring falls between.
func (h *Hub) awaitMail(
	ctx context.Context, c *Caller, d *drainer, o DrainOptions, most int, wait time.Duration,
) ([]byte, error) {
	rung, stop := h.Bell.Listen(ctx, d.lanes()...)
	defer stop()
	end := time.NewTimer(wait)
	defer end.Stop()
	for over := false; ; {
		got, err := h.take(ctx, d, most, h.now())
		if err != nil || len(got.entries) > 0 || over {
			return drained(got.entries), err
		}
		lapse := time.NewTimer(got.lapse(h.Now(), wait))
		select {
		case <-rung:
		case <-lapse.C:
		case <-end.C:
			over = true
		case <-o.Stop:
			over = true
		case <-ctx.Done():
			lapse.Stop()
			return nil, ctx.Err()
		}
		lapse.Stop()
		if d, err = h.drainsStill(ctx, c, o.Session); err != nil {
			return nil, err
		}
	}
}

// drainsStill reads who waits anew: the credential may have been taken away meanwhile, and the session may have ended.
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

// haul is what came of a look into a mailbox.
type haul struct {
	entries []delivered
	lapses  time.Time // when the first of the claims that it met lapses; zero for none
}

// lapse is how long to wait for the first of the claims to lapse, at most as long as that.
func (t haul) lapse(now time.Time, most time.Duration) time.Duration {
	if t.lapses.IsZero() {
		return most
	}
	return min(max(t.lapses.Sub(now), 0)+time.Millisecond, most)
}

// take claims up to most entries, and as many bytes as fit into an answer. Entries that another was faster to claim are
// left out, and looked behind.
func (h *Hub) take(ctx context.Context, d *drainer, most int, now time.Time) (haul, error) {
	var all haul
	for range maxLooks {
		rows, lapses, err := h.claimable(ctx, d, most, now)
		if err != nil {
			return haul{}, err
		}
		all.lapses = lapses
		if len(rows) == 0 {
			return all, nil
		}
		letters, err := h.letters(ctx, d, rows)
		if err != nil {
			return haul{}, err
		}
		if all.entries, err = h.claim(ctx, d, letters, now); err != nil || len(all.entries) > 0 {
			return all, err
		}
	}
	return all, nil
}

// maxLooks is how often a drain looks again when others were faster to claim all that it saw.
const maxLooks = 5

// rowsAtOnce is how many rows of a lane are read at once.
const rowsAtOnce = 100

// claimable lists the first rows of all lanes that nobody holds, in the order of their arrival.
func (h *Hub) claimable(ctx context.Context, d *drainer, most int, now time.Time) ([]pending, time.Time, error) {
	lanes := d.lanes()
	found, lapses := make([][]pending, len(lanes)), make([]time.Time, len(lanes))
	err := parallel(len(lanes), func(i int) (err error) {
		found[i], lapses[i], err = h.claimableOf(ctx, lanes[i], most, now)
		return err
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	rows := slices.Concat(found...)
	slices.SortFunc(rows, func(a, b pending) int { return cmp.Compare(a.rec.Sort, b.rec.Sort) })
	var first time.Time
	for _, at := range lapses {
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return rows[:min(len(rows), most)], first, nil
}

// pending is a row that waits in its lane.
type pending struct {
	rec record.Record
	row Row
}

func (h *Hub) claimableOf(ctx context.Context, lane string, most int, now time.Time) ([]pending, time.Time, error) {
	var rows []pending
	var lapses time.Time
	for after := ""; ; {
		recs, err := h.Store.List(ctx, lane, after, rowsAtOnce)
		if err != nil {
			return nil, lapses, fmt.Errorf("list a lane: %w", err)
		}
		for _, rec := range recs {
			p := pending{rec: rec}
			if err := Decode(rec, &p.row); err != nil {
				return nil, lapses, err
			}
			till := p.row.ClaimedTill
			switch {
			case p.row.over(now):
			case now.Before(till):
				if lapses.IsZero() || till.Before(lapses) {
					lapses = till
				}
			default:
				rows = append(rows, p)
			}
			if len(rows) == most {
				return rows, lapses, nil
			}
		}
		if len(recs) < rowsAtOnce {
			return rows, lapses, nil
		}
		after = recs[len(recs)-1].Sort
	}
}

// over says whether an entry is not delivered any more at now (spec §13.3).
func (r *Row) over(now time.Time) bool {
	return !r.ExpiresAt.IsZero() && now.After(r.ExpiresAt) || now.After(r.KeepUntil)
}

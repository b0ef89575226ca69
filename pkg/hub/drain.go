package hub

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

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
	stream  bool // what it takes is pushed, so that nothing says yet that the agent got it (spec §8.7.2)
	window  int  // how many claims it may have at a time that are not acknowledged; 0 for any number
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
		wait = min(wait, h.holdOf(d.session))
	}
	return wait
}

// awaitMail holds until there is an entry, or wait is over.
func (h *Hub) awaitMail(
	ctx context.Context, c *Caller, d *drainer, o DrainOptions, most int, wait time.Duration,
) ([]byte, error) {
	c.Read = nil // it was looked at, and there may be thousands who wait
	var got haul
	w := &watch{
		hold: wait, stop: o.Stop,
		again: func(ctx context.Context) (*drainer, error) { return h.drainsStill(ctx, c, o.Session) },
		look: func(ctx context.Context, d *drainer) (haul, bool, error) {
			var err error
			got, err = h.take(ctx, d, most, h.now())
			return got, len(got.entries) > 0, err
		},
	}
	err := h.keep(ctx, w, d)
	return drained(got.entries), err
}

// haul is what came of a look into a mailbox.
type haul struct {
	entries []delivered
	lapses  time.Time // when the first of the claims that it met lapses; zero for none
	more    bool      // there may be more to claim at once
	full    bool      // a stream has pushed as much as it may before something of it is acknowledged
}

// take claims up to most entries, and as many bytes as fit into an answer. Entries that another was faster to claim are
// left out, and looked behind.
func (h *Hub) take(ctx context.Context, d *drainer, most int, now time.Time) (haul, error) {
	var all haul
	for range maxLooks {
		seen, err := h.claimable(ctx, d, most, now)
		if err != nil {
			return haul{}, err
		}
		all.lapses, all.full = seen.lapses, d.window > 0 && seen.leave(d.window)
		if len(seen.rows) == 0 {
			return all, nil
		}
		letters, err := h.letters(ctx, seen.rows)
		if err != nil {
			return haul{}, err
		}
		all.entries, err = h.claim(ctx, d, letters.all, now)
		all.more = !all.full && (len(seen.rows) == most || letters.cut || len(all.entries) < len(letters.all))
		if err != nil || len(all.entries) > 0 {
			if d.stream { // which is still there when they lapse
				all.lapses = earliest(all.lapses, now.Add(h.Settings.VisibilityTimeout))
			}
			return all, err
		}
	}
	return all, nil
}

// maxLooks is how often a drain looks again when others were faster to claim all that it saw.
const maxLooks = 5

// rowsAtOnce is how many rows of a lane are read at once.
const rowsAtOnce = 100

// pending is a row that waits in its lane.
type pending struct {
	rec record.Record
	row Row
}

// sight is what a look at lanes shows.
type sight struct {
	rows   []pending // that nobody holds
	lapses time.Time // when the first of the claims that it met lapses; zero for none
	held   int       // how many of those are the drainer's own
}

// claimable lists the first rows of all lanes that nobody holds, in the order of their arrival.
func (h *Hub) claimable(ctx context.Context, d *drainer, most int, now time.Time) (sight, error) {
	lanes := d.lanes()
	found := make([]sight, len(lanes))
	err := parallel(len(lanes), func(i int) (err error) {
		found[i], err = h.claimableOf(ctx, d, lanes[i], most, now)
		return err
	})
	if err != nil {
		return sight{}, err
	}
	var all sight
	for _, f := range found {
		all.rows = append(all.rows, f.rows...)
		all.lapses, all.held = earliest(all.lapses, f.lapses), all.held+f.held
	}
	slices.SortFunc(all.rows, func(a, b pending) int { return cmp.Compare(a.rec.Sort, b.rec.Sort) })
	all.rows = all.rows[:min(len(all.rows), most)]
	return all, nil
}

func (h *Hub) claimableOf(ctx context.Context, d *drainer, lane string, most int, now time.Time) (sight, error) {
	var seen sight
	for after := ""; ; {
		recs, err := h.Store.List(ctx, lane, after, rowsAtOnce)
		if err != nil {
			return seen, fmt.Errorf("list a lane: %w", err)
		}
		for _, rec := range recs {
			p := pending{rec: rec}
			if err := Decode(rec, &p.row); err != nil {
				return seen, err
			}
			seen.add(d, p, now)
			if len(seen.rows) == most {
				return seen, nil
			}
		}
		if len(recs) < rowsAtOnce {
			return seen, nil
		}
		after = recs[len(recs)-1].Sort
	}
}

// add notes a row, as it stands at now.
func (s *sight) add(d *drainer, p pending, now time.Time) {
	switch {
	case p.row.over(now):
	case now.Before(p.row.ClaimedTill):
		s.lapses = earliest(s.lapses, p.row.ClaimedTill)
		if d.session != nil && p.row.Claimant == d.session.ID {
			s.held++
		}
	default:
		s.rows = append(s.rows, p)
	}
}

// leave leaves rows alone that may not be claimed before others are acknowledged, and says whether there are any. So no more
// is under way to a reader than the window: what lies unread in its buffers is hidden from all others.
func (s *sight) leave(window int) (some bool) {
	room := max(window-s.held, 0)
	some = len(s.rows) > room
	s.rows = s.rows[:min(len(s.rows), room)]
	return some
}

// earliest is the first of two times, of which a zero one is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// over says whether an entry is not delivered any more at now (spec §13.3).
func (r *Row) over(now time.Time) bool {
	return !r.ExpiresAt.IsZero() && now.After(r.ExpiresAt) || now.After(r.KeepUntil)
}

package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// ending is how a session ends.
type ending struct {
	state    ma2h.SessionState
	at       time.Time
	by       string // actor, of a close
	operator bool   // a person closed it
	stop     *Stop  // what stops its agent from now on, unless it is stopped already
	deed     string // of the person
}

// settleSession ends a session whose lease has lapsed by now, at the end of the lease: never at the time at which somebody
// looked (spec §16.3). Afterwards s is what stands.
func (h *Hub) settleSession(ctx context.Context, s *session, now time.Time) error {
	if !s.lapsed(now) {
		return nil
	}
	return h.endSession(ctx, nil, s, now, nil)
}

// endSession ends a session: by the lapse of its lease if that came first, else as how says, nil for not at all. One Commit
// writes the session and takes it from its agent's live ones; when another was faster it is decided anew on what stands.
func (h *Hub) endSession(ctx context.Context, c *Caller, s *session, now time.Time, how *ending) error {
	if c == nil {
		c = &Caller{}
	}
	live, err := h.live(ctx, c, s.AgentRef)
	if err != nil {
		return err
	}
	for range sessionTries {
		e := how
		if s.lapsed(now) {
			e = &ending{state: ma2h.SessionExpired, at: s.ExpiresAt}
		}
		if s.ended() || e == nil {
			return nil
		}
		next := s.end(e)
		session := record.Put(h.sessionRecord(next, h.sessionDue(next)), s.rec.Rev)
		writes := []record.Write{session, live.without(e.stop, next)}
		if e.deed != "" {
			writes = append(writes, h.deed(c, e.deed, s.ID, now))
		}
		err := h.Store.Commit(ctx, writes...)
		if err == nil {
			s.rec, s.Session = session.Record, *next
			h.sessionOver(ctx, s)
			return nil
		}
		if err := h.followBoth(s, live, err); err != nil {
			return err
		}
	}
	return errBusy()
}

// end returns the session as it stands once it has ended.
func (s *Session) end(e *ending) *Session {
	next := *s
	next.State, next.ClosedAt, next.ClosedBy, next.ByOperator, next.Bounced = e.state, e.at, e.by, e.operator, 0
	return &next
}

// sessionOver tells, after the Commit, whoever waits with the session, and whoever sees to its mail.
func (h *Hub) sessionOver(ctx context.Context, s *session) {
	h.Bell.Ring(ctx, sessionLane(s.tail()))
	h.Bell.Ring(ctx, AccountLane(s.Account))
	h.Clockwork.Arm(ctx, s.rec.Key, h.sessionNext(&s.Session))
}

// followBoth takes over the winners of a lost Commit of a session and its agent's Live.
func (h *Hub) followBoth(s *session, live *liveRecord, err error) error {
	conflict := record.AsConflict(err)
	if conflict == nil {
		return fmt.Errorf("end session %s: %w", s.ID, err)
	}
	known := false
	if winner, about := conflict.Winner(live.rec.Key); about {
		known = true
		if err := live.take(winner); err != nil {
			return err
		}
	}
	if _, about := conflict.Winner(s.rec.Key); about {
		return s.follow(s.rec.Key, err)
	}
	if !known {
		return fmt.Errorf("end session %s: %w", s.ID, err)
	}
	return nil
}

// liveRecord is a Live as it was read.
type liveRecord struct {
	rec record.Record
	Live
}

// live returns the Live of an agent, from what was read with the credential of c where that has it. One that is not there is
// empty.
func (h *Hub) live(ctx context.Context, c *Caller, agentRef string) (*liveRecord, error) {
	recs, err := h.fetched(ctx, c, LiveKey(agentRef))
	if err != nil {
		return nil, err
	}
	l := &liveRecord{}
	return l, l.take(recs[0])
}

// liveNow reads the Live of an agent anew.
func (h *Hub) liveNow(ctx context.Context, agentRef string) (*liveRecord, error) {
	return h.live(ctx, &Caller{}, agentRef)
}

func (l *liveRecord) take(rec record.Record) error {
	l.rec, l.Live = rec, Live{}
	if rec.Rev == "" {
		return nil
	}
	return Decode(rec, &l.Live)
}

// follow takes over the winner of a Commit that was lost over the Live alone.
func (l *liveRecord) follow(err error) error {
	if conflict := record.AsConflict(err); conflict != nil {
		if winner, about := conflict.Winner(l.rec.Key); about {
			return l.take(winner)
		}
	}
	return err
}

// put is the write that makes next what stands.
func (l *liveRecord) put(next Live) record.Write {
	return record.Put(record.Record{Key: l.rec.Key, Kind: KindLive, Body: Encode(&next)}, l.rec.Rev)
}

// without is the write that takes sessions from the live ones, keeps their last sign of life, and stops the agent unless stop
// is nil or it is stopped already.
func (l *liveRecord) without(stop *Stop, over ...*Session) record.Write {
	next := l.Live
	next.Sessions = slices.Clone(l.Sessions)
	for _, s := range over {
		next.Sessions = slices.DeleteFunc(next.Sessions, func(id string) bool { return id == s.ID })
		next.LastSeen = latest(next.LastSeen, s.LastSeen)
	}
	if next.Stop == nil {
		next.Stop = stop
	}
	return l.put(next)
}

// ofSession says whether a key is that of a session.
func ofSession(key record.Key) bool {
	return strings.HasPrefix(key.Part, "s#") && key.Sort == "session"
}

// fireSession does what is due of a session: ends a lease that has lapsed, goes through the lane of one that has ended, and
// erases it at last. It returns when to look again.
func (h *Hub) fireSession(ctx context.Context, key record.Key) (again time.Time, _ error) {
	now := h.now()
	s, err := h.sessionAt(ctx, key, now)
	if s == nil || err != nil {
		return time.Time{}, err
	}
	if !s.ended() {
		return h.sessionNext(&s.Session), h.redateSession(ctx, s, now)
	}
	return h.clear(ctx, s, now)
}

// sessionAt reads a session and settles it at now; nil for none.
func (h *Hub) sessionAt(ctx context.Context, key record.Key, now time.Time) (*session, error) {
	rec, err := h.get(ctx, key)
	if err != nil {
		return nil, err
	}
	s, err := sessionOf(rec)
	if s == nil || err != nil {
		return nil, err
	}
	return s, h.settleSession(ctx, s, now)
}

// lapse is fireSession for a TimerLease: it ends a lease that has lapsed, and goes through the lane of a session that has ended,
// however it did. The rest is a sweep's: the erasure, and a session that has lived for longer than TimerHorizon, so that
// nothing waits for ever for one that is always renewed.
func (h *Hub) lapse(ctx context.Context, key record.Key) (again time.Time, _ error) {
	now := h.now()
	s, err := h.sessionAt(ctx, key, now)
	switch {
	case s == nil || err != nil:
		return time.Time{}, err
	case s.ended():
		return h.bouncePassesOf(ctx, s, now)
	case s.beyondTimers():
		return time.Time{}, nil
	}
	return h.sessionNext(&s.Session), nil
}

// redateSession moves the due time of a session whose lease was renewed since it was written, so that it is not fired for
// ever.
func (h *Hub) redateSession(ctx context.Context, s *session, now time.Time) error {
	if s.rec.Due.After(now) {
		return nil
	}
	err := h.Store.Commit(ctx, record.Put(h.sessionRecord(&s.Session, h.sessionDue(&s.Session)), s.rec.Rev))
	if record.AsConflict(err) != nil {
		return nil // whoever was faster renewed it, or ended it; the record is still due, and is looked at again
	}
	if err != nil {
		return fmt.Errorf("write session %s: %w", s.ID, err)
	}
	return nil
}

// clear takes a session that has ended through the passes over its lane to its erasure, as far as it is time for.
func (h *Hub) clear(ctx context.Context, s *session, now time.Time) (again time.Time, _ error) {
	if again, err := h.bouncePassesOf(ctx, s, now); err != nil || !again.IsZero() {
		return again, err
	}
	if s.rec.Rev == "" {
		return time.Time{}, nil // somebody else has erased it
	}
	at := h.sessionNext(&s.Session)
	if now.Before(at) {
		return at, h.redateSession(ctx, s, now)
	}
	err := h.Store.Commit(ctx, record.Erase(s.rec.Key, s.rec.Rev))
	if conflict := record.AsConflict(err); conflict != nil {
		return now, nil // looked at again
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("erase session %s: %w", s.ID, err)
	}
	h.Bell.Forget(ctx, sessionLane(s.tail()))
	return time.Time{}, nil
}

// bouncePassesOf goes through the lane of a session that has ended, as often as it is time for, and returns when to do so again;
// zero for never.
func (h *Hub) bouncePassesOf(ctx context.Context, s *session, now time.Time) (again time.Time, _ error) {
	for s.Bounced < bouncePasses {
		if at := h.sessionNext(&s.Session); now.Before(at) && s.Bounced > 0 {
			return at, nil
		}
		if err := h.bounceLane(ctx, s, now); err != nil {
			return time.Time{}, err
		}
		if err := h.passed(ctx, s, now); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, nil
}

// passed notes that the lane was gone through. One pass is enough when it came so late that no request can be under way that
// had read the session as live.
func (h *Hub) passed(ctx context.Context, s *session, now time.Time) error {
	next := s.Session
	next.Bounced++
	if now.After(s.endedAt().Add(bounceAgain)) {
		next.Bounced = bouncePasses
	}
	put := record.Put(h.sessionRecord(&next, h.sessionDue(&next)), s.rec.Rev)
	err := h.Store.Commit(ctx, put)
	if err == nil {
		s.rec, s.Session = put.Record, next
		return nil
	}
	return s.follow(put.Record.Key, err)
}

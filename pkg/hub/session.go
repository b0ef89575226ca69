package hub

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// session is one session as it was read.
type session struct {
	rec record.Record
	Session
}

// SessionKeys returns where the session with this id lies, to be read together with the caller's credential; nothing when the
// id has not the form of one of ours.
func (h *Hub) SessionKeys(id string) []record.Key {
	key, ok := SessionKey(id)
	if !ok {
		return nil
	}
	return []record.Key{key}
}

// loadSession returns the session with this id, from what was read with the credential where that has it; nil where there is
// none, or one that ended so long ago that it is unknown again (spec §16.3).
func (h *Hub) loadSession(ctx context.Context, c *Caller, id string) (*session, error) {
	key, ok := SessionKey(id)
	if !ok {
		return nil, nil
	}
	recs, err := h.fetched(ctx, c, key)
	if err != nil {
		return nil, err
	}
	s, err := sessionOf(recs[0])
	if err != nil || s == nil || h.purged(&s.Session, h.now()) {
		return nil, err
	}
	return s, nil
}

// sessionOf decodes a session's record; nil for none.
func sessionOf(rec record.Record) (*session, error) {
	if rec.Rev == "" {
		standInSession()
		return nil, nil
	}
	s := &session{rec: rec}
	return s, Decode(rec, &s.Session)
}

// ended says whether the session is terminal, and endedAt since when.
func (s *Session) ended() bool         { return lifecycle.Ended(s.State) }
func (s *Session) endedAt() time.Time  { return s.ClosedAt }
func (s *Session) ttl() time.Duration  { return time.Duration(s.TTL) * time.Second }
func (s *Session) tail() (tail string) { tail, _ = sessionTail(s.ID); return tail }

// lapsed says whether a lease has ended by now of a session that nobody has ended yet: strictly after its end (spec §16.3).
func (s *Session) lapsed(now time.Time) bool {
	return !s.ended() && lifecycle.Overdue(s.ExpiresAt, now)
}

// purged says whether a session ended so long ago that it is not shown any more, erased or not. An agent's stop outlives it.
func (h *Hub) purged(s *Session, now time.Time) bool {
	return s.ended() && lifecycle.Overdue(h.purge(s), now)
}

func (h *Hub) purge(s *Session) time.Time { return s.endedAt().Add(h.Settings.TerminalRetention) }

// bounceAgain is how long after its end the lane of a session is gone through once more: longer than any request lasts that
// had still read the session as live.
const bounceAgain = time.Minute

// bouncePasses is how often a lane is gone through.
const bouncePasses = 2

// sessionNext is when something of a session must happen: the end of its lease, then the passes through its lane, then its
// erasure. sessionDue is when a sweep must look at it.
func (h *Hub) sessionNext(s *Session) time.Time {
	switch {
	case !s.ended():
		return afterDeadline(s.ExpiresAt)
	case s.Bounced == 0:
		return s.endedAt()
	case s.Bounced < bouncePasses:
		return afterDeadline(s.endedAt().Add(bounceAgain))
	default:
		return afterDeadline(h.purge(s))
	}
}

func (h *Hub) sessionDue(s *Session) time.Time {
	if !s.ended() && !s.beyondTimers() {
		return h.sessionNext(s).Add(h.Settings.Grace)
	}
	return h.sessionNext(s)
}

// beyondTimers says whether a session's lease ends when its Timer is over, so that a sweep sees to it without delay.
func (s *Session) beyondTimers() bool { return s.ExpiresAt.Sub(s.CreatedAt) > TimerHorizon }

// sessionRecord returns the record for a session: in the list of its account and in that of its agent, the live ones before
// those that have ended, the newest first. A renewal changes neither place nor due time, so that it costs no more than the
// record itself.
func (h *Hub) sessionRecord(s *Session, due time.Time) record.Record {
	key, _ := SessionKey(s.ID)
	order := "live#" + descending(s.CreatedAt)
	if s.ended() {
		order = "over#" + descending(s.endedAt())
	}
	return record.Record{
		Key: key, Kind: KindSession, Body: Encode(s), Due: due,
		Tags: [2]record.Tag{{Name: sessionTag + s.Account, Order: order}, {Name: sessionTag + s.AgentRef, Order: order}},
	}
}

// sessionTag begins the names of the lists of sessions.
const sessionTag = "sess#"

// sessionTries is how often a session's write is decided anew. Whenever one is too slow another was done.
const sessionTries = 100

// presented returns the session that a request shows as the caller's own, settled at now (spec §8.7.1, §16.3). Somebody
// else's is unknown; one that has ended is gone, in the words that tell the caller whether to register again.
func (h *Hub) presented(ctx context.Context, c *Caller, id string, now time.Time) (*session, error) {
	s, err := h.ownSession(ctx, c, id, now)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, errNoSession()
	case s.ended():
		return nil, errSessionOver(&s.Session)
	}
	return s, nil
}

// named returns the session that a submit says it comes from, settled at now (spec §4.1).
func (h *Hub) named(ctx context.Context, c *Caller, id string, now time.Time) (*session, error) {
	s, err := h.ownSession(ctx, c, id, now)
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/agent/session",
			"No session with this id is yours; register one, or leave agent.session out.")
	case s.ended():
		return nil, errNamedOver(&s.Session)
	}
	return s, nil
}

// errNamedOver tells an agent that the session that its submit names has ended (spec §4.1, §16.3).
func errNamedOver(s *Session) error {
	if s.ByOperator {
		return errClosedByOperator()
	}
	return ma2h.FieldErrorf(ma2h.CodeDestinationGone, "/agent/session",
		"Your session has ended; register a new one, and send its id.")
}

// ownSession returns a session of the calling agent, settled at now; nil for any other.
func (h *Hub) ownSession(ctx context.Context, c *Caller, id string, now time.Time) (*session, error) {
	if c.Agent == nil {
		return nil, nil
	}
	s, err := h.loadSession(ctx, c, id)
	if err != nil || s == nil || s.AgentRef != c.Agent.Ref {
		return nil, err
	}
	if err := h.settleSession(ctx, s, now); err != nil {
		return nil, err
	}
	if h.purged(&s.Session, now) {
		return nil, nil
	}
	return s, nil
}

// errNoSession is what everybody gets who may not know whether the id exists.
func errNoSession() error {
	return ma2h.Errorf(ma2h.CodeNotFound, "There is no session with this id; an agent registers one with POST /v1/sessions.")
}

// errSessionOver tells an agent that its session has ended, and what to do about it (spec §16.3).
func errSessionOver(s *Session) error {
	if s.ByOperator {
		return errClosedByOperator()
	}
	return ma2h.Errorf(ma2h.CodeGone, "The session has ended; register a new one and go on with that.")
}

func errClosedByOperator() error {
	return ma2h.Errorf(ma2h.CodeSessionClosedByOperator,
		"A person has closed the session; stop, do not register again, and tell a person.")
}

// renew extends a session's lease for something that its agent did at now (spec §16.2). It never shortens one, whatever the
// clock says. When the session ended before, it is gone. The due time stays: whoever finds the lease renewed then moves it.
func (h *Hub) renew(ctx context.Context, s *session, now time.Time) error {
	return h.renewAs(ctx, s, now, "")
}

// renewAs is renew that also writes down, unless it is empty, which stream of the session was opened last.
func (h *Hub) renewAs(ctx context.Context, s *session, now time.Time, stream string) error {
	for range sessionTries {
		if err := h.settleSession(ctx, s, now); err != nil {
			return err
		}
		if s.ended() {
			return errSessionOver(&s.Session)
		}
		next := s.Session
		next.LastSeen = latest(s.LastSeen, now)
		next.ExpiresAt = latest(s.ExpiresAt, now.Add(s.ttl()))
		next.Stream = cmp.Or(stream, s.Stream)
		if next.LastSeen.Equal(s.LastSeen) && next.ExpiresAt.Equal(s.ExpiresAt) && next.Stream == s.Stream {
			return nil
		}
		put := record.Put(h.sessionRecord(&next, s.rec.Due), s.rec.Rev)
		err := h.Store.Commit(ctx, put)
		if err == nil {
			s.rec, s.Session = put.Record, next
			return nil
		}
		if err := s.follow(put.Record.Key, err); err != nil {
			return err
		}
	}
	return errBusy()
}

// follow takes over the winner of a lost Commit. A session that is not there any more was erased, and so has ended longer ago
// than anybody is told of.
func (s *session) follow(key record.Key, err error) error {
	conflict := record.AsConflict(err)
	if conflict == nil {
		return fmt.Errorf("write session %s: %w", s.ID, err)
	}
	winner, about := conflict.Winner(key)
	if !about {
		return fmt.Errorf("write session %s: %w", s.ID, err)
	}
	if winner.Rev == "" {
		s.rec, s.State, s.ClosedAt, s.Bounced = winner, ma2h.SessionExpired, time.Time{}, bouncePasses
		return nil
	}
	s.rec, s.Session = winner, Session{}
	return Decode(winner, &s.Session)
}

func latest(times ...time.Time) time.Time {
	var last time.Time
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

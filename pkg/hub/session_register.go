package hub

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Register begins a session of the calling agent (spec §16.1). Who was stopped by a person is refused, whatever the body says;
// that and the number of live sessions are exact, since they stand in the one record that every registration writes.
func (h *Hub) Register(ctx context.Context, c *Caller, r *ma2h.Register) (*ma2h.SessionEnvelope, error) {
	if err := agentOnly(c); err != nil {
		return nil, err
	}
	live, err := h.live(ctx, c, c.Agent.Ref)
	if err != nil {
		return nil, err
	}
	if live.Stop != nil {
		return nil, errStopped()
	}
	if !ma2h.Addressable(c.Agent.ID) {
		return nil, ma2h.Errorf(ma2h.CodeInvalidField,
			"An agent whose id has a # cannot have sessions, since no address could name it; use an agent with another id.")
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	if err := h.LimitRate(c); err != nil {
		return nil, err
	}
	s := h.newSession(c, r, h.now())
	if err := h.begin(ctx, s, live); err != nil {
		return nil, err
	}
	return &ma2h.SessionEnvelope{Session: s.wire()}, nil
}

func (h *Hub) newSession(c *Caller, r *ma2h.Register, now time.Time) *Session {
	lease := lifecycle.Lease(
		time.Duration(r.TTLSeconds)*time.Second, h.Settings.DefaultTTL, h.Settings.MinTTL, h.Settings.MaxTTL)
	return &Session{
		ID: ma2h.NewID(ma2h.PrefixSession), Account: c.Account.Ref, AgentRef: c.Agent.Ref, AgentID: c.Agent.ID,
		RunID: r.RunID, Label: r.Label, Kind: r.Kind, Project: r.Project, Labels: r.Labels,
		TTL: int(lease / time.Second), CreatedAt: now, ExpiresAt: now.Add(lease), LastSeen: now, State: ma2h.SessionActive,
	}
}

// begin writes a new session and puts it among its agent's live ones, unless there are too many or the agent was stopped.
func (h *Hub) begin(ctx context.Context, s *Session, live *liveRecord) error {
	rec := h.sessionRecord(s, h.sessionDue(s))
	for range sessionTries {
		if live.Stop != nil {
			return errStopped()
		}
		if len(live.Sessions) >= h.Settings.MaxLivePerAgent {
			if err := h.makeRoom(ctx, live, s); err != nil {
				return err
			}
			continue
		}
		next := live.Live
		next.Sessions = append(slices.Clone(live.Sessions), s.ID)
		err := h.Store.Commit(ctx, record.Put(rec, ""), live.put(next))
		if err == nil || minted(err, rec.Key) {
			h.Bell.Ring(ctx, AccountLane(s.Account))
			h.Clockwork.Arm(ctx, rec.Key, h.sessionNext(s))
			return nil
		}
		if err := live.follow(err); err != nil {
			return fmt.Errorf("write session %s: %w", s.ID, err)
		}
	}
	return errBusy()
}

// minted says whether a Commit of a new session was lost over the session itself. Nobody else knows its id, so that it was
// written, the answer was lost, and others have done something to it since.
func minted(err error, key record.Key) bool {
	conflict := record.AsConflict(err)
	if conflict == nil {
		return false
	}
	there, about := conflict.Winner(key)
	return about && there.Rev != ""
}

// makeRoom ends those of an agent's sessions whose lease has lapsed, and reads anew which ones live. Where none has lapsed
// there is no room for s.
func (h *Hub) makeRoom(ctx context.Context, live *liveRecord, s *Session) error {
	sessions, err := h.sessionsOf(ctx, live.Sessions)
	if err != nil {
		return err
	}
	now, over := s.CreatedAt, false
	var first time.Time
	for _, other := range sessions {
		over = over || other.ended() || other.lapsed(now)
		if err := h.settleSession(ctx, other, now); err != nil {
			return err
		}
		if first.IsZero() || other.ExpiresAt.Before(first) {
			first = other.ExpiresAt
		}
	}
	if over {
		fresh, err := h.liveNow(ctx, s.AgentRef)
		if err != nil {
			return err
		}
		*live = *fresh
		return nil
	}
	return &ma2h.Error{
		Code: ma2h.CodeRateLimited, RetryAfter: max(first.Sub(now), time.Second),
		Message: fmt.Sprintf("%d sessions may live at once, and that many of yours do; close one, or wait until one lapses.",
			h.Settings.MaxLivePerAgent),
	}
}

// errStopped is the answer to the registration of an agent that a person has stopped (spec §16.4.1). Nothing is gone, so that
// it is no 410; what the agent should do is the same.
func errStopped() error {
	e := ma2h.Errorf(ma2h.CodeSessionClosedByOperator,
		"A person has stopped this agent; stop, do not register again, and tell a person, who alone can let it go on.")
	e.HTTPStatus = http.StatusForbidden
	return e
}

package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// CloseSession ends a session (spec §16.3): an agent one of its own, a person any of the account, which is marked as such and,
// unless the hub says otherwise, stops the agent (spec §16.4.1). One that has ended already stays as it ended.
func (h *Hub) CloseSession(ctx context.Context, c *Caller, id string) (*ma2h.SessionEnvelope, error) {
	now := h.now()
	s, err := h.visibleSession(ctx, c, id, now)
	if err != nil {
		return nil, err
	}
	if c.Agent != nil && s.AgentRef != c.Agent.Ref {
		return nil, errNoSession() // it may be seen, but is none of this agent's
	}
	if err := h.endSession(ctx, c, s, now, h.closing(c, now, "")); err != nil {
		return nil, err
	}
	h.bounceNow(ctx, now, &s.Session)
	return &ma2h.SessionEnvelope{Session: s.wire()}, nil
}

// closing is how the caller closes a session.
func (h *Hub) closing(c *Caller, now time.Time, reason string) *ending {
	e := &ending{state: ma2h.SessionClosed, at: now, by: c.Actor()}
	if c.Person == nil {
		return e
	}
	e.operator, e.deed = true, "session_close"
	if h.Settings.HardStop {
		e.stop = &Stop{At: now, By: c.Actor(), Reason: reason}
	}
	return e
}

// maxReason is the longest reason of a stop, in bytes.
const maxReason = 1000

// StopAgent closes every live session of an agent and, where a stop holds, lets it register none until a person lifts that
// (spec §16.4.1). To stop an agent that is stopped closes what may be left.
func (h *Hub) StopAgent(ctx context.Context, c *Caller, agentID, reason string) error {
	agent, err := h.governed(ctx, c, agentID)
	if err != nil {
		return err
	}
	if len(reason) > maxReason {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/reason", "A reason has at most %d bytes.", maxReason)
	}
	live, err := h.live(ctx, c, agent.Ref)
	if err != nil {
		return err
	}
	for range sessionTries {
		done, err := h.stopOnce(ctx, c, agent, live, h.closing(c, h.now(), reason))
		if done || err != nil {
			return err
		}
		if live, err = h.liveNow(ctx, agent.Ref); err != nil {
			return err
		}
	}
	return errBusy()
}

// governed returns an agent that the person may stop.
func (h *Hub) governed(ctx context.Context, c *Caller, agentID string) (*Agent, error) {
	agent, err := h.ownAgent(ctx, c, agentID)
	if err == nil && !h.governs(c) {
		err = errNoAgent()
	}
	return agent, err
}

// sessionsAtOnce is how many sessions one Commit of a stop ends.
const sessionsAtOnce = 40

// stopOnce makes one Commit towards the stop of an agent, and says whether there was nothing left to do. When others were
// faster it did nothing.
func (h *Hub) stopOnce(ctx context.Context, c *Caller, agent *Agent, live *liveRecord, e *ending) (done bool, _ error) {
	if len(live.Sessions) == 0 && (live.Stop != nil || e.stop == nil) {
		return true, nil
	}
	sessions, err := h.sessionsOf(ctx, live.Sessions[:min(len(live.Sessions), sessionsAtOnce)])
	if err != nil {
		return false, err
	}
	var writes []record.Write
	var over []*Session
	for _, s := range sessions {
		how := e
		if s.lapsed(e.at) {
			how = &ending{state: ma2h.SessionExpired, at: s.ExpiresAt}
		}
		next := s.end(how)
		over = append(over, next)
		writes = append(writes, record.Put(h.sessionRecord(next, h.sessionDue(next)), s.rec.Rev))
	}
	if live.Stop == nil && e.stop != nil {
		writes = append(writes, h.deed(c, "agent_stop", agent.ID, e.at))
	}
	for _, s := range over {
		if s.ByOperator {
			writes = append(writes, h.deed(c, e.deed, s.ID, e.at))
		}
	}
	err = h.Store.Commit(ctx, append(writes, live.without(e.stop, over...))...)
	if record.AsConflict(err) != nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("stop an agent: %w", err)
	}
	for i, s := range over {
		h.sessionOver(ctx, &session{rec: writes[i].Record, Session: *s})
	}
	h.bounceNow(ctx, e.at, over...)
	h.Bell.Ring(ctx, AccountLane(agent.Account))
	return false, nil
}

// LiftStop lets an agent register sessions again that a person had stopped (spec §16.4.1). No agent can.
func (h *Hub) LiftStop(ctx context.Context, c *Caller, agentID string) error {
	agent, err := h.governed(ctx, c, agentID)
	if err != nil {
		return err
	}
	live, err := h.live(ctx, c, agent.Ref)
	if err != nil {
		return err
	}
	for range sessionTries {
		if live.Stop == nil {
			return nil
		}
		next := live.Live
		next.Stop = nil
		err := h.Store.Commit(ctx, live.put(next), h.deed(c, "stop_lift", agent.ID, h.now()))
		if err == nil {
			h.Bell.Ring(ctx, AccountLane(agent.Account))
			return nil
		}
		if err := live.follow(err); err != nil {
			return fmt.Errorf("lift the stop of an agent: %w", err)
		}
	}
	return errBusy()
}

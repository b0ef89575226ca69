package hub

import (
	"context"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// attest finds the session that a submit names as its own, and renews it (spec §4.1, §16.2).
func (h *Hub) attest(ctx context.Context, c *Caller, e *ma2h.Envelope, now time.Time) error {
	id := e.Message.Agent.Session
	if id == "" {
		return nil
	}
	s, err := h.named(ctx, c, id, now)
	if err != nil {
		return err
	}
	if err := h.renew(ctx, s, now); err != nil && s.ended() {
		return errNamedOver(&s.Session) // it ended meanwhile
	} else if err != nil {
		return err
	}
	return nil
}

// sendsTo finds where an addressed message goes, or nil for one that is for people (spec §4, §8.0).
func (h *Hub) sendsTo(ctx context.Context, c *Caller, to string, now time.Time) (*addressee, error) {
	if to == "" {
		return nil, nil
	}
	if !c.Account.InterAgent {
		return nil, ma2h.FieldErrorf(ma2h.CodeNotAuthorized, "/to",
			`Agents of this account may not write to each other until an owner turns that on; without "to" a message reaches people.`)
	}
	d, err := h.addressee(ctx, c, c.Account.Ref, to, now)
	if err != nil {
		return nil, err
	}
	if err := h.limitPair(ctx, c, d); err != nil {
		return nil, err
	}
	return d, h.limitMailbox(ctx, d.lane(EntryMessage))
}

// sees says whether a caller may know of the sessions of an agent: people may, and an agent always of its own (spec §16.4).
func (h *Hub) sees(c *Caller, agentRef string) bool {
	return c.Agent == nil || h.Settings.AgentListVisibility || c.Agent.Ref == agentRef
}

// reachability is what the ack of an addressed message says of its destination (spec §8.1, §15.1). A sender who may not know
// is told exactly that.
func (h *Hub) reachability(ctx context.Context, c *Caller, to string, now time.Time) (*ma2h.Destination, error) {
	address, _ := ma2h.ParseAddress(to)
	ref := h.AgentRef(c.Account.Ref, address.AgentID)
	if !h.sees(c, ref) {
		return &ma2h.Destination{State: lifecycle.Unknown}, nil
	}
	reach, err := h.reach(ctx, c, ref, address.Session, now)
	return &reach, err
}

// reachOf is reach for an addressee that was just read.
func (h *Hub) reachOf(ctx context.Context, to *addressee, now time.Time) (ma2h.Destination, error) {
	if to.session != nil {
		return h.sessionSnapshot(&to.session.Session, now), nil
	}
	return h.snapshot(ctx, to.live, now)
}

// reach says at now how an agent, or one session of it, can be reached.
func (h *Hub) reach(ctx context.Context, c *Caller, agentRef, session string, now time.Time) (ma2h.Destination, error) {
	if session != "" {
		s, err := h.settledSession(ctx, c, session, now)
		if s == nil || err != nil {
			return ma2h.Destination{State: lifecycle.Unknown}, err
		}
		return h.sessionSnapshot(&s.Session, now), nil
	}
	live, err := h.live(ctx, c, agentRef)
	if err != nil {
		return ma2h.Destination{}, err
	}
	return h.snapshot(ctx, live.Live, now)
}

package hub

import (
	"context"
	"slices"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Resolve ends an open ask or task as a person, or as an agent that may (spec §8.8, §9.1). The first outcome wins; a
// later one is already_terminal with what stands. The answer carries none of the submitter's state.
//
// session is the one that an agent presents, under which it is attested then, or empty for none.
func (h *Hub) Resolve(ctx context.Context, c *Caller, id, session string, r *ma2h.Resolve) (*ma2h.Resolved, error) {
	now := h.now()
	c, err := h.under(ctx, c, session, now)
	if err != nil {
		return nil, err
	}
	m, err := h.load(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if err := h.mayResolve(c, &m.state); err != nil {
		return nil, err
	}
	if err := h.settle(ctx, m, now); err != nil {
		return nil, err
	}
	if err := gone(&m.state, now); err != nil {
		return nil, err
	}
	if m.state.Type == ma2h.TypeNotify {
		return nil, ma2h.Errorf(ma2h.CodeValidationError, "A notify wants no answer, so it cannot be resolved.")
	}
	if lifecycle.Terminal(m.state.Status) {
		return nil, alreadyTerminal(&m.state)
	}
	return h.resolveOpen(ctx, c, m, r, now)
}

// under is the caller acting under the session that it presents, empty for none. Nothing is renewed by it (spec §16.2).
func (h *Hub) under(ctx context.Context, c *Caller, session string, now time.Time) (*Caller, error) {
	if session == "" {
		return c, nil
	}
	s, err := h.presented(ctx, c, session, now)
	if err != nil {
		return nil, err
	}
	qualified := *c
	qualified.Session = s.ID
	return &qualified, nil
}

// resolveOpen resolves a message that was open at now.
func (h *Hub) resolveOpen(
	ctx context.Context, c *Caller, m *message, r *ma2h.Resolve, now time.Time,
) (*ma2h.Resolved, error) {
	envelope, err := m.message()
	if err != nil {
		return nil, err
	}
	answer, invalid := envelope.CheckAnswer(r, m.version())
	if invalid != nil {
		return nil, invalid
	}
	var deed []record.Write
	if c.Person != nil {
		deed = []record.Write{h.deed(c, "resolve", m.state.ID, now)}
	}
	ours, err := h.end(ctx, m, lifecycle.Resolve(answer, c.Actor(), now), now, deed...)
	if err != nil {
		return nil, err
	}
	if !ours {
		return nil, alreadyTerminal(&m.state)
	}
	return &ma2h.Resolved{ID: m.state.ID, Status: m.state.Status, ResolutionID: m.state.Response.ResolutionID}, nil
}

// mayResolve holds the attested actor to the message's resolvers (spec §9.1). Those who may not even know of the message
// get what an unknown id gets. A notify passes here: that nobody resolves one is said to all who may know of it.
func (h *Hub) mayResolve(c *Caller, s *State) error {
	if s.Account != c.Account.Ref {
		return errUnknown()
	}
	switch {
	case s.allows(c):
		return nil
	case !s.mayKnow(c):
		return errUnknown()
	case s.Type == ma2h.TypeNotify:
		return nil
	}
	return ma2h.Errorf(ma2h.CodeNotAuthorized, "You are not among those who may resolve this message.")
}

// mayKnow says whether a caller of the account may know of the message: people, the submitter, and an agent that is listed
// with a session, of which it has presented none.
func (s *State) mayKnow(c *Caller) bool {
	if c.Agent == nil {
		return c.Person != nil
	}
	if c.Agent.Ref == s.AgentRef || s.Mail != nil && c.Agent.Ref == s.Mail.ToRef {
		return true
	}
	return slices.ContainsFunc(s.Resolvers, func(entry string) bool {
		a, ok := ma2h.ParseAddress(entry)
		return ok && a.AgentID == c.Agent.ID
	})
}

// allows says whether the caller may resolve. Without any list only the addressee may, under whichever session, or of a
// message that is not addressed the submitting agent's own identity (spec §9.1). An entry that names an agent is for all its
// sessions; one that names a session, for whoever presents that.
func (s *State) allows(c *Caller) bool {
	if !s.ResolversListed && !s.ResolversDefaulted {
		only := s.AgentRef
		if s.Mail != nil {
			only = s.Mail.ToRef
		}
		return c.Agent != nil && c.Agent.Ref == only
	}
	if c.Agent == nil {
		return slices.Contains(s.Resolvers, c.Actor())
	}
	if !ma2h.Addressable(c.Agent.ID) {
		return false // its id would read like a session of another agent (spec §9.1)
	}
	return slices.ContainsFunc(s.Resolvers, func(entry string) bool {
		a, ok := ma2h.ParseAddress(entry)
		return ok && a.AgentID == c.Agent.ID && (a.Session == "" || a.Session == c.Session)
	})
}

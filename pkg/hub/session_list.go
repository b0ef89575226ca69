package hub

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// The scopes of a list of sessions (spec §16.4).
const (
	ScopeOwn     = "own"
	ScopeAccount = "account"
)

// maxSessions is how many sessions a list holds: those that live come first, then those that ended last.
const maxSessions = 1000

// ListSessions lists sessions: to a person those of the account, to an agent its own, or the account's where the hub allows that.
// The list says which (spec §16.4). Those that ended long ago are not in it.
func (h *Hub) ListSessions(ctx context.Context, c *Caller) (*ma2h.SessionList, error) {
	found := map[string]*session{}
	scope := h.scope(c)
	if c.Agent != nil {
		live, err := h.live(ctx, c, c.Agent.Ref)
		if err != nil {
			return nil, err
		}
		own, err := h.sessionsOf(ctx, live.Sessions) // which an index may not know yet
		if err != nil {
			return nil, err
		}
		for _, s := range own {
			found[s.ID] = s
		}
	}
	place, name := 2, ""
	switch {
	case scope == ScopeAccount:
		place, name = 1, sessionTag+c.Account.Ref
	case c.Agent != nil:
		name = sessionTag + c.Agent.Ref
	}
	if name != "" {
		if err := h.indexedSessions(ctx, place, name, found); err != nil {
			return nil, err
		}
	}
	list, err := h.settledSessions(ctx, found)
	if err != nil {
		return nil, err
	}
	return &ma2h.SessionList{Sessions: list, Scope: scope}, nil
}

// scope is whose sessions the caller may see. Nobody owns the account of those without an owner.
func (h *Hub) scope(c *Caller) string {
	if c.Agent != nil && h.Settings.AgentListVisibility && h.Settings.ListAccount || h.governs(c) {
		return ScopeAccount
	}
	return ScopeOwn
}

// governs says whether the caller is a person of an account that somebody owns, and so may look after all of its agents.
func (h *Hub) governs(c *Caller) bool { return c.Person != nil && c.Account.Owner != "" }

// indexedSessions adds what an index lists.
func (h *Hub) indexedSessions(ctx context.Context, place int, name string, found map[string]*session) error {
	after := record.Entry{}
	for len(found) < maxSessions {
		recs, last, err := h.indexed(ctx, place, name, after, record.MaxReads)
		if err != nil {
			return err
		}
		if err := addSessions(found, recs); err != nil {
			return err
		}
		if last == (record.Entry{}) {
			return nil
		}
		after = last
	}
	return nil
}

// addSessions adds the sessions of records that were read.
func addSessions(found map[string]*session, recs []record.Record) error {
	for _, rec := range recs {
		s, err := sessionOf(rec)
		if err != nil {
			return err
		}
		found[s.ID] = s
	}
	return nil
}

// settledSessions is settledAll for the wire, as far as a list goes.
func (h *Hub) settledSessions(ctx context.Context, found map[string]*session) ([]ma2h.Session, error) {
	all, err := h.settledAll(ctx, found, h.now())
	if err != nil {
		return nil, err
	}
	list := []ma2h.Session{}
	for _, s := range all[:min(len(all), maxSessions)] {
		list = append(list, s.wire())
	}
	return list, nil
}

// settledAll returns sessions as they stand at now, those that live first, the newest first.
func (h *Hub) settledAll(ctx context.Context, found map[string]*session, now time.Time) ([]*session, error) {
	var all []*session
	for _, s := range found {
		if err := h.settleSession(ctx, s, now); err != nil {
			return nil, err
		}
		if !h.purged(&s.Session, now) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *session) int {
		switch {
		case a.ended() != b.ended() && b.ended():
			return -1
		case a.ended() != b.ended():
			return 1
		case !a.endedAt().Equal(b.endedAt()):
			return b.endedAt().Compare(a.endedAt())
		case !a.CreatedAt.Equal(b.CreatedAt):
			return b.CreatedAt.Compare(a.CreatedAt)
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, nil
}

// SessionAt returns one session to whoever may see it. Any other is unknown.
func (h *Hub) SessionAt(ctx context.Context, c *Caller, id string) (*ma2h.SessionEnvelope, error) {
	s, err := h.visibleSession(ctx, c, id, h.now())
	if err != nil {
		return nil, err
	}
	return &ma2h.SessionEnvelope{Session: s.wire()}, nil
}

func (h *Hub) visibleSession(ctx context.Context, c *Caller, id string, now time.Time) (*session, error) {
	s, err := h.loadSession(ctx, c, id)
	if err != nil {
		return nil, err
	}
	own := s != nil && c.Agent != nil && s.AgentRef == c.Agent.Ref
	if s == nil || !own && (s.Account != c.Account.Ref || h.scope(c) != ScopeAccount) {
		return nil, errNoSession()
	}
	if err := h.settleSession(ctx, s, now); err != nil {
		return nil, err
	}
	if h.purged(&s.Session, now) {
		return nil, errNoSession()
	}
	return s, nil
}

// HoldBound returns for how long a stream of the agent's own session may be held from now on.
func (h *Hub) HoldBound(ctx context.Context, c *Caller, id string) (time.Duration, error) {
	if err := agentOnly(c); err != nil {
		return 0, err
	}
	now := h.now()
	s, err := h.presented(ctx, c, id, now)
	if err != nil {
		return 0, err
	}
	return lifecycle.Hold(s.ExpiresAt, now, h.Settings.StreamMaxHold), nil
}

// wire is a session as the spec writes it.
func (s *Session) wire() ma2h.Session {
	return ma2h.Session{
		ID: s.ID, AgentID: s.AgentID, State: s.State,
		CreatedAt: formatTime(s.CreatedAt), ExpiresAt: formatTime(s.ExpiresAt), LastSeen: formatTime(s.LastSeen),
		ClosedAt: formatTime(s.ClosedAt), ClosedByOperator: s.ByOperator,
		RunID: s.RunID, Label: s.Label, Kind: s.Kind, Project: s.Project, Labels: s.Labels, TTLSeconds: s.TTL,
	}
}

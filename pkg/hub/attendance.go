package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/record"
)

// Attendance is whether an agent is there, as the people of its account see it (spec §15.3, §16.4).
type Attendance struct {
	Online   bool
	LastSeen time.Time // zero for never
	Stop     *Stop     // nil unless a person has stopped it
	Live     []Session // the newest first
	Ended    []Session // the latest few, the one that ended last first
}

// maxAttended is how many sessions of an agent are looked at, those that live before those that ended last.
const maxAttended = 50

// Attendance returns whether an agent of the person's account is there, with the sessions that live and the latest of those
// that have ended, up to limit of them.
func (h *Hub) Attendance(ctx context.Context, c *Caller, agentID string, limit int) (*Attendance, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	signs, err := h.signs(ctx, c, []string{agentID})
	if err != nil {
		return nil, err
	}
	if signs[0].agent.Account != c.Account.Ref {
		return nil, errNoAgent()
	}
	now := h.now()
	a := signs[0].attendance(h, c, now)
	if !h.governs(c) {
		return &a, nil
	}
	found := map[string]*session{}
	recs, _, err := h.indexed(ctx, 2, sessionTag+signs[0].agent.Ref, record.Entry{}, maxAttended)
	if err != nil {
		return nil, err
	}
	if err := addSessions(found, recs); err != nil {
		return nil, err
	}
	for _, s := range signs[0].sessions { // which an index may not know yet
		found[s.ID] = s
	}
	all, err := h.settledAll(ctx, found, now)
	if err != nil {
		return nil, err
	}
	a.Live = nil
	for _, s := range all {
		switch {
		case !s.ended():
			a.Live = append(a.Live, s.Session)
		case len(a.Ended) < limit:
			a.Ended = append(a.Ended, s.Session)
		}
	}
	return &a, nil
}

// Attendances is Attendance for agents of the person's account, in that order, without the sessions that have ended. Agents
// of others are unknown.
func (h *Hub) Attendances(ctx context.Context, c *Caller, agentIDs []string) ([]Attendance, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	signs, err := h.signs(ctx, c, agentIDs)
	if err != nil {
		return nil, err
	}
	now := h.now()
	all := make([]Attendance, len(signs))
	for i := range signs {
		all[i] = signs[i].attendance(h, c, now)
	}
	return all, nil
}

// signsOfLife is what was read of whether an agent is there.
type signsOfLife struct {
	agent    Agent
	seen     Seen
	live     Live
	sessions []*session // of live
}

// signs reads the signs of life of agents: two requests, or more where there are many.
func (h *Hub) signs(ctx context.Context, c *Caller, agentIDs []string) ([]signsOfLife, error) {
	var keys []record.Key
	for _, id := range agentIDs {
		keys = append(keys, h.PresenceKeys(c.Account.Ref, id)...)
	}
	read, err := h.along(ctx, c, keys...)
	if err != nil {
		return nil, fmt.Errorf("read signs of life: %w", err)
	}
	all, ids := make([]signsOfLife, len(agentIDs)), []string{}
	for i := range all {
		of := keys[3*i:]
		for j, v := range []any{&all[i].agent, &all[i].seen, &all[i].live} {
			rec, _ := read.seen(of[j])
			if err := decodeAny(rec, v); err != nil {
				return nil, err
			}
		}
		ids = append(ids, all[i].live.Sessions...)
	}
	sessions, err := h.sessionsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i := range all {
		at[all[i].agent.Ref] = i
	}
	for _, s := range sessions {
		if i, ok := at[s.AgentRef]; ok {
			all[i].sessions = append(all[i].sessions, s)
		}
	}
	return all, nil
}

// last is the last sign of life, with a session or without (spec §15.1).
func (s *signsOfLife) last() time.Time {
	last := latest(s.seen.LastSeen, s.live.LastSeen)
	for _, one := range s.sessions {
		last = latest(last, one.LastSeen)
	}
	return last
}

// attendance says at now what the signs mean to a person: nothing of an agent that is not their account's.
func (s *signsOfLife) attendance(h *Hub, c *Caller, now time.Time) Attendance {
	if s.agent.Account != c.Account.Ref || !h.governs(c) {
		return Attendance{}
	}
	a := Attendance{LastSeen: s.last(), Stop: s.live.Stop}
	a.Online = h.presence(a.LastSeen, now) == lifecycle.Online
	for _, one := range s.sessions {
		if !one.ended() && !one.lapsed(now) {
			a.Live = append(a.Live, one.Session)
		}
	}
	return a
}

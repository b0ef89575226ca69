package hub

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Seen is an agent's last sign of life without a session: a drain, or a pull that waits (spec §15.1).
type Seen struct {
	LastSeen time.Time `json:"last_seen"`
}

// seenApart is how far apart two notes of a sign of life are at least, outside of a tenant: the window in which an agent
// counts as present is much longer.
const seenApart = time.Second

// seenNow notes that the agent gave a sign of life without a session. Whoever was faster noted the same, so that a lost race is
// no error.
func (h *Hub) seenNow(ctx context.Context, c *Caller, now time.Time) error {
	key := SeenKey(c.Agent.Ref)
	recs, err := h.fetched(ctx, c, key)
	if err != nil {
		return err
	}
	rec := recs[0]
	var s Seen
	if rec.Rev != "" {
		if err := Decode(rec, &s); err != nil {
			return err
		}
	}
	if !now.After(s.LastSeen) || !h.Settings.OneNamespace && now.Sub(s.LastSeen) < seenApart {
		return nil
	}
	put := record.Record{Key: key, Kind: KindSeen, Body: Encode(Seen{LastSeen: now})}
	err = h.Store.Commit(ctx, record.Put(put, rec.Rev))
	if err != nil && record.AsConflict(err) == nil {
		return fmt.Errorf("note that %s was seen: %w", c.Agent.Ref, err)
	}
	return nil
}

// sessionsOf reads sessions by their ids; those that are not there any more are left out.
func (h *Hub) sessionsOf(ctx context.Context, ids []string) ([]*session, error) {
	var keys []record.Key
	for _, id := range ids {
		keys = append(keys, h.SessionKeys(id)...)
	}
	read, err := h.along(ctx, &Caller{}, keys...)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	var found []*session
	for _, rec := range read.Read {
		s, err := sessionOf(rec)
		if err != nil {
			return nil, err
		}
		if s != nil {
			found = append(found, s)
		}
	}
	return found, nil
}

// snapshot says at now how an agent with these live sessions can be reached (spec §8.1, §15.1): only what a session did
// counts, and only one that lives could take an entry.
func (h *Hub) snapshot(ctx context.Context, live Live, now time.Time) (ma2h.Destination, error) {
	sessions, err := h.sessionsOf(ctx, live.Sessions)
	if err != nil {
		return ma2h.Destination{}, err
	}
	alive, seen := time.Time{}, live.LastSeen
	for _, s := range sessions {
		seen = latest(seen, s.LastSeen)
		if !s.ended() && !s.lapsed(now) {
			alive = latest(alive, s.LastSeen)
		}
	}
	return h.destination(alive, seen, now), nil
}

// sessionSnapshot says at now how one session can be reached.
func (h *Hub) sessionSnapshot(s *Session, now time.Time) ma2h.Destination {
	if s.ended() || s.lapsed(now) {
		return h.destination(time.Time{}, s.LastSeen, now)
	}
	return h.destination(s.LastSeen, s.LastSeen, now)
}

// destination is the reachability of who was last seen alive in a session that lives, and seen at all.
func (h *Hub) destination(alive, seen, now time.Time) ma2h.Destination {
	switch {
	case h.presence(alive, now) == lifecycle.Online:
		return ma2h.Destination{State: lifecycle.Online, LastSeen: ma2h.FormatTime(alive)}
	case seen.IsZero():
		return ma2h.Destination{State: lifecycle.Unknown}
	default:
		return ma2h.Destination{State: lifecycle.Offline, LastSeen: ma2h.FormatTime(seen)}
	}
}

// Presence says to a person whether one of the account's agents can be reached (spec §15.3): by any sign of life, with a
// session or without. Of any other agent nothing is known.
func (h *Hub) Presence(ctx context.Context, c *Caller, agentID string) (*ma2h.Presence, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	if !utf8.ValidString(agentID) {
		return nil, errNoAgent() // what cannot be written is the id of none
	}
	signs, err := h.signs(ctx, c, []string{agentID})
	if err != nil {
		return nil, err
	}
	now := h.now()
	a := signs[0].attendance(h, c, now)
	return &ma2h.Presence{
		AgentID: agentID, State: h.presence(a.LastSeen, now), LastSeen: formatTime(a.LastSeen),
		FreshnessSeconds: int(h.Settings.Freshness / time.Second),
	}, nil
}

// presence says whether somebody who gave a sign of life then can be reached at now.
func (h *Hub) presence(seen, now time.Time) string {
	return lifecycle.Presence(seen, now, h.Settings.Freshness)
}

// PresenceKeys returns what Presence reads of an agent of an account, to be read together with the caller's credential.
func (h *Hub) PresenceKeys(account, agentID string) []record.Key {
	ref := h.AgentRef(account, agentID)
	return []record.Key{AgentKey(ref), SeenKey(ref), LiveKey(ref)}
}

// fetched returns the records under keys, those that were read with the credential as they are.
func (h *Hub) fetched(ctx context.Context, c *Caller, keys ...record.Key) ([]record.Record, error) {
	read, err := h.along(ctx, c, keys...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", keys[0], err)
	}
	recs := make([]record.Record, len(keys))
	for i, key := range keys {
		recs[i], _ = read.seen(key)
	}
	return recs, nil
}

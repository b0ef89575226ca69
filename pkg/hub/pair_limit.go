package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// KindLimited is the kind of record of a PairLimit.
const KindLimited = "limited"

// PairLimit says that mail from one agent to another was refused, since there was more of it than the hub takes.
type PairLimit struct {
	FromRef   string    `json:"from_ref"`
	From      string    `json:"from"` // id of the agent that sent it
	ToRef     string    `json:"to_ref"`
	To        string    `json:"to"`
	At        time.Time `json:"at"` // of the latest refusal that was noted
	PerMinute int       `json:"per_minute"`
}

// What is noted of a pair: once in so long, for so long.
const (
	limitedApart = time.Minute
	limitedKept  = 7 * 24 * time.Hour
)

// limitedTag begins the names of the lists of pairs that were limited.
const limitedTag = "limit#"

func limitedKey(fromRef, toRef string) record.Key {
	return record.Key{Part: "g#" + fromRef, Sort: "limited#" + toRef}
}

// limitPair bounds what one agent sends another, so that two cannot write to each other for ever. That it refused is kept for
// the account's people, at most once a minute a pair: whoever is refused more often costs the store nothing more.
func (h *Hub) limitPair(ctx context.Context, c *Caller, d *addressee) error {
	limit, now := h.Settings.PairPerMinute, h.Now()
	pair := c.Agent.Ref + ">" + d.agent.Ref
	wait, ok := h.limiter.take(pair, limit, now)
	if ok {
		return nil
	}
	if h.limiter.notes(pair, now) {
		_ = h.noteLimited(ctx, c, d, limit) // a note that fails does not make the refusal another error
	}
	return &ma2h.Error{
		Code: ma2h.CodeRateLimited, Field: "/to", RetryAfter: wait,
		Message: fmt.Sprintf("More than %d messages a minute to this agent, or too many at once; wait as long as Retry-After says.", limit),
	}
}

// noteLimited keeps that a pair was limited, unless another process noted it a moment ago.
func (h *Hub) noteLimited(ctx context.Context, c *Caller, d *addressee, limit int) error {
	rec, err := h.get(ctx, limitedKey(c.Agent.Ref, d.agent.Ref))
	if err != nil {
		return err
	}
	now := h.now()
	var was PairLimit
	if err := decodeAny(rec, &was); err != nil {
		return err
	}
	if now.Sub(was.At).Abs() < limitedApart {
		return nil
	}
	next := PairLimit{FromRef: c.Agent.Ref, From: c.Agent.ID, ToRef: d.agent.Ref, To: d.agent.ID, At: now, PerMinute: limit}
	err = h.Store.Commit(ctx, record.Put(limitedRecord(&next, d.agent.Account), rec.Rev))
	if err != nil && record.AsConflict(err) == nil {
		return fmt.Errorf("note that %s was limited: %w", c.Agent.Ref, err)
	}
	h.Bell.Ring(ctx, AccountLane(d.agent.Account))
	return nil
}

// limitedRecord is the record of a PairLimit, in the list of its account, the latest first.
func limitedRecord(p *PairLimit, account string) record.Record {
	return record.Record{
		Key: limitedKey(p.FromRef, p.ToRef), Kind: KindLimited, Body: Encode(p), Erase: p.At.Add(limitedKept),
		Tags: [2]record.Tag{{Name: limitedTag + account, Order: descending(p.At)}},
	}
}

// Limited returns the pairs of agents of the person's account of which mail was refused within the last week, the latest first, as
// far as the hub looks back; where agentID is not empty, those that this agent is one of.
func (h *Hub) Limited(ctx context.Context, c *Caller, agentID string) ([]PairLimit, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	recs, _, err := h.indexed(ctx, 1, limitedTag+c.Account.Ref, record.Entry{}, record.MaxReads)
	if err != nil {
		return nil, err
	}
	var all []PairLimit
	now := h.now()
	for _, rec := range recs {
		var p PairLimit
		if err := Decode(rec, &p); err != nil {
			return nil, err
		}
		if now.Sub(p.At) < limitedKept && (agentID == "" || p.From == agentID || p.To == agentID) {
			all = append(all, p)
		}
	}
	return all, nil
}

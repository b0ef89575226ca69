package hub

import (
	"context"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Told is a directive in the thread of its agent, and what became of it.
type Told struct {
	DirectiveView
	SentAt  time.Time
	EndedAt time.Time // when its track ended; zero while it is under way
}

// Thread is a part of what people told an agent, the latest first.
type Thread struct {
	Rows []Told
	Next string // where the next part begins; empty at the end
}

// Thread returns up to limit of the directives to an agent of the person's account, and to its sessions, from cursor on: empty
// for the latest, else the Next of a part. A cursor of no part of ours is a validation_error.
func (h *Hub) Thread(ctx context.Context, c *Caller, agentID, cursor string, limit int) (*Thread, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	after, err := historyEntry(cursor)
	if err != nil {
		return nil, err
	}
	ref := h.AgentRef(c.Account.Ref, agentID)
	w := walk{hub: h, lists: []*walked{{place: 2, name: mailTag + ref, after: after}}, size: limit + 1, at: after}
	ids, next, err := w.toldIDs(ctx, c, limit)
	if err != nil {
		return nil, err
	}
	thread := &Thread{Next: next}
	letters, err := h.lettersAt(ctx, ids, h.now())
	if err != nil {
		return nil, err
	}
	for _, m := range letters {
		told, err := m.told()
		if err != nil {
			return nil, err
		}
		thread.Rows = append(thread.Rows, *told)
	}
	return thread, nil
}

// toldIDs are the ids of the directives of a part, and where the next one begins.
func (w *walk) toldIDs(ctx context.Context, c *Caller, limit int) (ids []string, next string, _ error) {
	for {
		last := w.at
		s, err := w.next(ctx)
		switch {
		case err != nil:
			return nil, "", err
		case s == nil && w.over():
			return ids, "", nil
		case s == nil:
			return ids, cursorOf(w.at), nil
		case len(ids) == limit:
			return ids, cursorOf(last), nil
		case s.Account == c.Account.Ref:
			ids = append(ids, s.ID)
		}
	}
}

// ToldAt returns one directive as it stands in the thread of its agent, to people of the account. Any other is unknown.
func (h *Hub) ToldAt(ctx context.Context, c *Caller, id string) (*Told, error) {
	m, err := h.directiveOf(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if m.state.Account != c.Account.Ref {
		return nil, errNoDirective()
	}
	return m.told()
}

// told is a directive as people see it.
func (m *message) told() (*Told, error) {
	v, err := m.view()
	if err != nil {
		return nil, err
	}
	return &Told{DirectiveView: *v, SentAt: m.state.AcceptedAt, EndedAt: m.state.Mail.At}, nil
}

// lettersAt reads messages and directives, MaxReads/2 at most, as they stand at now: with one request, and one more for what
// decides about those on their way. Those that are gone meanwhile are left out.
func (h *Hub) lettersAt(ctx context.Context, ids []string, now time.Time) ([]*message, error) {
	var all []*message
	var keys []record.Key
	for _, id := range ids {
		tail, directive, _ := letterOf(id)
		m := &message{tail: tail, directive: directive}
		all, keys = append(all, m), append(keys, m.stateKey(), m.contentKey())
	}
	read, err := h.along(ctx, &Caller{}, keys...)
	if err != nil {
		return nil, err
	}
	there := all[:0]
	keys = nil
	for _, m := range all {
		rec, _ := read.seen(m.stateKey())
		m.content, _ = read.seen(m.contentKey())
		if err := m.take(rec); ma2h.AsError(err) != nil || m.state.Deleted {
			continue
		} else if err != nil {
			return nil, err
		}
		there = append(there, m)
		if m.state.Mail.lives() {
			keys = append(keys, m.state.postKeys()...)
		}
	}
	if read, err = h.along(ctx, &Caller{}, keys...); err != nil {
		return nil, err
	}
	err = parallel(len(there), func(i int) error { return h.settleKnown(ctx, read, there[i], now) })
	var out []*message
	for _, m := range there {
		if !m.state.Deleted {
			out = append(out, m)
		}
	}
	return out, err
}

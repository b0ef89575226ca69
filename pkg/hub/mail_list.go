package hub

import (
	"context"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// MailPage is a part of what agents of an account wrote to each other, the latest first.
type MailPage struct {
	Rows []*Reading
	Next string // where the next part begins; empty at the end

	// SearchedTo is how far back the search came where it ended for having read enough; zero otherwise.
	SearchedTo time.Time
}

// Mail returns up to limit messages between agents of the person's account (spec §8.7.1, "Human visibility"), from cursor on;
// where agentID is not empty, those that this agent sent or is sent. It reads no more than a bounded part of the list at a
// time and says where it stopped. A cursor of no part of ours is a validation_error.
func (h *Hub) Mail(ctx context.Context, c *Caller, agentID, cursor string, limit int) (*MailPage, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	after, err := historyEntry(cursor)
	if err != nil {
		return nil, err
	}
	page, ids, err := h.mailIDs(ctx, c, agentID, after, min(limit, maxReadings))
	if err != nil {
		return nil, err
	}
	letters, err := h.lettersAt(ctx, ids, h.now())
	if err != nil {
		return nil, err
	}
	for _, m := range letters {
		r, err := m.reading(c)
		if err != nil {
			return nil, err
		}
		page.Rows = append(page.Rows, r)
	}
	return page, nil
}

// mailIDs are the ids of a part of the mail, and the page without its rows. Directives stand in the same list, and are passed
// by.
func (h *Hub) mailIDs(
	ctx context.Context, c *Caller, agentID string, after record.Entry, limit int,
) (page *MailPage, ids []string, _ error) {
	ref := h.AgentRef(c.Account.Ref, agentID)
	w := walk{hub: h, lists: []*walked{{place: 1, name: mailTag + c.Account.Ref, after: after}}, size: record.MaxReads, at: after}
	page = &MailPage{}
	for {
		last := w.at
		s, err := w.next(ctx)
		switch {
		case err != nil:
			return nil, nil, err
		case s == nil && w.over():
			return page, ids, nil
		case s == nil:
			page.Next, page.SearchedTo = cursorOf(w.at), ascending(w.at.Order)
			return page, ids, nil
		case s.Type == ma2h.TypeDirective || s.Mail == nil || agentID != "" && s.AgentRef != ref && s.Mail.ToRef != ref:
			continue
		case len(ids) == limit:
			page.Next = cursorOf(last)
			return page, ids, nil
		}
		ids = append(ids, s.ID)
	}
}

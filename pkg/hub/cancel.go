package hub

import (
	"context"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// Cancel withdraws an open ask of the caller (spec §8.4). Repeating it is no error; one that lost to another outcome is
// already_terminal with that outcome. Tasks and notifies cannot be cancelled.
func (h *Hub) Cancel(ctx context.Context, c *Caller, id string) (*ma2h.Cancelled, error) {
	now := h.now()
	m, err := h.submitted(ctx, c, id, now)
	if err != nil {
		return nil, err
	}
	if m.state.Type != ma2h.TypeAsk {
		return nil, ma2h.Errorf(ma2h.CodeValidationError, "Only an ask can be cancelled; this is a %s.", m.state.Type)
	}
	if _, err := h.end(ctx, m, lifecycle.Cancel(c.Actor(), now), now); err != nil {
		return nil, err
	}
	if m.state.Status != ma2h.StatusCancelled {
		return nil, alreadyTerminal(&m.state)
	}
	return &ma2h.Cancelled{ID: m.state.ID, Status: m.state.Status}, nil
}

// alreadyTerminal tells a resolve or cancel that lost what stands (spec §8.4, §8.8).
func alreadyTerminal(s *State) error {
	return &ma2h.Error{
		Code:     ma2h.CodeAlreadyTerminal,
		Message:  "The message has already ended as " + string(s.Status) + "; that outcome stands.",
		Terminal: &ma2h.Terminal{ID: s.ID, Status: s.Status, Resolution: s.Status},
	}
}

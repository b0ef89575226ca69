package hub

import (
	"context"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Acknowledge records that the submitter got the Response of its ask or task (spec §14.3). The first ack wins and a
// repeat returns it. Before the Response was delivered to the agent it is not_acknowledgeable.
func (h *Hub) Acknowledge(ctx context.Context, c *Caller, id string, r *ma2h.AckRequest) (*ma2h.Ack, error) {
	now := h.now()
	m, err := h.submitted(ctx, c, id, now)
	if err != nil {
		return nil, err
	}
	if err := acknowledgeable(&m.state, r); err != nil {
		return nil, err
	}
	if err := h.ackResponse(ctx, m, h.ackOfResponse(c, &m.state, r.Note, now), now); err != nil {
		return nil, err
	}
	if m.state.Delivery == nil || m.state.Delivery.Ack == nil {
		return nil, notAcknowledgeable()
	}
	h.announce(ctx, m)
	return m.state.Delivery.Ack, nil
}

// ackResponse ends the response track by an ack, and takes the entry out of the session's lane where there is one.
func (h *Hub) ackResponse(ctx context.Context, m *message, ack *ma2h.Ack, now time.Time) error {
	for {
		erase, err := h.eraseResponse(ctx, m)
		if err != nil {
			return err
		}
		err = h.change(ctx, m, erase, func(s *State) bool {
			s.ResponseRow = nil
			return s.acknowledge(ack, now)
		})
		if record.AsConflict(err) == nil {
			return err
		}
		if err := h.afresh(ctx, m); err != nil { // the entry was claimed meanwhile
			return err
		}
	}
}

// eraseResponse is the write that ends the entry of a Response, if there is one.
func (h *Hub) eraseResponse(ctx context.Context, m *message) ([]record.Write, error) {
	if m.state.ResponseRow == nil {
		return nil, nil
	}
	rec, err := h.get(ctx, *m.state.ResponseRow)
	if err != nil || rec.Rev == "" {
		return nil, err
	}
	return []record.Write{record.Erase(rec.Key, rec.Rev)}, nil
}

func notAcknowledgeable() error {
	return ma2h.Errorf(ma2h.CodeNotAcknowledgeable,
		"There is no delivered answer to acknowledge; get it first, by push or with a GET.")
}

func acknowledgeable(s *State, r *ma2h.AckRequest) error {
	if s.Response == nil || s.Delivery == nil {
		return notAcknowledgeable()
	}
	if _, _, lawful := lifecycle.Acknowledge(s.Delivery.State); !lawful {
		return notAcknowledgeable()
	}
	if r.ResolutionID != "" && r.ResolutionID != s.Response.ResolutionID {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/resolution_id",
			"The message was resolved under another resolution_id; read it again.")
	}
	return nil
}

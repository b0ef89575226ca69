package hub

import (
	"context"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
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
	ack := &ma2h.Ack{
		Version: h.Settings.Version, Type: "ack", InReplyTo: m.state.ID, By: c.Actor(),
		AckedAt: ma2h.FormatTime(now), Note: r.Note, ResolutionID: m.state.Response.ResolutionID,
	}
	err = h.change(ctx, m, nil, func(s *State) bool {
		if s.Delivery == nil {
			return false
		}
		next, changed, lawful := lifecycle.Acknowledge(s.Delivery.State)
		if !changed || !lawful {
			return false
		}
		d := *s.Delivery
		d.State, d.AcknowledgedAt, d.Ack = next, now, ack
		s.Delivery = &d
		return true
	})
	if err != nil {
		return nil, err
	}
	if m.state.Delivery == nil || m.state.Delivery.Ack == nil {
		return nil, notAcknowledgeable()
	}
	h.announce(ctx, m)
	return m.state.Delivery.Ack, nil
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

package hub

import (
	"context"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/signature"
)

// Outcome is what is stored of a message's end, for those who test the hub: it settles nothing and stamps nothing.
type Outcome struct {
	ID       string         `json:"id"`
	Status   ma2h.Status    `json:"status"`
	Response *ma2h.Response `json:"response"` // with the submitter's state; null while open and for a notify
}

// Outcome returns the stored outcome of a message, whoever asks.
func (h *Hub) Outcome(ctx context.Context, id string) (*Outcome, error) {
	m, err := h.load(ctx, &Caller{}, id)
	if err != nil {
		return nil, err
	}
	if err := gone(&m.state, h.now()); err != nil {
		return nil, err
	}
	o := &Outcome{ID: m.state.ID, Status: m.state.Status}
	if m.state.Response != nil {
		o.Response, err = m.response()
	}
	return o, err
}

// SignAck returns the signature header of an ack as it is pushed (spec §14.4), the body being the ack.
func (h *Hub) SignAck(body []byte) (string, error) {
	signed, err := signature.Ack(body)
	if err != nil {
		return "", ma2h.Errorf(ma2h.CodeValidationError, "This is no ack.")
	}
	return signed.Sign(signature.HMAC(h.Settings.SigningKey), h.now(), ma2h.NewID(ma2h.PrefixNonce))
}

// StateKey returns the key of the record that Fire settles for the message with this id.
func StateKey(id string) (record.Key, bool) {
	tail, ok := messageTailOf(id)
	return stateKey(tail), ok
}

// LetterKey is StateKey for a message or a directive.
func LetterKey(id string) (record.Key, bool) {
	tail, directive, ok := letterOf(id)
	return letterKey(directive, tail, "state"), ok
}

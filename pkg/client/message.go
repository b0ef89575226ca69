package client

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// Pulled is a message as its submitter reads it (spec §8.2).
type Pulled struct {
	ma2h.Message
	ID       string         `json:"id"`
	Status   ma2h.Status    `json:"status"`
	Response *ma2h.Response `json:"response"` // once terminal
	Delivery *ma2h.Delivery `json:"delivery"` // the response track (spec §14.2)
}

// Open says whether an answer may still come.
func (p *Pulled) Open() bool {
	return p.Type != ma2h.TypeNotify && p.Response == nil && (p.Status == ma2h.StatusOpen || p.Status == "")
}

// Pull reads a message that this agent submitted (spec §8.2). A message of anybody else is not_found, a deleted one gone.
// Reading a terminal ask or task tells the hub that its agent has the answer.
func (c *Client) Pull(ctx context.Context, id string) (*Pulled, error) {
	var p Pulled
	if err := c.call(ctx, request{name: endpoint.Pull, ids: []string{id}, into: &p, repeat: true}); err != nil {
		return nil, err
	}
	return &p, nil
}

// Cancel withdraws an open ask of this agent (spec §8.4). If another end came first the error is already_terminal, and
// its Terminal says which.
func (c *Client) Cancel(ctx context.Context, id string) (ma2h.Cancelled, error) {
	var done ma2h.Cancelled
	err := c.call(ctx, request{name: endpoint.Cancel, ids: []string{id}, into: &done, repeat: true})
	return done, err
}

// Resolve answers an open ask or task as the holder of the credential (spec §8.8). If another end came first the error is
// already_terminal, and its Terminal says which. A resolve is not repeated when its answer was lost: read the message.
func (c *Client) Resolve(ctx context.Context, id string, r ma2h.Resolve) (ma2h.Resolved, error) {
	var done ma2h.Resolved
	err := c.send(ctx, request{name: endpoint.Resolve, ids: []string{id}, into: &done}, r)
	return done, err
}

// Ack tells whoever answered that this agent has the Response and goes on (spec §14.3). Pull it first, or take its push:
// else the error is not_acknowledgeable. A repeated ack returns the first one.
func (c *Client) Ack(ctx context.Context, id string, a ma2h.AckRequest) (ma2h.Ack, error) {
	var done ma2h.Ack
	err := c.send(ctx, request{name: endpoint.Ack, ids: []string{id}, into: &done, repeat: true}, a)
	return done, err
}

// Choice returns the value of an answered select or confirm (spec §5.2). The second result is false for every other
// outcome: declined, cancelled, expired and answers to an input. A value that is none of the options, which only
// allow_edit makes possible, is untrusted text; Response.Edited says so (spec §9.6).
func Choice(r *ma2h.Response) (string, bool) {
	var value string
	if !answered(r) || json.Unmarshal(r.Response.Value, &value) != nil {
		return "", false
	}
	return value, true
}

// Input decodes the object that answers an ask of mode input into v. The error for every other outcome is not_found.
func Input(r *ma2h.Response, v any) error {
	if !answered(r) {
		return ma2h.Errorf(ma2h.CodeNotFound, "There is no answer in this response.")
	}
	return decode(r.Response.Value, v)
}

func answered(r *ma2h.Response) bool {
	return r != nil && r.Resolution == ma2h.StatusAnswered && r.Response != nil
}

package client

import (
	"context"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// Registration is what an agent says of a session that it begins (spec §16.1). All of it may be left out.
type Registration struct {
	RunID   string
	Label   string
	Kind    string
	Project string
	Labels  map[string]string
	TTL     time.Duration // of the lease, in whole seconds; the hub may cut it to its bounds
}

// Register begins a session of this agent, whose lease is renewed by what the agent does under it: drains, acks that present
// it, messages that name it (spec §16.1, §16.2). Above the hub's cap of live sessions the error is rate_limited, and
// session_closed_by_operator where a person has stopped the agent: then do not try again, but tell a person. It is not
// repeated when its answer was lost; a session that nobody knows of lapses.
func (c *Client) Register(ctx context.Context, r Registration) (*ma2h.Session, error) {
	body := struct {
		RunID   string            `json:"run_id,omitzero"`
		Label   string            `json:"label,omitzero"`
		Kind    string            `json:"kind,omitzero"`
		Project string            `json:"project,omitzero"`
		Labels  map[string]string `json:"labels,omitzero"`
		TTL     int64             `json:"ttl_seconds,omitzero"`
	}{r.RunID, r.Label, r.Kind, r.Project, r.Labels, int64(r.TTL / time.Second)}
	var made ma2h.SessionEnvelope
	if err := c.send(ctx, request{name: endpoint.SessionAdd, into: &made}, body); err != nil {
		return nil, err
	}
	return &made.Session, nil
}

// ReadSession returns a session that the caller may see; not_found for any other (spec §16.4). It renews nothing.
func (c *Client) ReadSession(ctx context.Context, id string) (*ma2h.Session, error) {
	return c.aboutSession(ctx, endpoint.SessionRead, id)
}

// CloseSession ends a session, and returns it; one that has ended stays as it is. What was sent to it and was not
// acknowledged bounces (spec §14.2). By a person it stops the agent, too, where the hub says so (spec §16.4.1).
func (c *Client) CloseSession(ctx context.Context, id string) (*ma2h.Session, error) {
	return c.aboutSession(ctx, endpoint.SessionClose, id)
}

func (c *Client) aboutSession(ctx context.Context, name endpoint.Name, id string) (*ma2h.Session, error) {
	var read ma2h.SessionEnvelope
	if err := c.call(ctx, request{name: name, ids: []string{id}, into: &read, repeat: true}); err != nil {
		return nil, err
	}
	return &read.Session, nil
}

// Sessions returns the sessions that the caller may see, the live ones first: a person those of the account, an agent its own
// or, where the answer's Scope says account, those of the account (spec §16.4).
func (c *Client) Sessions(ctx context.Context) (*ma2h.SessionList, error) {
	var list ma2h.SessionList
	if err := c.call(ctx, request{name: endpoint.SessionList, into: &list, repeat: true}); err != nil {
		return nil, err
	}
	return &list, nil
}

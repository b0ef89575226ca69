package client

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// The calls of this file are for people. What an agent does with its mailbox is Mailbox's.

// Directed is a directive that was accepted, and how soon it may be picked up.
type Directed struct {
	ID          string           `json:"id"`
	Status      ma2h.Track       `json:"status"` // queued, unless it was picked up at once
	Destination ma2h.Destination `json:"destination"`
}

// DirectiveTrack is a directive and what became of it (spec §14.2).
type DirectiveTrack struct {
	ma2h.Directive
	Mailbox ma2h.Mailbox `json:"mailbox"`
	Webhook *Callback    `json:"webhook,omitzero"` // how far it has come to the agent's webhook; nil where it had none
}

// Direct sends a directive to an agent of the account or to one of its sessions (spec §13): To, Title, and what else of it
// the sender decides. The errors are unknown_destination, destination_gone and invalid_field. It is not repeated when its
// answer was lost, so that no agent is told twice.
func (c *Client) Direct(ctx context.Context, d ma2h.Directive) (*Directed, error) {
	body := struct {
		To        string        `json:"to"`
		Title     string        `json:"title"`
		Body      string        `json:"body,omitzero"`
		Priority  ma2h.Priority `json:"priority,omitzero"`
		Tags      []string      `json:"tags,omitzero"`
		Context   []ma2h.Part   `json:"context,omitzero"`
		ExpiresAt string        `json:"expires_at,omitzero"`
		Sensitive bool          `json:"sensitive,omitzero"`
	}{d.To, d.Title, d.Body, d.Priority, d.Tags, d.Context, d.ExpiresAt, d.Sensitive}
	var sent Directed
	if err := c.send(ctx, request{name: endpoint.DirectiveSend, into: &sent}, body); err != nil {
		return nil, err
	}
	return &sent, nil
}

// ReadDirective returns a directive and its track; not_found for one of another account.
func (c *Client) ReadDirective(ctx context.Context, id string) (*DirectiveTrack, error) {
	var d DirectiveTrack
	if err := c.call(ctx, request{name: endpoint.DirectiveRead, ids: []string{id}, into: &d, repeat: true}); err != nil {
		return nil, err
	}
	return &d, nil
}

// StopAgent closes all sessions of an agent, and keeps it from registering others until LiftStop (spec §16.4.1).
func (c *Client) StopAgent(ctx context.Context, id, reason string) error {
	body := struct {
		Agent  string `json:"agent"`
		Reason string `json:"reason,omitzero"`
	}{id, reason}
	return c.send(ctx, request{name: endpoint.AgentStop, repeat: true}, body)
}

// LiftStop lets an agent register sessions again.
func (c *Client) LiftStop(ctx context.Context, id string) error {
	body := struct {
		Agent string `json:"agent"`
	}{id}
	return c.send(ctx, request{name: endpoint.StopLift, repeat: true}, body)
}

// AllowMail lets the agents of the account write to each other, each to whom its allowlist does not keep it from (spec
// §8.0). At first they may not. It is an owner's to say.
func (c *Client) AllowMail(ctx context.Context) error { return c.setMail(ctx, true) }

// ForbidMail ends what AllowMail allowed. What was sent before is delivered all the same.
func (c *Client) ForbidMail(ctx context.Context) error { return c.setMail(ctx, false) }

func (c *Client) setMail(ctx context.Context, enabled bool) error {
	body := struct {
		InterAgent bool `json:"inter_agent_enabled"`
	}{enabled}
	return c.send(ctx, request{name: endpoint.SettingsPut, repeat: true}, body)
}

// SetAllowlist decides which agents may write to an agent (spec §8.0): those with these ids and no other, nobody where the
// list is empty, and all of the account where it is nil. It is an owner's to say.
func (c *Client) SetAllowlist(ctx context.Context, agent string, senders []string) error {
	list := jsontext.Value("null")
	if senders != nil {
		var err error
		if list, err = json.Marshal(senders); err != nil {
			return err
		}
	}
	body := struct {
		Agent   string         `json:"agent"`
		Senders jsontext.Value `json:"senders"`
	}{agent, list}
	return c.send(ctx, request{name: endpoint.AllowlistPut, repeat: true}, body)
}

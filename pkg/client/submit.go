package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// Ack is the hub's receipt for a message (spec §8.1).
type Ack struct {
	ma2h.SubmitAck

	// Warnings are what the hub took but wants to be known, from its Mash-Warning headers: inexact_number says that an
	// integer beyond ±(2^53−1) occurs, which signatures see rounded (spec §9.2); no_human_resolver, that the message lists
	// nobody who may resolve it, so that nobody but its sender can (spec §9.1); unknown_resolver, that it names somebody
	// to answer it who is not in the account, and who cannot answer before they join.
	Warnings []string `json:"-"`
}

// ErrMisrouted is the error of a message to an agent that the hub took for one to its people, because it is too old to
// know the word (spec §8.1). The Ack is returned beside it; an ask has been cancelled if that was possible.
var ErrMisrouted = errors.New("client: the hub does not know the field to and sent the message to a person")

// Notify submits m as a notify: something to know, without an answer (spec §5.1).
func (c *Client) Notify(ctx context.Context, m ma2h.Message) (*Ack, error) {
	m.Type = ma2h.TypeNotify
	return c.Submit(ctx, m)
}

// Ask submits m as an ask: a decision that somebody takes (spec §5.2). It needs a Request, and is the owner's to answer
// unless that says whose (see Submit). Wait for the answer with Wait.
func (c *Client) Ask(ctx context.Context, m ma2h.Message) (*Ack, error) {
	m.Type = ma2h.TypeAsk
	return c.Submit(ctx, m)
}

// Task submits m as a task: something that somebody does (spec §5.3). It needs an Action, and is the owner's to end
// unless that says whose (see Submit). Wait for the end with Wait.
func (c *Client) Task(ctx context.Context, m ma2h.Message) (*Ack, error) {
	m.Type = ma2h.TypeTask
	return c.Submit(ctx, m)
}

// Submit sends a message (spec §8.1). What m leaves out is filled in: the version, the time, the agent descriptor and an
// idempotency key. Where AllowedResolvers of an ask or task is nil, the owner of the agent's account is, for whom the hub
// is asked once; for a list that names nobody is meant, give one that is empty and not nil (spec §9.1). A message to an
// agent, and one to a hub that does not tell who the owner is, keeps no list.
//
// While no answer comes Submit sends the very same bytes again, so that a lost answer makes no second message. To be safe
// against the end of the process too, use Prepare and Send.
func (c *Client) Submit(ctx context.Context, m ma2h.Message) (*Ack, error) {
	envelope, err := c.Prepare(ctx, m)
	if err != nil {
		return nil, err
	}
	return c.Send(ctx, envelope)
}

// Prepare returns the envelope that Submit would send, complete and encoded. Who keeps these bytes can Send them again
// after a crash, from any process, and gets the first try's message and its present status.
func (c *Client) Prepare(ctx context.Context, m ma2h.Message) ([]byte, error) {
	if m.Version == "" {
		m.Version = ma2h.Newest
	}
	if m.CreatedAt == "" {
		m.CreatedAt = ma2h.FormatTime(c.now())
	}
	if m.IdempotencyKey == nil {
		key := "key_" + ma2h.NewTail()
		m.IdempotencyKey = &key
	}
	if err := c.describe(ctx, &m.Agent); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", m.Type, err)
	}
	if err := c.allowOwner(ctx, &m); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", m.Type, err)
	}
	envelope, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", m.Type, err)
	}
	return envelope, nil
}

// describe fills what an agent descriptor leaves out.
func (c *Client) describe(ctx context.Context, a *ma2h.Agent) error {
	a.ID = or(a.ID, c.Agent.ID)
	a.RunID = or(a.RunID, c.Agent.RunID)
	a.Runtime = or(a.Runtime, c.Agent.Runtime)
	a.Session = or(a.Session, c.Agent.Session)
	a.Project = or(a.Project, c.Agent.Project)
	if a.Labels == nil {
		a.Labels = c.Agent.Labels
	}
	if a.RunID == "" {
		a.RunID = "run_" + ma2h.NewTail()
	}
	if a.ID != "" {
		return nil
	}
	id, err := c.agentID(ctx)
	a.ID = id
	return err
}

// allowOwner lets the owner resolve an ask or task that does not say who may. What the caller has stays as it is.
func (c *Client) allowOwner(ctx context.Context, m *ma2h.Message) error {
	if _, given := m.AllowedResolvers(); given || m.To != "" || m.Request == nil && m.Action == nil {
		return nil
	}
	me, err := c.me(ctx)
	if e := ma2h.AsError(err); e != nil && (e.Code == ma2h.CodeNotFound || e.Code == ma2h.CodeMethodNotAllowed) {
		return nil // a hub that has no such call
	}
	if err != nil || me.Owner == "" {
		return err
	}
	if m.Request != nil {
		r := *m.Request
		r.AllowedResolvers, m.Request = []string{me.Owner}, &r
		return nil
	}
	a := *m.Action
	a.AllowedResolvers, m.Action = []string{me.Owner}, &a
	return nil
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// Send submits an envelope that was prepared before (spec §8.1). It may be sent any number of times: the hub answers each
// with the same message. A 409 idempotency_conflict means that the key was used for something else.
func (c *Client) Send(ctx context.Context, envelope []byte) (*Ack, error) {
	var ack Ack
	var header http.Header
	err := c.call(ctx, request{name: endpoint.Submit, body: envelope, into: &ack, header: &header, repeat: true})
	if err != nil {
		return nil, err
	}
	ack.Warnings = header.Values("Mash-Warning")
	return &ack, c.checkRoute(ctx, envelope, &ack)
}

// checkRoute finds out whether an addressed message went to people instead (spec §8.1).
func (c *Client) checkRoute(ctx context.Context, envelope []byte, ack *Ack) error {
	if ack.Destination != nil {
		return nil
	}
	var m ma2h.Message
	if err := decode(envelope, &m); err != nil {
		return err
	}
	if m.To == "" {
		return nil
	}
	if m.Type == ma2h.TypeAsk {
		if _, err := c.Cancel(ctx, ack.ID); err != nil {
			return fmt.Errorf("%w; the cancel of %s did not succeed: %w", ErrMisrouted, ack.ID, err)
		}
	}
	return ErrMisrouted
}

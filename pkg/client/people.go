package client

import (
	"context"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// The calls of this file are Mash's own and for people: they need a person's token, else the error is not_authorized.

// Summary is one row of what waits for a person.
type Summary struct {
	ID         string        `json:"id"`
	Type       ma2h.Type     `json:"type"`
	Title      string        `json:"title"`
	Priority   ma2h.Priority `json:"priority"`
	AgentID    string        `json:"agent_id"` // attested by the hub
	RunID      string        `json:"run_id"`   // what the agent says
	Status     ma2h.Status   `json:"status"`
	AcceptedAt time.Time     `json:"accepted_at"`
	ExpiresAt  time.Time     `json:"expires_at"` // zero means never
	Resolvers  []string      `json:"resolvers"`  // who may resolve; empty means nobody but the sender
	MayResolve bool          `json:"may_resolve"`
}

// Reading is a message as a person sees it, and what became of it.
type Reading struct {
	Summary
	Message  ma2h.Message   `json:"message"` // without the agent's state and client_ref
	Response *ma2h.Response `json:"response"`
	Delivery *ma2h.Delivery `json:"delivery"`
	Attempts []Attempt      `json:"attempts"` // of its push
	Callback *Callback      `json:"callback"` // nil when the agent fetches its answer
	EndedAt  time.Time      `json:"ended_at"` // when the outcome came about; zero while it waits
	EndedBy  string         `json:"ended_by"` // the attested actor of the outcome, of a task too, whose Response may not say

	// Withheld are JSON Pointers to secrets that only the agent gets, in the answer or, before there is an outcome, in the
	// default.
	Withheld []string `json:"withheld"`
}

// Attempt is one try to push a Response.
type Attempt struct {
	At      time.Time `json:"at"`
	Status  int       `json:"status"`  // of HTTP, or 0
	Failure string    `json:"failure"` // when Status is 0: dns, connect, tls, timeout, reset, guarded, refused, unbound …
}

// Agent is what a person sees of an agent.
type Agent struct {
	ID          string    `json:"id"`
	CreatedAt   time.Time `json:"created_at"`
	Revoked     bool      `json:"revoked"`
	Credentials int       `json:"credentials"` // live ones; two while rotating
	SecretRefs  []string  `json:"secret_refs"` // names for callback.auth.secret_ref
}

// NewCredentials is what the hub shows once, and keeps only hashed or wrapped.
type NewCredentials struct {
	ID         string `json:"id"` // agent.id
	Token      string `json:"token"`
	PushSecret string `json:"push_secret"` // for a Verifier
	SecretRef  string `json:"secret_ref"`  // its name in callback.auth.secret_ref
}

// Waiting returns the asks and tasks of the account that are open, oldest first.
func (c *Client) Waiting(ctx context.Context) ([]Summary, error) {
	var list struct {
		Waiting []Summary `json:"waiting"`
	}
	err := c.call(ctx, request{name: endpoint.Waiting, into: &list, repeat: true})
	return list.Waiting, err
}

// Read returns a message of the account. It does not count as delivered by that.
func (c *Client) Read(ctx context.Context, id string) (*Reading, error) {
	var r Reading
	if err := c.call(ctx, request{name: endpoint.Read, ids: []string{id}, into: &r, repeat: true}); err != nil {
		return nil, err
	}
	return &r, nil
}

// ListAgents returns the agents of the account by id, revoked ones included.
func (c *Client) ListAgents(ctx context.Context) ([]Agent, error) {
	var list struct {
		Agents []Agent `json:"agents"`
	}
	err := c.call(ctx, request{name: endpoint.AgentList, into: &list, repeat: true})
	return list.Agents, err
}

// AddAgent makes an agent with a token and a push secret, or gives a revoked one new ones. An id may have slashes in it, but
// nothing, . or .. between them, and neither a ? nor control characters. It is not repeated when its answer was lost: rotate
// the agent's token then.
func (c *Client) AddAgent(ctx context.Context, id string) (*NewCredentials, error) {
	body := struct {
		ID string `json:"id"`
	}{id}
	var made NewCredentials
	if err := c.send(ctx, request{name: endpoint.AgentAdd, into: &made}, body); err != nil {
		return nil, err
	}
	return &made, nil
}

// RotateAgent gives an agent a new token, beside the newest of those it has.
func (c *Client) RotateAgent(ctx context.Context, id string) (*NewCredentials, error) {
	var made NewCredentials
	if err := c.call(ctx, request{name: endpoint.AgentRotate, ids: []string{id}, into: &made}); err != nil {
		return nil, err
	}
	return &made, nil
}

// RevokeAgent ends an agent's credentials. What it has asked stays where it is.
func (c *Client) RevokeAgent(ctx context.Context, id string) error {
	return c.call(ctx, request{name: endpoint.AgentRevoke, ids: []string{id}, repeat: true})
}

// Person is somebody of the account.
type Person struct {
	ID        string    `json:"id"`   // names the person to RemovePerson
	Name      string    `json:"name"` // without human:
	Role      string    `json:"role"` // owner or member
	Founder   bool      `json:"founder,omitzero"`
	InvitedBy string    `json:"invited_by,omitzero"` // human:<name>
	JoinedAt  time.Time `json:"joined_at,omitzero"`  // zero for the founder
}

// Invitation is one that is open.
type Invitation struct {
	ID        string    `json:"id"` // names the invitation to RemovePerson
	Name      string    `json:"name"`
	Role      string    `json:"role"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	URL       string    `json:"url,omitempty"` // the link, only when it has just been made
}

// People are the people of an account and, for owners, the invitations that are open.
type People struct {
	People      []Person     `json:"people"`
	Invitations []Invitation `json:"invitations"`
}

// ListPeople returns the people of the account, the founder first.
func (c *Client) ListPeople(ctx context.Context) (*People, error) {
	var list People
	if err := c.call(ctx, request{name: endpoint.PersonList, into: &list, repeat: true}); err != nil {
		return nil, err
	}
	return &list, nil
}

// Invite makes a link by which somebody joins the account under a name, once, as an owner or a member. It is not repeated
// when its answer was lost: remove that invitation then.
func (c *Client) Invite(ctx context.Context, name, role string) (*Invitation, error) {
	body := struct {
		Name string `json:"name"`
		Role string `json:"role"`
	}{name, role}
	var made Invitation
	if err := c.send(ctx, request{name: endpoint.PersonInvite, into: &made}, body); err != nil {
		return nil, err
	}
	return &made, nil
}

// RemovePerson ends all that a person of the account may do, at once, or revokes an invitation: whichever the id names.
func (c *Client) RemovePerson(ctx context.Context, id string) error {
	return c.call(ctx, request{name: endpoint.PersonRemove, ids: []string{id}, repeat: true})
}

// SetDefaultResolvers decides who may resolve the asks to come that list nobody (spec §9.1); an empty list turns that
// off.
func (c *Client) SetDefaultResolvers(ctx context.Context, resolvers []string) error {
	body := struct {
		Resolvers []string `json:"default_resolvers"`
	}{resolvers}
	return c.send(ctx, request{name: endpoint.SettingsPut, repeat: true}, body)
}

// Link returns the URL of a link that signs the person into the inbox, once.
func (c *Client) Link(ctx context.Context) (string, error) {
	var made struct {
		URL string `json:"url"`
	}
	err := c.call(ctx, request{name: endpoint.Link, into: &made, repeat: true})
	return made.URL, err
}

package client

import (
	"context"
	"net/url"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// The calls of this file are Mash's own and for people, as those of Waiting and AddAgent are.

// Callback is how far the push of a message's answer has come.
type Callback struct {
	Host      string    `json:"host"`
	Scheme    string    `json:"scheme"` // hmac, bearer or apikey
	State     string    `json:"state"`  // waiting, trying, delivered or given_up
	Attempts  []Attempt `json:"attempts"`
	Earlier   int       `json:"earlier"` // attempts before those
	Next      time.Time `json:"next"`    // of the next attempt
	GivenUpAt time.Time `json:"given_up_at"`
	SendAgain bool      `json:"send_again"` // whether the person may have it sent again
}

// AgentDetail is all that a person sees of one agent.
type AgentDetail struct {
	Agent
	Challenge string         `json:"challenge"` // the line by which a host shows that it is the agent's
	Hosts     []CallbackHost `json:"hosts"`
	Secrets   []Secret       `json:"secrets"`
	Webhook   *Webhook       `json:"webhook,omitzero"` // nil where what it is told is only fetched
	Stopped   *Stop          `json:"stopped,omitzero"` // nil unless a person has stopped it (spec §16.4.1)
}

// Webhook is where what people tell an agent is pushed (spec §8.7).
type Webhook struct {
	URL   string    `json:"url,omitzero"` // to owners
	Host  string    `json:"host"`
	Bound bool      `json:"bound"` // whether the host is still the agent's own; else nothing is pushed there
	At    time.Time `json:"at"`
	By    string    `json:"by"`
}

// Stop is a person's word that an agent may begin no session until a person lifts it.
type Stop struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"` // human:<id>
	Reason string    `json:"reason,omitzero"`
}

// CallbackHost is a host to which the credentials of an agent may go (spec §9.4).
type CallbackHost struct {
	Host  string    `json:"host"`
	Proof Proof     `json:"proof"`
	At    time.Time `json:"at"`
	By    string    `json:"by"`
}

// Proof is how it is known that a host is an agent's own.
type Proof string

// The proofs of a host.
const (
	ProofWellKnown Proof = "well-known" // https://HOST/.well-known/mash-callback has the agent's challenge as a line
	ProofDNS       Proof = "dns"        // a TXT record of _mash-callback.HOST is the agent's challenge
	ProofPerson    Proof = "person"     // you say so
)

// Secret is what a person sees of a secret of an agent.
type Secret struct {
	Ref       string    `json:"ref"`
	State     string    `json:"state"` // current, or next for one that is not used yet
	CreatedAt time.Time `json:"created_at"`
	From      time.Time `json:"from"`  // when a next one begins to be used
	Until     time.Time `json:"until"` // when the current one ends to be used
}

// NewSecret is a secret that was made. Its value is shown once.
type NewSecret struct {
	Ref   string    `json:"ref"`
	Value string    `json:"value"` // empty where it was given
	From  time.Time `json:"from"`
}

// ReadAgent returns one agent.
func (c *Client) ReadAgent(ctx context.Context, id string) (*AgentDetail, error) {
	var a AgentDetail
	if err := c.call(ctx, request{name: endpoint.AgentRead, query: url.Values{"id": {id}}, into: &a, repeat: true}); err != nil {
		return nil, err
	}
	return &a, nil
}

// BindHost notes that a host is an agent's own, so that the agent's credentials may go there. The hub looks now whether
// the host shows the agent's challenge, unless the proof is ProofPerson.
func (c *Client) BindHost(ctx context.Context, id, host string, proof Proof) (*CallbackHost, error) {
	body := struct {
		Agent string `json:"agent"`
		Host  string `json:"host"`
		Proof Proof  `json:"proof"`
	}{id, host, proof}
	var bound CallbackHost
	if err := c.send(ctx, request{name: endpoint.HostBind, into: &bound, repeat: true}, body); err != nil {
		return nil, err
	}
	return &bound, nil
}

// UnbindHost takes a host from an agent: none of the agent's credentials goes there any more.
func (c *Client) UnbindHost(ctx context.Context, id, host string) error {
	body := struct {
		Agent string `json:"agent"`
		Host  string `json:"host"`
	}{id, host}
	return c.send(ctx, request{name: endpoint.HostUnbind, repeat: true}, body)
}

// SetWebhook has what people tell an agent from now on pushed to a URL, on a host that is the agent's own, beside its mailbox;
// where the URL is empty, no more.
func (c *Client) SetWebhook(ctx context.Context, id, url string) error {
	body := struct {
		Agent string  `json:"agent"`
		URL   *string `json:"url"`
	}{Agent: id}
	if url != "" {
		body.URL = &url
	}
	return c.send(ctx, request{name: endpoint.WebhookPut, repeat: true}, body)
}

// SetSecret gives an agent a secret under a name: the value, or one that the hub makes where it is empty. The first of its
// name is used at once. Another one is used from a time on, a day later for the zero time, and the one before it until
// then; a time that is past means at once. It is not repeated when its answer was lost: set another.
func (c *Client) SetSecret(ctx context.Context, id, ref, value string, from time.Time) (*NewSecret, error) {
	body := struct {
		Agent string `json:"agent"`
		Ref   string `json:"ref"`
		Value string `json:"value,omitzero"`
		From  string `json:"from,omitzero"`
	}{Agent: id, Ref: ref, Value: value}
	if !from.IsZero() {
		body.From = ma2h.FormatTime(from)
	}
	var made NewSecret
	if err := c.send(ctx, request{name: endpoint.SecretAdd, into: &made}, body); err != nil {
		return nil, err
	}
	return &made, nil
}

// UseSecretNow has the next secret of this name used from now on.
func (c *Client) UseSecretNow(ctx context.Context, id, ref string) error {
	body := struct {
		Agent string `json:"agent"`
		Ref   string `json:"ref"`
	}{id, ref}
	return c.send(ctx, request{name: endpoint.SecretUse, repeat: true}, body)
}

// RemoveSecret ends all secrets of a name. Callbacks that name it fail from then on.
func (c *Client) RemoveSecret(ctx context.Context, id, ref string) error {
	return c.removeSecret(ctx, id, ref, "")
}

// RemoveNextSecret takes back the secret of this name that is not used yet.
func (c *Client) RemoveNextSecret(ctx context.Context, id, ref string) error {
	return c.removeSecret(ctx, id, ref, "next")
}

func (c *Client) removeSecret(ctx context.Context, id, ref, only string) error {
	body := struct {
		Agent string `json:"agent"`
		Ref   string `json:"ref"`
		Only  string `json:"only,omitzero"`
	}{id, ref, only}
	return c.send(ctx, request{name: endpoint.SecretRemove}, body)
}

// SendAgain has the answer of a message pushed again, with the same resolution_id. What the agent has already is refused.
func (c *Client) SendAgain(ctx context.Context, id string) error {
	return c.call(ctx, request{name: endpoint.SendAgain, ids: []string{id}, repeat: true})
}

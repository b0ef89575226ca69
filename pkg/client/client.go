// Package client is the Go SDK of MA2H: it sends notifies, asks and tasks to a hub, waits for the answers, and verifies
// those that are pushed.
//
// To ask a person something and wait:
//
//	c := client.New("https://hub.example", os.Getenv("MASH_TOKEN"))
//	ack, err := c.Ask(ctx, ma2h.Message{
//		Title:   "Deploy 1.4 now?",
//		Request: &ma2h.Request{Mode: ma2h.ModeConfirm},
//	})
//	if err != nil {
//		return err
//	}
//	response, err := c.Wait(ctx, ack.ID)
//	if err != nil {
//		return err
//	}
//	if value, ok := client.Choice(response); ok && value == "approve" {
//		// a person said yes: response.Response.Actor is who
//	}
//
// An agent that cannot wait keeps ack.ID and calls Wait later, from any process that has its token; or it names a
// callback in the request and verifies what comes there with a Verifier.
//
// What the hub refuses comes back as *ma2h.Error (see ma2h.AsError), with a code of spec §8.5. Everything else is the
// network's.
package client

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// DefaultPatience is how long a call is repeated where Client.Patience says nothing.
const DefaultPatience = time.Minute

// Client calls a hub with one credential, an agent's or a person's. It is safe for concurrent use once its fields are
// set.
type Client struct {
	URL   string // of the hub, such as https://hub.example
	Token string // an agent's or a person's

	// Agent is what Submit puts into the agent descriptor of a message where that is silent (spec §4.1). Where there is
	// no ID in either, the hub is asked once whose the token is.
	Agent ma2h.Agent

	// Patience is for how long a call is repeated while the network fails or the hub says 429 or 5xx; zero means
	// DefaultPatience, and less than zero that nothing is repeated. Wait is bounded by its context alone.
	Patience time.Duration

	HTTP *http.Client     // nil means http.DefaultClient
	Now  func() time.Time // nil means time.Now

	mu sync.Mutex
	id string // agent.id, once asked for
}

// New returns a client of the hub at url with a fresh run id.
func New(url, token string) *Client {
	return &Client{URL: strings.TrimRight(url, "/"), Token: token, Agent: ma2h.Agent{RunID: "run_" + ma2h.NewTail()}}
}

func (c *Client) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// Me is who the credential belongs to.
type Me struct {
	Actor   string `json:"actor"`    // agent:<id> or human:<id>
	AgentID string `json:"agent_id"` // of an agent
	Owner   string `json:"owner"`    // human:<id> of the account's owner
}

// Me returns who the credential belongs to. It is Mash's own call and not of the spec.
func (c *Client) Me(ctx context.Context) (Me, error) {
	var me Me
	err := c.call(ctx, request{name: endpoint.Me, into: &me, repeat: true})
	return me, err
}

// agentID returns the agent.id of the credential, asking the hub the first time.
func (c *Client) agentID(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.id != "" {
		return c.id, nil
	}
	me, err := c.Me(ctx)
	if err != nil {
		return "", err
	}
	if me.AgentID == "" {
		return "", ma2h.Errorf(ma2h.CodeNotAuthorized, "The token is %s's and not an agent's; send with an agent's token.", me.Actor)
	}
	c.id = me.AgentID
	return c.id, nil
}

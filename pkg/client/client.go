// Package client is the Go SDK of MA2H: it sends notifies, asks and tasks to a hub, waits for the answers, and verifies
// those that are pushed. Mailbox takes what people and other agents send to an agent.
//
// A whole program that asks a person, waits, and uses the answer. `mash agent add NAME` prints what to export first:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//		"os"
//		"time"
//
//		"github.com/mash-hub/mash/pkg/client"
//		"github.com/mash-hub/mash/pkg/ma2h"
//	)
//
//	func main() {
//		ctx := context.Background()
//		c := client.New(os.Getenv("MASH_URL"), os.Getenv("MASH_TOKEN"))
//		ack, err := c.Ask(ctx, ma2h.Message{
//			Title:     "Deploy 1.4 now?",
//			Body:      "All tests pass.",
//			Request:   &ma2h.Request{Mode: ma2h.ModeConfirm},
//			ExpiresAt: ma2h.FormatTime(time.Now().Add(time.Hour)),
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//		response, err := c.Wait(ctx, ack.ID)
//		if err != nil {
//			log.Fatal(err)
//		}
//		switch value, answered := client.Choice(response); {
//		case answered && value == "approve":
//			fmt.Println(response.Response.Actor, "approved; deploying")
//		case answered:
//			fmt.Println(response.Response.Actor, "said no")
//		default:
//			fmt.Println("no answer:", response.Resolution) // declined, expired or cancelled
//		}
//	}
//
// Ask and Task let the owner of the agent's account answer, unless the message says who may.
//
// An agent that cannot wait keeps ack.ID and calls Wait later, from any process that has its token. Or it has the answer
// pushed: the request of its message names a callback, and what comes there is verified. Where the agent runs on the
// machine of the hub, start that with --allow-callback HOST:PORT.
//
//	const answersURL = "https://agent.example/answers" // as the hub reaches it
//
//	func withCallback(r *ma2h.Request) *ma2h.Request {
//		r.Callback = &ma2h.Callback{
//			URL:  answersURL,
//			Auth: &ma2h.CallbackAuth{Scheme: ma2h.SchemeHMAC, SecretRef: "env:MASH_PUSH_SECRET"},
//		}
//		return r
//	}
//
//	func answers() http.Handler { // to be served at answersURL
//		v := &client.Verifier{Secrets: []string{os.Getenv("MASH_PUSH_SECRET")}, URL: answersURL}
//		return v.Handler(func(_ context.Context, r *ma2h.Response) error {
//			value, answered := client.Choice(r)
//			fmt.Println(r.InReplyTo, value, answered)
//			return nil // it was acted on, and need not come again
//		})
//	}
//
// The secret_ref names the secret to the hub; the secret itself is the agent's MASH_PUSH_SECRET, and stays there.
//
// A hub at a name that ends in .localhost, such as that of an emulated cloud, is found on this machine; see Transport.
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

	HTTP *http.Client     // nil means one with Transport
	Now  func() time.Time // nil means time.Now

	mu    sync.Mutex
	whose *Me // the credential is, once asked for
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
	me, err := c.askWhose(ctx)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.whose = &me
	}
	return me, err
}

func (c *Client) askWhose(ctx context.Context) (Me, error) {
	var me Me
	err := c.call(ctx, request{name: endpoint.Me, into: &me, repeat: true})
	return me, err
}

// me is Me, asking the hub only the first time.
func (c *Client) me(ctx context.Context) (Me, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.whose != nil {
		return *c.whose, nil
	}
	me, err := c.askWhose(ctx)
	if err == nil {
		c.whose = &me
	}
	return me, err
}

// agentID returns the agent.id of the credential.
func (c *Client) agentID(ctx context.Context) (string, error) {
	me, err := c.me(ctx)
	if err != nil {
		return "", err
	}
	if me.AgentID == "" {
		return "", ma2h.Errorf(ma2h.CodeNotAuthorized, "The token is %s's and not an agent's; send with an agent's token.", me.Actor)
	}
	return me.AgentID, nil
}

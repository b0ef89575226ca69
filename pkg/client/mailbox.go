package client

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// Mailbox is what is sent to an agent, under one of its sessions or under none (spec §8.7). Use one Mailbox for a session
// from its Register to its end. It is safe for concurrent use once its fields are set.
type Mailbox struct {
	// Client has the agent's credential. Its Agent.ID is the addressee that entries must name; where it is empty the hub is
	// asked once whose the credential is.
	Client *Client

	// Session is the agent's live session that drains, acks and resolves present, and whose lease they renew. Without one
	// only directives to the agent are delivered.
	Session string

	// Policy says whose asks and tasks are handed over (spec §13.4); nil hands over none.
	Policy *Policy

	// Secrets are the keys of a hub that signs entries by hmac-sha256. They and PublicKeys are tried first; the hub's other
	// ed25519 keys come from its JWKS.
	Secrets    []string
	PublicKeys []ed25519.PublicKey

	Window time.Duration // how far a signature's time may lie off; zero means signature.Window

	once    sync.Once
	replays signature.Replays
	hubKeys hubKeys
}

// DrainOptions is what a drain asks for (spec §8.7). The zero value is all that is there, without waiting.
type DrainOptions struct {
	Wait time.Duration // how long the hub may hold while there is nothing; it cuts it
	Max  int           // entries at most; zero leaves it to the hub
}

// Drained is what a drain brought.
type Drained struct {
	Entries []Entry // each verified, in the order of the answer

	// Refused says why each of the others was not taken: it was delivered, but does not verify. Nothing of it is trusted,
	// its id neither, so it is not acknowledged and the hub delivers it again. The errors are those of package signature,
	// ErrMisshapen and ErrMisaddressed.
	Refused []error

	// Withheld are the asks and tasks of agents that Policy does not allow.
	Withheld []Withheld
}

// add takes one element of what was delivered.
func (d *Drained) add(ctx context.Context, b *Mailbox, me ma2h.Address, element map[string]jsontext.Value) {
	e, err := b.verify(ctx, me, element)
	if err != nil {
		d.Refused = append(d.Refused, err)
	} else if w := b.Policy.withheld(e); w != nil {
		d.Withheld = append(d.Withheld, *w)
	} else {
		d.Entries = append(d.Entries, e)
	}
}

// Drain takes what waits in the mailbox and verifies each entry: its signature, over what was received and for this
// addressee, under the hub's keys; that it is fresh and came for the first time; its shape; and that it is for this agent
// and, where it names a session, for this one (spec §9.7, §9.8, §13.4). Asks and tasks of agents are handed over as Policy
// allows. What a drain delivers is hidden from others for the hub's visibility timeout; act once for each entry, as Acted does,
// and then Ack it, else it comes again.
//
// The errors are ErrNoKeys, before anything was taken, and those of a session that cannot be presented: not_found; gone,
// after which an agent registers anew; and session_closed_by_operator, after which it must not.
func (b *Mailbox) Drain(ctx context.Context, o DrainOptions) (*Drained, error) {
	me, err := b.addressee(ctx)
	if err != nil {
		return nil, err
	}
	if len(b.Secrets) == 0 {
		if _, err := b.hubKeys.known(ctx, b.Client, b.Client.now()); err != nil {
			return nil, err
		}
	}
	query := b.presenting()
	if o.Wait > 0 {
		query.Set("wait", strconv.FormatFloat(o.Wait.Seconds(), 'f', -1, 64))
	}
	if o.Max > 0 {
		query.Set("max", strconv.Itoa(o.Max))
	}
	var answer struct {
		Messages []map[string]jsontext.Value `json:"messages"`
	}
	r := request{name: endpoint.Drain, query: query, into: &answer, repeat: true, hold: o.Wait}
	if err := b.Client.call(ctx, r); err != nil {
		return nil, err
	}
	var drained Drained
	for _, element := range answer.Messages {
		drained.add(ctx, b, me, element)
	}
	return &drained, nil
}

// addressee is whom entries must be for.
func (b *Mailbox) addressee(ctx context.Context) (ma2h.Address, error) {
	id := b.Client.Agent.ID
	if id == "" {
		var err error
		if id, err = b.Client.agentID(ctx); err != nil {
			return ma2h.Address{}, fmt.Errorf("whose mailbox it is: %w", err)
		}
	}
	return ma2h.Address{AgentID: id, Session: b.Session}, nil
}

// presenting is the query that presents the session, if there is one.
func (b *Mailbox) presenting() url.Values {
	query := url.Values{}
	if b.Session != "" {
		query.Set("session", b.Session)
	}
	return query
}

// Acked is the hub's answer to an ack of entries.
type Acked struct {
	Acked int        `json:"acked"` // how many of them the agent has consumed, now or before
	Acks  []ma2h.Ack `json:"acks"`  // those that there are of them; the first ack of an entry stands, with its note
}

// Ack says that the agent has done with entries, for good: they do not come again (spec §8.7, §14.3). The note, which may
// be empty, is for whoever sent a directive or message. Presenting the session renews its lease. Since only entries that
// were verified can be acknowledged, nobody acknowledges by an id that came from elsewhere.
func (b *Mailbox) Ack(ctx context.Context, note string, entries ...Entry) (*Acked, error) {
	body := ma2h.InboxAckRequest{IDs: []string{}, Note: note}
	for _, e := range entries {
		body.IDs = append(body.IDs, e.Key())
	}
	var done Acked
	err := b.Client.send(ctx, request{name: endpoint.InboxAck, query: b.presenting(), into: &done, repeat: true}, body)
	if err != nil {
		return nil, err
	}
	return &done, nil
}

// Resolve is Client.Resolve under the session, which the outcome then names as its actor: that is how an agent answers an
// ask or task that only one of its sessions may (spec §8.8, §9.1).
func (b *Mailbox) Resolve(ctx context.Context, id string, r ma2h.Resolve) (ma2h.Resolved, error) {
	var done ma2h.Resolved
	err := b.Client.send(ctx, request{name: endpoint.Resolve, ids: []string{id}, query: b.presenting(), into: &done}, r)
	return done, err
}

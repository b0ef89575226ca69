package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// Real is a hub as it is, in real time. Set Owner, of a hub that adds agents as Mash does, or Agents; Close it in the end.
type Real struct {
	URL string

	// Owner is the token of an account's owner, by which each clause adds agents of its own.
	Owner string

	// Agents are two agents of one account that may write to each other, where there is no Owner. All clauses share them,
	// one after the other. Nobody else may use them meanwhile.
	Agents []Credential

	Person   *Credential // of the account, where there is no Owner; nil for nobody
	Stranger *Credential // an agent of another account; nil for none

	// Callback is the host:port at which this machine may take what the hub pushes; empty for nowhere.
	Callback string

	// Restart ends the hub's processes, as a crash would, begins them anew and returns once they are there; nil where nobody
	// here can.
	Restart func(context.Context) error

	// Longest is how long a clause may have to wait for time to pass; zero means two minutes.
	Longest time.Duration

	HTTP *http.Client // nil means one with client.Transport

	mu       sync.Mutex
	added    []string
	listener *listener
}

// Credential is somebody whom a hub knows.
type Credential struct {
	ID         string `json:"id"` // of an agent; a person's has the prefix human:
	Token      string `json:"token"`
	PushSecret string `json:"push_secret,omitzero"` // of an agent's callbacks
	SecretRef  string `json:"secret_ref,omitzero"`  // its name
}

const (
	realAtOnce  = 24
	realLongest = 2 * time.Minute
)

func (s *Real) atOnce() int {
	if s.Owner == "" {
		return 1
	}
	return realAtOnce
}

func (s *Real) web() *http.Client { return s.HTTP }

func (s *Real) enter(ctx context.Context, c Clause) (household, error) {
	h := &realHome{Real: s}
	if s.Owner == "" || c.alone {
		return h, nil
	}
	return h, h.optIn(ctx, true)
}

// Close revokes the agents that were added, and stops taking pushes.
func (s *Real) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, id := range s.added {
		errs = append(errs, s.owner().RevokeAgent(ctx, id))
	}
	if s.listener != nil {
		errs = append(errs, s.listener.server.Close())
	}
	return errors.Join(errs...)
}

func (s *Real) owner() *client.Client { return s.as(s.Owner) }

func (s *Real) as(token string) *client.Client {
	c := client.New(s.URL, token)
	c.HTTP, c.Patience = s.HTTP, 10*time.Second
	return c
}

// realHome is the account for one clause, with agents that no other clause uses where they can be added.
type realHome struct {
	*Real
	used int // of the agents that are given
}

func (h *realHome) url() string                  { return h.URL }
func (h *realHome) virtual() bool                { return false }
func (h *realHome) header() http.Header          { return http.Header{} }
func (h *realHome) now() time.Time               { return time.Now() }
func (h *realHome) settle(context.Context) error { return nil }

func (h *realHome) restart(ctx context.Context) error {
	if h.Restart == nil {
		return &unable{"no way was given to restart the hub"}
	}
	return h.Restart(ctx)
}

// mayTake says whether to wait for so long.
func (h *realHome) mayTake(d time.Duration) error {
	longest := h.Longest
	if longest == 0 {
		longest = realLongest
	}
	if d > longest {
		return &unable{fmt.Sprintf("it would take %v to see, and at most %v is waited", d, longest)}
	}
	return nil
}

func (h *realHome) pass(ctx context.Context, d time.Duration) error {
	if err := h.mayTake(d); err != nil {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *realHome) agent(ctx context.Context, name string) (principal, error) {
	if h.Owner == "" {
		return h.given()
	}
	made, err := h.owner().AddAgent(ctx, "conform-"+ma2h.NewTail()[:12]+"/"+name)
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeInvalidField {
		return principal{}, &unable{"the hub adds no agent whose id is like " + name}
	}
	if err != nil {
		return principal{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.added = append(h.added, made.ID)
	return principal{made.ID, ma2h.AgentPrefix + made.ID, made.Token, made.SecretRef, made.PushSecret}, nil
}

// given is the next of the agents that are given.
func (h *realHome) given() (principal, error) {
	if h.used == len(h.Agents) {
		return principal{}, &unable{fmt.Sprintf("it needs more than the %d agents that are given", len(h.Agents))}
	}
	h.used++
	return h.Agents[h.used-1].agent(), nil
}

func (c Credential) agent() principal {
	return principal{c.ID, ma2h.AgentPrefix + c.ID, c.Token, c.SecretRef, c.PushSecret}
}

func (h *realHome) person(ctx context.Context) (principal, error) {
	switch {
	case h.Owner != "":
		me, err := h.owner().Me(ctx)
		return principal{actor: me.Actor, token: h.Owner}, err
	case h.Person != nil:
		return principal{actor: h.Person.ID, token: h.Person.Token}, nil
	}
	return principal{}, &unable{"no person of the account is given"}
}

func (h *realHome) stranger(context.Context) (principal, error) {
	if h.Stranger == nil {
		return principal{}, &unable{"no agent of another account is given"}
	}
	return h.Stranger.agent(), nil
}

func (h *realHome) optIn(ctx context.Context, enabled bool) error {
	switch {
	case h.Owner == "" && enabled:
		return nil // whoever gives two agents says that they may
	case h.Owner == "":
		return &unable{"it needs an account's owner, who opts out"}
	case enabled:
		return h.owner().AllowMail(ctx)
	}
	return h.owner().ForbidMail(ctx)
}

func (h *realHome) allow(ctx context.Context, agent string, senders []string) error {
	if h.Owner == "" {
		return &unable{"it needs an account's owner, who sets an allowlist"}
	}
	return h.owner().SetAllowlist(ctx, agent, senders)
}

func (h *realHome) direct(ctx context.Context, d directive) (int, []byte, error) {
	return h.asPerson(ctx, endpoint.DirectiveSend, d)
}

func (h *realHome) track(ctx context.Context, id string) (int, []byte, error) {
	status, body, err := h.asPerson(ctx, endpoint.DirectiveRead, nil, id)
	var read struct {
		Mailbox json.RawMessage `json:"mailbox"`
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(body, &read) != nil {
		return status, body, err
	}
	return status, read.Mailbox, nil
}

// asPerson makes a call of Mash's own as a person of the account. Another hub has no such call.
func (h *realHome) asPerson(ctx context.Context, name endpoint.Name, body any, ids ...string) (int, []byte, error) {
	p, err := h.person(ctx)
	if err != nil {
		return 0, nil, err
	}
	e := endpoint.Of(name)
	by := h.HTTP
	if by == nil {
		by = &http.Client{Transport: client.Transport()}
		defer by.CloseIdleConnections()
	}
	t := &trial{ctx: ctx, home: h, http: by}
	a, err := t.try(&caller{t, p}, e.Method, e.Fill(ids...), body)
	if err != nil {
		return 0, nil, err
	}
	if a.status == http.StatusMethodNotAllowed || a.status == http.StatusNotFound && len(ids) == 0 {
		return 0, nil, &unable{"the hub has no way to send directives that is known here"}
	}
	return a.status, a.body, nil
}

func (h *realHome) keys(ctx context.Context) ([]signature.Verifier, error) {
	keys, err := h.as("").HubKeys(ctx)
	var all []signature.Verifier
	for _, k := range keys {
		all = append(all, signature.PublicKey(k))
	}
	return all, err
}

func (h *realHome) callback(ctx context.Context, p principal) (*receiver, error) {
	if h.Callback == "" || p.secretRef == "" {
		return nil, &unable{"the hub has no address here to push to"}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listener == nil {
		l, err := listen(context.WithoutCancel(ctx), h.Callback)
		if err != nil {
			return nil, err
		}
		h.listener = l
	}
	path := "/" + strings.ToLower(ma2h.NewTail())
	l := h.listener
	return &receiver{
		url:   "http://" + h.Callback + path,
		fetch: func(context.Context) ([]push, error) { return l.take(path), nil },
	}, nil
}

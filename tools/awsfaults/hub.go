package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// newClient returns a client that finds names under .localhost on this machine, as not every resolver does, and keeps no
// connection, so that none is closed under a request.
func newClient() *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if host, port, err := net.SplitHostPort(address); err == nil && strings.HasSuffix(host, ".localhost") {
				address = net.JoinHostPort("127.0.0.1", port)
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}}
}

// agent is somebody who asks.
type agent struct{ ID, Token string }

// request calls the hub, wants this status, and decodes the answer into out.
func (c *cloud) request(ctx context.Context, token, method, path string, body any, want int, out any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(encoded))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	status, answer, err := send(c.plain, r)
	if err == nil && status != want {
		err = fmt.Errorf("the hub answered %d, want %d: %s", status, want, answer)
	}
	if err == nil {
		err = json.Unmarshal(answer, out)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// agent makes an agent.
func (t *trial) agent(ctx context.Context) (agent, error) {
	var made agent
	err := t.request(ctx, t.Token, http.MethodPost, "/v1/agents", doc{"id": t.unique("faults")}, http.StatusCreated, &made)
	return made, err
}

// question is what to ask.
type question struct {
	quiet   bool          // there is no callback
	expires time.Duration // from now; 0 for never
	refuse  int           // how many attempts at its callback are refused
	later   time.Duration // for how long such a refusal wants to be left alone
}

// message is an ask, and what is known of it.
type message struct {
	id, tail string
	by       agent
	path     string // of the receiver; empty without a callback
	deadline time.Time
	refuse   int

	answering, answered time.Time // when it was sent, and when it was known to stand
	resolution          string
	rev                 string // of its record when it was looked at first
}

// ask submits an ask of this agent.
func (t *trial) ask(ctx context.Context, by agent, q question) (*message, error) {
	m := &message{by: by, refuse: q.refuse}
	key := t.unique("key")
	request := doc{"mode": "confirm", "allowed_resolvers": []string{t.Owner}}
	envelope := doc{
		"ma2h_version": "0.6", "type": "ask", "title": "Does this hold?", "created_at": time.Now().UTC().Format(time.RFC3339Nano),
		"agent": doc{"id": by.ID, "run_id": "run_" + key}, "idempotency_key": key, "request": request,
	}
	if !q.quiet {
		m.path = "/" + key
		t.receiver.expect(m.path, q.refuse, q.later)
		request["callback"] = doc{
			"mode": "push", "url": "http://" + t.Callback + m.path,
			"auth": doc{"scheme": "hmac", "secret_ref": "env:MASH_PUSH_SECRET"}, //nolint:gosec // a name, not a secret
		}
	}
	if q.expires != 0 {
		m.deadline = time.Now().Add(q.expires).UTC().Truncate(time.Millisecond)
		envelope["expires_at"] = m.deadline.Format(time.RFC3339Nano)
	}
	var ack struct{ ID string }
	if err := t.request(ctx, by.Token, http.MethodPost, "/v1/messages", envelope, http.StatusAccepted, &ack); err != nil {
		return nil, err
	}
	m.id, m.tail = ack.ID, strings.TrimPrefix(ack.ID, "msg_")
	if m.path != "" {
		t.asked = append(t.asked, m)
	}
	return m, nil
}

// asks is ask for several.
func (t *trial) asks(ctx context.Context, by agent, questions ...question) ([]*message, error) {
	var all []*message
	for _, q := range questions {
		m, err := t.ask(ctx, by, q)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// answer answers an ask as the owner.
func (t *trial) answer(ctx context.Context, m *message) error {
	t.mu.Lock()
	m.answering = time.Now()
	t.mu.Unlock()
	var done struct {
		ResolutionID string `json:"resolution_id"`
	}
	err := t.request(ctx, t.Token, http.MethodPost, "/v1/messages/"+m.id+"/resolve",
		doc{"resolution": "answered", "value": "approve"}, http.StatusOK, &done)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m.answered, m.resolution = time.Now(), done.ResolutionID
	return nil
}

package controlapi_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

const (
	window = time.Minute      // the claim of an entry, unless a tenant says otherwise
	lease  = 15 * time.Minute // of a session that asks for none
)

// fleet puts agents into alice's account, which has opted in to mail between them.
func (s *suite) fleet(agents ...string) {
	s.t.Helper()
	s.owns("alice", agents...)
	s.optIn("alice", true)
}

// optIn is a person's word that the agents of their account may mail each other, or may not.
func (s *suite) optIn(person string, enabled bool) {
	s.t.Helper()
	s.control("POST", "policies", doc{"owner": "human:" + person, "inter_agent_enabled": enabled}).is(http.StatusNoContent)
}

// allow replaces the list of who may send to an agent; nil removes it.
func (s *suite) allow(agent string, senders any) {
	s.t.Helper()
	s.control("POST", "allowlists", doc{"agent": agent, "senders": senders}).is(http.StatusNoContent)
}

// mailTo addresses an envelope to an agent or a session, and leaves the resolvers to the default.
func mailTo(address string) edit { return several(set("/to", address), none) }

// mouth is an agent as it speaks to its mailbox: under a session, or under none.
type mouth struct {
	*caller
	session string
}

// bare is the agent without a session.
func (c *caller) bare() *mouth { return &mouth{caller: c} }

// under is the agent as it would present this session.
func (c *caller) under(session string) *mouth { return &mouth{c, session} }

// opens registers a session; ttl zero asks for none in particular.
func (c *caller) opens(ttl time.Duration) *mouth {
	c.s.t.Helper()
	body := doc{}
	if ttl != 0 {
		body["ttl_seconds"] = int(ttl.Seconds())
	}
	a := c.send("POST", "/v1/sessions", body).is(http.StatusCreated)
	a.shaped(ma2h.KindSessionEnvelope, ma2h.Newest)
	return &mouth{c, a.str("/session/id")}
}

// address is the session-qualified address, or the agent's.
func (m *mouth) address() string {
	if m.session == "" {
		return m.actor
	}
	return m.actor + "#" + m.session
}

// as lets an envelope name the session.
func (m *mouth) as() edit { return set("/agent/session", m.session) }

// at is a path with the session presented, if there is one, and more of a query.
func (m *mouth) at(path string, more ...string) string {
	q := url.Values{}
	if m.session != "" {
		q.Set("session", m.session)
	}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// closes ends the session by its own agent.
func (m *mouth) closes() *answer {
	m.s.t.Helper()
	return m.send("DELETE", "/v1/sessions/"+m.session, nil)
}

// ends is the session as the account's person sees it.
func (s *suite) sessionAt(person *caller, id string) *answer {
	s.t.Helper()
	a := person.send("GET", "/v1/sessions/"+id, nil).is(http.StatusOK)
	a.shaped(ma2h.KindSessionEnvelope, ma2h.Newest)
	return a
}

// closesAt moves the clock and closes the session.
func (m *mouth) closesAt(at time.Time) {
	m.s.t.Helper()
	m.s.now = at
	m.closes().is(http.StatusOK)
}

// answersAs resolves an ask under the session.
func (m *mouth) answersAs(id string, value any) *answer {
	m.s.t.Helper()
	return m.resolveAs(id, doc{"resolution": "answered", "value": value})
}

func (m *mouth) resolveAs(id string, body doc) *answer {
	m.s.t.Helper()
	return m.send("POST", m.at("/v1/messages/"+id+"/resolve"), body)
}

// entry is one element of a drain's messages.
type entry struct {
	*answer        // its content
	kind    string // directive, message, response or receipt
	header  signature.Header
	line    string // the signature as it came
}

// key is what an ack names it by (spec §8.7.1).
func (e *entry) key() string {
	if e.kind == "response" {
		return e.str("/resolution_id")
	}
	return e.str("/id")
}

// drain returns what a drain delivers, each entry verified.
func (m *mouth) drain(query ...string) []*entry {
	m.s.t.Helper()
	a := m.send("GET", m.at("/v1/inbox", query...), nil).is(http.StatusOK)
	same(m.s.t, "the members of "+a.what, keysOf(a.json()), []string{"messages"})
	var body struct{ Messages []map[string]json.RawMessage }
	if err := json.Unmarshal(a.body, &body); err != nil || body.Messages == nil {
		m.s.t.Fatalf("%s = %s, want an array of messages: %v", a.what, a.body, err)
	}
	entries := make([]*entry, len(body.Messages))
	for i, element := range body.Messages {
		entries[i] = m.verified(a, element)
	}
	return entries
}

// verified holds one entry to its shape, its schema and its signature under the tenant's key, and its nonce to be new.
func (m *mouth) verified(a *answer, element map[string]json.RawMessage) *entry {
	t := m.s.t
	t.Helper()
	e := &entry{}
	for _, kind := range []string{"directive", "message", "response", "receipt"} {
		if content, ok := element[kind]; ok {
			e.kind, e.answer = kind, &answer{t: t, what: "the " + kind + " of " + a.what, status: a.status, body: content}
		}
	}
	if e.kind == "" || len(element) != 2 || json.Unmarshal(element["signature"], &e.line) != nil {
		t.Fatalf("%s delivers %s, want one content and its signature", a.what, mustJSON(element))
	}
	e.shaped(ma2h.KindInboundMessage, e.str("/ma2h_version"))
	if err := entrySchema(t).Validate(e.json()); err != nil {
		t.Errorf("%s = %s: %v", e.what, e.body, err)
	}
	if !strings.HasPrefix(e.line, "MA2H-Signature: t=") {
		t.Errorf("the signature %q is no line of a header", e.line)
	}
	context, err := e.context(m.address())
	if err == nil {
		e.header, err = context.Verify(e.line, m.s.clock(), 2*time.Second, key())
	}
	if err != nil {
		t.Errorf("%s = %s, signed %s: %v", e.what, e.body, e.line, err)
	}
	if _, twice := m.s.nonces.LoadOrStore(e.header.Nonce, true); twice {
		t.Errorf("%s: the nonce %s comes twice", e.what, e.header.Nonce)
	}
	return e
}

// context is what the entry's signature must cover when it is delivered to this address.
func (e *entry) context(to string) (signature.Context, error) {
	switch e.kind {
	case "directive":
		return signature.Directive(e.body)
	case "message":
		return signature.Message(e.body)
	case "response":
		return signature.EntryResponse(e.body, to)
	}
	return signature.Receipt(e.body, to)
}

// clock is the hub's, as far as a test can know it.
func (s *suite) clock() time.Time {
	if s.now.IsZero() {
		return time.Now()
	}
	return s.now
}

var entrySchemas sync.Map // one, compiled once

func entrySchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	if compiled, ok := entrySchemas.Load("inbound-message"); ok {
		return compiled.(*jsonschema.Schema)
	}
	compiled := compile(t, "inbound-message")
	entrySchemas.Store("inbound-message", compiled)
	return compiled
}

// kinds and keys of entries, in their order.
func kinds(entries []*entry) []string {
	list := []string{}
	for _, e := range entries {
		list = append(list, e.kind)
	}
	return list
}

func keys(entries []*entry) []string {
	list := []string{}
	for _, e := range entries {
		list = append(list, e.key())
	}
	return list
}

// gets holds a drain to the entries with these keys, in this order, and returns them.
func (m *mouth) gets(want ...string) []*entry {
	m.s.t.Helper()
	entries := m.drain()
	same(m.s.t, "what "+m.address()+" drains", keys(entries), append([]string{}, want...))
	return entries
}

// one returns the only entry of a drain that is of the kind.
func (m *mouth) one(kind string) *entry {
	m.s.t.Helper()
	var found []*entry
	for _, e := range m.drain() {
		if e.kind == kind {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		m.s.t.Fatalf("%s drains %d entries of kind %s, want 1", m.address(), len(found), kind)
	}
	return found[0]
}

// consume acks entries.
func (m *mouth) consume(ids ...string) *answer {
	m.s.t.Helper()
	return m.tryConsume(doc{"ids": append([]string{}, ids...)}).is(http.StatusOK)
}

func (m *mouth) tryConsume(body any) *answer {
	m.s.t.Helper()
	return m.send("POST", m.at("/v1/inbox/ack"), body)
}

// direct is a directive from alice, as her page would send it.
func (s *suite) direct(to string, edits ...edit) string {
	s.t.Helper()
	return s.tryDirect(to, edits...).is(http.StatusCreated).str("/id")
}

func (s *suite) tryDirect(to string, edits ...edit) *answer {
	s.t.Helper()
	return s.control("POST", "directives", edited(doc{"from": "human:alice", "to": to, "title": "Stop the deploy"}, edits))
}

// track is the receipt track of a directive or of the answer to a message, as its person reads it.
func (c *caller) track(id string) *answer {
	c.s.t.Helper()
	return c.send("GET", "/_conformance/receipts?id="+id, nil).is(http.StatusOK)
}

func key() signature.HMAC { return signature.HMAC(signingKey) }

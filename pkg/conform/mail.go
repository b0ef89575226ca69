package conform

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// mouth is an agent as it speaks to its mailbox: under a session, or under none.
type mouth struct {
	*caller
	session string
}

// bare is the agent without a session.
func (c *caller) bare() *mouth { return &mouth{c, ""} }

// under is the agent as it would present this session.
func (c *caller) under(session string) *mouth { return &mouth{c, session} }

// opens registers a session whose lease is as long as the hub gives without being asked.
func (c *caller) opens() *mouth { return c.opensFor(0) }

// opensFor registers a session with a lease of so many seconds; 0 asks for none in particular.
func (c *caller) opensFor(ttl int) *mouth {
	body := doc{}
	if ttl > 0 {
		body["ttl_seconds"] = ttl
	}
	a := c.call(endpoint.SessionAdd, body).is(http.StatusCreated, "an agent registers a session (spec §16.1)")
	m := &mouth{c, a.shaped(ma2h.KindSessionEnvelope, ma2h.Newest).str("/session/id")}
	c.t.leaves(c, endpoint.SessionClose, m.session)
	return m
}

// lease is the shortest that a session can have, in seconds.
func (t *trial) lease() int { return max(t.can.Sessions.MinTTL, 1) }

// opensBriefly registers a session that lapses soon, and not before a clause has done with it what it does.
func (c *caller) opensBriefly() *mouth {
	if c.t.home.virtual() {
		return c.opensFor(c.t.lease())
	}
	return c.opensFor(c.t.lease() + headroom)
}

// headroom is how many seconds a busy hub may take for what a clause does before a lease lapses.
const headroom = 4

// address is the session-qualified address, or the agent's.
func (m *mouth) address() string {
	if m.session == "" {
		return m.actor
	}
	return m.actor + "#" + m.session
}

// read is the session as somebody reads it.
func (m *mouth) readBy(c *caller) *answer { return c.call(endpoint.SessionRead, nil, m.session) }

// state wants the session to be there for its own agent, and returns it.
func (m *mouth) state() *answer {
	a := m.readBy(m.caller).is(http.StatusOK, "an agent reads its own sessions (spec §16.4)")
	return a.shaped(ma2h.KindSessionEnvelope, ma2h.Newest)
}

// closes ends the session by its own agent.
func (m *mouth) closes() *answer {
	a := m.call(endpoint.SessionClose, nil, m.session).is(http.StatusOK, "an agent closes its session, any number of times (spec §16.3)")
	return a.shaped(ma2h.KindSessionEnvelope, ma2h.Newest)
}

// lapses lets the lease of a session run out that has the shortest one.
func (m *mouth) lapses() {
	m.t.after(seconds(m.t.lease()+headroom)+time.Second, func() bool { return m.state().str("/session/state") == "expired" },
		"the lease of %s lapses at its end (spec §16.3)", m.session)
}

// entry is one element of a drain, verified.
type entry struct {
	*answer
	kind   string // directive, message, response or receipt
	header signature.Header
	line   string // the signature as it came
}

// key is what an ack names it by (spec §8.7.1).
func (e *entry) key() string {
	if e.kind == "response" {
		return e.str("/resolution_id")
	}
	return e.str("/id")
}

// tryDrain asks for what there is.
func (m *mouth) tryDrain(more ...string) *answer {
	e := endpoint.Of(endpoint.Drain)
	return m.t.send(m.caller, e.Method, presenting(e.Path, m.session, more...), nil)
}

// drain returns what there is, each entry verified.
func (m *mouth) drain(more ...string) []*entry {
	return m.entries(m.tryDrain(more...).is(http.StatusOK, "an agent drains its mailbox (spec §8.7)"))
}

// entries takes the answer of a drain apart.
func (m *mouth) entries(a *answer) []*entry {
	var body struct {
		Messages []map[string]json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(a.body, &body); err != nil || body.Messages == nil {
		m.t.fail("an array messages (spec §8.7): %v", err)
	}
	all := make([]*entry, len(body.Messages))
	for i, element := range body.Messages {
		all[i] = m.verified(a, element)
	}
	return all
}

// verified holds an entry to its shape and its signature, and the nonce of that to be new.
func (m *mouth) verified(a *answer, element map[string]json.RawMessage) *entry {
	t := m.t
	e := &entry{}
	for _, kind := range []string{"directive", "message", "response", "receipt"} {
		if content, ok := element[kind]; ok {
			e.kind, e.answer = kind, &answer{t: t, sent: a.sent, status: a.status, body: content}
		}
	}
	if e.kind == "" || len(element) != 2 || json.Unmarshal(element["signature"], &e.line) != nil {
		t.fail("entries of one content and one signature (spec §8.7)")
	}
	e.shaped(ma2h.KindInboundMessage, e.str("/ma2h_version"))
	context, err := covers(e.kind, e.body, m.address())
	if err == nil {
		e.header, err = context.Verify(e.line, t.home.now(), seconds(t.can.Replay), t.keys()...)
	}
	if err != nil {
		t.fail("the %s %s verifies (spec §9.7, §9.8): %v", e.kind, e.key(), err)
	}
	t.hold(strings.HasPrefix(e.line, signature.HeaderName+": "), "a signature as the line of a header (spec §8.7)")
	t.hold(!t.nonces[e.header.Nonce], "a jti that is new at every delivery (spec §9.7)")
	t.nonces[e.header.Nonce] = true
	return e
}

// covers is what the signature of an entry covers when it is delivered to this address.
func covers(kind string, body []byte, to string) (signature.Context, error) {
	switch kind {
	case "directive":
		return signature.Directive(body)
	case "message":
		return signature.Message(body)
	case "response":
		return signature.EntryResponse(body, to)
	}
	return signature.Receipt(body, to)
}

// find is the entry with this key among what a drain returns, or nil.
func (m *mouth) find(key string) *entry {
	for _, e := range m.drain() {
		if e.key() == key {
			return e
		}
	}
	return nil
}

// gets drains until the entry with this key comes.
func (m *mouth) gets(key string) *entry { return m.getsAfter(0, key) }

// getsAfter is gets for what comes after a while.
func (m *mouth) getsAfter(wait time.Duration, key string) *entry {
	var e *entry
	m.t.after(wait, func() bool { e = m.find(key); return e != nil }, "%s in the mailbox of %s (spec §8.7)", key, m.address())
	return e
}

// collect drains until all these entries have come, and returns them by their keys.
func (m *mouth) collect(keys ...string) map[string]*entry {
	got := map[string]*entry{}
	m.t.soon(func() bool {
		for _, e := range m.drain() {
			got[e.key()] = e
		}
		return !slices.ContainsFunc(keys, func(k string) bool { return got[k] == nil })
	}, "%v in the mailbox of %s (spec §8.7)", keys, m.address())
	return got
}

// about drains until an entry of this kind comes that replies to a message.
func (m *mouth) about(kind, id string) *entry {
	var found *entry
	m.t.soon(func() bool {
		for _, e := range m.drain() {
			if e.kind == kind && e.str("/in_reply_to") == id {
				found = e
			}
		}
		return found != nil
	}, "a %s entry about %s for %s (spec §8.7.1)", kind, id, m.address())
	return found
}

// lacks wants none of these to be in the mailbox now.
func (m *mouth) lacks(want string, keys ...string) {
	for _, e := range m.drain() {
		m.t.hold(!slices.Contains(keys, e.key()), "%s not for %s: %s", e.key(), m.address(), want)
	}
}

// consume acks entries.
func (m *mouth) consume(keys ...string) *answer {
	return m.tryConsume(doc{"ids": keys}).is(http.StatusOK, "an ack of entries succeeds (spec §8.7)")
}

func (m *mouth) tryConsume(body doc) *answer {
	e := endpoint.Of(endpoint.InboxAck)
	return m.t.send(m.caller, e.Method, presenting(e.Path, m.session), body)
}

// resolveAs resolves a message under the session.
func (m *mouth) resolveAs(id string, body doc) *answer {
	e := endpoint.Of(endpoint.Resolve)
	return m.t.send(m.caller, e.Method, presenting(e.Fill(id), m.session), body)
}

// operatorCloses ends the session by the account's person.
func (t *trial) operatorCloses(m *mouth) *answer {
	if r, ok := t.home.(*realHome); ok && r.Owner == "" {
		t.notApplicable("it would stop an agent that is given, for good")
	}
	a := t.person().call(endpoint.SessionClose, nil, m.session).is(http.StatusOK, "a person closes a session of the account (spec §16.4)")
	return a.shaped(ma2h.KindSessionEnvelope, ma2h.Newest)
}

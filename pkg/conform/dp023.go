package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// dp023 is about sending to an agent.
func dp023() []Clause {
	hidden := doc{"agent_list_visibility": false}
	return []Clause{
		{Name: "dp-023.1a", Section: "4", Title: "what cannot be routed is refused at once", test: unroutable},
		{Name: "dp-023.1b", Section: "13.2", Title: "a directive, too", test: unroutableDirective},
		{Name: "dp-023.2", Section: "4", Title: "an agent of another account is like none", test: crossAccount},
		{Name: "dp-023.3", Section: "8.0", Title: "who is kept out by an allowlist hears of no agent", test: keptOut},
		{Name: "dp-023.4", Section: "4", Title: "without visibility a sender learns nothing", test: learnsNothing, tenant: hidden},
		{Name: "dp-023.5", Section: "4", Title: "an agent.id with a # sends no mail", test: noHashSender},
		{Name: "dp-023.6", Section: "8.0", Title: "no mail before the account opts in", test: beforeOptIn, alone: true},
		{Name: "dp-023.7", Section: "5.1", Title: "a notify is queued, an ask or task open", test: honestStatus},
		{Name: "dp-023.8", Section: "8.1", Title: "every ack of mail bears a destination", test: bearsDestination},
		{Name: "dp-023.9", Section: "8.1", Title: "a sender (pkg/client) notices a misroute", test: noticesMisroute},
		{Name: "dp-023.10a", Section: "8.1", Title: "a replay from another session gets the first ack", test: replays},
		{Name: "dp-023.10b", Section: "8.1", Title: "with the status of what became of it", test: replaysStatus},
		{Name: "dp-023.10c", Section: "8.1", Title: "another payload under the key is refused", test: conflictingReplay},
	}
}

const nowhere = "a message that cannot be routed is refused (spec §4)"

func unroutable(t *trial) {
	a, b := t.fleet("a", "b")
	ended := a.opens()
	ended.closes()
	for _, to := range []string{"agent:nobody-of-that-name", b.actor + "#sess_00000000000000000000000000"} {
		a.submit(notifies(to)).refused(http.StatusUnprocessableEntity, nowhere, ma2h.CodeUnknownDestination)
	}
	a.submit(notifies(ended.address())).
		refused(http.StatusGone, "one's own session that has ended (spec §16.3)", ma2h.CodeDestinationGone)
	a.submit(asks("").with("session", ended.session)).
		refused(http.StatusGone, "a message in the name of a session that has ended (spec §4.1)", ma2h.CodeDestinationGone)
	other := b.opens()
	a.submit(asks("").with("session", other.session)).refused(http.StatusUnprocessableEntity, "a message in the name of another's session (spec §4.1)")
}

func unroutableDirective(t *trial) {
	x := t.inbound("x")
	for _, to := range []string{"agent:nobody-of-that-name", x.actor + "#sess_00000000000000000000000000"} {
		t.tryDirect(directive{To: to}).refused(http.StatusUnprocessableEntity, nowhere, ma2h.CodeUnknownDestination)
	}
	ended := x.opens()
	ended.closes()
	t.tryDirect(directive{To: ended.address()}).refused(http.StatusGone, "a session that has ended (spec §4)", ma2h.CodeDestinationGone)
}

// asUnknown wants what a sender hears of an agent that is not there.
func (a *answer) asUnknown() *answer {
	return a.refused(http.StatusUnprocessableEntity, nowhere, ma2h.CodeUnknownDestination)
}

func crossAccount(t *trial) {
	a, _ := t.fleet("a", "b")
	foreign := t.stranger()
	a.submit(notifies(foreign.actor)).asUnknown()
	a.submit(notifies(foreign.opens().address())).asUnknown()
	c := a.submit(notifies(foreign.actor))
	c.sameAs(a.submit(notifies("agent:nobody-of-that-name")), foreign.id, "nobody-of-that-name", "an agent of another account is like none (spec §4)")
}

func keptOut(t *trial) {
	a, b := t.fleet("a", "b")
	a.accepted(notifies(b.actor))
	for _, senders := range [][]string{{}, {"somebody-else"}} {
		t.able(t.home.allow(t.ctx, b.id, senders), "an allowlist")
		a.submit(notifies(b.actor)).asUnknown().
			sameAs(a.submit(notifies("agent:nobody-of-that-name")), b.id, "nobody-of-that-name", "who is kept out is told what they would be told of nobody (spec §8.0)")
	}
	t.able(t.home.allow(t.ctx, b.id, []string{a.id}), "an allowlist")
	a.accepted(notifies(b.actor))
	t.able(t.home.allow(t.ctx, b.id, nil), "an allowlist")
	a.accepted(notifies(b.actor))
}

func learnsNothing(t *trial) {
	a, b := t.fleet("a", "b")
	if t.can.Sessions.ListOthers {
		t.notApplicable("the hub lets agents of an account know of each other's sessions, which is its choice")
	}
	live, ended := b.opens(), b.opens()
	live.drain()
	for _, to := range []string{b.actor, live.address()} {
		sent := a.submit(notifies(to)).is(http.StatusAccepted, "the message is accepted (spec §8.1)")
		snapshot, _ := sent.at("/destination").(map[string]any)
		t.hold(len(snapshot) == 1 && snapshot["state"] == "unknown", `destination exactly {"state":"unknown"} (spec §8.1)`)
	}
	ended.closes()
	const none = "sess_00000000000000000000000000"
	a.submit(notifies(ended.address())).asUnknown().
		sameAs(a.submit(notifies(b.actor+"#"+none)), ended.session, none, "a session that has ended is like none (spec §4)")
}

func noHashSender(t *trial) {
	_, b := t.fleet("a", "b")
	x := t.agent("x#y")
	x.submit(notifies(b.actor)).refused(http.StatusUnprocessableEntity, "no address could say who sent it (spec §4)", ma2h.CodeInvalidField)
	x.submit(asks("").with("session", "sess_1")).refused(http.StatusUnprocessableEntity, "nor under which session (spec §4)", ma2h.CodeInvalidField)
	x.accepted(asks(""))
}

func beforeOptIn(t *trial) {
	a, b := t.fleet("a", "b")
	t.able(t.home.optIn(t.ctx, false), "an account that opts out")
	sent := a.submit(notifies(b.actor))
	t.able(t.home.optIn(t.ctx, true), "an account that opts in")
	sent.t.hold(sent.status >= 400 && sent.status < 500, "a refusal while the account has not opted in (spec §8.0)")
	a.accepted(notifies(b.actor))
}

func honestStatus(t *trial) {
	a, b := t.fleet("a", "b")
	for _, c := range []struct {
		d      doc
		status string
	}{{notifies(b.actor), "queued"}, {asks(b.actor), "open"}, {tasks(b.actor), "open"}} {
		a.submit(c.d).is(http.StatusAccepted, "the message is accepted (spec §8.1)").shaped(ma2h.KindSubmitAck, ma2h.Newest).
			shows("/status", c.status, "nothing is delivered when it is accepted (spec §5.1, §8.1)")
	}
}

func bearsDestination(t *trial) {
	a, b := t.fleet("a", "b")
	m := b.opens()
	for _, to := range []string{b.actor, m.address()} {
		for _, d := range []doc{notifies(to), asks(to), tasks(to)} {
			sent := a.submit(d).is(http.StatusAccepted, "the message is accepted (spec §8.1)")
			t.hold(sent.str("/destination/state") != "", "a destination with its state (spec §8.1)")
		}
	}
	t.hold(a.submit(asks("")).at("/destination") == nil, "none for a message to people (spec §8.1)")
}

// forgetful is a transport that takes destination out of acks, as a hub would that never heard of it.
type forgetful struct{ next http.RoundTripper }

// RoundTrip sends the request and takes destination out of the answer.
func (f forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := f.next.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusAccepted {
		return resp, err
	}
	defer resp.Body.Close()
	var ack map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&ack); err != nil {
		return nil, err
	}
	delete(ack, "destination")
	body, err := json.Marshal(ack)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, err
}

func noticesMisroute(t *trial) {
	a, b := t.fleet("a", "b")
	c := client.New(t.home.url(), a.token)
	c.Agent, c.Patience, c.Now = ma2h.Agent{ID: a.id, RunID: "run_1"}, -1, t.home.now
	c.HTTP = &http.Client{Transport: forgetful{bearing{t.home.header(), t.http}}}
	sent, err := c.Ask(t.ctx, ma2h.Message{To: b.actor, Title: "?", Request: &ma2h.Request{Mode: ma2h.ModeConfirm}})
	t.hold(errors.Is(err, client.ErrMisrouted), "an ack without destination is a misroute (spec §8.1): %v", err)
	t.hold(sent != nil, "the id of what went astray")
	a.pull(sent.ID).shows("/status", "cancelled", "a misrouted ask is cancelled (spec §8.1)")
}

func replays(t *trial) {
	a, b := t.fleet("a", "b")
	first, second, key := a.opens(), a.opens(), "key_"+ma2h.NewTail()
	d := func(session string) doc {
		return asks(b.actor).with("idempotency_key", key, "session", session, "created_at", "2026-01-01T00:00:00Z")
	}
	id := a.accepted(d(first.session))
	again := a.submit(d(second.session)).is(http.StatusAccepted, "a replay is accepted (spec §8.1)").
		shows("/id", id, "the same message, whatever session sends it again (spec §8.1)").shows("/status", "open", "as it is (spec §8.1)")
	t.hold(again.str("/destination/state") != "", "with its destination (spec §8.1)")
	b.answers(id, "approve")
	first.about("response", id)
	for _, e := range second.drain() {
		t.hold(e.str("/in_reply_to") != id, "the Response goes to the session that sent first (spec §8.1)")
	}
}

func replaysStatus(t *trial) {
	a, b := t.fleet("a", "b")
	m, run := b.opens(), ma2h.NewTail()
	d := func(key string, verb func(string) doc) doc {
		return verb(m.address()).with("idempotency_key", key+run, "created_at", "2026-01-01T00:00:00Z")
	}
	a.accepted(d("key_ask", asks))
	note := a.accepted(d("key_note", notifies))
	m.gets(note)
	a.submit(d("key_note", notifies)).shows("/status", "delivered", "a notify has the status of its mail (spec §8.1)")
	m.closes()
	t.soon(func() bool { return a.pull(note).str("/mailbox/state") == "bounced" }, "unacked mail of an ended session bounces (spec §14.2)")
	for key, want := range map[string]string{"key_ask": "cancelled", "key_note": "bounced"} {
		verb := asks
		if key == "key_note" {
			verb = notifies
		}
		a.submit(d(key, verb)).is(http.StatusAccepted, "a replay is accepted, whatever became of it (spec §8.1)").
			shows("/status", want, "the status of the track that is the verb's own (spec §8.1)")
	}
}

func conflictingReplay(t *trial) {
	a, b := t.fleet("a", "b")
	key := "key_" + ma2h.NewTail()
	a.accepted(notifies(b.actor).with("idempotency_key", key))
	a.submit(notifies(b.actor).with("idempotency_key", key, "title", "Another")).
		refused(http.StatusConflict, "another payload under the same key (spec §8.1)", ma2h.CodeIdempotencyConflict)
}

package conform

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// dp020 is about drains that present a session.
func dp020() []Clause {
	return []Clause{
		{Name: "dp-020.1", Section: "8.7.1", Title: "only one's own live session can be presented", test: presentsOwn},
		{Name: "dp-020.2", Section: "8.7", Title: "an ack needs the credential, and no session", test: ackByCredential},
		{Name: "dp-020.3", Section: "8.7.1", Title: "without a session only directives come", test: bareDrain},
		{Name: "dp-020.4", Section: "8.7.1", Title: "a webhook carries directives only", test: webhookOnly},
		{Name: "dp-020.5", Section: "8.7.1", Title: "what is for a session goes to that one alone", test: sessionMail},
		{Name: "dp-020.6", Section: "8.7.1", Title: "of all who drain at once, one gets an entry", test: firstClaim},
		{Name: "dp-020.7", Section: "8.7.1", Title: "what one session drops, another gets in time", test: rescued},
		{Name: "dp-020.8", Section: "8.7.1", Title: "from is attested, with the session that sent", test: attestedFrom},
		{Name: "dp-020.9", Section: "8.7.1", Title: "what is the sender's alone is not delivered", test: stripped},
		{Name: "dp-020.10", Section: "8.7.1", Title: "each kind has its ack key, and others do nothing", test: ackKeys},
		{Name: "dp-020.11", Section: "8.7.1", Title: "an ack moves the track of its kind", test: ackTracks},
		{Name: "dp-020.12", Section: "8.7.1", Title: "a person may read what agents write", test: auditable},
	}
}

func presentsOwn(t *trial) {
	x, y := t.sessions("x"), t.agent("y")
	live, ended := x.opens(), x.opens()
	ended.closes()
	id := y.accepted(asks("").by(x.actor))
	const none = "sess_00000000000000000000000000"
	for _, present := range []func(*mouth) *answer{
		func(m *mouth) *answer { return m.tryDrain() },
		func(m *mouth) *answer { return m.tryConsume(doc{"ids": []string{}}) },
		func(m *mouth) *answer { return m.resolveAs(id, answered("approve")) },
	} {
		unknown := present(y.under(none)).refused(http.StatusNotFound, "a session that nobody has (spec §8.7.1)", ma2h.CodeNotFound)
		present(y.under(live.session)).sameAs(unknown, live.session, none, "another's session is like none (spec §8.7.1)")
		present(y.under(ended.session)).sameAs(unknown, ended.session, none, "ended or not (spec §8.7.1)")
		present(ended).refused(http.StatusGone, "one's own session that has ended (spec §8.7.1)", ma2h.CodeGone)
	}
}

func ackByCredential(t *trial) {
	a, b := t.fleet("a", "b")
	first, second := b.opens(), b.opens()
	for _, by := range []*mouth{b.bare(), second} {
		id := a.accepted(notifies(first.address()))
		first.gets(id)
		by.consume(id)
		a.pull(id).shows("/mailbox/state", "acknowledged", "an agent acks what any of its sessions got (spec §8.7)")
	}
}

func bareDrain(t *trial) {
	a, b := t.fleet("a", "b")
	m := b.opens()
	message, toSession := a.accepted(notifies(b.actor)), t.direct(directive{To: m.address()})
	plain := t.direct(directive{To: b.actor})
	found := false
	t.soon(func() bool {
		for _, e := range b.bare().drain() {
			t.hold(e.kind == "directive", "no entry of kind %s without a session (spec §8.7.1)", e.kind)
			t.hold(e.key() != toSession && e.key() != message, "nothing for a session without one (spec §8.7.1)")
			found = found || e.key() == plain
		}
		return found
	}, "a directive to the agent (spec §8.7)")
	m.gets(message)
}

func webhookOnly(t *trial) {
	t.needs(t.can.Inbound.Webhook, "a webhook of the mailbox")
	a, b := t.fleet("a", "b")
	at, err := t.home.callback(t.ctx, b.principal)
	t.able(err, "a webhook")
	if set := t.person().call(endpoint.WebhookPut, doc{"agent": b.id, "url": at.url}); set.status != http.StatusNoContent {
		t.notApplicable("a webhook is registered in a way that the protocol leaves to the hub")
	}
	m := b.opens()
	mail := []string{a.accepted(notifies(b.actor)), a.accepted(asks(m.address()))}
	id := t.direct(directive{To: b.actor})
	var came []push
	t.soon(func() bool {
		more, err := at.fetch(t.ctx)
		t.able(err, "pushes")
		came = append(came, more...)
		return len(came) > 0
	}, "the directive %s pushed to %s (spec §8.7)", id, at.url)
	m.collect(append(mail, id)...) // and all of it is in the mailbox
	more, err := at.fetch(t.ctx)
	t.able(err, "pushes")
	for _, p := range append(came, more...) {
		pushed := &answer{t: t, sent: "the push to " + at.url, status: http.StatusOK, body: p.body}
		line, _ := json.Marshal(signature.Line(p.signature))
		e := b.bare().verified(pushed, map[string]json.RawMessage{"directive": p.body, "signature": line})
		t.hold(e.key() == id, "nothing pushed but the directive (spec §8.7.1)")
	}
}

func sessionMail(t *trial) {
	a, b := t.fleet("a", "b")
	mine, other := b.opens(), b.opens()
	message, told := a.accepted(notifies(mine.address())), t.direct(directive{To: mine.address()})
	other.lacks("what is for a session is for that one alone (spec §8.7.1)", message, told)
	b.bare().lacks("what is for a session is for that one alone (spec §8.7.1)", message, told)
	mine.collect(message, told)
}

const drainers = 8

func firstClaim(t *trial) {
	a, b := t.fleet("a", "b")
	var sessions []*mouth
	for range drainers {
		sessions = append(sessions, b.opens())
	}
	t.keys()
	t.within(t.can.visibility(), func() bool {
		id := a.accepted(notifies(b.actor))
		answers := make([]*answer, drainers)
		var running sync.WaitGroup
		for i, m := range sessions {
			running.Go(func() { answers[i], _ = t.try(m.caller, http.MethodGet, presenting("/v1/inbox", m.session), nil) })
		}
		running.Wait()
		times := 0
		for _, got := range answers {
			t.hold(got != nil, "an answer to each of %d drains at once", drainers)
			if got.is(http.StatusOK, "a drain (spec §8.7)").has(id) {
				times++
			}
		}
		return times == 1
	}, "exactly one of %d drains at once gets an entry (spec §8.7.1)", drainers)
}

func rescued(t *trial) {
	a, b := t.fleet("a", "b")
	claimant, sibling := b.opens(), b.opens()
	id := a.accepted(notifies(b.actor))
	t.within(t.can.visibility(), func() bool { claimant.gets(id); return sibling.find(id) == nil },
		"what is claimed is hidden from a sibling (spec §8.7.1)")
	sibling.getsAfter(t.can.visibility(), id)
}

func attestedFrom(t *trial) {
	a, b := t.fleet("a", "b")
	mine, m := a.opens(), b.opens()
	bare := a.accepted(notifies(b.actor).with("from", "agent:somebody", "id", "msg_mine"))
	qualified := a.accepted(notifies(m.address()).with("session", mine.session))
	got := m.collect(bare, qualified)
	got[bare].shows("/from", a.actor, "from is the sender, whatever it says (spec §8.7.1)")
	got[qualified].shows("/from", mine.address(), "from is the sender with the session that sent (spec §8.7.1)")
}

func stripped(t *trial) {
	a, b := t.fleet("a", "b")
	m := b.opens()
	key := "key_" + ma2h.NewTail()
	sent := asks(b.actor).with("idempotency_key", key, "state", doc{"n": 1}, "client_ref", "mine").request("callback", doc{"mode": "pull"})
	e := m.gets(a.accepted(sent))
	for _, gone := range []string{"/state", "/client_ref", "/request/callback"} {
		t.hold(e.at(gone) == nil, "%s is the sender's own and not delivered (spec §8.7.1)", gone)
	}
	e.shows("/idempotency_key", key, "the key is delivered (spec §8.7.1)").shows("/agent/id", a.id, "so is the descriptor (spec §8.7.1)")
	e.shows("/request/mode", "confirm", "and what is asked (spec §8.7.1)")
	task := m.gets(a.accepted(tasks(b.actor).with("action", doc{"instructions": "x", "callback": doc{"mode": "pull"}})))
	t.hold(task.at("/action/callback") == nil, "/action/callback is the sender's own and not delivered (spec §8.7.1)")
}

func ackKeys(t *trial) {
	a, b := t.fleet("a", "b")
	mine, m := a.opens(), b.opens()
	ask, told := a.accepted(asks(m.address()).with("session", mine.session)), t.direct(directive{To: m.address()})
	m.collect(told, ask)
	for _, ids := range [][]string{{"res_none"}, {"x"}, {unknownID, "rcpt_none"}} {
		m.consume(ids...)
	}
	t.hold(a.pull(ask).str("/mailbox/state") == "delivered", "to ack what is not there does nothing (spec §8.7)")
	m.consume(told, ask)
	a.pull(ask).shows("/mailbox/state", "acknowledged", "a message is acked by its id (spec §8.7.1)")
	t.track(told).shows("/state", "acknowledged", "a directive is acked by its id (spec §8.7.1)")
	b.answers(ask, "approve")
	response := mine.about("response", ask)
	b.bare().consume(response.key()) // which is another's
	a.pull(ask)
	mine.consume(response.key())
	a.pull(ask).shows("/delivery/state", "acknowledged", "a response is acked by its resolution_id (spec §8.7.1)")
	lost := a.accepted(notifies(m.address()).with("session", mine.session))
	m.closes()
	receipt := mine.about("receipt", lost)
	mine.consume(receipt.key())
	t.throughout(t.can.visibility(), func() bool { return mine.find(receipt.key()) == nil && mine.find(response.key()) == nil },
		"what was acked never comes again (spec §8.7)")
}

func ackTracks(t *trial) {
	a, b := t.fleet("a", "b")
	mine, m := a.opens(), b.opens()
	id := a.accepted(asks(b.actor).with("session", mine.session))
	m.gets(id)
	m.tryConsume(doc{"ids": []string{id}, "note": "Soon."}).is(http.StatusOK, "an ack of entries (spec §8.7)")
	a.pull(id).shows("/mailbox/state", "acknowledged", "the ack of a message moves its mailbox track (spec §8.7.1)").
		shows("/mailbox/ack/note", "Soon.", "with its note (spec §14.3)").shows("/status", "open", "and nothing else (spec §14.2)")
	b.answers(id, "approve")
	mine.consume(mine.about("response", id).key())
	acked := a.pull(id).shows("/delivery/state", "acknowledged", "the ack of a response is that of the Response (spec §8.7.1)")
	again := a.call(endpoint.Ack, doc{"note": "late"}, id).is(http.StatusOK, "an ack after it is a repetition (spec §14.1)")
	t.hold(again.at("/note") == nil && again.str("/acked_at") == acked.str("/delivery/ack/acked_at"), "the first ack again (spec §14.1)")
}

func auditable(t *trial) {
	a, b := t.fleet("a", "b")
	person := t.person()
	id := a.accepted(asks(b.actor))
	read := person.call(endpoint.Read, nil, id)
	if _, ours := read.at("/message").(map[string]any); read.status == http.StatusNotFound && !ours {
		list := person.call(endpoint.Waiting, nil)
		if list.status == http.StatusNotFound {
			t.notApplicable("how people read is the hub's own, and no way that is known here")
		}
	}
	read.is(http.StatusOK, "a person of the account reads what its agents write (spec §8.7.1)").
		shows("/message/title", "May I deploy?", "as it was written (spec §8.7.1)")
	t.hold(!person.call(endpoint.Waiting, nil).has(id), "it is not among what waits for people (spec §8.7.1)")
}

package conform

import (
	"errors"
	"net/http"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// dp024 is about who may answer, and what an agent has to look at before it acts.
func dp024() []Clause {
	return []Clause{
		{Name: "dp-024.1", Section: "9.1", Title: "the addressee answers, and not the sender", test: addresseeAnswers},
		{Name: "dp-024.2", Section: "9.1", Title: "nor a person, unless listed", test: personListed},
		{Name: "dp-024.3", Section: "9.1", Title: "a listed agent means all its sessions, a session itself", test: listedSessions},
		{Name: "dp-024.4", Section: "8.8", Title: "who presents a session answers as that session", test: attestedActor},
		{Name: "dp-024.5a", Section: "8.8", Title: "an answer must fit the verb and the question", test: answersFit},
		{Name: "dp-024.5b", Section: "8.8", Title: "the first end stands, and goes to who asked", test: firstEnd},
		{Name: "dp-024.6", Section: "13.4", Title: "an agent (pkg/client) refuses what was tampered with", test: refusesTampered},
		{Name: "dp-024.7", Section: "13.4", Title: "an agent (pkg/client) refuses what another session had", test: refusesPrior},
		{Name: "dp-024.8", Section: "13.4", Title: "an agent (pkg/client) acts for whom it was told to", test: explicitPolicy},
	}
}

func addresseeAnswers(t *trial) {
	a, b := t.fleet("a", "b")
	for _, asUnder := range []func(*caller) *mouth{(*caller).bare, (*caller).opens} {
		id := a.accepted(asks(b.actor))
		a.resolve(id, answered("approve")).hides("who asks does not answer (spec §9.1)")
		asUnder(b).resolveAs(id, answered("approve")).is(http.StatusOK, "the addressee answers, under any session (spec §9.1)")
		a.pull(id).shows("/status", "answered", "the outcome (spec §8.8)")
	}
}

func personListed(t *trial) {
	a, b := t.fleet("a", "b")
	person := t.person()
	id := a.accepted(asks(b.actor))
	person.resolve(id, answered("approve")).hides("a person does not answer for an agent (spec §9.1)")
	a.pull(id).shows("/status", "open", "what is refused changes nothing (spec §8.8)")
	person.answers(a.accepted(asks(b.actor).by(person.actor)), "approve")
}

func listedSessions(t *trial) {
	a, b := t.fleet("a", "b")
	first, second := b.opens(), b.opens()
	for _, m := range []*mouth{b.bare(), first} {
		id := a.accepted(asks(b.actor).by(b.actor))
		m.resolveAs(id, answered("approve")).is(http.StatusOK, "a listed agent answers under any session (spec §9.1)")
	}
	id := a.accepted(asks(b.actor).by(first.address()))
	for _, m := range []*mouth{b.bare(), second} {
		m.resolveAs(id, answered("approve")).hides("a listed session is that one alone (spec §9.1)")
	}
	first.resolveAs(id, answered("approve")).is(http.StatusOK, "a listed session answers (spec §9.1)")
}

func attestedActor(t *trial) {
	a, b := t.fleet("a", "b")
	m := b.opens()
	for _, by := range []*mouth{b.bare(), m} {
		id := a.accepted(asks(b.actor))
		by.resolveAs(id, answered("approve").with("actor", "human:somebody")).is(http.StatusOK, "the addressee answers (spec §9.1)")
		a.pull(id).shows("/response/response/actor", by.address(), "the actor is attested, with the session that was presented (spec §8.8)")
	}
	id := a.accepted(asks(b.actor))
	a.under(m.session).resolveAs(id, answered("approve")).refused(http.StatusNotFound, "another's session is like none (spec §8.8)", ma2h.CodeNotFound)
	m.closes()
	m.resolveAs(id, answered("approve")).refused(http.StatusGone, "a session that has ended (spec §8.8)", ma2h.CodeGone)
	a.pull(id).shows("/status", "open", "what is refused changes nothing (spec §8.8)")
}

func answersFit(t *trial) {
	a, b := t.fleet("a", "b")
	ask, task := a.accepted(asks(b.actor)), a.accepted(tasks(b.actor))
	for _, c := range []struct {
		id   string
		body doc
	}{
		{ask, answered("perhaps")}, {ask, doc{"resolution": "answered"}}, {ask, doc{"resolution": "completed"}},
		{ask, doc{"resolution": "declined", "value": "approve"}}, {task, answered("approve")}, {task, doc{"resolution": "declined"}},
	} {
		got := b.resolve(c.id, c.body)
		t.hold(got.status == http.StatusUnprocessableEntity || got.status == http.StatusBadRequest, "422: an answer that fits (spec §8.8)")
	}
	b.resolve(ask, doc{"resolution": "declined"}).is(http.StatusOK, "an ask can be declined (spec §8.8)")
	b.resolve(task, doc{"resolution": "completed"}).is(http.StatusOK, "a task can be completed (spec §8.8)")
}

func firstEnd(t *trial) {
	a, b := t.fleet("a", "b")
	mine := a.opens()
	id := a.accepted(asks(b.actor).with("session", mine.session))
	done := b.resolve(id, answered("approve")).is(http.StatusOK, "the addressee answers (spec §9.1)").shows("/status", "answered", "the outcome (spec §8.8)")
	late := b.resolve(id, answered("deny")).is(http.StatusConflict, "the first end stands (spec §7)")
	late.shows("/resolution", "answered", "who is late reads what stands (spec §8.8)").shows("/id", id, "and of what (spec §8.8)")
	e := mine.about("response", id)
	e.shows("/response/value", "approve", "the answer goes to the session that asked (spec §8.8)").
		shows("/resolution_id", done.str("/resolution_id"), "one resolution_id on every way (spec §6)")
	a.pull(id).shows("/response/resolution_id", e.key(), "one resolution_id on every way (spec §6)")
}

func refusesTampered(t *trial) {
	a, b := t.fleet("a", "b")
	m := b.opens()
	id := a.accepted(asks(m.address()))
	raw := m.rawOf(id, 0)
	for _, c := range []struct {
		from, to string
		want     error
	}{
		{"May I deploy?", "Deploy at once", signature.ErrMismatch},
		{`"confirm"`, `"select"`, signature.ErrMismatch},
		{a.actor + `"`, a.actor + `#sess_1"`, signature.ErrMismatch},
		{`"title"`, `"state":1,"title"`, client.ErrMisshapen},
	} {
		refused := m.canned(raw.tampered(c.from, c.to)).refusal(t)
		t.hold(errors.Is(refused, c.want), "an agent refuses a message in which %s became %s (spec §13.4): %v", c.from, c.to, refused)
	}
	t.hold(len(m.canned(raw).entries(t)) > 0, "and takes it as it was delivered (spec §13.4)")
}

func refusesPrior(t *trial) {
	a, b := t.fleet("a", "b")
	prior := b.opens()
	raw := prior.rawOf(a.accepted(asks(prior.address())), 0)
	refused := b.opens().canned(raw).refusal(t)
	t.hold(errors.Is(refused, client.ErrMisaddressed), "an agent refuses what was for another session of it (spec §13.4): %v", refused)
}

func explicitPolicy(t *trial) {
	a, b := t.fleet("a", "b")
	m := b.opens()
	told, ask, task := a.accepted(notifies(m.address())), a.accepted(asks(m.address())), a.accepted(tasks(m.address()))
	raw := map[string]*answer{}
	last := m.rawOf(told, 0)
	for _, id := range []string{told, ask, task} {
		if !last.has(id) { // else one drain brought all of them
			last = m.rawOf(id, t.can.visibility())
		}
		raw[id] = last
	}
	for _, c := range []struct {
		policy *client.Policy
		why    error
	}{{nil, client.ErrNoPolicy}, {client.AllowAgents(), client.ErrNotAllowed}, {client.AllowAgents(b.id), client.ErrNotAllowed}} {
		for _, id := range []string{ask, task} {
			w := m.canned(raw[id]).withheld(t, c.policy, id)
			t.hold(errors.Is(w.Why, c.why) && w.From == a.actor, "an agent acts on no ask or task of whom no policy allows (spec §13.4): %v", w)
		}
		t.hold(m.canned(raw[told]).takes(t, c.policy, told), "what is only told needs no policy (spec §13.4)")
	}
	for _, policy := range []*client.Policy{client.AllowAgents(a.id), client.AllowEveryAgent()} {
		for _, id := range []string{ask, task} {
			t.hold(m.canned(raw[id]).takes(t, policy, id), "an agent takes asks and tasks of whom its policy allows (spec §13.4)")
		}
	}
}

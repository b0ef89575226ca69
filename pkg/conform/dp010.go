package conform

import (
	"net/http"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// dp010 is about acks and presence.
func dp010() []Clause {
	return []Clause{
		{Name: "dp-010.1", Section: "14.1", Title: "the first ack of a Response stands", test: firstAckStands},
		{Name: "dp-010.2", Section: "14.3", Title: "only the sender acks, and only what has ended", test: onlySenderAcks},
		{Name: "dp-010.3", Section: "14.3", Title: "to consume a directive is to ack it, with a note", test: consumeIsAck},
		{Name: "dp-010.4", Section: "14.2", Title: "delivery tracks go their way beside the resolution", test: tracks},
		{Name: "dp-010.5", Section: "15.2", Title: "presence follows what an agent does, for a while", test: presence},
		{Name: "dp-010.6a", Section: "15.3", Title: "presence is not for other agents", test: presenceOwned},
		{Name: "dp-010.6b", Section: "15.3", Title: "nor for people of another account", test: presenceForeign},
	}
}

// answeredAsk is an ask of the agent that a person has answered and the agent has read.
func (c *caller) answeredAsk() string {
	person := c.t.person()
	id := c.accepted(asks("").by(person.actor))
	person.answers(id, "approve")
	return id
}

func firstAckStands(t *trial) {
	a := t.agent("a")
	id := a.answeredAsk()
	a.pull(id)
	first := a.call(endpoint.Ack, doc{"note": "one"}, id).is(http.StatusOK, "the sender acknowledges a Response (spec §14.3)").
		shaped(ma2h.KindAck, ma2h.Newest).shows("/note", "one", "the ack bears its note (spec §14.1)")
	t.pass(pollPause)
	again := a.call(endpoint.Ack, doc{"note": "two"}, id).is(http.StatusOK, "a repeated ack is no error (spec §14.1)")
	t.hold(string(first.body) == string(again.body), "the first ack again: %s (spec §14.1)", first.body)
}

func onlySenderAcks(t *trial) {
	a, b, person := t.agent("a"), t.agent("b"), t.person()
	id := a.accepted(asks("").by(person.actor))
	a.call(endpoint.Ack, doc{}, id).refused(http.StatusConflict, "an open message cannot be acknowledged (spec §14.3)", ma2h.CodeNotAcknowledgeable)
	b.call(endpoint.Ack, doc{}, id).refused(http.StatusNotFound, "another's message is like none (spec §14.3)", ma2h.CodeNotFound)
	a.call(endpoint.Ack, doc{}, unknownID).refused(http.StatusNotFound, "there is no such message (spec §14.3)", ma2h.CodeNotFound)
	person.answers(id, "approve")
	b.call(endpoint.Ack, doc{}, id).refused(http.StatusNotFound, "another's message is like none (spec §14.3)", ma2h.CodeNotFound)
}

func consumeIsAck(t *trial) {
	x := t.inbound("x").bare()
	id := t.direct(directive{To: x.address()})
	x.gets(id)
	x.tryConsume(doc{"ids": []string{id}, "note": "On it."}).is(http.StatusOK, "an ack with a note (spec §14.3)")
	t.track(id).shows("/state", "acknowledged", "to consume a directive is to acknowledge it (spec §14.3)").
		shows("/ack/note", "On it.", "the note reaches the author (spec §14.3)").shows("/ack/by", x.actor, "by is attested (spec §14.1)")
}

func tracks(t *trial) {
	a, person := t.agent("a"), t.person()
	id := a.accepted(asks("").by(person.actor))
	t.hold(a.pull(id).at("/delivery/state") == nil, "no response track before there is a Response (spec §14.2)")
	person.answers(id, "approve")
	a.pull(id) // which is the delivery
	a.pull(id).shows("/delivery/state", "delivered-to-agent", "the sender's authenticated GET delivers a Response (spec §14.2)")
	a.call(endpoint.Ack, doc{}, id).is(http.StatusOK, "the sender acknowledges a Response (spec §14.3)")
	a.pull(id).shows("/delivery/state", "acknowledged", "an ack ends the track (spec §14.2)").
		shows("/status", "answered", "and is none of the resolution's business (spec §14.2)")
	if !t.can.Inbound.Enabled {
		return
	}
	x := t.agent("x").bare()
	d := t.direct(directive{To: x.address()})
	t.track(d).shows("/state", "queued", "a directive is queued (spec §14.2)")
	x.gets(d)
	t.track(d).shows("/state", "delivered", "a drain delivers it (spec §14.2)")
	x.consume(d)
	t.track(d).shows("/state", "acknowledged", "an ack ends the track (spec §14.2)")
}

func presence(t *trial) {
	t.needs(t.can.Presence.Enabled && t.can.Inbound.Enabled, "presence")
	x, person := t.agent("x").bare(), t.person()
	person.presence(x.id).shows("/state", "unknown", "an agent that was never there is unknown (spec §15.2)")
	t.within(t.can.freshness(), func() bool { x.drain(); return person.presence(x.id).str("/state") == "online" },
		"an agent that has just drained is online (spec §15.1)")
	seen := person.presence(x.id).str("/last_seen")
	t.hold(seen != "", "last_seen says when (spec §15.3)")
	t.after(t.can.freshness()+pollPause, func() bool { return person.presence(x.id).str("/state") == "offline" },
		"an agent that does nothing is offline after the freshness window (spec §15.2)")
	person.presence(x.id).shows("/last_seen", seen, "to read presence is no sign of life (spec §15.1)")
}

func presenceOwned(t *trial) {
	t.needs(t.can.Presence.Enabled && t.can.Inbound.Enabled, "presence")
	x, y := t.agent("x"), t.agent("y")
	x.bare().drain()
	seen := y.call(endpoint.Presence, nil, x.id)
	t.hold(seen.status != http.StatusOK || seen.str("/state") == "unknown" && seen.at("/last_seen") == nil,
		"another agent learns nothing of presence (spec §15.3)")
}

func presenceForeign(t *trial) {
	t.needs(t.can.Presence.Enabled && t.can.Inbound.Enabled, "presence")
	foreign := t.stranger()
	foreign.bare().drain()
	read := t.person().presence(foreign.id).shows("/state", "unknown", "an agent of another account is unknown (spec §15.3)")
	t.hold(read.at("/last_seen") == nil, "and has no last_seen (spec §15.3)")
}

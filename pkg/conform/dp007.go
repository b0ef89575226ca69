package conform

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/signature"
)

// dp007 is about directives in the mailbox.
func dp007() []Clause {
	return []Clause{
		{Name: "dp-007.1", Section: "8.7", Title: "what is not acked comes again, signed anew", test: redelivered},
		{Name: "dp-007.2", Section: "13.4", Title: "an agent (pkg/client) acts once for an id", test: actsOnce},
		{Name: "dp-007.3", Section: "8.7", Title: "what is acked never comes again", test: consumed},
		{Name: "dp-007.4", Section: "8.7", Title: "an agent gets and acks nothing of another's", test: isolated},
		{Name: "dp-007.5", Section: "13.4", Title: "an agent (pkg/client) refuses what is for another", test: refusesForeign},
		{Name: "dp-007.6", Section: "9.7", Title: "an agent (pkg/client) refuses a delivery replayed", test: refusesReplay},
		{Name: "dp-007.7", Section: "8.7", Title: "first deliveries come in order", test: inOrder},
		{Name: "dp-007.8", Section: "3.1", Title: "mail survives a restart of the hub", test: survivesRestart, alone: true},
	}
}

// inbound is an agent with a mailbox.
func (t *trial) inbound(name string) *caller {
	t.needs(t.can.Inbound.Enabled, "mailboxes")
	return t.agent(name)
}

func redelivered(t *trial) {
	x := t.inbound("x").bare()
	id := t.direct(directive{To: x.address()})
	var first, second *entry
	t.within(t.can.visibility(), func() bool { first = x.gets(id); return x.find(id) == nil },
		"what one drain took is hidden from the next for the visibility timeout (spec §8.7)")
	t.after(t.can.visibility(), func() bool { second = x.find(id); return second != nil },
		"what is not acked comes again after the visibility timeout (spec §8.7)")
	t.hold(string(first.body) == string(second.body), "the same directive (spec §8.7)")
	// That it has another jti, every drain looks at.
	t.hold(!second.header.Time.Before(first.header.Time) && second.line != first.line, "a fresh t and jti (spec §9.7)")
}

func actsOnce(t *trial) {
	x := t.inbound("x").bare()
	id := t.direct(directive{To: x.address()})
	var acted client.Acted
	times := 0
	for _, wait := range []time.Duration{0, t.can.visibility()} {
		for _, e := range x.canned(x.rawOf(id, wait)).entries(t) {
			_ = acted.DoEntry(e, func() error { times++; return nil })
		}
	}
	t.hold(times == 1, "an agent acts once for a directive that came twice, not %d times (spec §13.4)", times)
}

func consumed(t *trial) {
	x := t.inbound("x").bare()
	id := t.direct(directive{To: x.address()})
	x.gets(id)
	x.consume(id)
	t.throughout(t.can.visibility(), func() bool { return x.find(id) == nil }, "an acked directive never comes again (spec §8.7)")
}

func isolated(t *trial) {
	x, y := t.inbound("x").bare(), t.agent("y").bare()
	id := t.direct(directive{To: x.address()})
	y.lacks("an agent drains its own mailbox alone (spec §8.7)", id)
	const none = "dir_00000000000000000000000000"
	for _, wait := range []time.Duration{0, t.can.visibility()} { // before the directive was delivered, and after
		y.consume(id).sameAs(y.consume(none), id, none, "to ack what is another's is like what is nobody's (spec §8.7)")
		x.getsAfter(wait, id)
		t.track(id).shows("/state", "delivered", "another's ack has no effect (spec §8.7)")
	}
}

func refusesForeign(t *trial) {
	x, y := t.inbound("x"), t.agent("y")
	id := t.direct(directive{To: x.actor})
	box := x.bare().canned(x.bare().rawOf(id, 0))
	box.Client.Agent.ID = y.id
	refused := box.refusal(t)
	t.hold(errors.Is(refused, client.ErrMisaddressed), "a directive for another is refused (spec §13.4): %v", refused)
}

func refusesReplay(t *trial) {
	x := t.inbound("x").bare()
	box := x.canned(x.rawOf(t.direct(directive{To: x.address()}), 0))
	t.hold(len(box.entries(t)) == 1, "a delivery is taken the first time (spec §9.7)")
	refused := box.refusal(t)
	t.hold(errors.Is(refused, signature.ErrReplayed), "a delivery is refused the second time (spec §9.7): %v", refused)
}

func inOrder(t *trial) {
	x := t.inbound("x").bare()
	var sent, got []string
	for range 3 {
		sent = append(sent, t.direct(directive{To: x.address()}))
	}
	t.soon(func() bool {
		for _, e := range x.drain() {
			if slices.Contains(sent, e.key()) {
				got = append(got, e.key())
			}
		}
		return len(got) >= len(sent)
	}, "three directives (spec §8.7)")
	t.hold(slices.Equal(sent, got), "directives in the order %v, not %v (spec §8.7)", sent, got)
}

func survivesRestart(t *trial) {
	x := t.inbound("x").bare()
	acked, seen := t.direct(directive{To: x.address()}), t.direct(directive{To: x.address()})
	x.collect(acked, seen)
	x.consume(acked)
	unseen := t.direct(directive{To: x.address()})
	var lease *mouth
	if t.can.Sessions.Enabled {
		lease = x.opens()
	}
	t.able(t.home.restart(t.ctx), "a restart of the hub")
	e := endpoint.Of(endpoint.Discovery)
	there := func() bool {
		a, err := t.try(nil, e.Method, e.Path, nil)
		return err == nil && a.status == http.StatusOK
	}
	t.soon(there, "a hub that is there again (spec §8.0)")
	for id, state := range map[string]string{acked: "acknowledged", seen: "delivered", unseen: "queued"} {
		t.track(id).shows("/state", state, "the track of a directive survives a restart (spec §3.1)")
	}
	if lease != nil {
		lease.state().shows("/session/state", "active", "a lease survives a restart (spec §3.1)")
	}
	x.gets(unseen)
	x.getsAfter(t.can.visibility(), seen)
	x.lacks("what was acked before a restart never comes again (spec §8.7)", acked)
}

// rawOf is the answer of a drain that has this entry, as it came after a while.
func (m *mouth) rawOf(key string, wait time.Duration) *answer {
	var raw *answer
	m.t.after(wait, func() bool {
		a := m.tryDrain().is(http.StatusOK, "an agent drains its mailbox (spec §8.7)")
		for _, e := range m.entries(a) {
			if e.key() == key {
				raw = a
			}
		}
		return raw != nil
	}, "%s in the mailbox of %s (spec §8.7)", key, m.address())
	return raw
}

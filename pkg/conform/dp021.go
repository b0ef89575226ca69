package conform

import (
	"net/http"
	"time"
)

// dp021 is about streams, and about what a hub may say of who is there.
func dp021() []Clause {
	visible := doc{"agent_list_visibility": true}
	return []Clause{
		{Name: "dp-021.1", Section: "8.7.2", Title: "an open stream keeps nobody alive", test: zombieSocket},
		{Name: "dp-021.2a", Section: "8.7.2", Title: "to open it again renews the lease", test: reconnectRenews},
		{Name: "dp-021.2b", Section: "8.7.2", Title: "the hub ends a stream at its bound", test: boundedHold},
		{Name: "dp-021.3", Section: "8.7.2", Title: "and in time before the lease ends", test: holdBeforeLease},
		{Name: "dp-021.5a", Section: "8.7.2", Title: "what is pushed is hidden, and not delivered", test: provisional},
		{Name: "dp-021.5b", Section: "8.7.2", Title: "an ack of what was pushed counts", test: ackOfPushed},
		{Name: "dp-021.4", Section: "8.0", Title: "a stream's hold is within the freshness window", test: holdWithinFreshness},
		{Name: "dp-021.6", Section: "15.1", Title: "nobody is online who has done nothing lately", test: neverOptimistic, tenant: visible},
		{Name: "dp-021.7", Section: "15.1", Title: "a sender hears of sessions, not of bare drains", test: sessionBearing, tenant: visible},
		{Name: "dp-021.8", Section: "8.7.2", Title: "a drain that waits is enough", test: longPoll},
	}
}

func holdWithinFreshness(t *trial) {
	t.needs(t.can.Inbound.Stream != "", "a stream")
	t.hold(t.can.Inbound.MaxHold > 0, "stream_max_hold_seconds beside stream_url (spec §8.0)")
	t.hold(t.can.Inbound.MaxHold <= t.can.Presence.Freshness, "stream_max_hold_seconds of %d within the %d of freshness_seconds (spec §8.7.2)",
		t.can.Inbound.MaxHold, t.can.Presence.Freshness)
}

// reach is how soon an addressed message may be picked up, as its sender is told.
func (c *caller) reach(to string) string {
	return c.submit(notifies(to)).is(http.StatusAccepted, "the message is accepted (spec §8.1)").str("/destination/state")
}

// visible leaves a clause out where senders are told nothing.
func (t *trial) visible() {
	if !t.can.Sessions.ListOthers {
		t.notApplicable("the hub tells senders nothing of others' sessions, which is its choice")
	}
}

func neverOptimistic(t *trial) {
	t.visible()
	a, b := t.fleet("a", "b")
	t.hold(a.reach(b.actor) != "online", "an agent that was never there is not online (spec §15.1)")
	m := b.opens()
	t.within(t.can.freshness(), func() bool { m.drain(); return a.reach(m.address()) == "online" },
		"a session that has just drained is online (spec §15.1)")
	t.after(t.can.freshness()+pollPause, func() bool { return a.reach(m.address()) == "offline" },
		"a session that does nothing is offline after the freshness window (spec §15.2)")
}

func sessionBearing(t *trial) {
	t.visible()
	a, b := t.fleet("a", "b")
	b.bare().drain()
	t.hold(a.reach(b.actor) != "online", "an agent that drains without a session is not online to senders (spec §15.1)")
	t.person().presence(b.id).shows("/state", "online", "it is to its owner, for directives (spec §15.1)")
	t.within(t.can.freshness(), func() bool { b.opens(); return a.reach(b.actor) == "online" },
		"an agent with a live session is online to senders (spec §15.1)")
}

func longPoll(t *trial) {
	x := t.inbound("x").bare()
	id := t.direct(directive{To: x.address()})
	found := false
	for _, e := range x.drain("wait", "1") {
		found = found || e.key() == id
	}
	t.hold(found, "a drain with wait returns what is there (spec §8.7)")
	began := time.Now()
	x.drain("wait", "1")
	t.hold(time.Since(began) < patience, "a drain ends at the end of its wait (spec §8.7)")
}

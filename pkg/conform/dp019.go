package conform

import (
	"net/http"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// dp019 is about sessions and their leases.
func dp019() []Clause {
	return []Clause{
		{Name: "dp-019.1", Section: "16.1", Title: "the hub names sessions, and they are their agent's", test: mintsSessions},
		{Name: "dp-019.2", Section: "16.1", Title: "an agent.id with a # registers none", test: noHashSessions},
		{Name: "dp-019.3a", Section: "16.1", Title: "a lease keeps to the advertised bounds", test: clampsLease},
		{Name: "dp-019.3b", Section: "16.1", Title: "above the cap of live sessions it is 429", test: capsSessions},
		{Name: "dp-019.4a", Section: "16.2", Title: "what presents a session renews its lease", test: renews},
		{Name: "dp-019.4b", Section: "16.2", Title: "what presents none does not", test: doesNotRenew},
		{Name: "dp-019.5a", Section: "16.3", Title: "a closed session stays closed", test: closedStays},
		{Name: "dp-019.5b", Section: "16.3", Title: "a lease lapses at its end, for good", test: lapsedStays},
		{Name: "dp-019.6", Section: "14.2", Title: "mail to a session bounces at either end of it", test: bouncesAtEnds},
		{Name: "dp-019.7a", Section: "16.4", Title: "no other agent closes a session", test: onlyOwnCloses},
		{Name: "dp-019.7b", Section: "16.4", Title: "a person's close is marked, and says stop", test: operatorCloses},
		{Name: "dp-019.7c", Section: "16.3", Title: "the mark is of the close that won", test: markOfWinner},
		{Name: "dp-019.7d", Section: "16.4.1", Title: "who was stopped registers nothing, and later neither", test: hardStop},
		{Name: "dp-019.8", Section: "16.4", Title: "an agent lists its own sessions, ended ones too", test: listsOwn},
		{Name: "dp-019.9a", Section: "16.4", Title: "another's session is like none", test: foreignSession,
			tenant: doc{"agent_list_visibility": false}},
		{Name: "dp-019.9b", Section: "16.4", Title: "a list goes no further than is advertised", test: listCeiling},
		{Name: "dp-019.9d", Section: "16.4", Title: "and never to another account", test: listAccount},
		{Name: "dp-019.9c", Section: "16.4", Title: "a person lists the account's sessions", test: personLists},
		{Name: "dp-019.10", Section: "16.4", Title: "an ended session is read for a while, and then gone", test: purges},
	}
}

// sessions is an agent with sessions.
func (t *trial) sessions(name string) *caller {
	t.needs(t.can.Sessions.Enabled, "sessions")
	return t.agent(name)
}

func mintsSessions(t *trial) {
	x := t.sessions("x")
	a := x.call(endpoint.SessionAdd, doc{"id": "sess_mine", "label": "l"}).is(http.StatusCreated, "an agent registers a session (spec §16.1)")
	a.shaped(ma2h.KindSessionEnvelope, ma2h.Newest)
	id := a.str("/session/id")
	t.hold(strings.HasPrefix(id, "sess_") && id != "sess_mine", "an id that the hub made, with the prefix sess_ (spec §16.1)")
	a.shows("/session/agent_id", x.id, "the session is its agent's (spec §16.1)").shows("/session/state", "active", "and live (spec §16.3)")
}

func noHashSessions(t *trial) {
	t.needs(t.can.Sessions.Enabled, "sessions")
	a := t.agent("x#y").call(endpoint.SessionAdd, doc{})
	t.hold(a.status >= 400 && a.status < 500, "a refusal, since no address could name it (spec §16.1)")
}

func clampsLease(t *trial) {
	x := t.sessions("x")
	for _, asked := range []int{1, 1 << 30} {
		a := x.call(endpoint.SessionAdd, doc{"ttl_seconds": asked}).is(http.StatusCreated, "a lease is cut to the bounds (spec §16.1)")
		from, _ := ma2h.ParseTime(a.str("/session/created_at"))
		till, _ := ma2h.ParseTime(a.str("/session/expires_at"))
		lease, slack := till.Sub(from), time.Second
		t.hold(lease >= seconds(t.can.Sessions.MinTTL)-slack, "a lease of %d s at least, not %v (spec §16.1)", t.can.Sessions.MinTTL, lease)
		t.hold(t.can.Sessions.MaxTTL == 0 || lease <= seconds(t.can.Sessions.MaxTTL)+slack,
			"a lease of %d s at most, not %v (spec §8.0)", t.can.Sessions.MaxTTL, lease)
	}
}

func capsSessions(t *trial) {
	x := t.sessions("x")
	most := t.can.Sessions.MaxLive
	t.needs(most > 0 && most <= 100, "a cap of live sessions")
	for range most {
		x.opens()
	}
	a := x.call(endpoint.SessionAdd, doc{}).refused(http.StatusTooManyRequests, "no more live sessions than are advertised (spec §16.1)", ma2h.CodeRateLimited)
	t.hold(a.header.Get("Retry-After") != "", "a Retry-After (spec §8.5)")
}

func renews(t *trial) {
	x := t.sessions("x")
	m := x.opens()
	before := m.state().str("/session/expires_at")
	for _, c := range []struct {
		what string
		do   func()
	}{
		{"a drain", func() { m.drain() }},
		{"an ack", func() { m.consume(unknownID) }},
		{"a submit", func() { x.accepted(asks("").with("session", m.session)) }},
	} {
		t.pass(2 * pollPause)
		c.do()
		after := m.state().str("/session/expires_at")
		t.hold(later(before, after), "%s that presents the session renews its lease (spec §16.2)", c.what)
		before = after
	}
}

// later says whether one time is after another.
func later(a, b string) bool {
	x, okX := ma2h.ParseTime(a)
	y, okY := ma2h.ParseTime(b)
	return okX && okY && y.After(x)
}

func doesNotRenew(t *trial) {
	x := t.sessions("x")
	m := x.opens()
	before := m.state().str("/session/expires_at")
	t.pass(2 * pollPause)
	x.bare().drain()
	x.bare().consume(unknownID)
	x.accepted(asks(""))
	m.state().shows("/session/expires_at", before, "what presents no session renews none, and to read one is no use of it (spec §16.2)")
}

func closedStays(t *trial) {
	m := t.sessions("x").opensBriefly()
	first := m.closes().shows("/session/state", "closed", "a close closes (spec §16.3)")
	m.closes().shows("/session/closed_at", first.str("/session/closed_at"), "a close again changes nothing (spec §16.3)")
	m.tryDrain().refused(http.StatusGone, "a closed session cannot be presented (spec §16.3)", ma2h.CodeGone)
	t.throughout(seconds(t.lease()+headroom)+time.Second, func() bool { return m.state().str("/session/state") == "closed" },
		"a closed session never expires (spec §16.3)")
}

func lapsedStays(t *trial) {
	x := t.sessions("x")
	var m *mouth
	t.within(seconds(t.lease()), func() bool {
		m = x.opensFor(t.lease())
		return m.state().str("/session/state") == "active"
	}, "a session lives while its lease lasts (spec §16.2)")
	end := m.state().str("/session/expires_at")
	if t.home.virtual() {
		at, _ := ma2h.ParseTime(end)
		t.pass(at.Sub(t.home.now()) - time.Millisecond)
		m.state().shows("/session/state", "active", "a session lives up to the end of its lease (spec §16.2)")
		t.pass(2 * time.Millisecond)
		m.state().shows("/session/state", "expired", "a lease lapses at its end (spec §16.3)")
	}
	m.lapses()
	m.tryDrain().refused(http.StatusGone, "an expired session cannot be presented, nor renewed (spec §16.3)", ma2h.CodeGone)
	m.closes().shows("/session/state", "expired", "to close what has expired changes nothing (spec §16.3)").
		shows("/session/expires_at", end, "and its lease ended when it did (spec §16.3)")
}

func bouncesAtEnds(t *trial) {
	a, b := t.fleet("a", "b")
	closed, lapsing := b.opens(), b.opensBriefly()
	toClosed, toLapsing := a.accepted(asks(closed.address())), a.accepted(asks(lapsing.address()))
	closed.closes()
	lapsing.lapses()
	for _, id := range []string{toClosed, toLapsing} {
		t.soon(func() bool { return a.pull(id).str("/mailbox/state") == "bounced" }, "mail to a session that has ended bounces (spec §14.2)")
		a.pull(id).shows("/status", "cancelled", "and its ask is cancelled (spec §7)")
	}
}

func onlyOwnCloses(t *trial) {
	x, y := t.sessions("x"), t.agent("y")
	m := x.opens()
	y.call(endpoint.SessionClose, nil, m.session).hides("only its agent, or a person, closes a session (spec §16.4)")
	m.state().shows("/session/state", "active", "another's close changes nothing (spec §16.4)")
}

func operatorCloses(t *trial) {
	a, b := t.fleet("a", "b")
	m, other := b.opens(), b.opens()
	t.hold(m.state().at("/session/closed_by_operator") == nil, "the mark is true or absent (spec §16.4)")
	closed := t.operatorCloses(m).shows("/session/state", "closed", "a person's close closes (spec §16.4)")
	t.hold(closed.at("/session/closed_by_operator") == true, "closed_by_operator: true (spec §16.4)")
	const stop = "who was stopped is told so (spec §16.3)"
	m.tryDrain().refused(http.StatusGone, stop, ma2h.CodeSessionClosedByOperator)
	m.tryConsume(doc{"ids": []string{}}).refused(http.StatusGone, stop, ma2h.CodeSessionClosedByOperator)
	m.resolveAs(a.accepted(asks("").by(b.actor)), answered("approve")).refused(http.StatusGone, stop, ma2h.CodeSessionClosedByOperator)
	b.submit(asks("").with("session", m.session)).refused(http.StatusGone, stop, ma2h.CodeSessionClosedByOperator)
	b.submit(notifies(m.address())).refused(http.StatusGone, "who writes to a session is not told who closed it (spec §16.3)", ma2h.CodeDestinationGone)
	sent := a.submit(notifies(m.address()))
	t.hold(sent.str("/error/code") != string(ma2h.CodeSessionClosedByOperator), "other senders are not told who closed it (spec §16.5)")
	other.closes()
	t.hold(other.state().at("/session/closed_by_operator") == nil, "an agent's own close is not marked (spec §16.4)")
	other.tryDrain().refused(http.StatusGone, "after its own close an agent may go on (spec §16.3)", ma2h.CodeGone)
}

func markOfWinner(t *trial) {
	m := t.sessions("x").opensFor(t.lease())
	m.lapses()
	closed := t.operatorCloses(m).shows("/session/state", "expired", "the first end stands (spec §16.3)")
	t.hold(closed.at("/session/closed_by_operator") == nil, "no mark on what had expired (spec §16.3)")
	m.tryDrain().refused(http.StatusGone, "who expired may go on (spec §16.3)", ma2h.CodeGone)
}

func hardStop(t *trial) {
	x := t.sessions("x")
	t.needs(t.can.Sessions.HardStop, "the hard stop")
	m := x.opens()
	t.operatorCloses(m)
	const gate = "who was stopped registers no session (spec §16.4.1)"
	x.call(endpoint.SessionAdd, doc{}).refused(http.StatusForbidden, gate, ma2h.CodeSessionClosedByOperator)
	wait := seconds(t.can.Sessions.Retention) + time.Second
	if !t.home.virtual() && wait > time.Minute {
		return // the record of the session stays longer than a stop can be watched
	}
	t.after(wait, func() bool { return m.readBy(x).status == http.StatusNotFound }, "an ended session is purged after its time (spec §16.4)")
	x.call(endpoint.SessionAdd, doc{}).refused(http.StatusForbidden, "a stop outlives the session (spec §16.4.1)", ma2h.CodeSessionClosedByOperator)
}

// listed are the sessions that somebody is shown.
func (c *caller) listed() *answer {
	a := c.call(endpoint.SessionList, nil).is(http.StatusOK, "a list of sessions (spec §16.4)")
	return a.shaped(ma2h.KindSessionList, ma2h.Newest)
}

// has says whether a session is in a list.
func (a *answer) has(session string) bool { return strings.Contains(string(a.body), `"`+session+`"`) }

func listsOwn(t *trial) {
	x := t.sessions("x")
	live, ended := x.opens(), x.opens()
	ended.closes()
	t.soon(func() bool { list := x.listed(); return list.has(live.session) && list.has(ended.session) },
		"an agent's list has all its sessions, live and lately ended (spec §16.4)")
}

func foreignSession(t *trial) {
	x, y := t.sessions("x"), t.agent("y")
	if t.can.Sessions.ListOthers {
		t.notApplicable("the hub lets agents of an account know of each other's sessions, which is its choice")
	}
	m := x.opens()
	const none = "sess_00000000000000000000000000"
	y.call(endpoint.SessionRead, nil, m.session).refused(http.StatusNotFound, "another's session is like none (spec §16.4)", ma2h.CodeNotFound).
		sameAs(y.call(endpoint.SessionRead, nil, none), m.session, none, "letter by letter (spec §16.4)")
	y.call(endpoint.SessionClose, nil, m.session).refused(http.StatusNotFound, "another's session is like none (spec §16.4)", ma2h.CodeNotFound)
	m.closes()
	y.call(endpoint.SessionRead, nil, m.session).refused(http.StatusNotFound, "ended or not (spec §16.4)", ma2h.CodeNotFound)
}

func listCeiling(t *trial) {
	x, y := t.sessions("x"), t.agent("y")
	m := x.opens()
	own := y.opens()
	var list *answer
	t.soon(func() bool { list = y.listed(); return list.has(own.session) }, "an agent's own session (spec §16.4)")
	scope := list.str("/scope")
	if !t.can.Sessions.ListOthers {
		t.hold(!list.has(m.session), "no session of another (spec §16.4)")
		t.hold(scope != "account", "a scope that says what was applied (spec §16.4)")
	}
	t.hold(scope != "own" || !list.has(m.session), "a scope that says what was applied (spec §16.4)")
}

func listAccount(t *trial) {
	x, person, foreign := t.sessions("x"), t.person(), t.stranger()
	own, theirs := x.opens(), foreign.opens()
	t.soon(func() bool { return foreign.listed().has(theirs.session) }, "an agent's own session (spec §16.4)")
	for _, who := range []*caller{x, person} {
		t.soon(func() bool { return who.listed().has(own.session) }, "the account's own session (spec §16.4)")
		t.hold(!who.listed().has(theirs.session), "no session of another account (spec §16.4)")
		theirs.readBy(who).refused(http.StatusNotFound, "a session of another account is like none (spec §16.4)", ma2h.CodeNotFound)
	}
}

func personLists(t *trial) {
	x, y, person := t.sessions("x"), t.agent("y"), t.person()
	first, second := x.opens(), y.opens()
	t.soon(func() bool { list := person.listed(); return list.has(first.session) && list.has(second.session) },
		"a person lists all sessions of the account (spec §16.4)")
	first.readBy(person).is(http.StatusOK, "and reads each (spec §16.4)").shows("/session/agent_id", x.id, "as it is (spec §16.1)")
}

func purges(t *trial) {
	x := t.sessions("x")
	m := x.opens()
	m.drain()
	m.closes()
	m.state().shows("/session/state", "closed", "an ended session stays readable (spec §16.4)")
	t.hold(m.state().str("/session/last_seen") != "", "with its last_seen (spec §16.4)")
	t.after(seconds(t.can.Sessions.Retention)+time.Second, func() bool { return m.readBy(x).status == http.StatusNotFound },
		"an ended session is gone after terminal_retention_seconds (spec §16.4)")
	m.tryDrain().refused(http.StatusNotFound, "and like one that never was (spec §16.3)", ma2h.CodeNotFound)
}

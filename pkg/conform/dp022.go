package conform

import (
	"net/http"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// dp022 is about mail that cannot be delivered.
func dp022() []Clause {
	return []Clause{
		{Name: "dp-022.1", Section: "14.2", Title: "all unacked mail of an ended session bounces", test: allBounces},
		{Name: "dp-022.2", Section: "14.2", Title: "prior says whether it was seen, alike everywhere", test: priorAlike},
		{Name: "dp-022.3a", Section: "14.2", Title: "mail to an agent outlives its sessions", test: agentMailStays},
		{Name: "dp-022.3b", Section: "14.2", Title: "and ends with its retention, bounced or expired", test: retentionEnds},
		{Name: "dp-022.4", Section: "14.2", Title: "responses and receipts never bounce", test: outcomesStay},
		{Name: "dp-022.5a", Section: "7", Title: "what bounces is cancelled or dismissed", test: undeliverable},
		{Name: "dp-022.5b", Section: "7", Title: "unless it was decided before", test: decidedBefore},
		{Name: "dp-022.5c", Section: "7", Title: "what expires undelivered, too, without a receipt", test: expiresUndelivered},
		{Name: "dp-022.6", Section: "8.7.1", Title: "receipts go to the sender's live session, and end there", test: receipts},
		{Name: "dp-022.7a", Section: "14.2", Title: "expired mail was never delivered", test: expiredUnseen},
		{Name: "dp-022.7b", Section: "14.2", Title: "nor was an expired Response", test: expiredResponse},
		{Name: "dp-022.8", Section: "14.2", Title: "a later expiry leaves delivered mail delivered", test: staysDelivered},
		{Name: "dp-022.9", Section: "14.2", Title: "only its addressee's drain delivers", test: deliveredByDrain},
		{Name: "dp-022.10", Section: "14.2", Title: "a track never gates a resolution", test: trackGatesNothing},
	}
}

func allBounces(t *trial) {
	a, b := t.fleet("a", "b")
	for _, end := range []func(*mouth){func(m *mouth) { m.closes() }, func(m *mouth) { t.operatorCloses(m) }} {
		m := b.opens()
		seen, told := a.accepted(notifies(m.address())), t.direct(directive{To: m.address()})
		m.collect(seen, told)
		unseen, untold := a.accepted(notifies(m.address())), t.direct(directive{To: m.address()})
		acked := a.accepted(notifies(m.address()))
		m.collect(acked)
		m.consume(acked)
		end(m)
		for _, id := range []string{seen, unseen} {
			t.soon(func() bool { return a.pull(id).str("/mailbox/state") == "bounced" }, "every unacked message of an ended session bounces (spec §14.2)")
		}
		for _, id := range []string{told, untold} {
			t.soon(func() bool { return t.track(id).str("/state") == "bounced" }, "every unacked directive of an ended session bounces (spec §14.2)")
		}
		a.pull(acked).shows("/mailbox/state", "acknowledged", "what was acked does not bounce (spec §14.2)")
	}
}

func priorAlike(t *trial) {
	a, b := t.fleet("a", "b")
	mine, m := a.opens(), b.opens()
	seen := a.accepted(notifies(m.address()).with("session", mine.session))
	m.gets(seen)
	unseen := a.accepted(notifies(m.address()).with("session", mine.session))
	m.closes()
	for id, prior := range map[string]string{seen: "delivered", unseen: "queued"} {
		t.soon(func() bool { return a.pull(id).str("/mailbox/state") == "bounced" }, "unacked mail of an ended session bounces (spec §14.2)")
		read := a.pull(id).shows("/mailbox/prior", prior, "prior says whether it was seen (spec §14.2)")
		t.hold((read.at("/mailbox/delivered_at") != nil) == (prior == "delivered"), "delivered_at for what was seen, and for nothing else (spec §14.2)")
	}
	first := mine.collectAbout("receipt", seen, unseen)
	first[seen].shows("/prior", "delivered", "the receipt says the same (spec §8.7.1)").shows("/session", m.session, "and which session (spec §8.7.1)")
	first[unseen].shows("/prior", "queued", "the receipt says the same (spec §8.7.1)").shows("/event", "bounced", "and what happened (spec §8.7.1)")
}

// collectAbout drains until an entry of this kind has come about each of these messages, and returns them by those.
func (m *mouth) collectAbout(kind string, ids ...string) map[string]*entry {
	got := map[string]*entry{}
	m.t.soon(func() bool {
		for _, e := range m.drain() {
			if e.kind == kind {
				got[e.str("/in_reply_to")] = e
			}
		}
		for _, id := range ids {
			if got[id] == nil {
				return false
			}
		}
		return true
	}, "%s entries about %v for %s (spec §8.7.1)", kind, ids, m.address())
	return got
}

func agentMailStays(t *trial) {
	a, b := t.fleet("a", "b")
	claimant, sibling := b.opens(), b.opens()
	id := a.accepted(asks(b.actor))
	claimant.gets(id)
	claimant.closes()
	a.pull(id).shows("/status", "open", "mail to an agent does not bounce with one session (spec §14.2)").
		shows("/mailbox/state", "delivered", "and stays delivered (spec §14.2)")
	sibling.getsAfter(t.can.visibility(), id)
}

// retention is how long mail is kept. In real time nobody waits for it.
func (t *trial) retention() time.Duration {
	return time.Duration(t.can.Inbound.Retention) * 24 * time.Hour
}

func retentionEnds(t *trial) {
	a, b := t.fleet("a", "b")
	claimant := b.opens()
	seen := a.accepted(asks(b.actor))
	claimant.gets(seen)
	unseen := a.accepted(tasks(b.actor))
	t.pass(t.retention() + time.Minute)
	t.settle()
	a.pull(seen).shows("/mailbox/state", "bounced", "delivered and unacked at the end of retention (spec §14.2)").
		shows("/mailbox/prior", "delivered", "it was seen (spec §14.2)").shows("/status", "cancelled", "the ask is over (spec §7)")
	a.pull(unseen).shows("/mailbox/state", "expired", "never delivered at the end of retention (spec §14.2)").
		shows("/status", "dismissed", "the task is over (spec §7)")
}

func outcomesStay(t *trial) {
	a, b := t.fleet("a", "b")
	mine, m := a.opens(), b.opens()
	id := a.accepted(asks(b.actor).with("session", mine.session))
	b.answers(id, "approve")
	lost := a.accepted(notifies(m.address()).with("session", mine.session))
	m.closes()
	mine.about("receipt", lost)
	mine.closes()
	read := a.pull(id).shows("/response/resolution", "answered", "a Response outlives the session it was for (spec §14.2)")
	t.hold(read.str("/delivery/state") != "bounced", "a response entry never bounces (spec §14.2)")
	other := a.opens()
	for _, e := range other.drain() {
		t.hold(e.kind != "receipt" && e.kind != "response", "nothing about what was for another session (spec §14.2)")
	}
}

func undeliverable(t *trial) {
	a, b := t.fleet("a", "b")
	m := b.opens()
	ask, task := a.accepted(asks(m.address())), a.accepted(tasks(m.address()))
	m.closes()
	for id, status := range map[string]string{ask: "cancelled", task: "dismissed"} {
		t.soon(func() bool { return a.pull(id).str("/status") == status }, "what bounces ends as %s (spec §7)", status)
		a.pull(id).shows("/response/response/actor", ma2h.ActorUndeliverable, "by the system (spec §7)").
			shows("/response/resolution", status, "with a Response (spec §7)")
	}
}

func decidedBefore(t *trial) {
	a, b := t.fleet("a", "b")
	m := b.opens()
	id := a.accepted(asks(m.address()))
	m.gets(id)
	m.resolveAs(id, answered("deny")).is(http.StatusOK, "the addressee answers (spec §9.1)")
	m.closes()
	t.soon(func() bool { return a.pull(id).str("/mailbox/state") == "bounced" }, "unacked mail of an ended session bounces (spec §14.2)")
	a.pull(id).shows("/status", "answered", "the first end stands (spec §7)").
		shows("/response/response/value", "deny", "with its answer (spec §7)")
}

func expiresUndelivered(t *trial) {
	a, b := t.fleet("a", "b")
	mine := a.opens()
	id := a.accepted(asks(b.actor).with("session", mine.session))
	t.pass(t.retention() + time.Minute)
	t.settle()
	a.pull(id).shows("/mailbox/state", "expired", "never delivered at the end of retention (spec §14.2)").
		shows("/status", "cancelled", "what nobody can see any more is cancelled (spec §7)").
		shows("/response/response/actor", ma2h.ActorUndeliverable, "by the system (spec §7)")
	for _, e := range a.opens().drain() {
		t.hold(e.kind != "receipt", "no receipt of an expiry (spec §14.2)")
	}
}

func receipts(t *trial) {
	a, b := t.fleet("a", "b")
	mine, m := a.opens(), b.opens()
	ended := a.opens()
	id := a.accepted(asks(m.address()).with("session", mine.session))
	toDead := a.accepted(notifies(m.address()).with("session", ended.session))
	bare := a.accepted(notifies(m.address()))
	ended.closes()
	m.closes()
	got := map[string]*entry{}
	t.soon(func() bool {
		for _, e := range mine.drain() {
			about := e.str("/in_reply_to")
			t.hold(about == id, "only what is about messages of this session, not %s (spec §8.7.1)", about)
			got[e.kind] = e
		}
		return got["receipt"] != nil && got["response"] != nil
	}, "a response and a receipt about the ask that bounced (spec §8.7.1)")
	t.hold(got["receipt"].key() != got["response"].key(), "ack keys that differ (spec §8.7.1)")
	mine.consume(got["receipt"].key(), got["response"].key())
	mine.closes()
	a.opens().lacks("a receipt bounces nowhere (spec §14.2)", got["receipt"].key())
	for _, lost := range []string{toDead, bare} {
		a.pull(lost).shows("/mailbox/state", "bounced", "the sender's pull says so all the same (spec §14.2)")
	}
}

// shortly is how far ahead an expiry lies, for a hub that is far or busy.
const shortly = 6 * time.Second

func (t *trial) expiry() string { return ma2h.FormatTime(t.home.now().Add(shortly)) }

func expiredUnseen(t *trial) {
	t.inbound("y")
	x := t.agent("x").bare()
	id := t.direct(directive{To: x.address(), ExpiresAt: t.expiry()})
	t.after(shortly+time.Second, func() bool { return t.track(id).str("/state") == "expired" }, "a directive that nobody drained in time has expired (spec §14.2)")
	t.hold(t.track(id).at("/delivered_at") == nil, "expired means never delivered (spec §14.2)")
	x.lacks("what has expired is not delivered (spec §13.3)", id)
}

func expiredResponse(t *trial) {
	a, person := t.agent("a"), t.person()
	id := a.accepted(asks("").by(person.actor))
	person.answers(id, "approve")
	t.pass(time.Duration(t.can.Inbound.Retention)*24*time.Hour + time.Minute)
	t.settle()
	read := a.pull(id)
	t.hold(read.str("/delivery/state") == "expired" && read.at("/delivery/delivered_at") == nil,
		"a Response that nobody got by the end of retention has expired (spec §14.2)")
}

func staysDelivered(t *trial) {
	a, b := t.fleet("a", "b")
	m := b.opens()
	id := a.accepted(asks(b.actor).with("expires_at", t.expiry()))
	m.gets(id)
	t.after(shortly+time.Second, func() bool { return a.pull(id).str("/status") == "expired" }, "an ask that nobody answered in time has expired (spec §7)")
	a.pull(id).shows("/mailbox/state", "delivered", "it was seen, and stays so (spec §14.2)")
}

func deliveredByDrain(t *trial) {
	a, b := t.fleet("a", "b")
	m := b.opens()
	id := a.accepted(notifies(m.address()))
	b.opens().drain()
	b.bare().drain()
	a.pull(id).shows("/mailbox/state", "queued", "what nobody got is queued (spec §14.2)").shows("/status", "queued", "and so is its notify (spec §5.1)")
	m.gets(id)
	a.pull(id).shows("/mailbox/state", "delivered", "a drain delivers (spec §14.2)").shows("/status", "delivered", "and so is its notify (spec §5.1)")
}

func trackGatesNothing(t *trial) {
	a, b := t.fleet("a", "b")
	id := a.accepted(asks(b.actor))
	b.answers(id, "approve") // without a drain
	a.pull(id).shows("/status", "answered", "a resolution does not wait for its mail (spec §14.2)").
		shows("/response/response/value", "approve", "with its answer (spec §6)")
	a.call(endpoint.Ack, doc{}, id).is(http.StatusOK, "a Response is acknowledged whatever became of the mail (spec §14.3)")
}

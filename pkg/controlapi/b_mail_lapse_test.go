package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// A lease that nobody saw end: what happened first wins, whoever looks and whatever they look for (spec §7, §16.3).

const undeliverable = "system:undeliverable"

// lapsing is an ask and a task to a session whose lease ends at noon + lease.
type lapsing struct {
	s             *suite
	bot, alice    *caller
	worker, other *mouth
	end           time.Time
}

func newLapsing(s *suite) *lapsing {
	s.fleet("bot", "worker")
	l := &lapsing{s: s, bot: s.agent("bot"), alice: s.person("alice"), end: noon.Add(lease)}
	l.worker = s.agent("worker").opens(0)
	l.other = s.agent("worker").opens(time.Hour) // a sibling that lives on
	return l
}

// bounced holds a message to what the end of the session at that time makes of it.
func (l *lapsing) bounced(id, status string, at time.Time) {
	l.s.t.Helper()
	l.bot.get(id).is(http.StatusOK).shows("/status", status, "/response/resolution", status,
		"/response/response", doc{"actor": undeliverable, "resolved_at": stamp(at)},
		"/mailbox", doc{"state": "bounced", "prior": "queued"})
}

func TestB36_ALapseComesBeforeAResolve(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		for what, resolve := range map[string]func(l *lapsing, id string, body doc) *answer{
			"by the addressee's other session": func(l *lapsing, id string, body doc) *answer { return l.other.resolveAs(id, body) },
			"by the addressee without one":     func(l *lapsing, id string, body doc) *answer { return l.other.bare().resolveAs(id, body) },
		} {
			s.run(what, func() {
				s.now = noon
				l := newLapsing(s)
				ask, task := l.bot.accepted(s.ask(mailTo(l.worker.address()))), l.bot.accepted(s.task(mailTo(l.worker.address())))
				s.now = l.end.Add(time.Millisecond)
				resolve(l, ask, doc{"resolution": "answered", "value": "approve"}).
					refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").shows("/id", ask, "/status", "cancelled", "/resolution", "cancelled")
				resolve(l, task, doc{"resolution": "completed"}).
					refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").shows("/status", "dismissed")
				l.bounced(ask, "cancelled", l.end)
				l.bounced(task, "dismissed", l.end)
			})
		}
	})
}

func TestB36_ResolvesInTimeWinOverTheLapse(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		l := newLapsing(s)
		listed := several(mailTo(l.worker.address()), resolvers("human:alice", "agent:worker"))
		var asks []string
		for range 4 {
			asks = append(asks, l.bot.accepted(s.ask(listed)))
		}
		s.now = l.end // the lease ends strictly after this
		l.worker.answersAs(asks[0], "approve").is(http.StatusOK)
		l.other.answersAs(asks[1], "approve").is(http.StatusOK)
		l.alice.answers(asks[2], "approve").is(http.StatusOK)
		l.bot.cancel(asks[3]).is(http.StatusOK)
		s.later(time.Hour)
		s.settle(doc{"what": "sessions"})
		for i, actor := range []string{l.worker.address(), l.other.address(), "human:alice", "agent:bot"} {
			status := map[bool]string{true: "answered", false: "cancelled"}[i < 3]
			l.bot.get(asks[i]).shows("/status", status, "/response/response/actor", actor, "/response/response/resolved_at", stamp(l.end),
				"/mailbox", doc{"state": "bounced", "prior": "queued"})
		}
	})
}

func TestB36_APersonWhoIsListedIsLateToo(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		l := newLapsing(s)
		id := l.bot.accepted(s.ask(mailTo(l.worker.address()), resolvers("human:alice")))
		s.now = l.end.Add(time.Millisecond)
		l.alice.answers(id, "approve").refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").shows("/status", "cancelled")
		l.bounced(id, "cancelled", l.end)
	})
}

func TestB36_ALapseComesBeforeACancel(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		l := newLapsing(s)
		early, late := l.bot.accepted(s.ask(mailTo(l.worker.address()))), l.bot.accepted(s.ask(mailTo(l.worker.address())))
		l.bot.cancel(early).is(http.StatusOK)
		s.now = l.end.Add(time.Millisecond)
		l.bot.cancel(late).is(http.StatusOK).shows("/id", late, "/status", "cancelled")
		l.bounced(late, "cancelled", l.end)
		l.bot.get(early).shows("/response/response", doc{"actor": "agent:bot", "resolved_at": stamp(noon)})
		// A cancel leaves the entry where it is, and so it bounces as any other.
		l.bot.get(early).shows("/mailbox", doc{"state": "bounced", "prior": "queued"})
	})
}

// TestB36_TheEarlierOfLapseAndExpiryWins: whoever looks first, at whichever of the two.
func TestB36_TheEarlierOfLapseAndExpiryWins(t *testing.T) {
	looks := map[string]func(l *lapsing, id string){
		"the sender":      func(l *lapsing, id string) { l.bot.get(id).is(http.StatusOK) },
		"the owner":       func(l *lapsing, id string) { l.alice.read(id).is(http.StatusOK) },
		"the message":     func(l *lapsing, id string) { l.s.settle(doc{"what": "message", "id": id}) },
		"the sessions":    func(l *lapsing, _ string) { l.s.settle(doc{"what": "sessions"}) },
		"the session":     func(l *lapsing, _ string) { l.s.sessionAt(l.alice, l.worker.session) },
		"the listing":     func(l *lapsing, _ string) { l.alice.send("GET", "/v1/sessions", nil).is(http.StatusOK) },
		"its own drain":   func(l *lapsing, _ string) { l.worker.send("GET", l.worker.at("/v1/inbox"), nil).is(http.StatusGone) },
		"another's drain": func(l *lapsing, _ string) { l.other.gets() },
		"a registration":  func(l *lapsing, _ string) { l.worker.opens(0) },
		"a resolver":      func(l *lapsing, id string) { l.other.answersAs(id, "approve").is(http.StatusConflict) },
		"a replay":        func(*lapsing, string) {},
	}
	onStoresWith(t, doc{"max_live_per_agent": 100}, func(_ *testing.T, s *suite) {
		for who, look := range looks {
			for _, first := range []string{"lapse", "expiry"} {
				s.run(first+" first, seen by "+who, func() {
					s.now = noon
					l := newLapsing(s)
					deadline := l.end.Add(time.Minute)
					if first == "expiry" {
						deadline = l.end.Add(-time.Minute)
					}
					ask := s.ask(mailTo(l.worker.address()), expires(stamp(deadline)), set("/request/default_on_expire", "deny"))
					id := l.bot.accepted(ask)
					s.now = l.end.Add(2 * time.Minute)
					look(l, id)
					if first == "lapse" {
						l.bot.submit(ask).is(http.StatusAccepted).shows("/status", "cancelled")
						l.bounced(id, "cancelled", l.end)
						return
					}
					l.bot.submit(ask).is(http.StatusAccepted).shows("/status", "expired")
					l.bot.get(id).shows("/status", "expired", "/response/response", doc{
						"actor": "system:default_on_expire", "resolved_at": stamp(deadline), "value": "deny",
					}, "/response/defaulted", true, "/mailbox", doc{"state": "expired"})
				})
			}
		}
	})
}

// TestB36_AClosedSessionIsNoLapse: the close is what happened, at its time, though the lease would have ended since.
func TestB36_AClosedSessionIsNoLapse(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		l := newLapsing(s)
		closed := noon.Add(time.Minute)
		id := l.bot.accepted(s.ask(mailTo(l.worker.address()), expires(stamp(noon.Add(2*time.Minute)))))
		l.worker.closesAt(closed)
		s.now = l.end.Add(time.Hour)
		l.bounced(id, "cancelled", closed)
		// And a renewal that nobody saw in time is one all the same.
		s.now = noon
		worker := l.worker.opens(0)
		id = l.bot.accepted(s.ask(mailTo(worker.address())))
		s.now = l.end
		worker.drain()
		s.now = l.end.Add(lease)
		worker.answersAs(id, "approve").is(http.StatusOK)
	})
}

// TestB36_PrincipalMailKnowsNoLapse: a session's end is nothing to what is for its agent.
func TestB36_PrincipalMailKnowsNoLapse(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		l := newLapsing(s)
		id := l.bot.accepted(s.ask(mailTo("agent:worker")))
		l.worker.gets(id)
		s.now = l.end.Add(time.Minute)
		s.settle(doc{"what": "sessions"})
		l.bot.get(id).shows("/status", "open", "/mailbox/state", "delivered")
		l.other.answersAs(id, "approve").is(http.StatusOK)
		l.bot.get(id).shows("/status", "answered", "/response/response/actor", l.other.address())
	})
}

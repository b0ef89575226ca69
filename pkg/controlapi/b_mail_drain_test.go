package controlapi_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// TestB47_WithoutASessionTheDrainIsThatOf04: directives to the agent, and nothing else is shown or claimed.
func TestB47_WithoutASessionTheDrainIsThatOf04(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice, worker := s.agent("bot"), s.person("alice"), s.agent("worker").opens(0)
		message := bot.accepted(s.notify(mailTo("agent:worker")))
		bot.accepted(s.ask(mailTo(worker.address())))
		s.direct(worker.address())
		dying := bot.opens(0)
		worker.accepted(s.ask(mailTo(dying.address()), worker.as())) // leaves a response and a receipt
		dying.closes().is(http.StatusOK)
		alice.answers(worker.asked(), "approve").is(http.StatusOK)
		first, second := s.direct("agent:worker"), s.direct("agent:worker", set("/priority", "urgent"))

		bare := worker.bare()
		same(s.t, "the first without a session", keys(bare.drain("max", "1")), []string{first})
		entries := bare.gets(second)
		same(s.t, "kinds", kinds(entries), []string{"directive"})
		entries[0].shows("/type", "directive", "/to", "agent:worker", "/from", "human:alice", "/priority", "urgent")
		bare.gets()
		// All else is still there for the session, in the order of its coming, and nothing of it had been claimed.
		got := worker.drain()
		list := kinds(got)
		slices.Sort(list[3:5]) // a bounce brings two at once
		same(s.t, "kinds", list, []string{"message", "message", "directive", "receipt", "response", "response"})
		same(s.t, "the first", got[0].key(), message)
		s.later(window + time.Second)
		bare.gets(first, second)
		same(s.t, "how much comes back", len(worker.drain()), 6)
	})
}

func TestB48_PresentedSessionsOfDrainAndAck(t *testing.T) {
	onStoresWith(t, doc{"terminal_retention_seconds": 3600}, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		s.owns("carol", "foreign")
		bot, alice := s.agent("bot"), s.person("alice")
		worker := s.agent("worker").opens(0)
		sibling, foreign := bot.opens(0), s.agent("foreign").opens(0)
		left, killed := bot.opens(0), bot.opens(0)
		left.closes().is(http.StatusOK)
		alice.send("DELETE", "/v1/sessions/"+killed.session, nil).is(http.StatusOK)
		dead := s.agent("foreign").opens(0)
		dead.closes().is(http.StatusOK)
		directive := s.direct("agent:worker")
		attempts := map[string]func(m *mouth) *answer{
			"drain":  func(m *mouth) *answer { return m.send("GET", m.at("/v1/inbox"), nil) },
			"stream": func(m *mouth) *answer { return m.send("GET", m.at("/v1/inbox/stream"), nil) },
			"ack":    func(m *mouth) *answer { return m.tryConsume(doc{"ids": []string{directive}}) },
		}
		for what, attempt := range attempts {
			s.run(what, func() {
				unknown := attempt(worker.under("sess_00000000000000000000000000")).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
				for _, session := range []string{
					sibling.session, foreign.session, dead.session, left.session, killed.session, "sess_1", "sess_", "nonsense", "sess_%", "é",
				} {
					a := attempt(worker.under(session))
					same(s.t, "the status for "+session, a.status, unknown.status)
					same(s.t, "the answer for "+session, string(a.body), string(unknown.body))
				}
				attempt(left).refused(http.StatusGone, ma2h.CodeGone, "")
				attempt(killed).refused(http.StatusGone, ma2h.CodeSessionClosedByOperator, "")
			})
		}
		s.now = noon.Add(lease + time.Millisecond) // lapsed, and nobody saw it
		for _, attempt := range attempts {
			attempt(sibling).refused(http.StatusGone, ma2h.CodeGone, "")
			attempt(left).refused(http.StatusGone, ma2h.CodeGone, "")
		}
		s.now = noon.Add(2 * time.Hour) // purged: unknown as any other
		for _, attempt := range attempts {
			unknown := attempt(bot.under("sess_00000000000000000000000000")).is(http.StatusNotFound)
			for _, m := range []*mouth{left, killed, sibling} {
				same(s.t, "the answer after the purge", string(attempt(m).body), string(unknown.body))
			}
		}
		s.agent("worker").opens(0).gets(directive) // none of it claimed or acked anything
		alice.track(directive).shows("/state", "delivered", "/delivered_at", stamp(s.now))
	})
}

func TestB49_WhoSeesWhat(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker")
		a, b := worker.opens(0), worker.opens(0)
		other := bot.opens(0)
		toA := []string{s.direct(a.address()), bot.accepted(s.notify(mailTo(a.address())))}
		toAll := []string{s.direct("agent:worker"), bot.accepted(s.ask(mailTo("agent:worker")))}
		toB := bot.accepted(s.task(mailTo(b.address())))
		other.gets()
		b.gets(append(toAll, toB)...) // first come, first served, in the order of their coming
		a.gets(toA...)
		b.gets()
		worker.opens(0).gets()
		s.later(window + time.Second)
		worker.opens(0).gets(toAll...) // whoever is there takes what its claimant never acked
		a.gets(toA...)
		b.gets(toB)
		b.consume(toA...) // the credential acks, not the session
		b.consume(toAll...)
		s.later(window + time.Second)
		a.gets()
		b.gets(toB)
		other.gets()
	})
}

func TestB49_AClaimHoldsForTheWindow(t *testing.T) {
	onStoresWith(t, doc{"visibility_timeout_seconds": 10}, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, a := s.agent("bot"), s.agent("worker").opens(0)
		b := s.agent("worker").opens(0)
		id := bot.accepted(s.ask(mailTo("agent:worker")))
		a.gets(id)
		s.now = noon.Add(10*time.Second - time.Millisecond)
		b.gets()
		a.gets()
		s.now = noon.Add(-time.Minute) // a claim is held when the clock goes back
		b.gets()
		s.now = noon.Add(10*time.Second + time.Millisecond)
		b.gets(id)
		s.now = noon.Add(20 * time.Second)
		a.gets()
		s.now = noon.Add(20*time.Second + 2*time.Millisecond)
		a.gets(id)
		a.closes().is(http.StatusOK) // its claim outlives it, and then a sibling comes to the rescue
		b.gets()
		s.later(10*time.Second + time.Millisecond)
		b.gets(id)
		b.answersAs(id, "approve").is(http.StatusOK)
		b.consume(id)
		s.later(time.Minute)
		b.gets()
	})
}

func TestB49_OneOfManyDrainsGetsAnEntry(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker")
		want := []string{}
		for range 20 {
			want = append(want, bot.accepted(s.notify(mailTo("agent:worker"))))
		}
		sessions := []*mouth{}
		for range 8 {
			sessions = append(sessions, worker.opens(0))
		}
		var mu sync.Mutex
		got := []string{}
		var racers sync.WaitGroup
		for _, m := range sessions {
			racers.Go(func() {
				for range 4 {
					a, err := s.try(request{method: "GET", path: m.at("/v1/inbox", "max", "3"), token: m.token})
					if err != nil || a.status != http.StatusOK {
						s.t.Errorf("drain = %+v, error %v, want 200", a, err)
						return
					}
					list, _ := lookUp(mustParse(s.t, a.body), "/messages").([]any)
					mu.Lock()
					for _, e := range list {
						id, _ := lookUp(e, "/message/id").(string)
						got = append(got, id)
					}
					mu.Unlock()
				}
			})
		}
		racers.Wait()
		for _, m := range sessions { // what the losers of every race left
			got = append(got, keys(m.drain())...)
		}
		slices.Sort(got)
		slices.Sort(want)
		same(s.t, "what all drains together delivered", got, want)
	})
}

func TestB51_ABadMaxClaimsNothingAndLiftsNoCap(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		most := hub.DefaultSettings().MaxBatch
		ids := []string{}
		for i := range 2*most + 3 {
			if i%2 == 0 {
				ids = append(ids, s.direct("agent:worker"))
			} else {
				ids = append(ids, bot.accepted(s.notify(mailTo([]string{"agent:worker", worker.address()}[i/2%2]))))
			}
		}
		s.writesNothing(func() {
			for _, max := range []string{"0", "-1", "abc", "1.5", "", "+", "+1", "1e1", " 1", "1 ", "0x1", "99999999999999999999x", "null", "٣"} {
				for _, m := range []*mouth{worker, worker.bare()} {
					m.send("GET", m.at("/v1/inbox", "max", max), nil).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/max")
				}
			}
		})
		same(s.t, "a drain of one", keys(worker.drain("max", "1")), ids[:1])
		same(s.t, "a drain of two", keys(worker.drain("max", "2")), ids[1:3])
		same(s.t, "a drain of too many", keys(worker.drain("max", "1000000")), ids[3:3+most])
		same(s.t, "a drain without max", keys(worker.drain()), ids[3+most:3+2*most])
		same(s.t, "the rest", len(worker.drain("max", "99999999999999999999")), 0)
	})
}

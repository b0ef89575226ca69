package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// visible is a tenant whose agents may learn of each other's sessions.
func visible() doc { return doc{"agent_list_visibility": true} }

// either runs a test in tenants with and without that visibility.
func either(t *testing.T, test func(s *suite, sees bool)) {
	t.Helper()
	t.Parallel()
	for _, e := range engines(t) {
		for _, sees := range []bool{true, false} {
			t.Run(e.name+map[bool]string{true: "/visible", false: "/hidden"}[sees], func(t *testing.T) {
				t.Parallel()
				test(newSuite(t, e, doc{"agent_list_visibility": sees, "terminal_retention_seconds": 3600}), sees)
			})
		}
	}
}

func TestB22_EveryAddressedAckCarriesTheDestination(t *testing.T) {
	either(t, func(s *suite, sees bool) {
		s.fleet("bot", "worker", "idle")
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		s.later(30 * time.Second)
		for to, want := range map[string]doc{
			"agent:worker":   {"state": "online", "last_seen": stamp(noon)},
			worker.address(): {"state": "online", "last_seen": stamp(noon)},
			"agent:idle":     {"state": "unknown"},
		} {
			if !sees {
				want = doc{"state": "unknown"}
			}
			for _, e := range []func(...edit) doc{s.notify, s.ask, s.task} {
				envelope := e(mailTo(to))
				id := bot.submit(envelope).is(http.StatusAccepted).shows("/destination", want).str("/id")
				bot.submit(envelope).is(http.StatusAccepted).shows("/id", id, "/destination", want)
			}
		}
		// A replay tells of now, not of then.
		late := s.notify(mailTo(worker.address()))
		bot.submit(late).is(http.StatusAccepted)
		s.later(2 * time.Minute)
		want := doc{"state": "offline", "last_seen": stamp(noon)}
		if !sees {
			want = doc{"state": "unknown"}
		}
		bot.submit(late).is(http.StatusAccepted).shows("/status", "queued", "/destination", want)
		bot.submit(s.ask()).is(http.StatusAccepted).lacks("/destination")
	})
}

// TestB22_ReplaysAfterTheEndOfTheDestination: an ack of mail always has its snapshot, even where nobody is left.
func TestB22_ReplaysAfterTheEndOfTheDestination(t *testing.T) {
	either(t, func(s *suite, sees bool) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		whole := s.ask(mailTo(worker.address()))
		id := bot.accepted(whole)
		worker.closes().is(http.StatusOK)
		for _, at := range []time.Duration{0, time.Hour, time.Hour + time.Millisecond, 2 * day} {
			s.now = noon.Add(at)
			s.settle(doc{"what": "sessions"})
			a := bot.submit(whole).is(http.StatusAccepted).shows("/id", id, "/status", "cancelled")
			if state := a.str("/destination/state"); state == "online" || !sees && state != "unknown" {
				s.t.Errorf("%s: the destination of a session that has ended is %s", a.what, state)
			}
			if !sees {
				a.shows("/destination", doc{"state": "unknown"})
			}
		}
	})
}

func TestB23_TheSnapshotNeedsALiveSession(t *testing.T) {
	onStoresWith(t, visible(), func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker")
		snapshot := func(to string, state string, seen time.Time) {
			s.t.Helper()
			want := doc{"state": state}
			if !seen.IsZero() {
				want["last_seen"] = stamp(seen)
			}
			bot.submit(s.notify(mailTo(to))).is(http.StatusAccepted).shows("/destination", want)
		}
		// Who drains without a session can never be shown a message.
		worker.bare().drain()
		worker.get(worker.accepted(s.ask()) + "?wait=1").is(http.StatusOK)
		snapshot("agent:worker", "unknown", time.Time{})

		w := worker.opens(time.Minute)
		snapshot("agent:worker", "online", noon)
		snapshot(w.address(), "online", noon)
		worker.bare().drain()
		worker.bare().consume("dir_unknown")
		s.now = noon.Add(time.Minute) // the lease ends after this, not with it
		snapshot(w.address(), "online", noon)
		snapshot("agent:worker", "online", noon)
		s.later(time.Millisecond)
		snapshot("agent:worker", "offline", noon) // within the window, but nobody lives who could claim it
	})
}

func TestB23_TheSnapshotFollowsTheFreshnessWindow(t *testing.T) {
	onStoresWith(t, visible(), func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker, boss := s.agent("bot"), s.agent("worker").opens(0), s.agent("bot").opens(0)
		snapshot := func(to string) *answer {
			s.t.Helper()
			return bot.submit(s.notify(mailTo(to))).is(http.StatusAccepted)
		}
		s.now = noon.Add(90 * time.Second)
		snapshot(worker.address()).shows("/destination/state", "online")
		s.later(time.Millisecond)
		snapshot(worker.address()).shows("/destination", doc{"state": "offline", "last_seen": stamp(noon)})
		for what, activity := range map[string]func(){
			"a drain":  func() { worker.drain() },
			"an ack":   func() { worker.consume("dir_unknown") },
			"a submit": func() { worker.accepted(s.notify(worker.as())) },
		} {
			s.run(what, func() {
				s.later(2 * time.Minute)
				snapshot("agent:worker").shows("/destination/state", "offline")
				activity()
				at := stamp(s.now)
				s.later(time.Second)
				snapshot("agent:worker").shows("/destination", doc{"state": "online", "last_seen": at})
				snapshot(worker.address()).shows("/destination", doc{"state": "online", "last_seen": at})
			})
		}
		// One session's life is not another's, and the principal's is the latest of them.
		s.later(2 * time.Minute)
		second := worker.opens(0)
		snapshot(worker.address()).shows("/destination/state", "offline")
		snapshot(second.address()).shows("/destination/state", "online")
		snapshot("agent:worker").shows("/destination", doc{"state": "online", "last_seen": stamp(s.now)})
		second.closes().is(http.StatusOK)
		snapshot("agent:worker").shows("/destination/state", "offline") // who was here just now is not who could claim it
		snapshot(boss.address()).shows("/destination/state", "offline") // the sender's own other session
	})
}

// TestB24_DestinationsThatAreNoneAreAlike: byte by byte, so that nobody learns whom there is, and nothing is stored.
func TestB24_DestinationsThatAreNoneAreAlike(t *testing.T) {
	either(t, func(s *suite, sees bool) {
		s.fleet("bot", "worker", "choosy")
		s.owns("carol", "foreign")
		s.optIn("carol", true)
		bot := s.agent("bot")
		s.agent("loner")
		foreign, choosy := s.agent("foreign").opens(0), s.agent("choosy").opens(0)
		ended, loner := s.agent("worker").opens(0), s.agent("loner").opens(0)
		ended.closes().is(http.StatusOK)
		shut := s.agent("choosy").opens(0) // of an agent that does not let bot write, so that it is no more than unknown
		shut.closes().is(http.StatusOK)
		s.allow("choosy", []string{"worker"})
		unknown := "sess_00000000000000000000000000"
		destinations := []string{
			"agent:nobody", "agent:no body/%2F é", "agent:nobody#" + unknown,
			"agent:foreign", foreign.address(), "agent:foreign#" + unknown, "agent:loner", loner.address(),
			"agent:choosy", choosy.address(), "agent:choosy#" + unknown, shut.address(),
			"agent:worker#" + unknown, "agent:worker#sess_", "agent:worker#sess_1", "agent:worker#sess_" + ended.session,
			"agent:worker#" + choosy.session, "agent:worker#" + foreign.session, "agent:nobody#" + ended.session,
			"agent:WORKER", "agent:human:alice", "agent:alice",
		}
		if !sees {
			destinations = append(destinations, ended.address())
		}
		s.writesNothing(func() {
			for _, e := range []func(...edit) doc{s.notify, s.ask, s.task} {
				first := bot.submit(e(mailTo("agent:nobody"), set("/idempotency_key", "free"))).
					refused(http.StatusUnprocessableEntity, ma2h.CodeUnknownDestination, "/to")
				for _, to := range destinations {
					a := bot.submit(e(mailTo(to), set("/idempotency_key", "free")))
					same(s.t, "the status for "+to, a.status, first.status)
					same(s.t, "the answer for "+to, string(a.body), string(first.body))
				}
			}
		})
		bot.accepted(s.ask(mailTo("agent:worker"), set("/idempotency_key", "free"))) // nothing took the key (behaviour 12)
		s.agent("worker").accepted(s.notify(mailTo(choosy.address())))
		s.allow("choosy", []string{})
		s.agent("worker").submit(s.notify(mailTo("agent:choosy"))).
			refused(http.StatusUnprocessableEntity, ma2h.CodeUnknownDestination, "/to")
		s.allow("choosy", nil)
		bot.accepted(s.notify(mailTo(choosy.address())))
	})
}

func TestB24_DirectivesToNobodyAreAlike(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker", "choosy")
		s.owns("carol", "foreign")
		alice, worker, foreign := s.person("alice"), s.agent("worker").opens(0), s.agent("foreign").opens(0)
		s.agent("loner")
		s.allow("choosy", []string{})
		unknown := "sess_00000000000000000000000000"
		post := func(to string) *answer { return alice.send("POST", "/v1/directives", doc{"to": to, "title": "T"}) }
		first := post("agent:nobody").refused(http.StatusUnprocessableEntity, ma2h.CodeUnknownDestination, "/to")
		for _, to := range []string{
			"agent:foreign", foreign.address(), "agent:worker#" + unknown, "agent:worker#sess_1", "agent:loner",
			"agent:worker#" + foreign.session, "agent:nobody#" + worker.session,
		} {
			a := post(to).is(first.status)
			same(s.t, "the answer for "+to, string(a.body), string(first.body))
		}
		for _, to := range []string{"agent:nobody", "agent:worker#" + unknown, "agent:foreign#" + unknown, "agent:loner"} {
			s.tryDirect(to).refused(http.StatusUnprocessableEntity, ma2h.CodeUnknownDestination, "/to")
		}
		for _, to := range []any{"human:alice", "worker", "agent:", "agent:worker#x", "agent:a#b#sess_1", "", 7, nil} {
			s.tryDirect("agent:worker", set("/to", to)).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/to")
			alice.send("POST", "/v1/directives", doc{"to": to, "title": "T"}).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/to")
		}
		// An allowlist is about agents; a person is not among its senders.
		post("agent:choosy").is(http.StatusCreated)
	})
}

package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// activity is all that renews a lease but registration and a submit (spec §16.2).
func activity(c *caller, session string) map[string]func() *answer {
	return map[string]func() *answer{
		"a drain":        func() *answer { return c.send("GET", "/v1/inbox?session="+session, nil) },
		"an ack":         func() *answer { return c.send("POST", "/v1/inbox/ack?session="+session, doc{"ids": []string{}}) },
		"a longer drain": func() *answer { return c.send("GET", "/v1/inbox?session="+session+"&wait=1", nil) },
	}
}

func TestB62_ALeaseLapsesStrictlyAfterItsEnd(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		for what, looks := range map[string]func(id string) *answer{
			"its agent":    bot.reads,
			"a person":     alice.reads,
			"the list":     func(id string) *answer { alice.sessions(); return bot.reads(id) },
			"the agent's":  func(id string) *answer { bot.sessions(); return bot.reads(id) },
			"settled":      func(id string) *answer { s.settle(doc{"what": "sessions"}); return bot.reads(id) },
			"by retention": func(id string) *answer { s.settle(doc{"what": "retention"}); return bot.reads(id) },
		} {
			s.at(0)
			id := bot.registers(doc{"ttl_seconds": 60})
			s.at(time.Minute)
			looks(id).is(http.StatusOK).shows("/session/state", "active").lacks("/session/closed_at")
			s.at(7 * time.Minute) // whoever notices it, and however late, it ended with its lease
			looks(id).is(http.StatusOK).shows("/session/state", "expired", "/session/closed_at", stamp(noon.Add(time.Minute)),
				"/session/expires_at", stamp(noon.Add(time.Minute)), "/session/last_seen", stamp(noon)).lacks("/session/closed_by_operator")
			s.at(0) // a terminal stays terminal, even when the clock goes back
			if got := bot.reads(id).at("/session/state"); got != "expired" {
				s.t.Errorf("seen by %s: earlier it is %v", what, got)
			}
		}
	})
}

func TestB62_ActivityRenewsALease(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		id := bot.registers(doc{"ttl_seconds": 100})
		now := time.Duration(0)
		for _, act := range activity(bot, id) {
			now += 100 * time.Second // at the very end of the lease
			s.at(now)
			act().is(http.StatusOK)
			bot.reads(id).shows("/session/state", "active", "/session/last_seen", stamp(s.now),
				"/session/expires_at", stamp(s.now.Add(100*time.Second)), "/session/ttl_seconds", 100)
		}
		now += 100 * time.Second
		s.at(now)
		bot.accepted(s.ask(set("/agent/session", id)))
		bot.reads(id).shows("/session/expires_at", stamp(s.now.Add(100*time.Second)))
		s.at(now + 100*time.Second)
		s.settle(doc{"what": "sessions"}) // which finds that it was renewed
		bot.reads(id).shows("/session/state", "active")
		s.at(now + 101*time.Second)
		s.settle(doc{"what": "sessions"})
		bot.reads(id).shows("/session/state", "expired", "/session/closed_at", stamp(noon.Add(now+100*time.Second)))
	})
}

func TestB62_NothingElseRenewsALease(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.registers(doc{"ttl_seconds": 100})
		ask := bot.accepted(s.ask(set("/agent/session", id)))
		s.at(50 * time.Second)
		bot.reads(id)
		alice.reads(id)
		bot.sessions()
		bot.send("GET", "/v1/inbox", nil).is(http.StatusOK)
		bot.send("POST", "/v1/inbox/ack", doc{"ids": []string{}}).is(http.StatusOK)
		bot.waitsFor(ask)
		bot.holdBound(id).is(http.StatusOK)
		bot.resolve(ask+"?x", nil)
		bot.accepted(s.ask()) // a submit that names no session
		bot.submit(s.ask(set("/agent/session", id), set("/title", ""))).is(http.StatusBadRequest)
		bot.reads(id).shows("/session/last_seen", stamp(noon), "/session/expires_at", stamp(noon.Add(100*time.Second)))
	})
}

func TestB62_ARenewalNeverShortensALease(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		s.at(time.Hour)
		id := bot.registers(doc{"ttl_seconds": 100})
		s.at(0)
		bot.send("GET", "/v1/inbox?session="+id, nil).is(http.StatusOK)
		s.writesNothing(func() { bot.send("GET", "/v1/inbox?session="+id, nil).is(http.StatusOK) })
		bot.reads(id).shows("/session/last_seen", stamp(noon.Add(time.Hour)), "/session/expires_at", stamp(noon.Add(time.Hour+100*time.Second)))
	})
}

func TestB63_ClosingWhatHasExpiredLeavesItExpired(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		for _, who := range []*caller{bot, alice} {
			s.at(0)
			id := bot.registers(doc{"ttl_seconds": 60})
			s.at(2 * time.Minute)
			end := []any{"/session/state", "expired", "/session/closed_at", stamp(noon.Add(time.Minute))}
			who.closes(id).is(http.StatusOK).shows(end...).lacks("/session/closed_by_operator")
			who.closes(id).is(http.StatusOK).shows(end...).lacks("/session/closed_by_operator")
			bot.send("GET", "/v1/inbox?session="+id, nil).refused(http.StatusGone, ma2h.CodeGone, "")
			bot.registers(nil) // no close has stopped it
		}
	})
}

func TestB63_ClosingTwiceIsClosingOnce(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		id := bot.registers(nil)
		s.at(time.Minute)
		first := bot.closes(id).is(http.StatusOK).shows("/session/state", "closed", "/session/closed_at", stamp(s.now),
			"/session/expires_at", stamp(noon.Add(15*time.Minute)))
		s.at(time.Hour) // past what would have been the end of its lease
		s.writesNothing(func() {
			same(s.t, "the second close", string(bot.closes(id).is(http.StatusOK).body), string(first.body))
			same(s.t, "what is read", string(bot.reads(id).is(http.StatusOK).body), string(first.body))
		})
	})
}

func TestB64_TheOperatorsMarkIsOnlyOnTheWinningClose(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "other")
		bot, other, alice := s.agent("bot"), s.agent("other"), s.person("alice")
		own, killed := bot.registers(nil), other.registers(nil)
		bot.closes(own).is(http.StatusOK).shows("/session/state", "closed").lacks("/session/closed_by_operator")
		alice.closes(own).is(http.StatusOK).lacks("/session/closed_by_operator")
		bot.registers(nil) // not stopped: there was nothing to close

		alice.closes(killed).is(http.StatusOK).shows("/session/state", "closed", "/session/closed_by_operator", true)
		other.closes(killed).is(http.StatusOK).shows("/session/closed_by_operator", true)
		other.reads(killed).is(http.StatusOK).shows("/session/closed_by_operator", true)

		for id, want := range map[string]struct {
			who  *caller
			code ma2h.Code
		}{own: {bot, ma2h.CodeGone}, killed: {other, ma2h.CodeSessionClosedByOperator}} {
			for _, act := range activity(want.who, id) {
				act().refused(http.StatusGone, want.code, "")
			}
			want.who.holdBound(id).refused(http.StatusGone, want.code, "")
		}
		bot.submit(s.ask(set("/agent/session", own))).refused(http.StatusGone, ma2h.CodeDestinationGone, "/agent/session")
		other.submit(s.ask(set("/agent/session", killed))).refused(http.StatusGone, ma2h.CodeSessionClosedByOperator, "")
	})
}

func TestB48_ForeignSessionsAreLikeUnknownOnes(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "other")
		bot, other, alice, bob := s.agent("bot"), s.agent("other"), s.person("alice"), s.person("bob")
		foreign, ended := other.registers(nil), other.registers(nil)
		other.closes(ended).is(http.StatusOK)
		unknown := string(bot.reads(unknownSession).refused(http.StatusNotFound, ma2h.CodeNotFound, "").body)
		s.writesNothing(func() {
			for _, id := range []string{foreign, ended, unknownSession, "sess_1", "sess_", "sess_" + foreign, "nonsense"} {
				same(s.t, "reading "+id, string(bot.reads(id).is(http.StatusNotFound).body), unknown)
				same(s.t, "closing "+id, string(bot.closes(id).is(http.StatusNotFound).body), unknown)
				same(s.t, "the bound of "+id, string(bot.holdBound(id).is(http.StatusNotFound).body), unknown)
				same(s.t, "reading "+id+" from another account", string(bob.reads(id).is(http.StatusNotFound).body), unknown)
				same(s.t, "closing "+id+" from another account", string(bob.closes(id).is(http.StatusNotFound).body), unknown)
				for what, act := range activity(bot, id) {
					same(s.t, what+" of "+id, string(act().is(http.StatusNotFound).body), unknown)
				}
			}
		})
		alice.reads(foreign).is(http.StatusOK).shows("/session/state", "active", "/session/agent_id", "other")
	})
}

func TestSessions_AreForgottenAfterTheirRetention(t *testing.T) {
	config := doc{"terminal_retention_seconds": 600, "min_ttl_seconds": 60, "default_ttl_seconds": 60}
	onStoresWith(t, config, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		for _, settles := range []bool{false, true} {
			s.at(0)
			id := bot.registers(nil) // which ends at one minute
			s.at(11 * time.Minute)
			if settles {
				s.settle(doc{"what": "sessions"})
			}
			bot.reads(id).is(http.StatusOK).shows("/session/state", "expired")
			s.later(time.Millisecond)
			if settles {
				s.settle(doc{"what": "sessions"})
			}
			for _, who := range []*caller{bot, alice} {
				who.reads(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
				who.closes(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
				_, ids := who.sessions()
				same(s.t, "what is listed", ids, []string{})
			}
			bot.holdBound(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			bot.send("GET", "/v1/inbox?session="+id, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			bot.submit(s.ask(set("/agent/session", id))).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/agent/session")
		}
	})
}

func TestB60_AHoldEndsBeforeTheLeaseDoes(t *testing.T) {
	config := doc{"min_ttl_seconds": 1, "stream_max_hold_seconds": 40, "freshness_seconds": 40}
	onStoresWith(t, config, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for ttl, want := range map[int]map[time.Duration]int{
			3600: {0: 40_000, time.Hour - 41*time.Second: 36_000},
			20:   {0: 15_000, 10 * time.Second: 7_500},
			2:    {0: 1_500, time.Second: 750},
		} {
			s.at(0)
			id := bot.registers(doc{"ttl_seconds": ttl})
			for after, ms := range want {
				s.at(after)
				s.writesNothing(func() { bot.holdBound(id).is(http.StatusOK).shows("", doc{"ms": ms}) })
			}
			s.at(time.Duration(ttl)*time.Second + time.Millisecond)
			bot.holdBound(id).refused(http.StatusGone, ma2h.CodeGone, "")
		}
	})
}

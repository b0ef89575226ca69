package controlapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB66_AStopOutlivesTheSession(t *testing.T) {
	onStoresWith(t, doc{"terminal_retention_seconds": 60}, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "other")
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.registers(nil)
		s.at(time.Minute)
		alice.closes(id).is(http.StatusOK)
		refused := func() {
			s.writesNothing(func() {
				bot.register(nil).refused(http.StatusForbidden, ma2h.CodeSessionClosedByOperator, "")
				bot.register(doc{"ttl_seconds": 1.5}).refused(http.StatusForbidden, ma2h.CodeSessionClosedByOperator, "")
			})
		}
		refused()
		s.at(10 * 24 * time.Hour) // the session is gone by then
		s.settle(doc{"what": "retention"})
		bot.reads(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		refused()
		s.agent("other").registers(nil) // nobody else is stopped
		bot.accepted(s.ask())           // and people can still be asked

		alice.lifts("bot").is(http.StatusNoContent)
		alice.lifts("bot").is(http.StatusNoContent)
		bot.registers(nil)
	})
}

func TestB66_OnlyAPersonOfTheAccountLiftsAStop(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "sibling")
		s.owns("bob", "stranger")
		bot, alice := s.agent("bot"), s.person("alice")
		alice.stops("bot").is(http.StatusNoContent)
		// It is the agent that is stopped, not its token.
		agents := []*caller{bot, s.agent("bot"), s.agent("sibling"), s.agent("stranger")}
		bob := s.person("bob")
		s.writesNothing(func() {
			for _, agent := range agents {
				agent.lifts("bot").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
				agent.stops("sibling").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
			}
			unknown := string(bob.lifts("nobody").refused(http.StatusNotFound, ma2h.CodeNotFound, "").body)
			same(s.t, "lifting another account's", string(bob.lifts("bot").is(http.StatusNotFound).body), unknown)
			same(s.t, "stopping another account's", string(bob.stops("bot").is(http.StatusNotFound).body), unknown)
		})
		bot.register(nil).refused(http.StatusForbidden, ma2h.CodeSessionClosedByOperator, "")
	})
}

func TestB66_AStopClosesAllThatLives(t *testing.T) {
	onStoresWith(t, doc{"max_live_per_agent": 100}, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		closed, lapsed := bot.registers(nil), bot.registers(doc{"ttl_seconds": 60})
		bot.closes(closed).is(http.StatusOK)
		s.at(2 * time.Minute)
		var live []string
		for range 60 { // more than one Commit takes
			live = append(live, bot.registers(nil))
		}
		alice.stops("bot").is(http.StatusNoContent)
		for _, id := range live {
			bot.reads(id).shows("/session/state", "closed", "/session/closed_by_operator", true, "/session/closed_at", stamp(s.now))
		}
		bot.reads(closed).lacks("/session/closed_by_operator")
		bot.reads(lapsed).shows("/session/state", "expired", "/session/closed_at", stamp(noon.Add(time.Minute))).lacks("/session/closed_by_operator")
		s.writesNothing(func() {
			alice.stops("bot").is(http.StatusNoContent)
			bot.register(nil).refused(http.StatusForbidden, ma2h.CodeSessionClosedByOperator, "")
		})
	})
}

// TestB66_ClosingOneSessionStopsThePrincipal leaves the others as they are, until somebody closes them too.
func TestB66_ClosingOneSessionStopsThePrincipal(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		one, two := bot.registers(nil), bot.registers(nil)
		alice.closes(one).is(http.StatusOK)
		bot.send("GET", "/v1/inbox?session="+two, nil).is(http.StatusOK)
		bot.register(nil).refused(http.StatusForbidden, ma2h.CodeSessionClosedByOperator, "")
		alice.stops("bot").is(http.StatusNoContent)
		bot.send("GET", "/v1/inbox?session="+two, nil).refused(http.StatusGone, ma2h.CodeSessionClosedByOperator, "")
	})
}

func TestB66_WithoutTheHardStopACloseIsOnlyMarked(t *testing.T) {
	onStoresWith(t, doc{"operator_hard_stop": false}, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		s.send(request{method: "GET", path: "/.well-known/ma2h"}).shows("/sessions/operator_hard_stop", false)
		one := bot.registers(nil)
		alice.closes(one).is(http.StatusOK).shows("/session/closed_by_operator", true)
		bot.send("GET", "/v1/inbox?session="+one, nil).refused(http.StatusGone, ma2h.CodeSessionClosedByOperator, "")
		two := bot.registers(nil)
		alice.stops("bot").is(http.StatusNoContent)
		bot.reads(two).shows("/session/closed_by_operator", true)
		bot.registers(nil)
		alice.lifts("bot").is(http.StatusNoContent)
	})
}

func TestB66_TheAccountOfNobodyHasNoKillSwitch(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, carol := s.agent("bot"), s.person("carol")
		id := bot.registers(nil)
		s.writesNothing(func() {
			carol.closes(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			carol.stops("bot").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			carol.lifts("bot").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		})
	})
}

func TestB66_AStopSaysWhy(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		alice := s.person("alice")
		s.writesNothing(func() {
			alice.send("POST", "/v1/stops", doc{"agent": "bot", "reason": strings.Repeat("x", 1001)}).
				refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/reason")
			for body, field := range map[string]string{
				`{}`: "/agent", `{"agent":7}`: "/agent", `{"agent":"bot","reason":7}`: "/reason", `{"agent":"bot","x":1}`: "", `[]`: "",
			} {
				alice.send("POST", "/v1/stops", body).refused(http.StatusBadRequest, ma2h.CodeValidationError, field)
			}
			alice.send("POST", "/v1/stops/lift", `{}`).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/agent")
		})
		alice.send("POST", "/v1/stops", doc{"agent": "bot", "reason": "It runs in circles."}).is(http.StatusNoContent)
	})
}

// TestB66_NoSessionAfterAStop: whatever races a stop, once it stands no session lives.
func TestB66_NoSessionAfterAStop(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		bot.registers(nil)
		s.crowd(21, func(i int) request {
			if i == 7 {
				return request{method: "POST", path: "/v1/stops", token: alice.token, body: doc{"agent": "bot"}}
			}
			return request{method: "POST", path: "/v1/sessions", token: bot.token}
		})
		_, ids := bot.sessions()
		for _, id := range ids {
			bot.reads(id).shows("/session/state", "closed", "/session/closed_by_operator", true)
		}
		bot.register(nil).refused(http.StatusForbidden, ma2h.CodeSessionClosedByOperator, "")
	})
}

package controlapi_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/controlapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/recordtest"
)

// Two deeds at one session, the second of which comes between what the first has read and its Commit. The first terminal
// stands, and nothing lives again (spec §16.3).

// passed makes the next Commit that writes a session come after first.
func (s *suite) passed(first func()) {
	s.store.fails(recordtest.Once(recordtest.Putting(hub.KindSession), recordtest.Overtaken(first)))
}

func TestB62_ARenewalOvertakenByAnEnd(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "killed")
		bot, killed, alice := s.agent("bot"), s.agent("killed"), s.person("alice")
		for what, c := range map[string]struct {
			who   *caller
			ends  func(id string)
			state string
			code  ma2h.Code
		}{
			"its own close": {bot, func(id string) { bot.closes(id).is(http.StatusOK) }, "closed", ma2h.CodeGone},
			"a lapse": {bot, func(id string) {
				s.later(time.Hour)
				bot.reads(id).shows("/session/state", "expired")
			}, "expired", ma2h.CodeGone},
			"a person": {killed, func(id string) { alice.closes(id).is(http.StatusOK) }, "closed", ma2h.CodeSessionClosedByOperator},
		} {
			for deed := range activity(c.who, "") {
				s.at(0)
				alice.lifts(c.who.id)
				id := c.who.registers(doc{"ttl_seconds": 60})
				s.at(time.Minute)
				s.passed(func() { c.ends(id) })
				activity(c.who, id)[deed]().refused(http.StatusGone, c.code, "")
				c.who.reads(id).shows("/session/state", c.state, "/session/last_seen", stamp(noon),
					"/session/expires_at", stamp(noon.Add(time.Minute)))
				if s.t.Failed() {
					s.t.Fatalf("%s, overtaken by %s", deed, what)
				}
			}
		}
	})
}

func TestB62_ACloseOvertakenByARenewalStillCloses(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		id := bot.registers(nil)
		s.at(time.Minute)
		s.passed(func() { bot.send("GET", "/v1/inbox?session="+id, nil).is(http.StatusOK) })
		bot.closes(id).is(http.StatusOK).shows("/session/state", "closed", "/session/closed_at", stamp(s.now), "/session/last_seen", stamp(s.now))
		bot.send("GET", "/v1/inbox?session="+id, nil).refused(http.StatusGone, ma2h.CodeGone, "")
	})
}

func TestB62_ALapseOvertakenByARenewalIsNone(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		id := bot.registers(doc{"ttl_seconds": 60})
		s.at(time.Minute + time.Millisecond)
		s.passed(func() {
			s.at(time.Minute) // whose clock runs behind
			bot.send("GET", "/v1/inbox?session="+id, nil).is(http.StatusOK)
			s.at(time.Minute + time.Millisecond)
		})
		bot.reads(id).is(http.StatusOK).shows("/session/state", "active", "/session/expires_at", stamp(noon.Add(2*time.Minute)))
	})
}

func TestB63_ACloseOvertakenByALapseStaysExpired(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.registers(doc{"ttl_seconds": 60})
		s.at(time.Minute)
		s.passed(func() {
			s.later(time.Second)
			bot.reads(id).shows("/session/state", "expired")
		})
		alice.closes(id).is(http.StatusOK).shows("/session/state", "expired", "/session/closed_at", stamp(noon.Add(time.Minute))).
			lacks("/session/closed_by_operator")
		bot.registers(nil) // the close that lost has stopped nobody
	})
}

func TestB64_APersonsCloseOvertakenByTheAgentsOwn(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.registers(nil)
		s.passed(func() { bot.closes(id).is(http.StatusOK) })
		alice.closes(id).is(http.StatusOK).shows("/session/state", "closed").lacks("/session/closed_by_operator")
		bot.registers(nil)

		id = bot.registers(nil)
		s.passed(func() { alice.closes(id).is(http.StatusOK) })
		bot.closes(id).is(http.StatusOK).shows("/session/closed_by_operator", true)
		bot.register(nil).refused(http.StatusForbidden, ma2h.CodeSessionClosedByOperator, "")
	})
}

func TestB66_ARegistrationOvertakenByAStop(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.registers(nil)
		for what, stops := range map[string]func(){
			"a close": func() { alice.closes(id).is(http.StatusOK) },
			"a stop":  func() { alice.stops("bot").is(http.StatusNoContent) },
		} {
			alice.lifts("bot").is(http.StatusNoContent)
			if what == "a close" {
				id = bot.registers(nil)
			}
			_, before := bot.sessions()
			s.passed(stops)
			bot.register(nil).refused(http.StatusForbidden, ma2h.CodeSessionClosedByOperator, "")
			_, after := bot.sessions()
			same(s.t, "how many sessions there are after "+what, len(after), len(before))
		}
	})
}

func TestB66_AStopOvertakenByARegistrationClosesThatToo(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		one := bot.registers(nil)
		var two string
		s.passed(func() { two = bot.registers(nil) })
		alice.stops("bot").is(http.StatusNoContent)
		for _, id := range []string{one, two} {
			bot.reads(id).shows("/session/state", "closed", "/session/closed_by_operator", true)
		}
		bot.register(nil).refused(http.StatusForbidden, ma2h.CodeSessionClosedByOperator, "")
	})
}

func TestB66_ALiftOvertakenByALiftAndARegistration(t *testing.T) {
	onStoresWith(t, doc{"max_live_per_agent": 1}, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "other")
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.registers(doc{"ttl_seconds": 60})
		alice.stops("bot").is(http.StatusNoContent)
		s.store.fails(recordtest.Once(recordtest.Putting(hub.KindLive), recordtest.Overtaken(func() {
			alice.lifts("bot").is(http.StatusNoContent)
			id = bot.registers(doc{"ttl_seconds": 60})
		})))
		alice.lifts("bot").is(http.StatusNoContent)
		bot.reads(id).shows("/session/state", "active")
		bot.register(nil).refused(http.StatusTooManyRequests, ma2h.CodeRateLimited, "") // nothing was forgotten of who lives
	})
}

func TestFaults_LostAnswersOfSessions(t *testing.T) {
	onStoresWith(t, doc{"max_live_per_agent": 1}, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		lost := func(meanwhile func()) {
			s.store.fails(recordtest.Once(recordtest.Putting(hub.KindSession), recordtest.LostAnswer(meanwhile)))
		}
		lost(nil)
		id := bot.registers(nil)
		lost(nil)
		bot.closes(id).is(http.StatusOK).shows("/session/state", "closed").lacks("/session/closed_by_operator")
		lost(func() { // the registration that gets no answer is found and closed, and another one begun
			_, ids := bot.sessions()
			bot.closes(ids[0]).is(http.StatusOK)
			bot.registers(nil)
		})
		id = bot.registers(nil)
		bot.reads(id).shows("/session/state", "closed")
		_, ids := bot.sessions()
		same(s.t, "how many sessions there are", len(ids), 3)
		lost(func() { s.settle(doc{"what": "sessions"}) })
		alice.closes(ids[0]).is(http.StatusOK).shows("/session/closed_by_operator", true)
		bot.register(nil).refused(http.StatusForbidden, ma2h.CodeSessionClosedByOperator, "")
	})
}

// TestB62_CloseLapseAndRenewalAtOnce: whichever of them wins, the session is one thing ever after, and its place among the
// live ones is free exactly if it has ended.
func TestB62_CloseLapseAndRenewalAtOnce(t *testing.T) {
	onStoresWith(t, doc{"max_live_per_agent": 1}, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		for round := range 5 {
			s.now = noon.Add(time.Duration(round) * time.Hour)
			id := bot.registers(doc{"ttl_seconds": 60})
			begun := s.now
			s.now = time.Time{}
			s.crowd(24, func(i int) request {
				r := request{method: "GET", path: "/v1/inbox?session=" + id, token: bot.token, header: http.Header{}}
				at := begun.Add(time.Minute) // the very end of the lease
				switch {
				case i%4 == 1:
					at = at.Add(time.Millisecond)
					r.path = "/v1/sessions/" + id
				case i%8 == 2:
					r.method, r.path = "DELETE", "/v1/sessions/"+id
				case i%8 == 6:
					at = at.Add(time.Millisecond)
					r.path, r.token = "/v1/sessions", alice.token
				}
				r.header.Set(controlapi.NowHeader, strconv.FormatInt(at.UnixMilli(), 10))
				return r
			})
			s.now = begun.Add(time.Minute)
			a := bot.reads(id).is(http.StatusOK)
			what := fmt.Sprintf("round %d, %v", round, a.at("/session/state"))
			switch a.str("/session/state") {
			case "active":
				same(s.t, what+": expires_at", a.at("/session/expires_at"), any(stamp(begun.Add(2*time.Minute))))
				bot.register(nil).refused(http.StatusTooManyRequests, ma2h.CodeRateLimited, "")
				bot.closes(id).is(http.StatusOK)
			default:
				same(s.t, what+": closed_at", a.at("/session/closed_at"), any(stamp(begun.Add(time.Minute))))
				bot.send("GET", "/v1/inbox?session="+id, nil).refused(http.StatusGone, ma2h.CodeGone, "")
				bot.closes(bot.registers(nil)).is(http.StatusOK)
			}
		}
	})
}

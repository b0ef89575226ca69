package controlapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB61_ALeaseIsClampedBothWays(t *testing.T) {
	config := doc{"min_ttl_seconds": 30, "default_ttl_seconds": 300, "max_ttl_seconds": 600}
	onStoresWith(t, config, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for asked, want := range map[string]int{
			``: 300, `{}`: 300, `{"ttl_seconds":1}`: 30, `{"ttl_seconds":29}`: 30, `{"ttl_seconds":30}`: 30, `{"ttl_seconds":31}`: 31,
			`{"ttl_seconds":4e2}`: 400, `{"ttl_seconds":45.0}`: 45, `{"ttl_seconds":600}`: 600, `{"ttl_seconds":601}`: 600,
			`{"ttl_seconds":9007199254740993}`: 600, `{"ttl_seconds":1e300}`: 600,
		} {
			a := bot.register([]byte(asked)).is(http.StatusCreated)
			a.shows("/session/ttl_seconds", want, "/session/created_at", stamp(noon), "/session/last_seen", stamp(noon),
				"/session/expires_at", stamp(noon.Add(time.Duration(want)*time.Second)), "/session/state", "active")
		}
	})
}

func TestB61_TheDefaultLeaseIsClampedToo(t *testing.T) {
	onStoresWith(t, doc{"default_ttl_seconds": 5}, func(_ *testing.T, s *suite) {
		s.agent("bot").register(nil).is(http.StatusCreated).shows("/session/ttl_seconds", 60)
	})
}

func TestB61_NoMoreThanTheCapLiveAtOnce(t *testing.T) {
	onStoresWith(t, doc{"max_live_per_agent": 2}, func(_ *testing.T, s *suite) {
		bot, other := s.agent("bot"), s.agent("other")
		first := bot.registers(doc{"ttl_seconds": 100})
		s.at(time.Second)
		second := bot.registers(doc{"ttl_seconds": 900})
		s.writesNothing(func() {
			a := bot.register(nil).refused(http.StatusTooManyRequests, ma2h.CodeRateLimited, "")
			same(s.t, "Retry-After", a.header.Get("Retry-After"), "99") // when the first one lapses
		})
		other.registers(nil) // which has a cap of its own
		bot.closes(second).is(http.StatusOK)
		third := bot.registers(nil)
		bot.register(nil).refused(http.StatusTooManyRequests, ma2h.CodeRateLimited, "")

		s.at(100 * time.Second) // the very end of the first one's lease still belongs to it
		bot.register(nil).refused(http.StatusTooManyRequests, ma2h.CodeRateLimited, "")
		s.later(time.Millisecond)
		fourth := bot.registers(nil)
		bot.reads(first).shows("/session/state", "expired", "/session/closed_at", stamp(noon.Add(100*time.Second)))
		_, ids := bot.sessions()
		same(s.t, "the agent's sessions", ids, []string{fourth, third, first, second})
	})
}

func TestB61_TheCapHoldsAgainstManyAtOnce(t *testing.T) {
	onStoresWith(t, doc{"max_live_per_agent": 7}, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for range 3 { // whose lease will have lapsed
			bot.registers(doc{"ttl_seconds": 60})
		}
		s.at(2 * time.Minute)
		statuses := s.crowd(20, func(int) request {
			return request{method: "POST", path: "/v1/sessions", token: bot.token}
		})
		same(s.t, "how many were registered", count(statuses, http.StatusCreated), 7)
		same(s.t, "how many were refused", count(statuses, http.StatusTooManyRequests), 13)
		live := 0
		_, ids := bot.sessions()
		for _, id := range ids {
			if bot.reads(id).str("/session/state") == "active" {
				live++
			}
		}
		same(s.t, "how many of how many live", []int{live, len(ids)}, []int{7, 10})
	})
}

// crowd sends n requests at once and returns what they were answered, in any order.
func (s *suite) crowd(n int, r func(i int) request) []int {
	s.t.Helper()
	statuses := make([]int, n)
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-begin
			a, err := s.try(r(i))
			if err != nil {
				s.t.Error(err)
				return
			}
			statuses[i] = a.status
		})
	}
	close(begin)
	all.Wait()
	return statuses
}

func count(statuses []int, status int) int {
	n := 0
	for _, s := range statuses {
		if s == status {
			n++
		}
	}
	return n
}

func TestB61_ARegistrationThatBreaksItsSchemaIsAnInvalidField(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		s.writesNothing(func() {
			for body, field := range map[string]string{
				`{"ttl_seconds":1.5}`: "/ttl_seconds", `{"ttl_seconds":null}`: "/ttl_seconds", `{"ttl_seconds":0}`: "/ttl_seconds",
				`{"ttl_seconds":-60}`: "/ttl_seconds", `{"ttl_seconds":"60"}`: "/ttl_seconds", `{"label":7}`: "/label", `{"kind":null}`: "/kind",
				`{"run_id":[]}`: "/run_id", `{"project":{}}`: "/project", `{"labels":{"a":1}}`: "/labels/a", `{"labels":[]}`: "/labels",
				`{"label":"` + strings.Repeat("x", 16<<10) + `"}`: "",
			} {
				bot.register([]byte(body)).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, field)
			}
			for _, body := range []string{`null`, `[]`, `"x"`, `{`, `{"label":"a","label":"b"}`, "{\"label\":\"\xff\"}"} {
				bot.register([]byte(body)).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
			}
		})
		bot.register([]byte(`{"ttl_secs":1,"id":"sess_mine","state":"closed"}`)).is(http.StatusCreated).
			shows("/session/ttl_seconds", 900, "/session/state", "active") // members that nobody knows are ignored
	})
}

func TestSessions_WhatARegistrationSaysIsKept(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("deploybot/dev-team")
		body := doc{
			"run_id": "run_1", "label": "dev-team · issue #612", "kind": "worker", "project": "web-app",
			"labels": doc{"repo": "acme/web-app"}, "ttl_seconds": 900,
		}
		a := bot.register(body).is(http.StatusCreated)
		for name, v := range body {
			a.shows("/session/"+name, v)
		}
		a.shows("/session/agent_id", bot.id).lacks("/session/closed_at", "/session/closed_by_operator")
		id := a.str("/session/id")
		if !strings.HasPrefix(id, "sess_") || len(id) != len(unknownSession) {
			s.t.Errorf("the id is %q", id)
		}
		same(s.t, "what is read", string(bot.reads(id).is(http.StatusOK).body), string(a.body))
		if again := bot.registers(body); again == id {
			s.t.Errorf("two registrations got one id, %s", id)
		}
	})
}

func TestB7_AnIDWithAHashHasNoSessions(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		for _, id := range []string{"bot#1", "#", "bot#sess_1", "a#b#c"} {
			hash := s.agent(id)
			s.writesNothing(func() { hash.register(nil).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "") })
			hash.accepted(s.ask()) // its other traffic works
		}
		// Cut at the hash it would be this one, whose sessions are not its own.
		id := s.agent("bot").registers(nil)
		hash := s.agent("bot#1")
		hash.reads(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		hash.closes(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		_, ids := hash.sessions()
		same(s.t, "the sessions of an id with a hash", ids, []string{})
	})
}

func TestSessions_AreForAgentsToRegister(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		alice := s.person("alice")
		s.writesNothing(func() {
			alice.register(nil).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
			s.send(request{method: "POST", path: "/v1/sessions"}).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
		})
	})
}

// TestB62_RegistrationsRaceALapse: sessions lapse while others register, and none is ended twice or lost.
func TestB62_RegistrationsRaceALapse(t *testing.T) {
	onStoresWith(t, doc{"max_live_per_agent": 5}, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		var old []string
		for i := range 5 {
			old = append(old, bot.registers(doc{"label": fmt.Sprint(i), "ttl_seconds": 60}))
		}
		s.at(5 * time.Minute)
		s.crowd(20, func(i int) request {
			switch i % 4 {
			case 0:
				return request{method: "POST", path: "/v1/sessions", token: bot.token}
			case 1:
				return request{method: "GET", path: "/v1/sessions", token: alice.token}
			case 2:
				return request{method: "DELETE", path: "/v1/sessions/" + old[i/4], token: bot.token}
			default:
				return request{method: "GET", path: "/v1/sessions/" + old[i/4], token: alice.token}
			}
		})
		for _, id := range old {
			bot.reads(id).shows("/session/state", "expired", "/session/closed_at", stamp(noon.Add(time.Minute)))
		}
		_, ids := bot.sessions()
		same(s.t, "how many there are", len(ids), 10)
		for _, id := range old {
			if !slices.Contains(ids[5:], id) {
				s.t.Errorf("%s is not among those that ended: %v", id, ids)
			}
		}
	})
}

// TestB7_AnIDWithAHashResolvesNoMail: cut at its hash it would be the addressee, and whole it reads like one of its sessions.
func TestB7_AnIDWithAHashResolvesNoMail(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		twins := []string{"worker#1", "worker#" + worker.session}
		s.owns("alice", twins...)
		for _, to := range []string{worker.actor, worker.address()} {
			for _, list := range []edit{none, resolvers(worker.actor), resolvers(worker.address())} {
				id := bot.accepted(s.ask(mailTo(to), list))
				for _, twin := range twins {
					s.agent(twin).answers(id, "approve").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
					s.agent(twin).under(worker.session).answersAs(id, "approve").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
				}
				bot.get(id).shows("/status", "open")
				worker.answersAs(id, "approve").is(http.StatusOK)
			}
		}
	})
}

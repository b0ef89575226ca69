package realtime_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// TestAgentsOfEveryName: an id may be almost anything, and stands in paths all the same.
func TestAgentsOfEveryName(t *testing.T) {
	onEngines(t, func(s *server) {
		for _, name := range []string{
			"plain", "deploybot/dev-team", "with space", "100%", "%2", "größe/漢字/😀", "a#b", "a+b&c=d;e", "dot.dot", "rotate",
			"agents/x/rotate", `quo"te\`, "~!$'()*,:@", ".hidden/..x/...", "a/b/c", "%2F%2f/%3F%23", "a;b:c+d e", "नीता",
			strings.Repeat("l", 200),
		} {
			s.run(name, func() {
				made := s.owner.call(endpoint.AgentAdd, doc{"id": unique(name)}).is(http.StatusCreated)
				id := made.str("/id")
				first := &caller{server: s, id: id, token: made.str("/token")}
				first.call(endpoint.Me, nil).is(http.StatusOK).shows("/agent_id", id)
				asked := first.accepted(s.ask())
				s.read(asked).is(http.StatusOK).shows("/agent_id", id)

				second := &caller{server: s, id: id,
					token: s.owner.call(endpoint.AgentRotate, nil, id).is(http.StatusCreated).shows("/id", id).str("/token")}
				first.call(endpoint.Me, nil).is(http.StatusOK) // both hold
				second.call(endpoint.Me, nil).is(http.StatusOK).shows("/agent_id", id)
				third := s.owner.call(endpoint.AgentRotate, nil, id).is(http.StatusCreated).str("/token")
				first.call(endpoint.Me, nil).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")

				s.until("the list knows of both", func() bool {
					return lookUp(s.listed(id), "/credentials") == json.Number("2")
				})
				s.owner.call(endpoint.AgentRevoke, nil, id).is(http.StatusNoContent)
				s.owner.call(endpoint.AgentRevoke, nil, id).is(http.StatusNoContent)
				for _, token := range []string{second.token, third} {
					(&caller{server: s, token: token}).pull(asked, "").refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
				}
				s.owner.call(endpoint.AgentRotate, nil, id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
				s.until("the list says that it is revoked", func() bool { return lookUp(s.listed(id), "/revoked") == true })
				s.owner.answers(asked, "approve").is(http.StatusOK) // what it asked stays

				again := s.owner.call(endpoint.AgentAdd, doc{"id": id}).is(http.StatusCreated)
				(&caller{server: s, token: again.str("/token")}).pull(asked, "").is(http.StatusOK).shows("/status", "answered")
			})
		}
	})
}

func TestAgentsThatCannotBeMade(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		add := func(body any) *answer { return s.owner.call(endpoint.AgentAdd, body) }
		add(doc{"id": ""}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/id")
		add(doc{"id": strings.Repeat("x", 257)}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/id")
		add(doc{"id": "bot#sess_1"}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/id")
		add(doc{"id": bot.id}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/id")
		for _, id := range []string{ // which no path could name everywhere
			".", "..", "/", "//", "/a", "a/", "a//b", "a/./b", "a/../b", "team//x", "a/..", "./a", "what?", "?", "tab\tand", "a\nb",
			"nul\x00", "del\x7f", "next\u0085line",
		} {
			add(doc{"id": id}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/id")
		}
		add(doc{"id": 7}).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/id")
		add(doc{"name": "x"}).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/id")
		add("").refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		for _, name := range []endpoint.Name{endpoint.AgentRotate, endpoint.AgentRevoke} {
			s.owner.call(name, nil, unique("nobody")).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
	})
}

// TestAgentsNamedByAWholeSegment: what is special in a path is not in an id.
func TestAgentsNamedByAWholeSegment(t *testing.T) {
	onEngines(t, func(s *server) {
		for _, tail := range []string{"/...", "/rotate", "/%", "/%2E", "/%2e%2e", "/a b", "/+", "/;", "/:", "/#", "/é", "#", "%", " b"} {
			id := unique("whole") + tail
			s.owner.call(endpoint.AgentAdd, doc{"id": id}).is(http.StatusCreated)
			s.owner.call(endpoint.AgentRotate, nil, id).is(http.StatusCreated).shows("/id", id)
			s.owner.call(endpoint.AgentRevoke, nil, id).is(http.StatusNoContent)
			s.owner.call(endpoint.AgentRotate, nil, id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
	})
}

// TestNobodyWaitsLongerThanTheirTokenIsGood: whose token is taken away while they wait get nothing more, not even the
// outcome, and not even when the agent itself is one again.
func TestNobodyWaitsLongerThanTheirTokenIsGood(t *testing.T) {
	onEngines(t, func(s *server) {
		for how, loses := range map[string]func(bot *caller){
			"revoked": func(bot *caller) {
				s.owner.call(endpoint.AgentRevoke, nil, bot.id).is(http.StatusNoContent)
			},
			"revoked and added anew": func(bot *caller) {
				s.owner.call(endpoint.AgentRevoke, nil, bot.id).is(http.StatusNoContent)
				s.owner.call(endpoint.AgentAdd, doc{"id": bot.id}).is(http.StatusCreated)
			},
			"rotated twice": func(bot *caller) {
				for range 2 {
					s.owner.call(endpoint.AgentRotate, nil, bot.id).is(http.StatusCreated)
				}
			},
		} {
			s.run(how, func() {
				id, got := s.outwaits(loses)
				if got != nil {
					got.refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
				}
				s.read(id).is(http.StatusOK).lacks("/delivery")
			})
		}
	})
}

func TestWhoeverRotatesOnceWaitsOn(t *testing.T) {
	onEngines(t, func(s *server) {
		_, got := s.outwaits(func(bot *caller) {
			s.owner.call(endpoint.AgentRotate, nil, bot.id).is(http.StatusCreated)
		})
		if got != nil {
			got.is(http.StatusOK).shows("/status", "answered")
		}
	})
}

// outwaits has an agent wait for the answer to its ask, and something happen before the owner answers, and returns what came
// of the wait. On a busy machine all that may take longer than a wait does: then it is tried with another agent.
func (s *server) outwaits(happens func(bot *caller)) (id string, got *answer) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; {
		bot := s.agent("bot")
		id = bot.accepted(s.ask())
		told := s.waiting(bot, id)
		happens(bot)
		s.owner.answers(id, "approve").is(http.StatusOK)
		got = <-told
		if got == nil || got.status != http.StatusOK || got.at("/status") != "open" || time.Now().After(end) {
			return id, got
		}
	}
}

// waiting begins a pull with the longest wait, and returns when it waits.
func (s *server) waiting(bot *caller, id string) <-chan *answer {
	s.t.Helper()
	told := make(chan *answer, 1)
	t := s.t
	go func() {
		a, err := s.try(request{method: http.MethodGet, path: "/v1/messages/" + id + "?wait=3600", token: bot.token})
		if err != nil {
			t.Error(err)
		}
		told <- a
	}()
	bot.pull(id, "?wait=0.5").is(http.StatusOK) // the longer wait has begun by its end
	return told
}

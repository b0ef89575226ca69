package realtime_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// rivals is how many people change the same thing at once.
const rivals = 20

// atOnce sends a request so many times at once.
func (s *server) atOnce(r request) []*answer {
	s.t.Helper()
	return s.eachAtOnce(func(int) request { return r })
}

// eachAtOnce sends a request of each rival at once.
func (s *server) eachAtOnce(nth func(int) request) []*answer {
	s.t.Helper()
	answers := make([]*answer, rivals)
	var running sync.WaitGroup
	begin := make(chan struct{})
	for i := range answers {
		r := nth(i)
		running.Go(func() {
			<-begin
			a, err := s.try(r)
			if err != nil {
				s.t.Error(err)
				a = &answer{t: s.t, what: r.method + " " + r.path}
			}
			answers[i] = a
		})
	}
	close(begin)
	running.Wait()
	return answers
}

// byOwner is a request of the owner.
func (s *server) byOwner(name endpoint.Name, body any, ids ...string) request {
	e := endpoint.Of(name)
	return request{method: e.Method, path: e.Fill(ids...), token: s.owner.token, body: body}
}

// TestRivals_OneMakesTheAgent: the others hear that there is one, as they would have a moment later.
func TestRivals_OneMakesTheAgent(t *testing.T) {
	onEngines(t, func(s *server) {
		id := unique("rival")
		var made []*answer
		for _, a := range s.atOnce(s.byOwner(endpoint.AgentAdd, doc{"id": id})) {
			if a.status == http.StatusCreated {
				made = append(made, a)
				continue
			}
			a.refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/id")
		}
		if len(made) != 1 {
			s.t.Fatalf("%d made the agent, want 1", len(made))
		}
		(&caller{server: s, token: made[0].str("/token")}).call(endpoint.Me, nil).is(http.StatusOK).shows("/agent_id", id)
	})
}

// TestRivals_AllRotate: each gets a token, of which the last two hold.
func TestRivals_AllRotate(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("rival")
		good := 0
		for _, a := range s.atOnce(s.byOwner(endpoint.AgentRotate, nil, bot.id)) {
			token := a.is(http.StatusCreated).shows("/push_secret", bot.secret).str("/token")
			if (&caller{server: s, token: token}).call(endpoint.Me, nil).status == http.StatusOK {
				good++
			}
		}
		if good != 2 {
			s.t.Errorf("%d tokens hold after %d rotations at once, want 2", good, rivals)
		}
	})
}

// TestRivals_AllRevokeOrSet: who wants what stands already is content with it.
func TestRivals_AllRevokeOrSet(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("rival")
		for _, a := range s.atOnce(s.byOwner(endpoint.AgentRevoke, nil, bot.id)) {
			a.is(http.StatusNoContent)
		}
		bot.call(endpoint.Me, nil).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
		for _, a := range s.atOnce(s.byOwner(endpoint.SettingsPut, doc{"default_resolvers": []string{}})) {
			a.is(http.StatusNoContent)
		}
	})
}

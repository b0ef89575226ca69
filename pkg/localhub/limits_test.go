package localhub_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

// limited holds an answer to 429 with a Retry-After that says how long to wait.
func (s *server) limited(token string, envelope doc) {
	s.t.Helper()
	r, err := s.try("POST", "/v1/messages", token, envelope)
	if err != nil {
		s.t.Fatal(err)
	}
	seconds, err := strconv.Atoi(r.header.Get("Retry-After"))
	if r.status != http.StatusTooManyRequests || r.doc(s.t).at("error", "code") != "rate_limited" || err != nil || seconds < 1 {
		s.t.Errorf("submit = %d %s, Retry-After %q; want 429 rate_limited and whole seconds", r.status, r.body, r.header.Get("Retry-After"))
	}
}

func TestLimits_SubmitsOfOneAgent(t *testing.T) {
	onStores(t, func(s *hub.Settings) { s.RequestsPerMinute = 1 }, nil, func(s *server) {
		bot, other := s.agent("bot").Token, s.agent("other").Token
		submit := func(n int) doc { return ask(fmt.Sprint(n), confirm, time.Time{}) }
		for n := range 10 { // what may come at once, however low the rate
			s.send("POST", "/v1/messages", bot, submit(n), http.StatusAccepted)
		}
		s.limited(bot, submit(10))
		theirs := submit(11)
		theirs["agent"] = doc{"id": "other", "run_id": "r"}
		s.send("POST", "/v1/messages", other, theirs, http.StatusAccepted)
		capability := s.send("GET", "/.well-known/ma2h", "", nil, http.StatusOK)
		same(s.t, "the rate advertised", capability.at("rate_limit", "requests_per_minute"), any(1.))
	})
}

func TestLimits_OpenMessagesOfOneAgent(t *testing.T) {
	onStores(t, func(s *hub.Settings) { s.InboxDepth = 3 }, nil, func(s *server) {
		bot := s.agent("bot").Token
		for n := range 3 {
			s.send("POST", "/v1/messages", bot, ask(fmt.Sprint(n), confirm, time.Time{}), http.StatusAccepted)
		}
		s.limited(bot, ask("3", confirm, time.Time{}))
		s.send("POST", "/v1/messages", bot, ask("0", confirm, time.Time{}), http.StatusAccepted) // a replay is none more
		told := ask("4", nil, time.Time{})
		told["type"] = "notify"
		delete(told, "request")
		s.send("POST", "/v1/messages", bot, told, http.StatusAccepted)
	})
}

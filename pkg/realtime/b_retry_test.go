package realtime_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/realtime"
)

// answered submits an ask that is pushed, has the owner answer it, and returns its id.
func (s *server) answered(bot *caller, in *inbound) string {
	s.t.Helper()
	id := bot.accepted(s.ask(in.pushed()))
	s.owner.answers(id, "deny").is(http.StatusOK)
	return id
}

// tried returns the statuses of the attempts that the hub has noted, and failures where there was no status.
func (s *server) tried(id string) []string {
	s.t.Helper()
	list, _ := s.read(id).is(http.StatusOK).at("/attempts").([]any)
	statuses := []string{}
	for _, a := range list {
		if failure, ok := lookUp(a, "/failure").(string); ok && failure != "" {
			statuses = append(statuses, failure)
		} else {
			statuses = append(statuses, lookUp(a, "/status").(json.Number).String())
		}
	}
	return statuses
}

func TestB78_RetriesServerErrorsAndBrokenConnections(t *testing.T) {
	onEngines(t, func(s *server) {
		in := s.callback(503, 500, 0, 502, 0, 599, 200)
		bot := s.agent("bot")
		id := s.answered(bot, in)
		s.until("the push is taken", func() bool { return s.read(id).at("/delivery") != absent{} })
		same(s.t, "what was tried", s.tried(id), []string{"503", "500", "reset", "502", "reset", "599", "200"})
		s.read(id).shows("/delivery/state", "delivered-to-agent")
		in.verified(s.t, bot.secret)
		same(s.t, "the pull", bot.pull(id, "").is(http.StatusOK).at("/response"), mustParse(s.t, in.attempts()[0].body))
	})
}

// TestB78_NeverRetriesWhatIsRefused: a push that is refused is attempted once. One that is retried beside it, until the
// policy is spent, tells when a second attempt would have come.
func TestB78_NeverRetriesWhatIsRefused(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		refused := map[string]*inbound{}
		statuses := map[string]string{}
		for status, text := range map[int]string{
			400: "400", 401: "401", 404: "404", 408: "408", 410: "410", 422: "422", 429: "429", 301: "301", 302: "302", 307: "307", 304: "304",
		} {
			in := s.callback(status)
			id := s.answered(bot, in)
			refused[id], statuses[id] = in, text
		}
		beside := s.callback(500)
		last := s.answered(bot, beside)
		s.until("the policy is spent beside them", func() bool { return len(s.tried(last)) == realtime.Settings().Retry.MaxAttempts })
		for id, in := range refused {
			s.until("an attempt is noted", func() bool { return len(s.tried(id)) > 0 })
			same(s.t, "what was tried", s.tried(id), []string{statuses[id]})
			same(s.t, "attempts that came", len(in.attempts()), 1)
			same(s.t, "attempts where a redirect pointed", len(in.attemptsAt(in.path+"/elsewhere")), 0)
			s.read(id).lacks("/delivery") // only a 2xx is a delivery
			bot.pull(id, "").is(http.StatusOK).shows("/status", "answered", "/delivery/state", "delivered-to-agent")
		}
	})
}

func TestB78_GivesUpAfterTheAdvertisedAttempts(t *testing.T) {
	policy := realtime.Settings().Retry
	onEngines(t, func(s *server) {
		s.owner.call(endpoint.Discovery, nil).is(http.StatusOK).shows("/callback_retry/max_attempts", policy.MaxAttempts)
		in, beside := s.callback(500), s.callback(append(make([]int, policy.MaxAttempts-1), 200)...)
		bot := s.agent("bot")
		id := s.answered(bot, in)
		s.until("all attempts are made", func() bool { return len(s.tried(id)) == policy.MaxAttempts })
		// Whoever is answered now gets as many attempts again before anybody looks whether there were more.
		later := s.answered(bot, beside)
		s.until("another has been retried as often", func() bool { return s.read(later).at("/delivery") != absent{} })
		same(s.t, "how often it was tried", []int{len(s.tried(id)), len(in.attempts())}, []int{policy.MaxAttempts, policy.MaxAttempts})
		// The Response is never lost: it can still be pulled.
		bot.pull(id, "").is(http.StatusOK).shows("/status", "answered", "/delivery/state", "delivered-to-agent")
	})
}

// TestB78_NoReceiverEndsARetryByAskingForTooMuch: whatever it asks for, there is another attempt.
func TestB78_NoReceiverEndsARetryByAskingForTooMuch(t *testing.T) {
	policy := realtime.Settings().Retry
	onEngines(t, func(s *server) {
		bot, asks := s.agent("bot"), map[string]*inbound{}
		for _, asked := range []string{
			"99999999999999999999", "3600", "Fri, 31 Dec 9999 23:59:59 GMT", "-1", "-99999999999999999999", "soon",
		} {
			in := s.callback()
			var calls atomic.Int64
			in.handle(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if calls.Add(1) == 1 {
					w.Header().Set("Retry-After", asked)
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}))
			asks[s.answered(bot, in)] = in
		}
		for id, in := range asks {
			s.until("the push is taken", func() bool { return s.read(id).at("/delivery") != absent{} })
			same(s.t, "what was tried", s.tried(id), []string{"503", "200"})
			attempts := in.attempts()
			if len(attempts) != 2 {
				continue // was said
			}
			if apart := attempts[1].at.Sub(attempts[0].at); apart > policy.MaxDuration/time.Duration(policy.MaxAttempts-1)+patience/2 {
				s.t.Errorf("the second attempt came %s after the first", apart)
			}
		}
	})
}

// TestB78_WaitsGrow: the attempts lie at least as far apart as the policy says.
func TestB78_WaitsGrow(t *testing.T) {
	policy := realtime.Settings().Retry
	onEngines(t, func(s *server) {
		in := s.callback(500, 500, 500, 200)
		bot := s.agent("bot")
		id := s.answered(bot, in)
		s.until("the push is taken", func() bool { return s.read(id).at("/delivery") != absent{} })
		attempts := in.attempts()
		for i, least := 1, policy.First; i < len(attempts); i, least = i+1, min(2*least, policy.Longest) {
			// Times are kept in whole milliseconds, and what is due within one is due.
			if apart := attempts[i].at.Sub(attempts[i-1].at); apart < least-2*time.Millisecond {
				s.t.Errorf("attempt %d came %s after the one before, want at least %s", i+1, apart, least)
			}
		}
	})
}

func TestB78_WhatCanNeverBePushedIsRefusedAtSubmit(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, in := s.agent("bot"), s.callback()
		hmac := doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef}
		for what, callback := range map[string]doc{
			"plain http":        {"url": "http://agent.example/cb", "auth": hmac},
			"loopback":          {"url": "https://127.0.0.1/cb", "auth": hmac},
			"metadata":          {"url": "https://169.254.169.254/latest", "auth": hmac},
			"another port":      {"url": "http://127.0.0.1:10/cb", "auth": hmac},
			"a user":            {"url": "https://u:p@agent.example/cb", "auth": hmac},
			"no url":            {"url": "agent", "auth": hmac},
			"bearer":            {"url": "https://agent.example/cb", "auth": doc{"scheme": "bearer", "token_ref": "env:T"}},
			"apikey":            {"url": "https://agent.example/cb", "auth": doc{"scheme": "apikey", "token_ref": "env:T"}},
			"an unknown secret": {"url": "https://agent.example/cb", "auth": doc{"scheme": "hmac", "secret_ref": "env:OTHER"}},
			"no auth":           {"url": "https://agent.example/cb"},
		} {
			got := bot.submit(s.ask(set("/request/callback", callback))).refused(http.StatusUnprocessableEntity, "invalid_field", "")
			if !strings.HasPrefix(got.str("/error/field"), "/request/callback/") {
				s.t.Errorf("%s = %s, want a field below /request/callback", what, got.body)
			}
		}
		id := bot.accepted(s.ask(in.pushed()))
		bot.cancel(id).is(http.StatusOK)
		s.until("the cancel is pushed", func() bool { return len(in.attempts()) > 0 })
		same(s.t, "what was pushed", string(in.verified(s.t, bot.secret).Resolution), "cancelled")
	})
}

// TestB77_B78_APushIsSignedAndStampsTheDelivery covers each way in which an ask ends.
func TestB77_B78_APushIsSignedAndStampsTheDelivery(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		for status, end := range map[string]func(id string){
			"answered":  func(id string) { s.owner.answers(id, "approve").is(http.StatusOK) },
			"declined":  func(id string) { s.owner.resolve(id, doc{"resolution": "declined"}).is(http.StatusOK) },
			"cancelled": func(id string) { bot.cancel(id).is(http.StatusOK) },
			"expired":   func(string) {}, // nobody looks at it: the timer ends it
		} {
			in, span := s.callback(), lifespan
			if status == "expired" {
				span = time.Second
			}
			id, _ := bot.expiring(span, s.ask, in.pushed(), set("/state", doc{"n": 1.5}), set("/request/default_on_expire", "deny"))
			end(id)
			s.until(status+" is pushed", func() bool { return len(in.attempts()) > 0 })
			r := in.verified(s.t, bot.secret)
			same(s.t, "what was pushed", []string{string(r.Resolution), r.InReplyTo, string(r.State)}, []string{status, id, `{"n":1.5}`})
			s.until(status+" is delivered", func() bool { return s.read(id).at("/delivery/state") == "delivered-to-agent" })
			bot.pull(id, "").shows("/status", status, "/response/resolution_id", r.ResolutionID)
		}
	})
}

func TestB77_ATaskIsPushedToo(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, in := s.agent("bot"), s.callback()
		id := bot.accepted(s.task(set("/action/callback", doc{
			"mode": "push", "url": in.url(), "auth": doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef},
		})))
		s.owner.resolve(id, doc{"resolution": "completed", "comment": "Done. ✓"}).is(http.StatusOK)
		s.until("the end is pushed", func() bool { return len(in.attempts()) > 0 })
		r := in.verified(s.t, bot.secret)
		same(s.t, "what was pushed", []string{string(r.Resolution), r.Response.Comment}, []string{"completed", "Done. ✓"})
	})
}

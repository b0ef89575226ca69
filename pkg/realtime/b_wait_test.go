package realtime_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/realtime"
)

func TestB32_WaitIsCappedAndATimeoutIs200Open(t *testing.T) {
	most := realtime.Settings().MaxWait
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		for _, c := range []struct {
			wait  string
			least time.Duration
		}{{"3600", most}, {"0.1", 100 * time.Millisecond}, {"0", 0}} {
			began := time.Now()
			bot.pull(id, "?wait="+c.wait).is(http.StatusOK).shows("/status", "open")
			if took := time.Since(began); took < c.least || took > patience {
				s.t.Errorf("wait=%s took %s, want %s and not much more", c.wait, took, c.least)
			}
		}
	})
}

func TestB32_WaitEndsWithTheOutcome(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		for status, end := range map[string]func(id string){
			"answered":  func(id string) { s.owner.answers(id, "deny").is(http.StatusOK) },
			"cancelled": func(id string) { bot.cancel(id).is(http.StatusOK) },
		} {
			id := bot.accepted(s.ask())
			var waiting sync.WaitGroup
			held := make(chan struct{})
			waiting.Go(func() {
				close(held)
				a := s.awaitEnd(bot, id)
				a.shows("/status", status, "/delivery/state", "delivered-to-agent")
			})
			<-held
			end(id)
			waiting.Wait()
		}
	})
}

// awaitEnd pulls with the longest wait until the message has ended. Where a pull came back with the outcome, its wait ended
// with it; how soon that is, the engines differ in.
func (s *server) awaitEnd(bot *caller, id string) *answer {
	for end := time.Now().Add(patience); ; {
		a, err := s.try(request{method: http.MethodGet, path: "/v1/messages/" + id + "?wait=3600", token: bot.token})
		if err != nil || a.status != http.StatusOK || time.Now().After(end) {
			s.t.Errorf("pull = %+v, error %v; want an outcome", a, err)
			return a
		}
		if a.at("/status") != "open" {
			return a
		}
	}
}

// TestB32_WaitEndsEarly: an outcome in the middle of a wait ends it, and not the cap.
func TestB32_WaitEndsEarly(t *testing.T) {
	most := realtime.Settings().MaxWait
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		// A wait that began before the resolve and ended early shows it; one of several tries is enough on a busy machine.
		for range 5 {
			id := bot.accepted(s.ask())
			took := make(chan time.Duration)
			go func() {
				began := time.Now()
				s.awaitEnd(bot, id)
				took <- time.Since(began)
			}()
			s.owner.answers(id, "approve").is(http.StatusOK)
			if d := <-took; d < most {
				return
			}
		}
		s.t.Errorf("none of 5 waits ended before their cap of %s", most)
	})
}

func TestB32_B45_WaitEndsWithTheExpiry(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		id, deadline := bot.expiring(1500*time.Millisecond, s.ask, set("/request/default_on_expire", "deny"))
		got := s.awaitEnd(bot, id)
		got.shows("/status", "expired", "/response/response/value", "deny", "/response/response/actor", ma2h.ActorDefaultOnExpire,
			"/response/response/resolved_at", got.at("/expires_at"))
		if now := time.Now(); now.Before(deadline) || now.After(deadline.Add(patience)) {
			s.t.Errorf("the wait ended %s after the deadline", now.Sub(deadline))
		}
	})
}

func TestB32_WaitAndSinceMustBeNumberAndTime(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		for query, field := range map[string]string{
			"?wait=soon": "/wait", "?wait=-1": "/wait", "?wait=NaN": "/wait", "?wait=": "/wait",
			"?since=yesterday": "/since", "?since=" + strconv.Itoa(int(time.Now().Unix())): "/since",
		} {
			bot.pull(id, query).refused(http.StatusBadRequest, "validation_error", field)
		}
	})
}

func TestB30_B32_SinceAsksForChangesOnly(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		since := "?since=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		a := bot.pull(id, since).is(http.StatusNotModified)
		if len(a.body) > 0 {
			s.t.Errorf("304 with a body: %s", a.body)
		}
		bot.pull(id, "?since=2026-01-01T00:00:00Z").is(http.StatusOK).shows("/status", "open")
		s.owner.answers(id, "approve").is(http.StatusOK)
		for range 2 { // never hidden from an agent that has not shown that it has it
			bot.pull(id, since).is(http.StatusOK).shows("/status", "answered")
		}
		bot.ack(id, nil).is(http.StatusOK)
		bot.pull(id, since).is(http.StatusNotModified)
	})
}

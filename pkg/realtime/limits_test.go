package realtime_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/realtime"
)

// limited holds a 429 to its code and to a Retry-After that says how long to wait.
func limited(a *answer) {
	a.t.Helper()
	a.refused(http.StatusTooManyRequests, "rate_limited", "")
	if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || seconds < 1 {
		a.t.Errorf("Retry-After = %q, want whole seconds", a.header.Get("Retry-After"))
	}
}

// mostProcesses bounds in how many processes a hub may count an agent's submits, each for itself.
const mostProcesses = 60

// TestLimits_SubmitsOfOneAgent: who submits without end is refused, whether the submits are good or not; others are not.
func TestLimits_SubmitsOfOneAgent(t *testing.T) {
	perMinute := realtime.Settings().RequestsPerMinute
	onEngines(t, func(s *server) {
		s.owner.call(endpoint.Discovery, nil).is(http.StatusOK).shows("/rate_limit/requests_per_minute", perMinute)
		bot, other := s.agent("bot"), s.agent("other")
		replayed := string(mustJSON(bot.signed(s.notify())))
		atOnce, accepted := perMinute/6, 0
		for {
			a := bot.call(endpoint.Submit, replayed)
			if a.status == http.StatusTooManyRequests {
				limited(a)
				break
			}
			a.is(http.StatusAccepted)
			if accepted++; accepted > 2*atOnce*mostProcesses {
				s.t.Fatalf("%d submits were taken, and no end", accepted)
			}
		}
		if accepted < atOnce {
			s.t.Errorf("%d submits were taken at once, want %d", accepted, atOnce)
		}
		other.accepted(s.notify())
		refused := func() bool { return bot.call(endpoint.Submit, "{}").status == http.StatusTooManyRequests }
		s.until("a bad submit is counted too", refused)
		s.until("the agent may submit again", func() bool { return bot.call(endpoint.Submit, replayed).status == http.StatusAccepted })
	})
}

// TestLimits_OpenMessagesOfOneAgent: an agent whose messages nobody answers may not go on asking.
func TestLimits_OpenMessagesOfOneAgent(t *testing.T) {
	depth := realtime.Settings().InboxDepth
	onEngines(t, func(s *server) {
		s.owner.call(endpoint.Discovery, nil).is(http.StatusOK).shows("/rate_limit/inbox_depth", depth)
		bot := s.agent("bot")
		short := expires(time.Now().Add(time.Minute))
		first := s.ask(short)
		ids := []string{bot.accepted(first)}
		for { // each process counts anew after seconds
			a := bot.submit(s.ask(short))
			if a.status == http.StatusTooManyRequests && strings.Contains(a.str("/error/message"), "wait for an answer") {
				limited(a)
				break
			}
			if a.status == http.StatusTooManyRequests {
				reach(time.Now().Add(time.Second))
				continue
			}
			if ids = append(ids, a.is(http.StatusAccepted).str("/id")); len(ids) > 3*depth {
				s.t.Fatalf("%d asks were taken, want %d", len(ids), depth)
			}
		}
		if len(ids) < depth {
			s.t.Errorf("%d asks were taken, want %d", len(ids), depth)
		}
		bot.accepted(first) // a replay is none more
		bot.accepted(s.notify())
		for _, id := range ids {
			bot.cancel(id).is(http.StatusOK)
		}
		s.until("there is room again", func() bool { return bot.submit(s.ask(short)).status == http.StatusAccepted })
	})
}

// TestLimits_WhatWaitsInAMailbox: nobody writes without end to who does not come, neither a person nor an agent. What was
// taken is all there, and makes room once it is acknowledged.
func TestLimits_WhatWaitsInAMailbox(t *testing.T) {
	depth := realtime.Settings().InboxDepth
	onEngines(t, func(s *server) {
		bot, sender := s.agent("bot"), s.agent("sender")
		s.owner.call(endpoint.SettingsPut, doc{"inter_agent_enabled": true}).is(http.StatusNoContent)
		for of, send := range map[string]func() *answer{
			"directives": func() *answer {
				return s.owner.call(endpoint.DirectiveSend, doc{"to": bot.actor, "title": "Stop"})
			},
			"messages": func() *answer { return sender.submit(s.notify(set("/to", bot.actor))) },
		} {
			taken := 0
			for {
				a := send()
				if a.status == http.StatusTooManyRequests && strings.Contains(a.str("/error/message"), "mailbox") {
					a.refused(http.StatusTooManyRequests, "rate_limited", "/to")
					break
				}
				if a.status == http.StatusTooManyRequests { // so many at once from one agent to another
					reach(time.Now().Add(time.Second))
					continue
				}
				if taken++; taken > depth*mostProcesses {
					s.t.Fatalf("%d %s were taken, and no end", taken, of)
				}
			}
			if taken < depth {
				s.t.Errorf("%d %s were taken, want %d", taken, of, depth)
			}
		}
		s.until("there is room again", func() bool {
			bot.call(endpoint.InboxAck, doc{"ids": append([]string{}, bot.fetches()...)}).is(http.StatusOK)
			return s.owner.call(endpoint.DirectiveSend, doc{"to": bot.actor, "title": "Stop"}).status == http.StatusCreated
		})
	})
}

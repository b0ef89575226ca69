package controlapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// TestB29_TheAddresseeIsNoSubmitter: mail is drained and resolved, not polled, cancelled or acked as one's own.
func TestB29_TheAddresseeIsNoSubmitter(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		id := bot.accepted(s.ask(mailTo(worker.address())))
		worker.gets(id)
		unknown := "msg_00000000000000000000000000"
		refused := func() {
			s.t.Helper()
			for _, c := range []func(id string) *answer{
				worker.get, worker.cancel, func(id string) *answer { return worker.ack(id, nil) },
			} {
				a, b := c(id).refused(http.StatusNotFound, ma2h.CodeNotFound, ""), c(unknown)
				same(s.t, "the answer", string(a.body), string(b.body))
			}
		}
		refused()
		worker.answersAs(id, "approve").is(http.StatusOK)
		refused()
		bot.get(id).shows("/status", "answered", "/mailbox/state", "delivered", "/delivery/state", "delivered-to-agent")
	})
}

// TestB36_AnAckAfterTheLapseIsTooLate: the entry had bounced when the lease ended, though nobody had seen it end.
func TestB36_AnAckAfterTheLapseIsTooLate(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		l := newLapsing(s)
		id, directive := l.bot.accepted(s.ask(mailTo(l.worker.address()))), s.direct(l.worker.address())
		inTime := s.direct(l.worker.address())
		l.worker.gets(id, directive, inTime)
		s.now = l.end
		l.other.consume(inTime).shows("/acks/0/in_reply_to", inTime)
		s.later(time.Millisecond)
		for _, m := range []*mouth{l.other, l.other.bare()} {
			m.consume(id, directive).shows("/acks", []any{})
		}
		track := doc{"state": "bounced", "prior": "delivered", "delivered_at": stamp(noon)}
		l.bot.get(id).shows("/status", "cancelled", "/mailbox", track, "/response/response/resolved_at", stamp(l.end))
		same(s.t, "the directive's track", l.alice.track(directive).json(), plain(s.t, track))
		l.alice.track(inTime).shows("/state", "acknowledged")
	})
}

// TestB62_WhatEndedStaysEndedWhenTheClockGoesBack: a terminal stays terminal.
func TestB62_WhatEndedStaysEndedWhenTheClockGoesBack(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		l := newLapsing(s)
		id := l.bot.accepted(s.ask(mailTo(l.worker.address())))
		directive := s.direct("agent:worker", expires(stamp(noon.Add(time.Minute))))
		s.now = l.end.Add(time.Hour)
		l.bounced(id, "cancelled", l.end)
		l.alice.track(directive).shows("/state", "expired")
		for _, at := range []time.Time{l.end, noon} {
			s.now = at
			l.bounced(id, "cancelled", l.end)
			l.alice.track(directive).shows("/state", "expired")
			l.worker.answersAs(id, "approve").refused(http.StatusGone, ma2h.CodeGone, "")
			l.worker.bare().answersAs(id, "approve").refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "")
			l.worker.send("GET", l.worker.at("/v1/inbox"), nil).refused(http.StatusGone, ma2h.CodeGone, "")
			l.other.bare().gets()
			s.settle(doc{"what": "retention"})
		}
	})
}

// TestB70_MailIsServedAsLongAsItsMessage: its final track stays for another retention, and then it is gone with it.
func TestB70_MailIsServedAsLongAsItsMessage(t *testing.T) {
	longDay(t, func(s *suite) {
		bot, alice, worker := s.agent("bot"), s.person("alice"), s.agent("worker").opens(0)
		notify, directive := s.notify(mailTo(worker.address())), s.direct(worker.address())
		id := bot.accepted(notify)
		worker.gets(directive, id)
		worker.consume(directive, id)
		for _, at := range []time.Duration{day, day + time.Millisecond, 2 * day} {
			s.now = noon.Add(at)
			s.settle(doc{"what": "retention"})
			bot.get(id).is(http.StatusOK).shows("/status", "acknowledged", "/mailbox/delivered_at", stamp(noon))
			alice.track(directive).shows("/state", "acknowledged")
			bot.submit(notify).is(http.StatusAccepted).shows("/id", id, "/status", "acknowledged", "/destination/state", "unknown")
		}
		s.later(time.Millisecond)
		bot.get(id).refused(http.StatusGone, ma2h.CodeGone, "")
		bot.submit(notify).refused(http.StatusGone, ma2h.CodeGone, "")
		alice.send("GET", "/_conformance/receipts?id="+directive, nil).is(http.StatusNotFound)
		s.agent("worker").bare().consume(id, directive).shows("/acks", []any{})
	})
}

// TestB51_ADrainIsCutWhereItsAnswerWouldBeTooLarge: the rest comes with the next, and one entry comes whatever its size.
func TestB51_ADrainIsCutWhereItsAnswerWouldBeTooLarge(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		large := set("/body", strings.Repeat("x", 200<<10))
		want := []string{}
		for range 25 {
			want = append(want, bot.accepted(s.notify(mailTo("agent:worker"), large)))
		}
		first := worker.send("GET", worker.at("/v1/inbox", "max", "30"), nil).is(http.StatusOK)
		n := len(first.at("/messages").([]any))
		if n < 10 || n >= 25 || len(first.body) > 5<<20 {
			s.t.Errorf("a drain of large entries has %d of 25 with %d bytes, want some, and at most 5 MiB", n, len(first.body))
		}
		worker.gets(want[n:]...)
	})
}

// TestB53_WhatWasPresentedOnceMayBeAckedLater: a claim that has lapsed, or another's since, is no hindrance.
func TestB53_WhatWasPresentedOnceMayBeAckedLater(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		sibling := s.agent("worker").opens(0)
		ids := []string{bot.accepted(s.notify(mailTo("agent:worker"))), bot.accepted(s.notify(mailTo("agent:worker")))}
		worker.gets(ids...)
		s.later(window + time.Second)
		worker.consume(ids[0]).shows("/acks/0/in_reply_to", ids[0])
		sibling.gets(ids[1])
		worker.consume(ids[1]).shows("/acks/0/in_reply_to", ids[1])
		s.later(window + time.Second)
		sibling.gets()
		for _, id := range ids {
			bot.get(id).shows("/status", "acknowledged", "/mailbox/delivered_at", stamp(noon))
		}
	})
}

func TestB28_WhatIsOnItsWayOutlivesTheOptIn(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		envelope := s.ask(mailTo("agent:worker"))
		id := bot.accepted(envelope)
		s.optIn("alice", false)
		s.allow("worker", []string{})
		bot.submit(s.ask(mailTo("agent:worker"))).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "/to")
		bot.submit(envelope).is(http.StatusAccepted).shows("/id", id, "/status", "open") // a replay sends nothing
		worker.gets(id)
		worker.answersAs(id, "approve").is(http.StatusOK)
		bot.get(id).shows("/status", "answered")
	})
}

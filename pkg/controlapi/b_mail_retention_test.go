package controlapi_test

import (
	"net/http"
	"testing"
	"time"
)

// longDay is a tenant whose retention is a day, and whose leases outlive it.
func longDay(t *testing.T, test func(s *suite)) {
	t.Helper()
	onStoresWith(t, doc{"retention_days": 1, "max_ttl_seconds": 864000}, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		test(s)
	})
}

const ages = 9 * day // a lease that ends long after the retention

// lookers are the ways for the end of retention to be noticed.
func lookers(s *suite) map[string]func(id string) {
	return map[string]func(id string){
		"the sender":    func(id string) { s.agent("bot").get(id).is(http.StatusOK) },
		"the owner":     func(id string) { s.person("alice").read(id).is(http.StatusOK) },
		"the retention": func(string) { s.settle(doc{"what": "retention"}) },
		"the message":   func(id string) { s.settle(doc{"what": "message", "id": id}) },
	}
}

// TestB70_WhatWasNeverDrainedExpires: its ask or task ends for its sender, and nobody is sent a receipt.
func TestB70_WhatWasNeverDrainedExpires(t *testing.T) {
	longDay(t, func(s *suite) {
		bot, alice, worker := s.agent("bot"), s.person("alice"), s.agent("worker").opens(ages)
		for who, look := range lookers(s) {
			s.run("seen by "+who, func() {
				s.now = noon
				sender := bot.opens(ages)
				ids := map[string]string{}
				for _, to := range []string{"agent:worker", worker.address()} {
					ids[sender.accepted(s.ask(mailTo(to), sender.as()))] = "cancelled"
					ids[sender.accepted(s.task(mailTo(to), sender.as()))] = "dismissed"
					ids[sender.accepted(s.notify(mailTo(to), sender.as()))] = "expired"
				}
				directive := s.direct("agent:worker")
				end := noon.Add(day)
				s.now = end // the retention's own end belongs to it
				for id, status := range ids {
					if status != "expired" {
						bot.get(id).shows("/status", "open")
					}
					bot.get(id).shows("/mailbox", doc{"state": "queued"})
				}
				s.later(time.Millisecond)
				for id := range ids {
					look(id)
				}
				for id, status := range ids {
					a := bot.get(id).shows("/status", status, "/mailbox", doc{"state": "expired"})
					if status == "expired" {
						a.lacks("/response")
						continue
					}
					a.shows("/response/response", doc{"actor": undeliverable, "resolved_at": stamp(end)}, "/response/resolution", status)
				}
				same(s.t, "the directive's track", alice.track(directive).json(), plain(s.t, doc{"state": "expired"}))
				for _, e := range sender.drain() {
					same(s.t, "what the sender is sent", e.kind, "response")
				}
				worker.gets()
				sender.closes().is(http.StatusOK)
			})
		}
	})
}

// TestB70_WhatWasDrainedAndNeverAckedBounces: seen and then orphaned, by whoever claimed it last.
func TestB70_WhatWasDrainedAndNeverAckedBounces(t *testing.T) {
	longDay(t, func(s *suite) {
		bot, alice, worker := s.agent("bot"), s.person("alice"), s.agent("worker")
		for who, look := range lookers(s) {
			s.run("seen by "+who, func() {
				s.now = noon
				sender, first, last := bot.opens(ages), worker.opens(0), worker.opens(0)
				to := several(mailTo("agent:worker"), sender.as())
				ids := map[string]string{
					sender.accepted(s.ask(to)): "cancelled", sender.accepted(s.task(to)): "dismissed", sender.accepted(s.notify(to)): "bounced",
				}
				acked := sender.accepted(s.ask(to))
				directive := s.direct("agent:worker")
				s.later(time.Second)
				same(s.t, "what the first drains", len(first.drain()), 5)
				s.later(window + time.Second)
				same(s.t, "what the last drains", len(last.drain()), 5)
				last.consume(acked)
				s.now = noon.Add(day)
				for id := range ids {
					bot.get(id).shows("/mailbox", doc{"state": "delivered", "delivered_at": stamp(noon.Add(time.Second))})
				}
				s.later(time.Millisecond)
				for id := range ids {
					look(id)
				}
				track := doc{"state": "bounced", "prior": "delivered", "delivered_at": stamp(noon.Add(time.Second))}
				for id, status := range ids {
					s.bounced(alice, bot, id, status, track, noon.Add(day))
				}
				same(s.t, "the directive's track", alice.track(directive).json(), plain(s.t, track))
				bot.get(acked).shows("/status", "open", "/mailbox/state", "acknowledged")
				for _, e := range sender.drain() {
					if e.kind != "receipt" {
						continue
					}
					e.shows("/prior", "delivered", "/at", stamp(noon.Add(day)), "/session", last.session, "/to", sender.address())
					delete(ids, e.str("/in_reply_to"))
				}
				same(s.t, "who got no receipt", ids, map[string]string{})
				worker.opens(0).gets()
				sender.closes().is(http.StatusOK)
			})
		}
	})
}

// TestB70_WhatEndedBeforeStays: at the end of retention nothing is rewritten that had come to its end.
func TestB70_WhatEndedBeforeStays(t *testing.T) {
	longDay(t, func(s *suite) {
		bot, worker := s.agent("bot").opens(ages), s.agent("worker").opens(ages)
		to := several(mailTo("agent:worker"), bot.as())
		deadline := noon.Add(time.Hour)
		expired := bot.accepted(s.ask(to, expires(stamp(deadline)), set("/request/default_on_expire", "deny")))
		answered := bot.accepted(s.ask(to))
		worker.answersAs(answered, "approve").is(http.StatusOK) // without ever having drained it
		bot.get(answered).is(http.StatusOK)
		s.now = noon.Add(day + time.Millisecond)
		s.settle(doc{"what": "retention"})
		bot.get(expired).shows("/status", "expired", "/response/response/actor", "system:default_on_expire", "/mailbox", doc{"state": "expired"})
		bot.get(answered).shows("/status", "answered", "/response/response/actor", worker.address(), "/mailbox", doc{"state": "expired"})
		for _, e := range bot.drain() {
			same(s.t, "what the sender is sent", e.kind, "response")
		}
		// Twice is as once, and the final track is there as long as the message is.
		s.settle(doc{"what": "retention"})
		s.later(time.Hour)
		bot.get(expired).shows("/status", "expired", "/mailbox", doc{"state": "expired"})
	})
}

// TestB70_ReceiptsOfTheRetentionGoToTheLiving: a sender that has gone reads it where it always could.
func TestB70_ReceiptsOfTheRetentionGoToTheLiving(t *testing.T) {
	longDay(t, func(s *suite) {
		bot, worker := s.agent("bot"), s.agent("worker").opens(ages)
		gone, sibling := bot.opens(0), bot.opens(ages)
		id := gone.accepted(s.ask(mailTo("agent:worker"), gone.as()))
		worker.gets(id)
		s.now = noon.Add(2 * time.Hour)
		worker.gets(id)
		s.now = noon.Add(day + time.Hour)
		s.settle(doc{"what": "retention"})
		sibling.gets()
		worker.gets()
		bot.get(id).shows("/status", "cancelled", "/response/response/resolved_at", stamp(noon.Add(day)),
			"/mailbox", doc{"state": "bounced", "prior": "delivered", "delivered_at": stamp(noon)})
	})
}

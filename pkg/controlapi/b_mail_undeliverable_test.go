package controlapi_test

import (
	"net/http"
	"testing"
	"time"
)

// TestB71_UndeliverableGoesThroughTheCompareAndSet: what had ended stays as it had, and its entry bounces all the same.
func TestB71_UndeliverableGoesThroughTheCompareAndSet(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		deadline := noon.Add(time.Minute)
		for what, c := range map[string]struct {
			end    func(sender, w *mouth, id string)
			status string
			actor  any
		}{
			"answered":  {func(_, w *mouth, id string) { w.answersAs(id, "approve").is(http.StatusOK) }, "answered", nil},
			"declined":  {func(_, w *mouth, id string) { w.resolveAs(id, doc{"resolution": "declined"}).is(http.StatusOK) }, "declined", nil},
			"cancelled": {func(b, _ *mouth, id string) { b.cancel(id).is(http.StatusOK) }, "cancelled", "agent:bot"},
			"expired":   {func(_, _ *mouth, _ string) { s.now = deadline.Add(time.Second) }, "expired", "system:default_on_expire"},
			"open":      {func(_, _ *mouth, _ string) {}, "cancelled", undeliverable},
		} {
			s.run(what, func() {
				s.now = noon
				sender, w := s.agent("bot").opens(0), s.agent("worker").opens(0)
				id := sender.accepted(s.ask(mailTo(w.address()), sender.as(), expires(stamp(deadline)), set("/request/default_on_expire", "deny"), set("/state", doc{"n": 1})))
				w.gets(id)
				c.end(sender, w, id)
				actor := c.actor
				if actor == nil {
					actor = w.address()
				}
				s.settle(doc{"what": "message", "id": id})
				before := sender.drain()
				s.later(time.Second)
				w.closes().is(http.StatusOK)
				a := sender.get(id).shows("/status", c.status, "/response/response/actor", actor, "/response/state", doc{"n": 1},
					"/mailbox", doc{"state": "bounced", "prior": "delivered", "delivered_at": stamp(noon)})
				// One Response in all, before or after, and one receipt.
				same(s.t, "kinds", len(kinds(before)), map[bool]int{true: 0, false: 1}[what == "open"])
				after := map[string]*entry{}
				for _, e := range sender.drain() {
					after[e.kind] = e
				}
				same(s.t, "how many follow", len(after), 2-len(before))
				after["receipt"].shows("/in_reply_to", id, "/prior", "delivered", "/session", w.session)
				for _, e := range append(before, after["response"]) {
					if e != nil {
						same(s.t, "the entry", e.json(), a.at("/response"))
					}
				}
				sender.closes().is(http.StatusOK)
			})
		}
	})
}

func TestB71_WhatIsPushedOfAnUndeliverable(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, w := s.agent("bot"), s.agent("worker").opens(0)
		taskCallback := set("/action/callback", doc{"mode": "push", "url": callbackURL, "auth": doc{"scheme": "hmac", "secret_ref": "env:S"}})
		ask := bot.accepted(s.ask(mailTo(w.address()), callback(callbackURL)))
		task := bot.accepted(s.task(mailTo(w.address()), taskCallback))
		w.closes().is(http.StatusOK)
		want := map[string]string{ask: "cancelled", task: "dismissed"}
		for _, p := range s.pushes() {
			verify(s.t, p)
			(&answer{t: s.t, what: "the push", body: []byte(p.Body)}).shows("/resolution", want[p.Message], "/in_reply_to", p.Message,
				"/response", doc{"actor": undeliverable, "resolved_at": stamp(noon)})
			delete(want, p.Message)
		}
		same(s.t, "what was not pushed", want, map[string]string{})
		bot.get(ask).shows("/delivery/state", "delivered-to-agent", "/mailbox/state", "bounced")
	})
}

// TestB72_ReceiptsGoToTheLivingAndBreedNone: to the session that sent, while it lives, and to no other of its agent.
func TestB72_ReceiptsGoToTheLivingAndBreedNone(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		for what, c := range map[string]struct {
			before func(sender *mouth)
			named  bool
			want   int
		}{
			"alive":               {func(*mouth) {}, true, 1},
			"closed before":       {func(m *mouth) { m.closes().is(http.StatusOK) }, true, 0},
			"lapsed before":       {func(*mouth) { s.now = noon.Add(lease + time.Millisecond) }, true, 0},
			"at its lease's end":  {func(*mouth) { s.now = noon.Add(lease) }, true, 1},
			"of no session named": {func(*mouth) {}, false, 0},
		} {
			s.run(what, func() {
				s.now = noon
				sender, sibling, w := bot.opens(0), bot.opens(time.Hour), s.agent("worker").opens(time.Hour)
				as := sender.as()
				if !c.named {
					as = several()
				}
				id := bot.accepted(s.notify(mailTo(w.address()), as))
				c.before(sender)
				w.closes().is(http.StatusOK)
				for range c.want {
					sender.one("receipt").shows("/in_reply_to", id)
				}
				sibling.gets()
				bot.bare().gets()
				bot.opens(0).gets()
				bot.get(id).shows("/status", "bounced", "/mailbox", doc{"state": "bounced", "prior": "queued"})
				// The receipt's own end, unseen or seen, is nothing to anybody.
				if c.want == 1 {
					sender.closes().is(http.StatusOK)
				}
				s.later(2 * window)
				s.settle(doc{"what": "sessions"})
				sibling.gets()
				same(s.t, "pushes", len(s.pushes()), 0)
				sibling.closes().is(http.StatusOK)
			})
		}
		same(s.t, "what waits", alice.waiting(), []string{})
	})
}

// TestB72_ResponsesAndReceiptsNeverBounce: they end with their session, and what they told of stays as it was.
func TestB72_ResponsesAndReceiptsNeverBounce(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		worker := s.agent("worker")
		for _, drained := range []bool{false, true} {
			sender, sibling := s.agent("bot").opens(0), s.agent("bot").opens(0)
			w := worker.opens(0)
			answered := sender.accepted(s.ask(mailTo("agent:worker"), sender.as()))
			bounced := sender.accepted(s.ask(mailTo(w.address()), sender.as()))
			w.answersAs(answered, "approve").is(http.StatusOK)
			w.closes().is(http.StatusOK)
			if drained {
				same(s.t, "what the sender drains", len(sender.drain()), 3)
			}
			sender.closes().is(http.StatusOK)
			s.settle(doc{"what": "sessions"})
			s.later(2 * window)
			s.settle(doc{"what": "sessions"})
			sibling.gets()
			worker.bare().gets()
			sender.get(answered).shows("/status", "answered", "/mailbox/state", "queued", "/delivery/state", "delivered-to-agent")
			sender.get(bounced).shows("/status", "cancelled", "/mailbox", doc{"state": "bounced", "prior": "queued"})
			sibling.closes().is(http.StatusOK)
			worker.opens(0).consume(worker.opens(0).gets(answered)[0].key())
		}
	})
}

// TestB73_ExpiredMeansNeverDelivered: the deadline before the death, and no drain before either.
func TestB73_ExpiredMeansNeverDelivered(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		deadline := noon.Add(time.Minute)
		for what, c := range map[string]struct {
			drained bool
			death   time.Time
			look    bool // somebody looks between the two
			track   doc
		}{
			"deadline, then death":          {false, deadline.Add(time.Second), false, doc{"state": "expired"}},
			"deadline, a look, then death":  {false, deadline.Add(time.Second), true, doc{"state": "expired"}},
			"death at the deadline":         {false, deadline, false, doc{"state": "bounced", "prior": "queued"}},
			"death, then deadline":          {false, deadline.Add(-time.Second), false, doc{"state": "bounced", "prior": "queued"}},
			"drained, deadline, then death": {true, deadline.Add(time.Second), false, doc{"state": "bounced", "prior": "delivered", "delivered_at": stamp(noon)}},
			"drained, a look, then death":   {true, deadline.Add(time.Second), true, doc{"state": "bounced", "prior": "delivered", "delivered_at": stamp(noon)}},
		} {
			s.run(what, func() {
				s.now = noon
				sender, w := bot.opens(0), s.agent("worker").opens(0)
				due := expires(stamp(deadline))
				notify := bot.accepted(s.notify(mailTo(w.address()), due, sender.as()))
				directive := s.direct(w.address(), due)
				if c.drained {
					w.gets(notify, directive)
				}
				if c.look {
					s.now = deadline.Add(time.Millisecond)
					state := map[bool]string{true: "delivered", false: "expired"}[c.drained]
					bot.get(notify).shows("/status", state, "/mailbox/state", state)
					alice.track(directive).shows("/state", state)
					w.gets() // neither is delivered any more
				}
				w.closesAt(c.death)
				s.later(time.Hour)
				bot.get(notify).shows("/status", c.track["state"], "/mailbox", c.track)
				same(s.t, "the directive's track", alice.track(directive).json(), plain(s.t, c.track))
				s.now = c.death
				receipts := sender.drain()
				same(s.t, "receipts", len(receipts) == 1, c.track["state"] == "bounced")
				sender.closes().is(http.StatusOK)
			})
		}
	})
}

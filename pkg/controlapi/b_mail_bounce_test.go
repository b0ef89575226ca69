package controlapi_test

import (
	"net/http"
	"testing"
	"time"
)

// killings are the ways for a session to end, and when it then has ended. Each leaves the clock there or later.
func killings(s *suite, alice *caller) map[string]func(m *mouth) time.Time {
	return map[string]func(m *mouth) time.Time{
		"closed": func(m *mouth) time.Time { m.closes().is(http.StatusOK); return s.now },
		"closed by a person": func(m *mouth) time.Time {
			alice.send("DELETE", "/v1/sessions/"+m.session, nil).is(http.StatusOK)
			return s.now
		},
		"stopped": func(m *mouth) time.Time {
			alice.send("POST", "/v1/stops", doc{"agent": m.id, "reason": "It runs in circles."}).is(http.StatusNoContent)
			return s.now
		},
		"lapsed": func(*mouth) time.Time {
			s.now = noon.Add(lease + 5*time.Minute)
			s.settle(doc{"what": "sessions"})
			return noon.Add(lease)
		},
		"lapsed, which nobody saw": func(*mouth) time.Time { s.now = noon.Add(lease + 5*time.Minute); return noon.Add(lease) },
	}
}

// TestB67_TheEndOfASessionBouncesAllThatIsNotAcked: directives and messages, drained or not.
func TestB67_TheEndOfASessionBouncesAllThatIsNotAcked(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		alice := s.person("alice")
		for what, kill := range killings(s, alice) {
			s.run(what, func() {
				s.now = noon
				s.fleet("bot", "for "+what)
				sender, worker := s.agent("bot").opens(time.Hour), s.agent("for "+what).opens(0)
				send := func(e func(...edit) doc) string { return sender.accepted(e(mailTo(worker.address()), sender.as())) }
				seen := []string{s.direct(worker.address()), send(s.notify), send(s.ask), send(s.task)}
				acked := []string{s.direct(worker.address()), send(s.notify), send(s.ask)}
				worker.gets(append(seen, acked...)...)
				worker.consume(acked...)
				queued := []string{s.direct(worker.address()), send(s.notify), send(s.ask), send(s.task)}
				s.later(time.Minute)
				at := kill(worker)

				statuses := []string{"", "bounced", "cancelled", "dismissed"}
				for i, id := range seen {
					s.bounced(alice, sender.caller, id, statuses[i], doc{"state": "bounced", "prior": "delivered", "delivered_at": stamp(noon)}, at)
				}
				for i, id := range queued {
					s.bounced(alice, sender.caller, id, statuses[i], doc{"state": "bounced", "prior": "queued"}, at)
				}
				alice.track(acked[0]).shows("/state", "acknowledged")
				sender.get(acked[1]).shows("/status", "acknowledged", "/mailbox/state", "acknowledged")
				sender.get(acked[2]).shows("/status", "open", "/mailbox/state", "acknowledged") // it was seen, and is owed an answer still
				// One receipt for each message, one Response for each ask and task, and nothing about what was acked.
				got := map[string]int{}
				for _, e := range sender.drain("max", "32") {
					got[e.kind]++
					if e.kind == "receipt" {
						e.shows("/event", "bounced", "/at", stamp(at), "/session", worker.session, "/to", sender.address(), "/ma2h_version", "0.6")
					}
				}
				same(s.t, "what the sender gets", got, map[string]int{"receipt": 6, "response": 4})
				sender.closes().is(http.StatusOK)
			})
		}
	})
}

// bounced holds a directive, whose status is empty, or a message to its track.
func (s *suite) bounced(alice, sender *caller, id, status string, track doc, at time.Time) {
	s.t.Helper()
	if status == "" {
		same(s.t, "the track of "+id, alice.track(id).json(), plain(s.t, track))
		return
	}
	a := sender.get(id).is(http.StatusOK).shows("/status", status, "/mailbox", track)
	if status == "bounced" {
		a.lacks("/response")
		return
	}
	a.shows("/response/response", doc{"actor": undeliverable, "resolved_at": stamp(at)}, "/response/resolution", status)
}

// TestB68_PriorIsStampedOnce: track and receipt say the same, then and ever after.
func TestB68_PriorIsStampedOnce(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		alice := s.person("alice")
		for what, c := range map[string]struct {
			see   func(worker *mouth)
			prior string
			at    time.Time // of delivery
		}{
			"never drained":           {func(*mouth) {}, "queued", time.Time{}},
			"drained":                 {func(w *mouth) { w.drain() }, "delivered", noon},
			"drained twice":           {func(w *mouth) { w.drain(); s.later(2 * window); w.drain() }, "delivered", noon},
			"drained without session": {func(w *mouth) { w.bare().drain() }, "queued", time.Time{}},
			"drained by a sibling":    {func(w *mouth) { w.opens(0).drain() }, "queued", time.Time{}},
			"drained, its claim over": {func(w *mouth) { w.drain(); s.later(2 * window) }, "delivered", noon},
		} {
			s.run(what, func() {
				s.now = noon
				sender, worker := s.agent("bot").opens(0), s.agent("worker").opens(0)
				id := sender.accepted(s.ask(mailTo(worker.address()), sender.as()))
				directive := s.direct(worker.address())
				c.see(worker)
				s.later(time.Second)
				worker.closes().is(http.StatusOK)
				closed := s.now
				track := doc{"state": "bounced", "prior": c.prior}
				if !c.at.IsZero() {
					track["delivered_at"] = stamp(c.at)
				}
				receipt := sender.one("receipt")
				receipt.shows("/prior", c.prior, "/in_reply_to", id, "/at", stamp(closed))
				for range 2 { // nothing that comes later changes it
					sender.get(id).shows("/mailbox", track, "/status", "cancelled")
					same(s.t, "the directive's track", alice.track(directive).json(), plain(s.t, track))
					alice.send("GET", "/v1/directives/"+directive, nil).is(http.StatusOK).shows("/mailbox", track)
					s.later(2 * window)
					same(s.t, "the receipt again", string(sender.one("receipt").body), string(receipt.body))
					s.settle(doc{"what": "sessions"})
					worker.closes().is(http.StatusOK)
				}
				sender.consume(receipt.key())
				s.later(2 * window)
				for _, e := range sender.drain() {
					same(s.t, "what is left", e.kind, "response")
				}
				sender.closes().is(http.StatusOK)
			})
		}
	})
}

func TestB69_MailToThePrincipalOutlivesItsClaimants(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		alice := s.person("alice")
		for what, kill := range killings(s, alice) {
			s.run(what, func() {
				s.now = noon
				name := "for " + what
				s.fleet("bot", name)
				sender, worker := s.agent("bot").opens(time.Hour), s.agent(name)
				claimant := worker.opens(0)
				to := mailTo("agent:" + name)
				ids := []string{sender.accepted(s.ask(to, sender.as())), sender.accepted(s.notify(to, sender.as())), s.direct("agent:" + name)}
				claimant.gets(ids...)
				queued := sender.accepted(s.task(to, sender.as()))
				kill(claimant)
				s.later(2 * window)
				sender.get(ids[0]).shows("/status", "open", "/mailbox", doc{"state": "delivered", "delivered_at": stamp(noon)})
				sender.get(ids[1]).shows("/status", "delivered")
				alice.track(ids[2]).shows("/state", "delivered")
				sender.get(queued).shows("/status", "open", "/mailbox", doc{"state": "queued"})
				sender.gets() // no receipt, no Response
				if what == "stopped" || what == "closed by a person" {
					alice.send("POST", "/v1/stops/lift", doc{"agent": name}).is(http.StatusNoContent)
				}
				rescuer := worker.opens(0)
				rescuer.gets(append(ids, queued)...)
				rescuer.answersAs(ids[0], "approve").is(http.StatusOK)
				sender.get(ids[0]).shows("/status", "answered", "/mailbox/delivered_at", stamp(noon))
				sender.closes().is(http.StatusOK)
			})
		}
	})
}

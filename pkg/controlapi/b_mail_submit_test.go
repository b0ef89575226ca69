package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB15_ExpiresAtOfMailMustLieInTheFuture(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		worker := s.agent("worker").opens(0)
		for _, at := range []time.Time{noon.Add(-time.Hour), noon.Add(-time.Millisecond), noon} {
			due := expires(stamp(at))
			for _, to := range []string{"agent:worker", worker.address()} {
				s.tryDirect(to, due).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/expires_at")
				alice.send("POST", "/v1/directives", doc{"to": to, "title": "Stop", "expires_at": stamp(at)}).
					refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/expires_at")
				for _, e := range []doc{s.notify(mailTo(to), due), s.ask(mailTo(to), due), s.task(mailTo(to), due)} {
					bot.submit(e).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/expires_at")
				}
			}
		}
		worker.gets()
		due := expires(stamp(noon.Add(time.Millisecond)))
		first := s.direct("agent:worker", due)
		second := bot.accepted(s.notify(mailTo("agent:worker"), due))
		worker.gets(first, second)
	})
}

func TestB17_TheSessionMayDifferInAReplay(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker", "other")
		bot := s.agent("bot")
		first, second := bot.opens(0), bot.opens(0)
		worker := s.agent("worker").opens(0)
		key := set("/idempotency_key", "k")
		for what, at := range map[string]edit{"addressed": mailTo("agent:worker"), "to a person": several()} {
			s.run(what, func() {
				whole := several(key, set("/title", what), set("/idempotency_key", what), at)
				original := bot.submit(s.ask(whole, first.as())).is(http.StatusAccepted)
				for _, difference := range []edit{
					second.as(), drop("/agent/session"), several(second.as(), set("/agent/run_id", "run-2")), first.as(),
				} {
					again := bot.submit(s.ask(whole, first.as(), difference)).is(http.StatusAccepted)
					same(s.t, "the replay", string(again.body), string(original.body))
				}
				for _, difference := range []edit{
					set("/to", "agent:other"), set("/to", worker.address()), set("/agent/project", "p"), set("/title", "Another"),
				} {
					bot.submit(s.ask(whole, second.as(), difference)).
						refused(http.StatusConflict, ma2h.CodeIdempotencyConflict, "/idempotency_key").
						shows("/id", original.str("/id"))
				}
			})
		}
	})
}

// TestB18_ReplaysOfMailTellTheOwningTrack: the resolution of an ask or task, the mailbox track of a notify.
func TestB18_ReplaysOfMailTellTheOwningTrack(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker")
		deadline := noon.Add(5 * time.Minute)
		for want, c := range map[string]struct {
			envelope func(...edit) doc
			end      func(w *mouth, id string)
		}{
			"open":         {s.ask, func(w *mouth, id string) { w.consume(w.gets(id)[0].key()) }}, // acked is not resolved
			"answered":     {s.ask, func(w *mouth, id string) { w.answersAs(id, "deny").is(http.StatusOK) }},
			"expired":      {s.ask, func(*mouth, string) { s.now = deadline.Add(time.Millisecond) }},
			"cancelled":    {s.ask, func(w *mouth, _ string) { w.closes().is(http.StatusOK) }},
			"dismissed":    {s.task, func(w *mouth, _ string) { w.closes().is(http.StatusOK) }},
			"completed":    {s.task, func(w *mouth, id string) { w.resolveAs(id, doc{"resolution": "completed"}).is(http.StatusOK) }},
			"queued":       {s.notify, func(*mouth, string) {}},
			"delivered":    {s.notify, func(w *mouth, id string) { w.gets(id) }},
			"acknowledged": {s.notify, func(w *mouth, id string) { w.gets(id); w.consume(id) }},
			"bounced":      {s.notify, func(w *mouth, _ string) { w.closes().is(http.StatusOK) }},
		} {
			s.run(want, func() {
				s.now = noon
				w := worker.opens(0)
				whole := several(set("/idempotency_key", want), expires(stamp(deadline)), mailTo(w.address()))
				id := bot.accepted(c.envelope(whole))
				c.end(w, id)
				a := bot.submit(c.envelope(whole)).is(http.StatusAccepted).
					shows("/id", id, "/status", want, "/destination", doc{"state": "unknown"})
				bot.get(id).shows("/status", want)
				a.shows("/poll_url", "https://hub.example/v1/messages/"+id)
				w.closes()
			})
		}
		s.now = noon
		late := several(set("/idempotency_key", "late"), expires(stamp(deadline)), mailTo("agent:worker"))
		id := bot.accepted(s.notify(late))
		s.now = deadline.Add(time.Millisecond)
		bot.submit(s.notify(late)).is(http.StatusAccepted).shows("/id", id, "/status", "expired")
	})
}

func TestB19_TheFirstSubmitsSessionStaysTheCaller(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		first, second := bot.opens(0), bot.opens(0)
		ask := several(mailTo("agent:worker"), set("/idempotency_key", "k"))
		id := bot.accepted(s.ask(ask, first.as()))
		bot.submit(s.ask(ask, second.as(), set("/agent/run_id", "run-2"))).is(http.StatusAccepted).shows("/id", id)
		worker.one("message").shows("/from", first.address(), "/agent", doc{"id": "bot", "run_id": "run-1", "session": first.session})
		resolution := worker.answersAs(id, "approve").is(http.StatusOK).str("/resolution_id")
		second.gets()
		first.gets(resolution)[0].shows("/in_reply_to", id, "/agent/run_id", "run-1")

		// Where the first named none, none is bound.
		ask = several(mailTo("agent:worker"), set("/idempotency_key", "l"))
		id = bot.accepted(s.ask(ask))
		bot.submit(s.ask(ask, second.as())).is(http.StatusAccepted).shows("/id", id)
		worker.one("message").shows("/from", "agent:bot").lacks("/agent/session")
		worker.answersAs(id, "approve").is(http.StatusOK)
		second.gets()
		bot.get(id).shows("/status", "answered")

		// Nor does another session inherit from one that has ended.
		ask = several(mailTo("agent:worker"), set("/idempotency_key", "m"))
		id = bot.accepted(s.ask(ask, first.as()))
		first.consume(resolution)
		first.closes().is(http.StatusOK)
		bot.submit(s.ask(ask, second.as())).is(http.StatusAccepted).shows("/id", id, "/status", "open")
		worker.answersAs(id, "deny").is(http.StatusOK)
		second.gets()
		bot.get(id).shows("/status", "answered", "/response/response/actor", worker.address())
	})
}

func TestB21_StatusOfTheAckOfMail(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice, worker := s.agent("bot"), s.person("alice"), s.agent("worker").opens(0)
		for _, to := range []string{"agent:worker", worker.address()} {
			for status, envelopes := range map[string][]doc{
				"queued": {s.notify(mailTo(to)), s.notify(mailTo(to), drop("/idempotency_key")), s.notify(mailTo(to), version(5))},
				"open":   {s.ask(mailTo(to)), s.task(mailTo(to)), s.ask(mailTo(to), version(5))},
			} {
				for _, e := range envelopes {
					id := bot.submit(e).is(http.StatusAccepted).shows("/status", status).str("/id")
					bot.get(id).is(http.StatusOK).shows("/status", status, "/mailbox", doc{"state": "queued"}, "/to", to)
				}
			}
		}
		// None of it is for the person to do, but the person may read it all (spec §8.7.1).
		same(s.t, "what waits", alice.waiting(), []string{})
		for _, e := range worker.drain() {
			alice.read(e.key()).is(http.StatusOK).shows("/title", e.str("/title"))
		}
	})
}

func TestB28_MailNeedsTheOptInOfTheAccount(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "worker")
		s.owns("carol", "hers", "second")
		bot, alice, loner := s.agent("bot"), s.person("alice"), s.agent("loner")
		worker := s.agent("worker").opens(0)
		refused := func(from *caller, to string) {
			s.t.Helper()
			s.writesNothing(func() {
				for _, e := range []doc{s.notify(mailTo(to)), s.ask(mailTo(to)), s.task(mailTo(to))} {
					from.submit(e).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "/to")
				}
			})
		}
		for _, to := range []string{"agent:worker", worker.address(), "agent:nobody", "agent:bot"} {
			refused(bot, to)
		}
		refused(loner, "agent:worker")
		s.optIn("carol", true)
		refused(bot, "agent:worker") // another account's opt-in
		// The person's mail and the agents' to the person need none.
		directive := s.direct("agent:worker")
		bot.accepted(s.ask())
		bot.accepted(s.ask(s.agent("bot").opens(0).as()))

		s.optIn("alice", true)
		id := bot.accepted(s.notify(mailTo("agent:worker")))
		worker.gets(directive, id)
		s.agent("hers").submit(s.notify(mailTo("agent:second"))).is(http.StatusAccepted)
		s.optIn("alice", false)
		refused(bot, "agent:worker")
		bot.send("PUT", "/v1/settings", doc{"inter_agent_enabled": true}).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		refused(bot, "agent:worker")
		alice.send("PUT", "/v1/settings", doc{"inter_agent_enabled": true}).is(http.StatusNoContent)
		bot.accepted(s.notify(mailTo("agent:worker")))
	})
}

func TestB31_MailboxIsThereExactlyWhenAddressed(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		for _, envelope := range []doc{s.ask(mailTo("agent:worker")), s.task(mailTo(worker.address())), s.notify(mailTo(worker.address()))} {
			s.now = noon
			ends := envelope["type"] != "notify"
			id := bot.accepted(envelope)
			bot.get(id).is(http.StatusOK).shows("/mailbox", doc{"state": "queued"}).lacks("/delivery")
			s.later(time.Second)
			worker.gets(id)
			delivered := stamp(s.now)
			s.later(time.Second)
			bot.get(id).shows("/mailbox", doc{"state": "delivered", "delivered_at": delivered}).lacks("/delivery")
			acked := stamp(s.now)
			worker.tryConsume(doc{"ids": []string{id}, "note": "on it"}).is(http.StatusOK)
			mailbox := doc{"state": "acknowledged", "delivered_at": delivered, "acknowledged_at": acked, "ack": doc{
				"ma2h_version": "0.6", "type": "ack", "in_reply_to": id, "by": "agent:worker", "acked_at": acked, "note": "on it"}}
			a := bot.get(id).shows("/mailbox", mailbox).lacks("/delivery")
			if !ends {
				a.shows("/status", "acknowledged")
				continue
			}
			a.shows("/status", "open")
			s.later(time.Second)
			worker.resolveAs(id, resolveOf(envelope)).is(http.StatusOK)
			s.later(time.Second)
			pulled := doc{"state": "delivered-to-agent", "delivered_at": stamp(s.now)}
			bot.get(id).shows("/mailbox", mailbox, "/delivery", pulled)
			bot.ack(id, nil).is(http.StatusOK)
			bot.get(id).shows("/mailbox", mailbox, "/delivery/state", "acknowledged")
		}
	})
}

// TestB31_SinceSeesEveryStepOfANotifysTrack: its track is its status (spec §5.1, §8.2).
func TestB31_SinceSeesEveryStepOfANotifysTrack(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker").opens(time.Hour)
		id := bot.accepted(s.notify(mailTo(worker.address())))
		bounced := bot.accepted(s.notify(mailTo(worker.address())))
		changed := func(id, status string) {
			s.t.Helper()
			now := s.now
			s.later(time.Minute)
			bot.get(id+"?since="+stamp(now.Add(-time.Millisecond))).is(http.StatusOK).shows("/status", status)
			bot.get(id + "?since=" + stamp(now)).is(http.StatusNotModified)
		}
		changed(id, "queued")
		worker.drain()
		changed(id, "delivered")
		s.later(window)
		worker.drain() // a redelivery changes nothing
		bot.get(id + "?since=" + stamp(s.now.Add(-time.Second))).is(http.StatusNotModified)
		worker.consume(id)
		changed(id, "acknowledged")
		worker.closes().is(http.StatusOK)
		changed(bounced, "bounced")
	})
}

package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/recordtest"
)

// Two deeds at one entry, the second of which comes between what the first has read and its Commit: one of them wins, and
// everybody is told so (spec §7, §14.2).

// overtaken makes the next Commit that puts a record of the kind be overtaken.
func (s *suite) overtaken(kind string, first func()) {
	s.store.fails(recordtest.Once(recordtest.Putting(kind), recordtest.Overtaken(first)))
}

// rivals is an ask to a session that is live, from one that is.
func rivals(s *suite) (sender, worker *mouth, id string) {
	s.fleet("bot", "worker")
	sender, worker = s.agent("bot").opens(0), s.agent("worker").opens(0)
	return sender, worker, sender.accepted(s.ask(mailTo(worker.address()), sender.as()))
}

func TestB74_AClaimOvertakenByTheEnd(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		sender, worker, id := rivals(s)
		s.overtaken(hub.KindRow, func() { worker.closes().is(http.StatusOK) })
		a := worker.send("GET", worker.at("/v1/inbox"), nil)
		if a.status == http.StatusOK {
			a.shows("/messages", []any{})
		} else {
			a.refused(http.StatusGone, ma2h.CodeGone, "")
		}
		sender.get(id).shows("/status", "cancelled", "/mailbox", doc{"state": "bounced", "prior": "queued"})
		sender.one("receipt").shows("/prior", "queued")
	})
}

func TestB74_AnAckOvertakenByTheEnd(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		sender, worker, id := rivals(s)
		worker.gets(id)
		s.overtaken("state", func() { worker.closes().is(http.StatusOK) })
		worker.bare().consume(id).shows("/acks", []any{})
		track := doc{"state": "bounced", "prior": "delivered", "delivered_at": stamp(noon)}
		sender.get(id).shows("/status", "cancelled", "/mailbox", track)
		sender.one("receipt").shows("/prior", "delivered")
	})
}

// TestB74_AnAckBetweenTheEndAndItsBounce is one that comes too late, and what it finds it settles itself.
func TestB74_AnAckBetweenTheEndAndItsBounce(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		sender, worker, id := rivals(s)
		worker.gets(id)
		var ack *answer
		s.overtaken("state", func() { ack = worker.bare().consume(id) })
		worker.closes().is(http.StatusOK)
		ack.shows("/acks", []any{})
		s.later(5 * time.Minute)
		s.settle(doc{"what": "sessions"})
		sender.get(id).shows("/status", "cancelled", "/mailbox", doc{"state": "bounced", "prior": "delivered", "delivered_at": stamp(noon)})
		same(s.t, "how much the sender is sent", len(sender.drain()), 2)
	})
}

func TestB71_AResolveOvertakenByTheEnd(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		sender, worker, id := rivals(s)
		s.overtaken("state", func() { worker.closes().is(http.StatusOK) })
		worker.bare().answersAs(id, "approve").refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").
			shows("/id", id, "/status", "cancelled", "/resolution", "cancelled")
		sender.get(id).shows("/status", "cancelled", "/response/response/actor", undeliverable, "/mailbox/prior", "queued")
		got := kinds(sender.drain())
		same(s.t, "how much the sender is sent", len(got), 2)
	})
}

func TestB71_AResolveBetweenTheEndAndItsBounce(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		sender, worker, id := rivals(s)
		var late *answer
		s.overtaken("state", func() { late = worker.bare().answersAs(id, "approve") })
		worker.closes().is(http.StatusOK)
		late.refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").shows("/status", "cancelled")
		s.later(5 * time.Minute)
		s.settle(doc{"what": "sessions"})
		sender.get(id).shows("/status", "cancelled", "/response/response/actor", undeliverable, "/mailbox", doc{"state": "bounced", "prior": "queued"})
		got := map[string]any{}
		for _, e := range sender.drain() {
			got[e.kind] = e.str("/in_reply_to")
		}
		same(s.t, "what the sender is sent", got, map[string]any{"response": id, "receipt": id})
	})
}

// TestB46_AnOutcomeOvertakenByTheEndOfItsSession: the entry goes to nobody, or it is there; the answer stands either way.
func TestB46_AnOutcomeOvertakenByTheEndOfItsSession(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		alice, asker := s.person("alice"), s.agent("bot").opens(0)
		sibling := s.agent("bot").opens(0)
		id := asker.asked()
		s.overtaken("state", func() { asker.closes().is(http.StatusOK) })
		resolution := alice.answers(id, "approve").is(http.StatusOK).str("/resolution_id")
		s.later(5 * time.Minute)
		s.settle(doc{"what": "sessions"})
		sibling.gets()
		alice.read(id).lacks("/delivery", "/mailbox")
		sibling.get(id).shows("/status", "answered", "/response/resolution_id", resolution)
	})
}

// TestB57_TwoAcksOfOneAnswer: whichever path lands first wins, and the other is told the same.
func TestB57_TwoAcksOfOneAnswer(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		alice, asker := s.person("alice"), s.agent("bot").opens(0)
		id := asker.asked()
		resolution := alice.answers(id, "approve").is(http.StatusOK).str("/resolution_id")
		asker.gets(resolution)
		var first *answer
		s.overtaken("state", func() { first = asker.ack(id, doc{"note": "first"}) })
		same(s.t, "the acks", asker.consume(resolution).at("/acks"), any([]any{first.is(http.StatusOK).json()}))

		id = asker.asked()
		resolution = alice.answers(id, "approve").is(http.StatusOK).str("/resolution_id")
		asker.gets(resolution)
		s.overtaken("state", func() { first = asker.consume(resolution) })
		second := asker.ack(id, doc{"note": "second"}).is(http.StatusOK)
		same(s.t, "the second", any([]any{second.json()}), first.at("/acks"))
	})
}

func TestB27_ASubmitWhoseSessionEndsMeanwhile(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker, alice := s.agent("bot").opens(0), s.agent("worker").opens(0), s.person("alice")
		s.now = noon.Add(time.Second) // so that there is something to renew
		s.overtaken(hub.KindSession, func() { bot.closes().is(http.StatusOK) })
		bot.submit(s.ask(bot.as())).refused(http.StatusGone, ma2h.CodeDestinationGone, "/agent/session")
		s.overtaken(hub.KindSession, func() { alice.closes(worker.session).is(http.StatusOK) })
		worker.submit(s.ask(worker.as())).refused(http.StatusGone, ma2h.CodeSessionClosedByOperator, "")
	})
}

package controlapi_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// TestB59_AStreamPushesWhatADrainReturns: the very entries, claimed for the same window.
func TestB59_AStreamPushesWhatADrainReturns(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		worker := s.agent("worker").opens(0)
		first := everyKind(s, worker)
		sibling, bot := worker.opens(0), s.agent("bot")
		s.later(window + time.Second)
		ours := []string{s.direct("agent:worker"), bot.accepted(s.notify(mailTo("agent:worker")))}
		pushed := worker.pushes(append(keys(first), ours...)...)
		for i, e := range first {
			same(s.t, "the content of "+e.what, pushed[i].json(), e.json())
		}
		for _, m := range []*mouth{worker, sibling, worker.bare()} {
			m.gets() // hidden
		}
		worker.pushes()
		s.later(window)
		sibling.pushes(ours...) // whoever was first, the window over, is not the only one
		s.now = s.now.Add(time.Millisecond)
		worker.pushes(keys(first)...)
		worker.consume(append(keys(first), ours...)...).shows("/acked", len(first)+len(ours))
		s.later(window + time.Second)
		worker.pushes()
	})
}

// TestB59_APushIsNoDelivery: nobody is told that an entry was delivered that was only pushed. A drain says so.
func TestB59_APushIsNoDelivery(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		worker := s.agent("worker").opens(0)
		directive, ask := s.direct(worker.address()), bot.accepted(s.ask(mailTo(worker.address())))
		note, asked := bot.accepted(s.notify(mailTo("agent:worker"))), worker.asked()
		resolution := alice.answers(asked, "approve").is(http.StatusOK).str("/resolution_id")
		worker.pushes(directive, ask, note, resolution)

		queued := doc{"state": "queued"}
		same(s.t, "the track of the directive", alice.track(directive).json(), plain(s.t, queued))
		bot.get(ask).shows("/mailbox", queued, "/status", "open")
		bot.get(note).shows("/mailbox", queued, "/status", "queued")
		alice.read(asked).is(http.StatusOK).lacks("/delivery")
		worker.ack(asked, nil).refused(http.StatusConflict, ma2h.CodeNotAcknowledgeable, "")

		s.later(window + time.Second)
		worker.gets(directive, ask, note, resolution)
		delivered := doc{"state": "delivered", "delivered_at": stamp(s.now)}
		same(s.t, "the track of the directive", alice.track(directive).json(), plain(s.t, delivered))
		bot.get(ask).shows("/mailbox", delivered)
		bot.get(note).shows("/mailbox", delivered, "/status", "delivered")
		alice.read(asked).shows("/delivery", doc{"state": "delivered-to-agent", "delivered_at": stamp(s.now)})
	})
}

// TestB59_TheAckOfAPushStampsDeliveredToo: it is the first that says that somebody was there.
func TestB59_TheAckOfAPushStampsDeliveredToo(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		worker := s.agent("worker").opens(0)
		doomed := bot.opens(0)
		told := worker.accepted(s.notify(mailTo(doomed.address()), worker.as()))
		doomed.closes().is(http.StatusOK)
		directive, ask, asked := s.direct("agent:worker"), bot.accepted(s.ask(mailTo(worker.address()))), worker.asked()
		resolution := alice.answers(asked, "approve").is(http.StatusOK).str("/resolution_id")
		pushed := worker.streamed()
		same(s.t, "kinds", kinds(pushed), []string{"receipt", "directive", "message", "response"})
		pushed[0].shows("/in_reply_to", told)
		s.later(10 * time.Second)
		worker.consume(keys(pushed)...).shows("/acked", 4)

		at := doc{"state": "acknowledged", "delivered_at": stamp(s.now), "acknowledged_at": stamp(s.now)}
		for _, a := range []*answer{alice.track(directive), alice.track(asked)} {
			a.shows("/state", at["state"], "/delivered_at", at["delivered_at"], "/acknowledged_at", at["acknowledged_at"])
		}
		bot.get(ask).shows("/mailbox/state", "acknowledged", "/mailbox/delivered_at", at["delivered_at"])
		worker.ack(asked, nil).is(http.StatusOK).shows("/resolution_id", resolution, "/acked_at", stamp(s.now))
		s.later(window)
		worker.pushes()
		worker.gets()
	})
}

// TestB59_APushThatNobodyAcksWasNeverSeen: whatever ends its track says so.
func TestB59_APushThatNobodyAcksWasNeverSeen(t *testing.T) {
	onStoresWith(t, doc{"retention_days": 1, "max_ttl_seconds": 10 * 24 * 3600}, func(_ *testing.T, s *suite) {
		alice := s.person("alice")
		s.fleet("bot", "worker")
		sender, worker := s.agent("bot").opens(10*24*time.Hour), s.agent("worker").opens(10*24*time.Hour)
		dying := worker.opens(0)
		ask, directive := sender.accepted(s.ask(mailTo(dying.address()), sender.as())), s.direct(dying.address())
		dying.pushes(ask, directive)
		s.later(window + time.Second)
		dying.pushes(ask, directive) // twice is no more than once
		dying.closes().is(http.StatusOK)
		bounced := doc{"state": "bounced", "prior": "queued"}
		s.bounced(alice, sender.caller, ask, "cancelled", bounced, s.now)
		s.bounced(alice, sender.caller, directive, "", bounced, s.now)
		sender.one("receipt").shows("/prior", "queued", "/in_reply_to", ask)

		unseen := s.direct("agent:worker", expires(stamp(s.now.Add(time.Second))))
		worker.pushes(unseen)
		s.later(2 * time.Second)
		worker.consume(unseen).shows("/acked", 0)
		same(s.t, "the track of what was pushed and expired", alice.track(unseen).json(), plain(s.t, doc{"state": "expired"}))

		lost := sender.accepted(s.ask(mailTo("agent:worker"), sender.as()))
		worker.pushes(lost)
		s.later(25 * time.Hour)
		s.settle(doc{"what": "retention"})
		sender.get(lost).shows("/mailbox", doc{"state": "expired"}, "/status", "cancelled")
	})
}

// TestB59_AStreamUnderAVirtualClockPushesAllAndEnds: however many there are.
func TestB59_AStreamUnderAVirtualClockPushesAllAndEnds(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		worker := s.agent("worker").opens(0)
		want := []string{}
		for range 40 {
			want = append(want, s.direct(worker.address()))
		}
		worker.pushes(want...)
		worker.pushes()
	})
}

// TestB59_AnEntryIsOneLineHoweverItWasWritten: a line break of JSON is none of the stream's.
func TestB59_AnEntryIsOneLineHoweverItWasWritten(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		indented := func(envelope doc, by string) []byte {
			envelope["agent"].(doc)["id"] = by
			text, err := json.MarshalIndent(envelope, "\r", "\n  ")
			if err != nil {
				s.t.Fatal(err)
			}
			return text
		}
		data := []doc{{"kind": "data", "data": doc{"n": 1}}}
		id := bot.accepted(indented(s.notify(mailTo("agent:worker"), set("/body", "two\nlines\r\n"), set("/context", data)), "bot"))
		asked := worker.accepted(indented(s.ask(worker.as(), set("/state", doc{"n": 2})), "worker"))
		key := s.person("alice").answers(asked, "approve").is(http.StatusOK).str("/resolution_id")
		pushed := worker.pushes(id, key)
		pushed[0].shows("/body", "two\nlines\r\n", "/context/0/data/n", 1)
		pushed[1].shows("/state/n", 2)
	})
}

// TestB48_AStreamIsASessions: one that can be presented, of the calling agent.
func TestB48_AStreamIsASessions(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		worker, alice := s.agent("worker"), s.person("alice")
		id := s.direct("agent:worker")
		s.writesNothing(func() {
			worker.send("GET", "/v1/inbox/stream", nil).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/session")
			worker.send("GET", "/v1/inbox/stream?%zz", nil).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
			alice.send("GET", "/v1/inbox/stream?session=sess_1", nil).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
			s.send(request{method: "GET", path: "/v1/inbox/stream"}).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
		})
		m := worker.opens(0)
		head := m.send("HEAD", m.at("/v1/inbox/stream"), nil).is(http.StatusOK)
		same(s.t, "Content-Type", head.header.Get("Content-Type"), "text/event-stream")
		m.pushes(id) // which HEAD did not claim
	})
}

// TestB60_ConnectingIsTheSignOfLife: once for each time, and whatever is pushed is none.
func TestB60_ConnectingIsTheSignOfLife(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		alice, worker := s.person("alice"), s.agent("worker").opens(0)
		for range 3 {
			s.later(lease)
			s.direct(worker.address())
			worker.streamed()
			s.sessionAt(alice, worker.session).shows("/session/state", "active", "/session/last_seen", stamp(s.now),
				"/session/expires_at", stamp(s.now.Add(lease)))
			alice.presence("worker").shows("/state", "online", "/last_seen", stamp(s.now))
		}
		seen := s.now
		s.later(10 * time.Second)
		id := s.direct(worker.address())
		worker.bare().consume(id) // without the session, and of what was never presented
		s.sessionAt(alice, worker.session).shows("/session/last_seen", stamp(seen))
	})
}

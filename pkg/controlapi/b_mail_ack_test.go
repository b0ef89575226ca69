package controlapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// TestB53_AcksOfWhatIsNotOnesOwnAreAlike: nothing is acked, and the answer is that for an id of nobody, byte by byte.
func TestB53_AcksOfWhatIsNotOnesOwnAreAlike(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		s.owns("carol", "foreign")
		s.optIn("carol", true)
		bot, alice, worker := s.agent("bot").opens(0), s.person("alice"), s.agent("worker").opens(0)
		directive, message := s.direct("agent:worker"), bot.accepted(s.ask(mailTo("agent:worker")))
		toSession := bot.accepted(s.notify(mailTo(worker.address())))
		asked := worker.asked()
		resolution := alice.answers(asked, "approve").is(http.StatusOK).str("/resolution_id")
		drained := s.direct("agent:worker")
		for _, e := range worker.drain("max", "99") {
			_ = e // all of it has been presented now, to worker
		}
		unseen := []string{s.direct("agent:worker"), bot.accepted(s.notify(mailTo("agent:worker"))), bot.accepted(s.ask(mailTo(worker.address())))}
		unseenAnswer := alice.answers(worker.asked(), "approve").is(http.StatusOK).str("/resolution_id")
		never := append(unseen, unseenAnswer)
		own := bot.accepted(s.ask()) // a message of one's own is no entry
		foreigners := []string{directive, message, toSession, resolution, drained, asked, own}

		for who, c := range map[string]struct {
			m   *mouth
			ids []string
		}{
			"another of the account": {bot, append(foreigners, never...)},
			"an agent of another":    {s.agent("foreign").opens(0), append(foreigners, never...)},
			"the addressee too soon": {worker, append(never, asked, own)},
		} {
			s.run(who, func() {
				for _, m := range []*mouth{c.m, c.m.bare()} {
					unknown := m.consume("dir_00000000000000000000000000").shows("/acks", []any{})
					for _, id := range append(c.ids, "msg_00000000000000000000000000", "res_00000000000000000000000000"+strings.Repeat("0", 16),
						"rcpt_1", "dir_", "nonsense", "", directive+"x", strings.ToUpper(directive), m.session, "é\u0000") {
						same(s.t, "the answer for "+id, string(m.consume(id).body), string(unknown.body))
					}
				}
			})
		}
		alice.track(directive).shows("/state", "delivered")
		alice.track(unseen[0]).shows("/state", "queued")
		bot.get(message).shows("/mailbox/state", "delivered")
		bot.get(unseen[2]).shows("/mailbox/state", "queued")
		alice.read(asked).shows("/delivery/state", "delivered-to-agent")
		same(s.t, "what is still there", keys(worker.drain()), never)
		// Known and unknown ids in one list: what is there is acked.
		worker.consume("dir_unknown", directive, "", message).shows("/acks/0/in_reply_to", directive, "/acks/1/in_reply_to", message).
			lacks("/acks/2")
		alice.track(directive).shows("/state", "acknowledged")
	})
}

func TestB54_AnAckAfterTheDeadlineAcknowledgesNothing(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		alice, worker := s.person("alice"), s.agent("worker").opens(0)
		deadline := noon.Add(10 * time.Second)
		for _, to := range []string{"agent:worker", worker.address()} {
			for _, m := range []*mouth{worker, worker.bare()} {
				s.now = noon
				late, inTime, unseen := s.direct(to, expires(stamp(deadline))), s.direct(to, expires(stamp(deadline))), s.direct(to, expires(stamp(deadline)))
				worker.drain("max", "2")
				s.now = deadline // the deadline itself is in time
				m.consume(inTime).shows("/acks/0/in_reply_to", inTime, "/acks/0/acked_at", stamp(deadline))
				s.later(time.Millisecond)
				for _, id := range []string{late, unseen} {
					m.consume(id).shows("/acks", []any{})
				}
				// What had been delivered stays so, and what had not has expired; neither is delivered any more.
				delivered := doc{"state": "delivered", "delivered_at": stamp(noon)}
				same(s.t, "the track", alice.track(late).json(), plain(s.t, delivered))
				same(s.t, "the track of an unseen one", alice.track(unseen).json(), plain(s.t, doc{"state": "expired"}))
				alice.track(inTime).shows("/state", "acknowledged")
				s.later(window)
				worker.gets()
				m.consume(late).shows("/acks", []any{})
				alice.track(late).shows("/state", "delivered")
			}
		}
	})
}

func TestB55_ARepeatedAckOfAnEntryIsTheSame(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		worker, sibling := s.agent("worker").opens(0), s.agent("worker").opens(0)
		directive, message := s.direct("agent:worker"), bot.accepted(s.ask(mailTo(worker.address())))
		worker.gets(directive, message)
		s.later(time.Second)
		first := worker.tryConsume(doc{"ids": []string{directive, message}, "note": "on it"}).is(http.StatusOK)
		for i, id := range []string{directive, message} {
			ack := lookUp(first.at("/acks").([]any)[i], "")
			same(s.t, "the ack", ack, plain(s.t, doc{"ma2h_version": "0.6", "type": "ack", "in_reply_to": id, "by": "agent:worker",
				"acked_at": stamp(s.now), "note": "on it"}))
		}
		tracks := string(alice.track(directive).body)
		s.later(time.Hour)
		for _, m := range []*mouth{s.agent("worker").opens(0), sibling.bare()} {
			for _, body := range []doc{
				{"ids": []string{directive, message}}, {"ids": []string{directive, message}, "note": "another"},
			} {
				again := m.tryConsume(body).is(http.StatusOK)
				same(s.t, "the acks again", again.at("/acks"), first.at("/acks"))
			}
		}
		same(s.t, "the track", string(alice.track(directive).body), tracks)
		bot.get(message).shows("/mailbox/ack/note", "on it", "/mailbox/acknowledged_at", first.str("/acks/0/acked_at"))
		worker.bare().gets()
	})
}

func TestB57_AckingAResponseEntryIsTheMessagesAck(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		asker := bot.opens(0)
		id := asker.asked()
		resolution := alice.answers(id, "approve").is(http.StatusOK).str("/resolution_id")
		alice.read(id).lacks("/delivery")
		s.later(time.Second)
		asker.gets(resolution)
		seen := stamp(s.now)
		alice.read(id).shows("/delivery", doc{"state": "delivered-to-agent", "delivered_at": seen}) // by the drain alone
		s.later(time.Second)
		ack := doc{"ma2h_version": "0.6", "type": "ack", "in_reply_to": id, "by": "agent:bot", "acked_at": stamp(s.now), "resolution_id": resolution}
		a := asker.tryConsume(doc{"ids": []string{resolution}, "note": "no place for it"}).is(http.StatusOK)
		same(s.t, "the acks", a.at("/acks"), plain(s.t, []doc{ack})) // as an ack without a note would be
		track := doc{"state": "acknowledged", "delivered_at": seen, "acknowledged_at": stamp(s.now), "ack": ack}
		alice.read(id).shows("/delivery", track)
		s.later(time.Hour)
		same(s.t, "the message's ack", bot.ack(id, doc{"note": "late"}).is(http.StatusOK).json(), plain(s.t, ack))
		bot.get(id).shows("/delivery", track)

		// The other way round: the message's own ack comes first, and the entry's repeats it.
		s.now = noon
		id = asker.asked()
		resolution = alice.answers(id, "deny").is(http.StatusOK).str("/resolution_id")
		asker.gets(resolution)
		first := bot.ack(id, doc{"note": "mine"}).is(http.StatusOK)
		s.later(time.Second)
		same(s.t, "the acks", asker.consume(resolution).at("/acks"), any([]any{first.json()}))
		alice.read(id).shows("/delivery/ack/note", "mine", "/delivery/acknowledged_at", stamp(noon))
		s.later(2 * window)
		asker.gets()
	})
}

// TestB57_AnExpiredTrackStaysSo: an answer that nobody saw within its retention is acknowledged by nothing.
func TestB57_AnExpiredTrackStaysSo(t *testing.T) {
	onStoresWith(t, doc{"retention_days": 1, "max_ttl_seconds": 400000}, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		asker := bot.opens(4 * day)
		unseen, seen := asker.asked(), asker.asked()
		lost := alice.answers(unseen, "approve").is(http.StatusOK).str("/resolution_id")
		s.later(time.Second)
		kept := alice.answers(seen, "approve").is(http.StatusOK).str("/resolution_id")
		bot.get(seen).is(http.StatusOK)
		s.now = noon.Add(day + time.Millisecond)
		asker.consume(lost)
		alice.read(unseen).shows("/delivery", doc{"state": "expired"})
		for _, e := range asker.drain() {
			if e.key() == lost {
				s.t.Errorf("%s = %s, though its retention is over", e.what, e.body)
			}
		}
		asker.consume(lost, kept)
		bot.ack(unseen, nil).refused(http.StatusConflict, ma2h.CodeNotAcknowledgeable, "")
		bot.get(unseen).shows("/delivery", doc{"state": "expired"})
		alice.read(seen).shows("/delivery/state", "acknowledged")
	})
}

func TestB58_OnlyAPresentedSessionIsRenewed(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		alice := s.person("alice")
		a, b := s.agent("worker").opens(time.Minute), s.agent("worker").opens(time.Minute)
		until := func(m *mouth, end, seen time.Time) {
			s.t.Helper()
			s.sessionAt(alice, m.session).shows("/session/state", "active", "/session/expires_at", stamp(end), "/session/last_seen", stamp(seen))
		}
		directive := s.direct("agent:worker")
		a.gets(directive)
		s.later(30 * time.Second)
		a.bare().consume("dir_unknown")
		a.bare().consume(directive)
		a.bare().drain()
		for _, m := range []*mouth{a, b} {
			until(m, noon.Add(time.Minute), noon)
		}
		a.consume(directive) // of something acked long since, and yet a sign of life
		until(a, noon.Add(90*time.Second), s.now)
		until(b, noon.Add(time.Minute), noon)
		s.now = noon.Add(time.Minute + time.Millisecond)
		s.sessionAt(alice, b.session).shows("/session/state", "expired", "/session/closed_at", stamp(noon.Add(time.Minute)))
		b.tryConsume(doc{"ids": []string{directive}}).refused(http.StatusGone, ma2h.CodeGone, "")
		until(a, noon.Add(90*time.Second), noon.Add(30*time.Second))
		s.now = noon.Add(10 * time.Second) // no renewal makes a lease shorter
		a.consume("dir_unknown")
		s.sessionAt(alice, a.session).shows("/session/expires_at", stamp(noon.Add(90*time.Second)))
	})
}

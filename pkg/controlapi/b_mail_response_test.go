package controlapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestB44_OneResolutionIDInTheEntryToo: push, pull, entry, the reply to the resolver and the ack name the same one.
func TestB44_OneResolutionIDInTheEntryToo(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		deadline := noon.Add(5 * time.Minute)
		for what, end := range map[string]func(id string, w *mouth) any{
			"answered": func(id string, w *mouth) any {
				return w.answersAs(id, "approve").is(http.StatusOK).at("/resolution_id")
			},
			"declined": func(id string, w *mouth) any {
				return w.resolveAs(id, doc{"resolution": "declined"}).is(http.StatusOK).at("/resolution_id")
			},
			"cancelled": func(id string, _ *mouth) any { return bot.cancel(id).is(http.StatusOK).at("/resolution_id") },
			"expired":   func(string, *mouth) any { s.now = deadline.Add(time.Second); return absent{} },
			"bounced":   func(_ string, w *mouth) any { w.closes().is(http.StatusOK); return absent{} },
		} {
			s.run(what, func() {
				s.now = noon
				sender, w := bot.opens(0), s.agent("worker").opens(0)
				id := bot.accepted(s.ask(mailTo(w.address()), sender.as(), callback(callbackURL), expires(stamp(deadline)), set("/state", doc{"n": 1.50})))
				told := end(id, w)
				s.settle(doc{"what": "message", "id": id})
				sent := s.onePush()
				pushed := &answer{t: s.t, what: "the push", body: []byte(sent.Body)}
				resolution := pushed.shows("/in_reply_to", id).str("/resolution_id")
				if told != (absent{}) {
					same(s.t, "what the resolver was told", told, any(resolution))
				}
				e := sender.one("response")
				same(s.t, "the ack key", e.key(), resolution)
				same(s.t, "the entry", e.json(), pushed.json())
				same(s.t, "the pulled Response", bot.get(id).at("/response"), pushed.json())
				same(s.t, "the stored Response", s.outcome(id).at("/response"), pushed.json())
				alice.read(id).shows("/response/resolution_id", resolution)
				s.later(window + time.Second)
				same(s.t, "the entry again", sender.one("response").key(), resolution)
				sender.consume(resolution).shows("/acks/0/resolution_id", resolution, "/acks/0/in_reply_to", id)
				bot.ack(id, nil).is(http.StatusOK).shows("/resolution_id", resolution)
				if !strings.HasPrefix(resolution, "res_") {
					s.t.Errorf("resolution_id = %q, want one that begins with res_", resolution)
				}
				w.closes()
				sender.closes().is(http.StatusOK)
			})
		}
	})
}

// asked submits an ask for alice that names the session.
func (m *mouth) asked(edits ...edit) string {
	m.s.t.Helper()
	return m.accepted(m.s.ask(append([]edit{m.as()}, edits...)...))
}

func TestB46_AResponseIsAnEntryOfTheSessionThatAsked(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot") // answers of people need no opt-in
		bot, alice := s.agent("bot"), s.person("alice")
		asker, sibling := bot.opens(0), bot.opens(0)
		state := doc{"deep": []any{nil, 1e2, "é"}}
		id := asker.asked(set("/state", state), set("/client_ref", "mine"))
		plainID := bot.accepted(s.ask())
		resolution := alice.answers(id, "approve").is(http.StatusOK).str("/resolution_id")
		alice.answers(plainID, "approve").is(http.StatusOK)
		later := bot.opens(0)
		for _, m := range []*mouth{sibling, later, bot.bare()} {
			m.gets()
		}
		e := asker.gets(resolution)[0].shows("/in_reply_to", id, "/resolution", "answered", "/state", state,
			"/response", doc{"value": "approve", "actor": "human:alice", "resolved_at": stamp(noon)}, "/agent", doc{"id": "bot", "run_id": "run-1"}).
			lacks("/client_ref", "/to", "/request", "/id")
		same(s.t, "the entry", e.json(), bot.get(id).at("/response"))
		for what, end := range map[string]func(id string){
			"declined":  func(id string) { alice.resolve(id, doc{"resolution": "declined"}).is(http.StatusOK) },
			"cancelled": func(id string) { bot.cancel(id).is(http.StatusOK) },
		} {
			id := asker.asked()
			end(id)
			asker.one("response").shows("/in_reply_to", id, "/resolution", what)
		}
		task := bot.accepted(s.task(asker.as()))
		alice.resolve(task, doc{"resolution": "completed"}).is(http.StatusOK)
		asker.one("response").shows("/in_reply_to", task, "/resolution", "completed").lacks("/response")
		// A notify has no Response, and so no entry.
		bot.accepted(s.notify(asker.as()))
		asker.gets()
	})
}

func TestB46_NoEntryForASessionThatDidNotLive(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		for what, c := range map[string]struct {
			end  func(m *mouth)
			want bool
		}{
			"closed before":             {func(m *mouth) { m.closes().is(http.StatusOK) }, false},
			"lapsed, which nobody saw":  {func(*mouth) { s.now = noon.Add(lease + time.Millisecond) }, false},
			"at the end of its lease":   {func(*mouth) { s.now = noon.Add(lease) }, true},
			"alive":                     {func(*mouth) { s.later(time.Minute) }, true},
			"renewed since":             {func(m *mouth) { s.now = noon.Add(lease); m.gets(); s.later(time.Minute) }, true},
			"lapsed, and another lives": {func(m *mouth) { s.now = noon.Add(lease + time.Millisecond); m.opens(0) }, false},
		} {
			s.run(what, func() {
				s.now = noon
				asker := bot.opens(0)
				sibling := bot.opens(time.Hour)
				id := asker.asked(callback(callbackURL))
				c.end(asker)
				resolution := alice.answers(id, "approve").is(http.StatusOK).str("/resolution_id")
				if c.want {
					asker.gets(resolution)
				}
				sibling.gets()
				same(s.t, "pushes", len(s.pushes()), 1)
				// Without it the answer is there as ever, and nothing bounces.
				bot.get(id).is(http.StatusOK).shows("/status", "answered", "/response/resolution_id", resolution,
					"/delivery/state", "delivered-to-agent").lacks("/mailbox")
				asker.closes()
				sibling.closes().is(http.StatusOK)
			})
		}
	})
}

// TestB46_LiveIsLiveAtTheTimeOfTheOutcome: of an expiry that nobody saw, that is its deadline.
func TestB46_LiveIsLiveAtTheTimeOfTheOutcome(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		byDefault := func(at time.Time) edit {
			return several(expires(stamp(at)), set("/request/default_on_expire", "deny"))
		}
		// The lease had ended before the deadline, though a look after both might take the session for the living.
		asker, keeper := bot.opens(0), bot.opens(time.Hour)
		late, early := noon.Add(lease+time.Minute), noon.Add(lease-time.Minute)
		id := asker.asked(byDefault(late))
		s.now = late.Add(time.Minute)
		bot.get(id).shows("/status", "expired", "/response/response/resolved_at", stamp(late))
		keeper.gets()

		// It was live at the deadline and is still: the entry is there, whoever noticed.
		s.now = noon
		asker = bot.opens(0)
		id = asker.asked(byDefault(early))
		s.now = noon.Add(lease)
		s.settle(doc{"what": "message", "id": id})
		e := asker.drain()
		same(s.t, "kinds", kinds(e), []string{"response"})
		e[0].shows("/in_reply_to", id, "/resolution", "expired", "/defaulted", true, "/response/actor", "system:default_on_expire")
	})
}

// TestB46_ADeadSessionsEntryGivesWayToThePull: no bounce, no receipt, no other session hears of it.
func TestB46_ADeadSessionsEntryGivesWayToThePull(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		for _, drained := range []bool{false, true} {
			asker, sibling := bot.opens(0), bot.opens(0)
			id := asker.asked()
			resolution := alice.answers(id, "approve").is(http.StatusOK).str("/resolution_id")
			if drained {
				asker.gets(resolution)
			}
			asker.closes().is(http.StatusOK)
			s.later(2 * window)
			sibling.gets()
			a := alice.read(id).is(http.StatusOK).shows("/status", "answered")
			if drained {
				a.shows("/delivery/state", "delivered-to-agent")
			} else {
				a.lacks("/delivery")
			}
			bot.get(id).shows("/status", "answered", "/response/resolution_id", resolution, "/delivery/state", "delivered-to-agent")
			bot.ack(id, nil).is(http.StatusOK)
			sibling.closes().is(http.StatusOK)
		}
	})
}

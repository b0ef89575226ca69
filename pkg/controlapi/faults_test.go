package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/recordtest"
)

// transition is one deed whose Commit goes wrong in each of the tests below.
type transition struct {
	// ready makes what the deed needs and returns the message's id, "" where the deed itself makes the message.
	ready func() string
	do    func(id string) *answer

	// overwrite is a later write of somebody else, which leaves nothing of ours in the state's record.
	overwrite func(id string)

	// won is what whoever won must be told, and again what its own retry after an error is told.
	won, again func(a *answer)

	// stands is what everybody must see afterwards.
	stands func(id string)
}

// transitions are the deeds of which there is one winner. Each call makes their world anew.
func transitions(s *suite) map[string]transition {
	s.owns("alice", "bot", "helper")
	bot, helper, alice := s.agent("bot"), s.agent("helper"), s.person("alice")
	either := resolvers("human:alice", "agent:helper")
	deadline := noon.Add(time.Hour)
	fetched := func(id string) { bot.get(id).is(http.StatusOK) }
	told := func(status string) func(*answer) {
		return func(a *answer) { a.is(http.StatusOK).shows("/status", status) }
	}
	late := func(status string) func(*answer) {
		return func(a *answer) {
			a.refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").shows("/status", status)
		}
	}
	ended := func(status, actor string) func(id string) {
		return func(id string) {
			s.outcome(id).shows("/status", status, "/response/resolution", status, "/response/response/actor", actor)
			bot.get(id).shows("/status", status, "/response/response/actor", actor)
			late(status)(alice.answers(id, "deny"))
			late(status)(helper.answers(id, "deny"))
		}
	}
	open := func() string { return bot.accepted(s.ask(either)) }
	ask := s.ask(either, set("/agent/id", "bot"), set("/idempotency_key", "the one"))
	return map[string]transition{
		"submit": {
			ready: func() string { return "" },
			do:    func(string) *answer { return bot.submit(ask) },
			overwrite: func(string) {
				for _, id := range alice.waiting() {
					alice.answers(id, "approve").is(http.StatusOK)
				}
			},
			won:   func(a *answer) { a.is(http.StatusAccepted).shows("/status", "open") },
			again: func(a *answer) { a.is(http.StatusAccepted) },
			stands: func(string) {
				id := bot.accepted(ask)
				same(s.t, "how many wait", len(alice.waiting()) <= 1, true)
				bot.get(id).is(http.StatusOK)
				bot.submit(edited(clone(ask).(doc), []edit{set("/title", "Another")})).
					refused(http.StatusConflict, ma2h.CodeIdempotencyConflict, "").shows("/id", id)
			},
		},
		"resolve by a person": {
			ready: open, do: func(id string) *answer { return alice.answers(id, "approve") }, overwrite: fetched,
			won: told("answered"), again: late("answered"), stands: ended("answered", "human:alice"),
		},
		"resolve by an agent": {
			ready: open, do: func(id string) *answer { return helper.answers(id, "approve") }, overwrite: fetched,
			won: told("answered"), again: late("answered"), stands: ended("answered", "agent:helper"),
		},
		"cancel": {
			ready: open, do: bot.cancel, overwrite: fetched,
			won: told("cancelled"), again: told("cancelled"), stands: ended("cancelled", "agent:bot"),
		},
		"ack": {
			ready: func() string {
				id := open()
				alice.answers(id, "approve").is(http.StatusOK)
				fetched(id)
				return id
			},
			do: func(id string) *answer { return bot.ack(id, doc{"note": "first"}) },
			overwrite: func(string) {
				now := s.now
				s.later(31 * day)
				s.settle(doc{"what": "retention"})
				s.now = now
			},
			won:   func(a *answer) { a.is(http.StatusOK).shows("/note", "first", "/acked_at", stamp(noon)) },
			again: func(a *answer) { a.is(http.StatusOK).shows("/note", "first", "/acked_at", stamp(noon)) },
			stands: func(id string) {
				s.later(time.Minute)
				bot.ack(id, doc{"note": "second"}).is(http.StatusOK).shows("/note", "first", "/acked_at", stamp(noon))
				bot.get(id).shows("/delivery/ack/note", "first")
			},
		},
		"expiry": {
			ready: func() string {
				id := bot.accepted(s.ask(either, expires(stamp(deadline)), set("/request/default_on_expire", "deny")))
				s.now = deadline.Add(time.Second)
				return id
			},
			do: func(id string) *answer { return alice.read(id) }, overwrite: fetched,
			won: told("expired"), again: told("expired"), stands: ended("expired", "system:default_on_expire"),
		},
	}
}

// eachTransition runs a test for every deed, in a tenant of its own on every store.
func eachTransition(t *testing.T, test func(s *suite, d transition)) {
	t.Helper()
	t.Parallel()
	for _, e := range engines(t) {
		for _, name := range []string{"submit", "resolve by a person", "resolve by an agent", "cancel", "ack", "expiry"} {
			t.Run(e.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newSuite(t, e, doc{})
				test(s, transitions(s)[name])
			})
		}
	}
}

// goesWrong makes the next transition's Commit go wrong.
func (s *suite) goesWrong(fault recordtest.Fault) {
	s.store.fails(recordtest.Once(recordtest.Putting("state"), fault))
}

// resolutionOf returns the resolution_id that stands, or nil.
func (s *suite) resolutionOf(id string) any {
	s.t.Helper()
	if id == "" {
		return nil
	}
	return s.outcome(id).at("/response/resolution_id")
}

func TestFaults_LostAnswerIsNoLostRace(t *testing.T) {
	eachTransition(t, func(s *suite, d transition) {
		id := d.ready()
		s.goesWrong(recordtest.LostAnswer(nil))
		d.won(d.do(id))
		d.stands(id)
	})
}

// TestFaults_LostAnswerThenOvertaken: success is reported as a timeout, another write follows ours, and only then does the
// retry arrive, which finds nothing that it wrote.
func TestFaults_LostAnswerThenOvertaken(t *testing.T) {
	eachTransition(t, func(s *suite, d transition) {
		id := d.ready()
		var between any
		s.goesWrong(recordtest.LostAnswer(func() {
			d.overwrite(id)
			between = s.resolutionOf(id)
		}))
		a := d.do(id)
		d.won(a)
		same(s.t, "the resolution_id that stands", s.resolutionOf(id), between)
		if told := a.at("/resolution_id"); told != (absent{}) {
			same(s.t, "the resolution_id that the winner was told", told, between)
		}
		d.stands(id)
	})
}

func TestFaults_ErrorAfterApplyingThenTheTruth(t *testing.T) {
	eachTransition(t, func(s *suite, d transition) {
		id := d.ready()
		s.goesWrong(recordtest.TimedOut)
		d.do(id).refused(http.StatusInternalServerError, ma2h.CodeInternalError, "")
		before := s.resolutionOf(id)
		d.again(d.do(id))
		same(s.t, "the resolution_id that stands", s.resolutionOf(id), before)
		d.stands(id)
	})
}

func TestFaults_ErrorAfterApplyingThenOvertaken(t *testing.T) {
	eachTransition(t, func(s *suite, d transition) {
		id := d.ready()
		s.goesWrong(recordtest.TimedOut)
		d.do(id).refused(http.StatusInternalServerError, ma2h.CodeInternalError, "")
		before := s.resolutionOf(id)
		d.overwrite(id)
		d.again(d.do(id))
		same(s.t, "the resolution_id that stands", s.resolutionOf(id), before)
		d.stands(id)
	})
}

func TestFaults_ErrorBeforeApplyingLeavesNothing(t *testing.T) {
	eachTransition(t, func(s *suite, d transition) {
		id := d.ready()
		before := s.resolutionOf(id)
		s.goesWrong(recordtest.Throttled)
		d.do(id).refused(http.StatusInternalServerError, ma2h.CodeInternalError, "")
		same(s.t, "the resolution_id", s.resolutionOf(id), before)
		d.won(d.do(id)) // the first to be applied
		d.stands(id)
	})
}

// TestFaults_OvertakenByARival: another transition comes in between what the loser has read and its Commit.
func TestFaults_OvertakenByARival(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "helper")
		bot, helper, alice := s.agent("bot"), s.agent("helper"), s.person("alice")
		deadline := noon.Add(time.Hour)
		open := func() string {
			return bot.accepted(s.ask(resolvers("human:alice", "agent:helper"), expires(stamp(deadline))))
		}
		at := func(now time.Time, do func(id string) *answer) func(id string) *answer {
			return func(id string) *answer {
				defer func(was time.Time) { s.now = was }(s.now)
				s.now = now
				return do(id)
			}
		}
		rivals := map[string]func(id string) *answer{
			"answered":  at(noon, func(id string) *answer { return helper.answers(id, "deny") }),
			"declined":  at(noon, func(id string) *answer { return alice.resolve(id, doc{"resolution": "declined"}) }),
			"cancelled": at(noon, bot.cancel),
			"expired":   at(deadline.Add(time.Hour), alice.read),
		}
		for status, rival := range rivals {
			for loser, deed := range rivals {
				if loser == status {
					continue
				}
				s.run(loser+" overtaken by "+status, func() {
					id := open()
					var winner *answer
					s.goesWrong(recordtest.Overtaken(func() { winner = rival(id) }))
					lost := deed(id)
					winner.is(http.StatusOK)
					if loser == "expired" { // a read tells what stands
						lost.is(http.StatusOK).shows("/status", status)
					} else {
						lost.refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").shows("/id", id, "/status", status)
					}
					bot.get(id).shows("/status", status, "/response/resolution", status)
				})
			}
		}
	})
}

func TestFaults_SubmitOvertakenByItsTwin(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		ask := s.ask(set("/agent/id", "bot"))
		var first *answer
		s.goesWrong(recordtest.Overtaken(func() { first = bot.submit(ask) }))
		second := bot.submit(ask).is(http.StatusAccepted)
		same(s.t, "the second ack", string(second.body), string(first.is(http.StatusAccepted).body))

		other := s.ask(set("/agent/id", "bot"), set("/idempotency_key", ask["idempotency_key"]), set("/title", "Another"))
		ask["idempotency_key"], other["idempotency_key"] = "k", "k"
		s.goesWrong(recordtest.Overtaken(func() { first = bot.submit(ask) }))
		bot.submit(other).refused(http.StatusConflict, ma2h.CodeIdempotencyConflict, "").
			shows("/id", first.is(http.StatusAccepted).str("/id"))
	})
}

func TestFaults_AckOvertakenByAnother(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(callback(callbackURL)))
		alice.answers(id, "approve").is(http.StatusOK)
		var first *answer
		s.goesWrong(recordtest.Overtaken(func() { first = bot.ack(id, doc{"note": "first"}) }))
		second := bot.ack(id, doc{"note": "second"}).is(http.StatusOK)
		same(s.t, "the second ack", string(second.body), string(first.is(http.StatusOK).body))
	})
}

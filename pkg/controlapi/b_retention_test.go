package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

const day = 24 * time.Hour

// The retention of these tenants is a day: a message is served as ever for one day after its end, with its final track for
// another, answers that it is gone for 90, and is unknown then.
func oneDay(t *testing.T, test func(s *suite)) {
	t.Helper()
	onStoresWith(t, doc{"retention_days": 1}, func(_ *testing.T, s *suite) { test(s) })
}

func TestRetention_AnswerThatNobodyFetchedExpires(t *testing.T) {
	oneDay(t, func(s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		envelope := s.ask(set("/state", doc{"n": 1}))
		id := bot.accepted(envelope)
		alice.answers(id, "approve").is(http.StatusOK)
		s.now = noon.Add(day)
		alice.read(id).is(http.StatusOK).lacks("/delivery") // not yet: the deadline itself belongs to the retention
		s.later(time.Millisecond)
		bot.get(id).is(http.StatusOK).shows("/delivery", doc{"state": "expired"}, "/status", "answered",
			"/response/response/value", "approve", "/response/state", doc{"n": 1})
		alice.read(id).shows("/delivery", doc{"state": "expired"})
		bot.ack(id, nil).refused(http.StatusConflict, ma2h.CodeNotAcknowledgeable, "")
		s.now = noon.Add(2 * day)
		bot.get(id).is(http.StatusOK).shows("/delivery", doc{"state": "expired"})
		bot.submit(envelope).is(http.StatusAccepted).shows("/id", id, "/status", "answered")
	})
}

func TestRetention_DeliveredStaysDelivered(t *testing.T) {
	oneDay(t, func(s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		pulled, acked, pushed := bot.accepted(s.ask()), bot.accepted(s.ask()), bot.accepted(s.ask(callback(callbackURL)))
		for _, id := range []string{pulled, acked, pushed} {
			alice.answers(id, "approve").is(http.StatusOK)
		}
		bot.get(pulled).is(http.StatusOK)
		bot.get(acked).is(http.StatusOK)
		bot.ack(acked, nil).is(http.StatusOK)
		s.now = noon.Add(day + time.Millisecond)
		s.settle(doc{"what": "retention"})
		bot.get(pulled).shows("/delivery", doc{"state": "delivered-to-agent", "delivered_at": stamp(noon)})
		bot.get(pushed).shows("/delivery/state", "delivered-to-agent")
		bot.get(acked).shows("/delivery/state", "acknowledged")
		bot.ack(pulled, nil).is(http.StatusOK) // there is still time to
	})
}

func TestRetention_GoneFor90DaysThenUnknown(t *testing.T) {
	oneDay(t, func(s *suite) {
		bot, alice, other := s.agent("bot"), s.person("alice"), s.agent("other")
		ask, notify, task := s.ask(), s.notify(), s.task()
		ids := []string{bot.accepted(ask), bot.accepted(notify), bot.accepted(task)}
		alice.answers(ids[0], "approve").is(http.StatusOK)
		alice.resolve(ids[2], doc{"resolution": "dismissed"}).is(http.StatusOK)

		gone := func(at time.Time) {
			s.now = at
			for i, id := range ids {
				bot.get(id).refused(http.StatusGone, ma2h.CodeGone, "")
				bot.submit([]doc{ask, notify, task}[i]).refused(http.StatusGone, ma2h.CodeGone, "")
				bot.submit(edited([]doc{ask, notify, task}[i], []edit{})).refused(http.StatusGone, ma2h.CodeGone, "")
				alice.read(id).refused(http.StatusGone, ma2h.CodeGone, "")
				other.get(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			}
			bot.cancel(ids[0]).refused(http.StatusGone, ma2h.CodeGone, "")
			bot.ack(ids[0], nil).refused(http.StatusGone, ma2h.CodeGone, "")
			alice.answers(ids[0], "approve").refused(http.StatusGone, ma2h.CodeGone, "")
			s.control("GET", "outcomes?id="+ids[0], nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		gone(noon.Add(2*day + time.Millisecond))
		gone(noon.Add(92 * day))
		s.now = noon.Add(92*day + time.Millisecond)
		for i, id := range ids {
			bot.get(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			alice.read(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			// The key is free; the message of it is a new one, open or delivered as at first.
			bot.submit([]doc{ask, notify, task}[i]).is(http.StatusAccepted).shows("/status", []string{"open", "delivered", "open"}[i])
		}
		alice.answers(ids[0], "deny").is(http.StatusOK)
		bot.get(ids[0]).is(http.StatusOK).shows("/response/response/value", "deny")
	})
}

func TestRetention_SettlingComesToTheSame(t *testing.T) {
	oneDay(t, func(s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		envelope := s.ask()
		id := bot.accepted(envelope)
		alice.answers(id, "approve").is(http.StatusOK)
		for _, at := range []time.Duration{day, day + time.Millisecond, 2 * day} {
			s.now = noon.Add(at)
			s.settle(doc{"what": "retention"})
			s.outcome(id).shows("/status", "answered", "/response/response/value", "approve")
		}
		s.later(time.Millisecond)
		s.settle(doc{"what": "retention"})
		s.now = noon.Add(day) // even when the clock goes back: a terminal stays terminal
		bot.get(id).refused(http.StatusGone, ma2h.CodeGone, "")
		bot.submit(envelope).refused(http.StatusGone, ma2h.CodeGone, "")
	})
}

func TestRetention_OpenMessagesStay(t *testing.T) {
	oneDay(t, func(s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		ask := bot.accepted(s.ask())
		late := bot.accepted(s.ask(expires(stamp(noon.Add(40*day))), set("/request/default_on_expire", "deny")))
		s.now = noon.Add(365 * day)
		s.settle(doc{"what": "retention"})
		bot.get(ask).is(http.StatusOK).shows("/status", "open")
		alice.answers(ask, "approve").is(http.StatusOK)
		// The other ended at its deadline, and its retention is counted from there.
		bot.get(late).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
	})
}

func TestRetention_CountsFromTheDeadlineOfAnExpiry(t *testing.T) {
	oneDay(t, func(s *suite) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask(expires(stamp(noon.Add(day)))))
		s.now = noon.Add(2 * day)
		bot.get(id).is(http.StatusOK).shows("/status", "expired", "/delivery/state", "delivered-to-agent")
		s.now = noon.Add(3 * day)
		bot.get(id).is(http.StatusOK)
		s.later(time.Millisecond)
		bot.get(id).refused(http.StatusGone, ma2h.CodeGone, "")
	})
}

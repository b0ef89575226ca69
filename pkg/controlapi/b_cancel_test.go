package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB34_CancelAfterTheDeadlineResolvesExpired(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		deadline := noon.Add(time.Hour)
		byDefault := several(expires(stamp(deadline)), set("/request/default_on_expire", "deny"), callback("https://agent.example/cb"))
		inTime, late := bot.accepted(s.ask(byDefault)), bot.accepted(s.ask(byDefault))
		s.now = deadline
		bot.cancel(inTime).is(http.StatusOK).shows("/id", inTime, "/status", "cancelled")
		s.pushes()
		s.later(time.Millisecond)
		bot.cancel(late).refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").
			shows("/id", late, "/status", "expired", "/resolution", "expired")
		s.outcome(late).shows("/status", "expired", "/response/response/value", "deny", "/response/defaulted", true,
			"/response/response/resolved_at", stamp(deadline))
		same(s.t, "pushes", len(s.pushes()), 1)
		bot.get(inTime).shows("/status", "cancelled")
	})
}

func TestB35_CancelAgainIsTheSame200(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(callback("https://agent.example/cb"), set("/state", doc{"n": 1})))
		first := bot.cancel(id).is(http.StatusOK)
		same(s.t, "the answer", first.json(), plain(s.t, doc{"id": id, "status": "cancelled"}))
		s.later(time.Hour)
		again := bot.cancel(id).is(http.StatusOK)
		same(s.t, "the second answer", string(again.body), string(first.body))
		bot.get(id).shows("/response/resolution", "cancelled", "/response/state", doc{"n": 1},
			"/response/response", doc{"actor": "agent:bot", "resolved_at": stamp(noon)})
		// The Response goes out once, like that of a resolve.
		same(s.t, "pushes", len(s.pushes()), 1)
		alice.answers(id, "approve").refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").
			shows("/id", id, "/status", "cancelled", "/resolution", "cancelled")
	})
}

func TestB35_CancelAfterAnotherEnd(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for end, body := range map[string]doc{
			"answered": {"resolution": "answered", "value": "approve"}, "declined": {"resolution": "declined"},
		} {
			id := bot.accepted(s.ask())
			alice.resolve(id, body).is(http.StatusOK)
			s.later(time.Minute)
			s.writesNothing(func() {
				bot.cancel(id).refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").
					shows("/id", id, "/status", end, "/resolution", end)
			})
			bot.get(id).shows("/status", end, "/response/response/actor", "human:alice")
		}
	})
}

func TestB35_OnlyTheSubmitterCancels(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "other")
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask())
		for _, c := range []*caller{s.agent("other"), alice, s.agent("stranger")} {
			c.cancel(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		bot.get(id).shows("/status", "open")
		bot.cancel("msg_00000000000000000000000000").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		// A body says nothing, well-formed or not.
		bot.send("POST", "/v1/messages/"+id+"/cancel", "{").is(http.StatusOK)
	})
}

func TestChoice_NotifiesAndTasksCannotBeCancelled(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		notify, task := bot.accepted(s.notify()), bot.accepted(s.task())
		bot.cancel(notify).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		bot.cancel(task).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		bot.get(task).shows("/status", "open")
		// The sender may know its notify, and so hears that it wants no answer.
		for _, body := range []doc{{"resolution": "answered", "value": "approve"}, {"resolution": "completed"}} {
			bot.resolve(notify, body).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
			alice.resolve(notify, body).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
			s.agent("other").resolve(notify, body).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		bot.get(notify).shows("/status", "delivered").lacks("/response")
	})
}

func TestChoice_LosersHearBothShapes(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask())
		alice.answers(id, "approve").is(http.StatusOK)
		for _, a := range []*answer{alice.answers(id, "approve"), alice.resolve(id, doc{"resolution": "declined"}), bot.cancel(id)} {
			a.refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").
				shows("/id", id, "/status", "answered", "/resolution", "answered")
			same(s.t, "members", keysOf(a.json()), []string{"error", "id", "resolution", "status"})
		}
	})
}

func TestChoice_TerminalBeforeValue(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		ask, task := bot.accepted(s.ask()), bot.accepted(s.task())
		alice.answers(ask, "approve").is(http.StatusOK)
		alice.resolve(task, doc{"resolution": "dismissed"}).is(http.StatusOK)
		for _, body := range []doc{
			{"resolution": "answered", "value": "none of them"}, {"resolution": "answered", "value": doc{"x": 1}},
			{"resolution": "answered"}, {"resolution": "declined", "value": "deny"}, {"resolution": "completed"},
			{"resolution": "cancelled"}, {"resolution": "declined", "checklist": []doc{}},
		} {
			alice.resolve(ask, body).refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").shows("/status", "answered")
			alice.resolve(task, body).refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").shows("/status", "dismissed")
		}
		// What is no resolve at all is malformed whenever it comes.
		alice.resolve(ask, "[]").refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
	})
}

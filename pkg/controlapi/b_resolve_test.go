package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB33_ResolveAtTheDeadlineWins(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		deadline := noon.Add(time.Hour)
		byDefault := several(choose(), set("/request/default_on_expire", "hold"), expires(stamp(deadline)))
		inTime, late := bot.accepted(s.ask(byDefault)), bot.accepted(s.ask(byDefault))
		task := bot.accepted(s.task(expires(stamp(deadline))))

		s.now = deadline
		alice.answers(inTime, "ship").is(http.StatusOK).shows("/status", "answered")
		alice.resolve(task, doc{"resolution": "dismissed"}).is(http.StatusOK).shows("/status", "dismissed")
		s.later(time.Millisecond)
		alice.answers(late, "ship").refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "").
			shows("/id", late, "/status", "expired", "/resolution", "expired")
		bot.get(late).shows("/response/response/value", "hold", "/response/response/resolved_at", stamp(deadline))

		s.later(time.Hour)
		bot.get(inTime).shows("/status", "answered", "/response/response/value", "ship",
			"/response/response/actor", "human:alice", "/response/response/resolved_at", stamp(deadline))
	})
}

func TestB33_DeadlinesFinerThanTheClock(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		// The hub's clock counts in milliseconds: 12:00:00.0005 has not passed at .000 and has at .001.
		deadline := expires(stamp(noon.Add(time.Hour + 500*time.Microsecond)))
		inTime, late := bot.accepted(s.ask(deadline)), bot.accepted(s.ask(deadline))
		s.now = noon.Add(time.Hour)
		alice.answers(inTime, "approve").is(http.StatusOK)
		s.later(time.Millisecond)
		alice.answers(late, "approve").refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "")
	})
}

func TestB37_ResolveMustFitTheMessage(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		done := []doc{{"text": "all", "done": true}}
		cases := map[string]struct {
			envelope doc
			body     any
			field    string
		}{
			"an ask completed":             {s.ask(), doc{"resolution": "completed"}, "/resolution"},
			"an ask dismissed":             {s.ask(), doc{"resolution": "dismissed"}, "/resolution"},
			"a task answered":              {s.task(), doc{"resolution": "answered", "value": "approve"}, "/resolution"},
			"a task declined":              {s.task(), doc{"resolution": "declined"}, "/resolution"},
			"cancelled":                    {s.ask(), doc{"resolution": "cancelled"}, "/resolution"},
			"expired":                      {s.ask(), doc{"resolution": "expired"}, "/resolution"},
			"open":                         {s.task(), doc{"resolution": "open"}, "/resolution"},
			"of no kind":                   {s.ask(), doc{"resolution": "maybe"}, "/resolution"},
			"answered without a value":     {s.ask(), doc{"resolution": "answered"}, "/value"},
			"answered with an object":      {s.ask(), doc{"resolution": "answered", "value": doc{"v": "approve"}}, "/value"},
			"declined with a value":        {s.ask(), doc{"resolution": "declined", "value": "deny"}, "/value"},
			"declined with null":           {s.ask(), doc{"resolution": "declined", "value": nil}, "/value"},
			"completed with a value":       {s.task(), doc{"resolution": "completed", "value": "done"}, "/value"},
			"dismissed with a value":       {s.task(), doc{"resolution": "dismissed", "value": doc{}}, "/value"},
			"an ask with a checklist":      {s.ask(), doc{"resolution": "answered", "value": "deny", "checklist": done}, "/checklist"},
			"a refused one with checklist": {s.ask(), doc{"resolution": "declined", "checklist": []doc{}}, "/checklist"},
			"input with a string":          {s.ask(fillIn()), doc{"resolution": "answered", "value": "because"}, "/value"},
			"input without its reason":     {s.ask(fillIn()), doc{"resolution": "answered", "value": doc{}}, "/value"},
			"input with a false reason":    {s.ask(fillIn()), doc{"resolution": "answered", "value": doc{"reason": 1}}, "/value/reason"},
			"no answer permitted": {s.ask(set("/request/permissions/allow_respond", false)),
				doc{"resolution": "answered", "value": "approve"}, "/resolution"},
			"no decline permitted": {s.ask(set("/request/permissions/allow_ignore", false)), doc{"resolution": "declined"}, "/resolution"},
		}
		for what, c := range cases {
			s.run(what, func() {
				id := bot.accepted(c.envelope)
				s.writesNothing(func() {
					alice.resolve(id, c.body).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, c.field)
				})
				bot.get(id).shows("/status", "open")
				bot.ack(id, nil).refused(http.StatusConflict, ma2h.CodeNotAcknowledgeable, "")
			})
		}
	})
}

func TestB37_MalformedResolves(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		ask, task := bot.accepted(s.ask()), bot.accepted(s.task())
		for _, body := range []string{
			"", "null", "[]", `"answered"`, "{}", `{"resolution":null}`, `{"resolution":7}`, `{"value":"approve"}`,
			`{"Resolution":"answered","value":"approve"}`, `{"resolution":"answered","value":"approve","comment":7}`,
		} {
			s.run(body, func() {
				alice.resolve(ask, body).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
			})
		}
		for _, value := range []string{"null", "7", "[]", "true"} {
			alice.resolve(ask, `{"resolution":"answered","value":`+value+`}`).
				refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
		}
		for _, list := range []any{"all", []string{"all"}, []doc{{"text": "all"}}, []doc{{"done": true}}, []doc{{"text": 1, "done": true}}} {
			alice.resolve(task, doc{"resolution": "completed", "checklist": list}).
				refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		}
		bot.get(ask).shows("/status", "open")
		bot.get(task).shows("/status", "open")
	})
}

func TestB37_WhatFitsIsCarriedToTheAgent(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		at := stamp(noon)
		steps := []doc{{"text": "generate", "done": true}, {"text": "update", "done": false}}
		for what, c := range map[string]struct {
			envelope doc
			body     doc
			detail   any
		}{
			"a choice": {s.ask(choose()), doc{"resolution": "answered", "value": "hold", "comment": "Not yet.\n<b>x</b>"},
				doc{"value": "hold", "actor": "human:alice", "resolved_at": at, "comment": "Not yet.\n<b>x</b>"}},
			"a refusal": {s.ask(), doc{"resolution": "declined", "comment": "no"},
				doc{"actor": "human:alice", "resolved_at": at, "comment": "no"}},
			"a form": {s.ask(fillIn()), doc{"resolution": "answered", "value": doc{"reason": "late", "more": []int{1}}},
				doc{"value": doc{"reason": "late", "more": []int{1}}, "actor": "human:alice", "resolved_at": at}},
			"a task":           {s.task(), doc{"resolution": "completed"}, absent{}},
			"a task dismissed": {s.task(), doc{"resolution": "dismissed"}, absent{}},
			"a checklist": {s.task(), doc{"resolution": "completed", "checklist": steps},
				doc{"checklist": steps, "actor": "human:alice", "resolved_at": at}},
		} {
			s.run(what, func() {
				id := bot.accepted(c.envelope)
				a := alice.resolve(id, c.body).is(http.StatusOK).shows("/id", id, "/status", c.body["resolution"])
				bot.get(id).is(http.StatusOK).shows("/status", c.body["resolution"], "/response/response", c.detail,
					"/response/resolution", c.body["resolution"], "/response/in_reply_to", id,
					"/response/resolution_id", a.str("/resolution_id")).lacks("/response/defaulted")
			})
		}
	})
}

func TestB38_EditedIsNonMembership(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for value, edited := range map[string]any{
			"ship": absent{}, "hold": absent{}, // absent means false
			"Ship": true, "ship ": true, " ship": true, "hold, until it lands": true, "": true,
			"Ship to prod now": true, "sh\u0131p": true,
		} {
			s.run(value, func() {
				id := bot.accepted(s.ask(choose(), editable()))
				// What the resolver says of it is not looked at.
				alice.resolve(id, doc{"resolution": "answered", "value": value, "edited": edited != true}).is(http.StatusOK)
				bot.get(id).is(http.StatusOK).shows("/response/response/value", value, "/response/response/edited", edited)
			})
		}
	})
}

func TestB38_ConfirmAndInputAreNeverEdited(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, c := range []struct {
			envelope doc
			value    any
			edited   any
		}{
			{s.ask(), "approve", absent{}},
			{s.ask(editable()), "deny", absent{}},
			{s.ask(editable()), "later", true},
			{s.ask(fillIn(), editable()), doc{"reason": "free"}, absent{}},
		} {
			id := bot.accepted(c.envelope)
			alice.resolve(id, doc{"resolution": "answered", "value": c.value, "edited": true}).is(http.StatusOK)
			bot.get(id).is(http.StatusOK).shows("/response/response/edited", c.edited, "/response/response/value", c.value)
		}
	})
}

func TestB39_AllowEditCountsFrom06On(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, minor := range everyMinor {
			envelope := s.ask(version(minor), choose(), editable())
			id := bot.accepted(envelope)
			a := alice.answers(id, "hold, until it lands")
			if minor < 6 {
				a.refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
				bot.get(id).shows("/status", "open")
				alice.answers(id, "hold").is(http.StatusOK)
			} else {
				a.is(http.StatusOK)
			}
			// It is checked where it is used, and never taken out of what was sent: a replay still finds its message.
			bot.get(id).shows("/request/permissions/allow_edit", true, "/status", "answered")
			bot.submit(envelope).is(http.StatusAccepted).shows("/id", id)
		}
	})
}

func TestB39_AllowEditDoesNothingElse(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		unedited := bot.accepted(s.ask(choose(), set("/request/permissions/allow_edit", false)))
		alice.answers(unedited, "launch").refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
		// Inert for input: the schema holds as ever.
		input := bot.accepted(s.ask(fillIn(), editable()))
		alice.answers(input, "free").refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
		alice.answers(input, doc{}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
		// It permits another string, not another type.
		editableAsk := bot.accepted(s.ask(choose(), editable()))
		for _, value := range []any{7, true, doc{"v": "x"}, []string{"ship"}} {
			a := alice.answers(editableAsk, value)
			if a.status != http.StatusUnprocessableEntity && a.status != http.StatusBadRequest {
				s.t.Errorf("%s with %v = %d, want 422 or 400", a.what, value, a.status)
			}
		}
		bot.get(editableAsk).shows("/status", "open")
	})
}

func TestB43_ResolveDoesNotLeakTheState(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		own := several(set("/state", doc{"sealed": "secret-7"}), set("/client_ref", "ref-7"))
		id := bot.accepted(s.ask(own, callback("https://agent.example/cb")))
		a := alice.answers(id, "approve").is(http.StatusOK)
		same(s.t, "members of the reply", keysOf(a.json()), []string{"id", "resolution_id", "status"})
		late := alice.answers(id, "deny").refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "")
		for _, seen := range []*answer{a, late, alice.read(id).is(http.StatusOK), alice.send("GET", "/v1/waiting", nil)} {
			for _, secret := range []string{"secret-7", "ref-7"} {
				if contains(seen.body, secret) {
					s.t.Errorf("%s = %s, which shows %s", seen.what, seen.body, secret)
				}
			}
		}
		bot.get(id).shows("/response/state", doc{"sealed": "secret-7"}, "/client_ref", "ref-7")
	})
}

func TestB45_DefaultExpiry(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		deadline := noon.Add(time.Hour)
		at, state := expires(stamp(deadline)), set("/state", doc{"step": 3})
		by := func(value any) doc {
			return doc{"value": value, "actor": "system:default_on_expire", "resolved_at": stamp(deadline)}
		}
		reason := doc{"reason": "nobody came"}
		for what, c := range map[string]struct {
			envelope          doc
			detail, defaulted any
		}{
			"select":          {s.ask(at, state, choose(), set("/request/default_on_expire", "hold")), by("hold"), true},
			"confirm":         {s.ask(at, state, set("/request/default_on_expire", "deny")), by("deny"), true},
			"input":           {s.ask(at, state, fillIn(), set("/request/default_on_expire", reason)), by(reason), true},
			"without default": {s.ask(at, state), without(by(nil), "value"), absent{}},
			"default of null": {s.ask(at, state, set("/request/default_on_expire", nil)), without(by(nil), "value"), absent{}},
			"task":            {s.task(at, state), absent{}, absent{}},
		} {
			s.run(what, func() {
				s.now = noon
				id := bot.accepted(c.envelope)
				s.now = deadline
				bot.get(id).shows("/status", "open")
				s.later(5 * time.Hour) // whenever it is noticed, the deadline is when it happened
				bot.get(id).is(http.StatusOK).shows("/status", "expired", "/response/resolution", "expired",
					"/response/response", c.detail, "/response/defaulted", c.defaulted, "/response/state", doc{"step": 3})
				alice.resolve(id, resolveOf(c.envelope)).refused(http.StatusConflict, ma2h.CodeAlreadyTerminal, "")
			})
		}
	})
}

func TestB45_SettlingAndReadingComeToTheSame(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		deadline := noon.Add(time.Hour)
		byDefault := several(expires(stamp(deadline)), set("/request/default_on_expire", "deny"))
		for what, notice := range map[string]func(id string){
			"settle message":       func(id string) { s.settle(doc{"what": "message", "id": id}) },
			"settle retention":     func(string) { s.settle(doc{"what": "retention"}) },
			"the agent's GET":      func(id string) { bot.get(id).is(http.StatusOK) },
			"the person's read":    func(id string) { alice.read(id).is(http.StatusOK).shows("/status", "expired") },
			"a late resolve":       func(id string) { alice.answers(id, "approve").is(http.StatusConflict) },
			"a late cancel":        func(id string) { bot.cancel(id).is(http.StatusConflict) },
			"an ack come too soon": func(id string) { bot.ack(id, nil).is(http.StatusConflict) },
		} {
			s.run(what, func() {
				s.now = noon
				id := bot.accepted(s.ask(byDefault))
				s.outcome(id).shows("/status", "open", "/response", nil)
				s.now = deadline
				s.settle(doc{"what": "message", "id": id})
				s.outcome(id).shows("/status", "open")
				s.later(time.Minute)
				notice(id)
				s.outcome(id).shows("/status", "expired", "/response/response/value", "deny", "/response/defaulted", true,
					"/response/response/resolved_at", stamp(deadline))
				s.settle(doc{"what": "message", "id": id}) // no-ops
				s.settle(doc{"what": "retention"})
				same(s.t, "what waits", alice.waiting(), []string{})
			})
		}
	})
}

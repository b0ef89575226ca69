package controlapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB76_LargeNumbersComeBackAsTheyCame(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		state := `{"n":1152921504606846976,"m":-9007199254740993,"x":1e2,"y":0.10,"z":-0.0,"k":[1E-7]}`
		id := bot.accepted(s.ask(callback(callbackURL), set("/state", rawJSON(state))))
		alice.answers(id, "approve").is(http.StatusOK)
		p := s.onePush()
		for what, body := range map[string]string{"push": p.Body, "pull": string(bot.get(id).body)} {
			if !strings.Contains(body, `"state":`+state) {
				s.t.Errorf("the %s = %s, want the state as it came: %s", what, body, state)
			}
		}
		// What is signed is each number as ECMAScript writes its double.
		verify(s.t, p)
		sent := mustParse(s.t, []byte(p.Body)).(map[string]any)
		same(s.t, "the canonical state", string(canonical(s.t, sent["state"])),
			`{"k":[1e-7],"m":-9007199254740992,"n":1152921504606847000,"x":100,"y":0.1,"z":0}`)
	})
}

func TestB76_InexactIntegersAreAcceptedWithAWarning(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for number, inexact := range map[string]bool{
			"9007199254740991": false, "-9007199254740991": false, "0.1": false, "123456.789": false, "1e15": false,
			"9007199254740992": true, "-9007199254740992": true, "9007199254740993": true, "1152921504606846976": true,
			"12345678901234567890123": true,
		} {
			s.run(number, func() {
				want := []string(nil)
				if inexact {
					want = []string{"inexact_number"}
				}
				for what, envelope := range map[string]doc{
					"state":   s.ask(set("/state", doc{"deep": []any{doc{"n": rawJSON(number)}}})),
					"context": s.ask(set("/context", []doc{{"kind": "data", "data": rawJSON(number)}})),
					"default": s.ask(fillIn(), set("/request/default_on_expire", doc{"reason": "r", "n": rawJSON(number)})),
				} {
					a := bot.submit(envelope).is(http.StatusAccepted)
					same(s.t, "warnings of "+what, a.header["Mash-Warning"], want)
				}
				id := bot.accepted(s.ask(fillIn()))
				a := alice.answers(id, doc{"reason": "r", "n": rawJSON(number)}).is(http.StatusOK)
				same(s.t, "warnings of a resolve", a.header["Mash-Warning"], want)
				if got := bot.get(id).body; !contains(got, `"n":`+number) {
					s.t.Errorf("GET = %s, want the number as it came", got)
				}
			})
		}
	})
}

func TestB76_NumbersThatNoDoubleHoldsAreRefused(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(fillIn()))
		for _, number := range []string{"1e400", "-1e309", "1" + strings.Repeat("0", 310), "1.8e308", "1e-400"} {
			for field, place := range map[string]string{"/state/a/0": "/state", "/x/a/0": "/x", "/context/a/0": "/context"} {
				bot.submit(s.ask(set(place, doc{"a": []any{rawJSON(number)}}))).
					refused(http.StatusBadRequest, ma2h.CodeValidationError, field)
			}
			alice.answers(id, doc{"reason": "r", "n": rawJSON(number)}).
				refused(http.StatusBadRequest, ma2h.CodeValidationError, "/value/n")
		}
		bot.get(id).shows("/status", "open")
		bot.submit(s.ask(set("/state", doc{"n": rawJSON("[0e-400, 1.7e308, 5e-324]")}))).is(http.StatusAccepted)
	})
}

// brokenStrings are JSON strings that Go's own decoder mends in silence.
var brokenStrings = map[string]string{
	"half a pair, high":       `"a\ud800b"`,
	"half a pair, low":        `"\udc00"`,
	"halves the wrong way":    `"\udc00\ud800"`,
	"a half before a letter":  `"\ud83dx"`,
	"a half before an escape": `"\ud83d\u0041"`,
	"no UTF-8":                "\"a\xffb\"",
	"cut UTF-8":               "\"\xe2\x82\"",
	"overlong UTF-8":          "\"\xc0\xaf\"",
	"UTF-8 of a half":         "\"\xed\xa0\x80\"",
}

func TestB81_BrokenStringsAreRefused(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		ask, acked := bot.accepted(s.ask(choose(), editable())), bot.accepted(s.ask(callback(callbackURL)))
		alice.answers(acked, "approve").is(http.StatusOK)
		for what, broken := range brokenStrings {
			s.run(what, func() {
				s.writesNothing(func() {
					for _, place := range []string{`"title":%,`, `"body":%,`, `"x":%,`, `"state":{"a":[{"b":%}]},`, `%:1,`, `"state":{%:1},`} {
						bot.submit(`{`+strings.ReplaceAll(place, "%", broken)+string(mustJSON(s.notify(drop("/title"), set("/agent/id", "bot"))))[1:]).
							refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
					}
					alice.resolve(ask, `{"resolution":"answered","value":`+broken+`}`).
						refused(http.StatusBadRequest, ma2h.CodeValidationError, "/value")
					alice.resolve(ask, `{"resolution":"declined","comment":`+broken+`}`).
						refused(http.StatusBadRequest, ma2h.CodeValidationError, "/comment")
					bot.ack(acked, `{"note":`+broken+`}`).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/note")
				})
			})
		}
		// A whole pair is a character like any other.
		id := bot.accepted(s.notify(set("/title", rawJSON(`"\ud83d\ude00 😀"`))))
		bot.get(id).shows("/title", "😀 😀")
	})
}

func TestB81_DoubledNamesAreRefused(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		ask, acked := bot.accepted(s.ask()), bot.accepted(s.ask(callback(callbackURL)))
		alice.answers(acked, "approve").is(http.StatusOK)
		whole := func() string { return string(mustJSON(s.ask(set("/agent/id", "bot")))) }
		for what, first := range map[string]string{
			"a title":               `"title":"Another",`,
			"by escape":             `"titl\u0065":"Another",`,
			"a version":             `"ma2h_version":"0.6",`,
			"one nobody knows":      `"x":1,"x":1,`,
			"deep in the state":     `"state":{"a":[{"b":1,"c":2,"b":1}]},`,
			"deep and by escape":    `"state":{"a":{"b":1,"\u0062":1}},`,
			"deep in an unknown":    `"x":{"y":{"z":1,"z":2}},`,
			"in a part":             `"context":[{"kind":"data","data":{"a":1,"a":2}}],`,
			"empty names":           `"state":{"":1,"":2},`,
			"an agent, to be other": `"agent":{"id":"other","run_id":"r"},`,
		} {
			s.run(what, func() {
				s.writesNothing(func() {
					a := bot.submit("{"+first+whole()[1:]).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
					if f := a.str("/error/field"); !strings.HasPrefix(f, "/") {
						s.t.Errorf("field = %q, want a pointer to the doubled member", f)
					}
				})
			})
		}
		s.writesNothing(func() {
			for _, body := range []string{
				`{"resolution":"declined","resolution":"answered","value":"approve"}`,
				`{"resolution":"answered","value":"deny","valu\u0065":"approve"}`,
			} {
				alice.resolve(ask, body).refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
			}
			bot.ack(acked, `{"note":"a","note":"a"}`).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/note")
		})
	})
}

func TestB81_NamesMatchExactly(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, missing := range []struct {
			edit  edit
			field string
		}{
			{several(drop("/title"), set("/Title", "x")), "/title"},
			{several(drop("/type"), set("/TYPE", "ask")), "/type"},
			{several(drop("/request/mode"), set("/request/Mode", "confirm")), "/request/mode"},
			{several(drop("/agent/run_id"), set("/agent/runId", "r"), set("/agent/run-id", "r")), "/agent/run_id"},
			{several(drop("/idempotency_key"), set("/idempotencyKey", "k"), set("/idempotency_\u212Aey", "k")), "/idempotency_key"},
		} {
			bot.submit(s.ask(missing.edit)).refused(http.StatusBadRequest, ma2h.CodeValidationError, missing.field)
		}
		// Beside the right one, another spelling is an unknown field and takes nothing over.
		id := bot.accepted(s.ask(choose(), set("/TITLE", "Other"), set("/request/Options", []doc{{"value": "x"}, {"value": "x"}}),
			set("/request/permissions/Allow_Edit", true), set("/Expires_At", "2020-01-01T00:00:00Z"), set("/request/ALLOWED_RESOLVERS", []string{})))
		alice.answers(id, "x").refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
		alice.resolve(id, doc{"resolution": "answered", "value": "hold", "Value": "ship", "Checklist": 7}).is(http.StatusOK)
		bot.get(id).shows("/title", "Ship it?", "/response/response/value", "hold")
		bot.ack(id, doc{"Note": 7, "note": "read"}).is(http.StatusOK).shows("/note", "read")
	})
}

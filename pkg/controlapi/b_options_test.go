package controlapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// everyMinor is every minor that there is a schema of, and one to come.
var everyMinor = []int{1, 2, 3, 4, 5, 6, 7}

// twins are two options of one value; alike, two that read alike but mean different things.
var (
	twins = set("/request/options", []doc{{"value": "go", "label": "Now"}, {"value": "go", "label": "Later"}})
	alike = set("/request/options", []doc{
		{"value": "a", "label": "Go", "description": "On."}, {"value": "b", "label": "Go", "description": "On."},
	})
	selects = set("/request/mode", "select")
)

func TestB8_OptionValuesAreDistinctAtEveryMinor(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, minor := range everyMinor {
			for _, mode := range []string{"select", "confirm"} {
				bot.submit(s.ask(version(minor), set("/request/mode", mode), twins)).
					refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/options/1/value")
			}
			bot.submit(s.ask(version(minor), selects, set("/request/options",
				[]doc{{"value": "x"}, {"value": "y"}, {"value": "z"}, {"value": "y"}}))).
				refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/options/3/value")
		}
		same(t, "what waits", alice.waiting(), []string{})
	})
}

func TestB8_LabelsMayBeAlike(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for _, minor := range everyMinor {
			bot.submit(s.ask(version(minor), selects, alike)).is(http.StatusAccepted)
			bot.submit(s.ask(version(minor), alike)).is(http.StatusAccepted)
			// Values differ by case and blanks: nothing is folded.
			bot.submit(s.ask(version(minor), selects, set("/request/options",
				[]doc{{"value": "go"}, {"value": "Go"}, {"value": "go "}, {"value": ""}}))).is(http.StatusAccepted)
		}
	})
}

func TestB9_InputSchemaMustBeAnswerable(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		reason := doc{"reason": doc{"type": "string"}}
		input := set("/request/mode", "input")
		for what, schema := range map[string]any{
			"a string":              doc{"type": "string"},
			"an array":              doc{"type": "array", "properties": reason},
			"no properties":         doc{"type": "object"},
			"empty properties":      doc{"type": "object", "properties": doc{}},
			"properties no object":  doc{"type": "object", "properties": []string{"reason"}},
			"nothing at all":        doc{},
			"types without object":  doc{"type": []string{"string", "null"}, "properties": reason},
			"a type that is none":   doc{"type": []any{"object", 7}, "properties": reason},
			"a type within a type":  doc{"type": []any{[]string{"object"}}, "properties": reason},
			"a type named twice":    doc{"type": []string{"object", "object"}, "properties": reason},
			"another twice":         doc{"type": []string{"object", "null", "null"}, "properties": reason},
			"an empty list":         doc{"type": []string{}, "properties": reason},
			"a type that is a bool": doc{"type": true, "properties": reason},
			"a type that is null":   doc{"type": nil, "properties": reason},
			"no object":             "object",
			"a boolean schema":      true,
			"null":                  nil,
		} {
			s.run(what, func() {
				for _, minor := range everyMinor {
					bot.submit(s.ask(version(minor), input, set("/request/schema", schema))).
						refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/schema")
				}
			})
		}
		same(t, "what waits", alice.waiting(), []string{})
		for _, minor := range everyMinor {
			for _, schema := range []doc{
				{"type": "object", "properties": reason}, {"properties": reason},
				{"type": []string{"object"}, "properties": reason}, {"type": []string{"object", "null"}, "properties": reason},
				{"type": []string{"null", "object"}, "properties": doc{"": true}},
			} {
				bot.submit(s.ask(version(minor), input, set("/request/schema", schema))).is(http.StatusAccepted)
			}
		}
	})
}

func TestB10_CorrectionsComeBeforeTheSchema(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for _, minor := range everyMinor {
			// What the schema of 0.6 refuses too, or what any schema refuses, is 422 all the same.
			for what, wrong := range map[string]edit{
				"alike through and through": several(selects, set("/request/options", []doc{{"value": "a"}, {"value": "a"}})),
				"and without a title":       several(selects, twins, drop("/title")),
				"and a key missing":         several(selects, twins, drop("/idempotency_key")),
				"and a label that is none":  several(twins, set("/request/options", []doc{{"value": "a", "label": 7}, {"value": "a"}})),
				"a scalar":                  several(fillIn(), set("/request/schema", doc{"type": "string"})),
				"a scalar and no run":       several(fillIn(), set("/request/schema", doc{"type": "string"}), drop("/agent/run_id")),
			} {
				s.run(what, func() {
					bot.submit(s.ask(version(minor), wrong)).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "")
				})
			}
		}
	})
}

func TestB11_StraySchemaIsHarmless(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, stray := range []any{doc{"type": "string"}, doc{}, doc{"type": []any{7}}, "nonsense", 7, nil, []string{"x"}} {
			for _, minor := range everyMinor {
				id := bot.accepted(s.ask(version(minor), set("/request/schema", stray)))
				alice.answers(id, "approve").is(http.StatusOK)
				id = bot.accepted(s.ask(version(minor), choose(), set("/request/schema", stray),
					set("/request/default_on_expire", "hold")))
				alice.answers(id, "ship").is(http.StatusOK)
				bot.get(id).is(http.StatusOK).shows("/response/response/value", "ship", "/request/schema", stray)
			}
		}
	})
}

func TestB12_RefusedSubmitLeavesTheKeyFree(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for what, wrong := range map[string]edit{
			"another major":      set("/ma2h_version", "1.0"),
			"malformed version":  set("/ma2h_version", "0.03"),
			"push below 0.3":     several(version(2), callback("https://agent.example/cb")),
			"no title":           drop("/title"),
			"alike options":      several(selects, twins),
			"unanswerable":       several(fillIn(), set("/request/schema", doc{"type": "string"})),
			"a broken pattern":   several(fillIn(), set("/request/schema/properties/reason/pattern", "(")),
			"a default that no":  set("/request/default_on_expire", "perhaps"),
			"past its deadline":  expires(stamp(noon)),
			"addressed":          set("/to", "agent:other"),
			"with a session":     set("/agent/session", "sess_1"),
			"of another agent":   set("/agent/id", "other"),
			"too many parts":     set("/context", manyParts(17)),
			"a number too large": set("/state/n", rawJSON("1e400")),
		} {
			s.run(what, func() {
				key := s.key()
				s.writesNothing(func() {
					a := bot.submit(s.ask(wrong, set("/idempotency_key", key)))
					if a.status < 400 || a.status > 499 {
						s.t.Errorf("%s = %d %s, want 4xx", a.what, a.status, a.body)
					}
				})
				bot.submit(s.ask(set("/idempotency_key", key))).is(http.StatusAccepted).shows("/status", "open")
			})
		}
	})
}

func TestB13_DefaultIsCheckedAtSubmit(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		byDefault := func(v any) edit { return set("/request/default_on_expire", v) }
		number := set("/request/schema/properties/n", doc{"type": "integer"})
		for what, wrong := range map[string]edit{
			"select, none of them":      several(choose(), byDefault("launch")),
			"select, another case":      several(choose(), byDefault("Ship")),
			"select, a label":           several(choose(), byDefault("Ship to prod now")),
			"select, an object":         several(choose(), byDefault(doc{"value": "ship"})),
			"select, though editable":   several(choose(), editable(), byDefault("launch")),
			"confirm, none of them":     byDefault("yes"),
			"confirm, though editable":  several(editable(), byDefault("yes")),
			"confirm, of its own":       several(alike, byDefault("approve")),
			"input, a string":           several(fillIn(), byDefault("because")),
			"input, one missing":        several(fillIn(), byDefault(doc{})),
			"input, of another type":    several(fillIn(), byDefault(doc{"reason": 7})),
			"input, deep":               several(fillIn(), number, byDefault(doc{"reason": "x", "n": 1.5})),
			"input, none though marked": several(fillIn(), editable(), byDefault(doc{"other": "x"})),
		} {
			s.run(what, func() {
				for _, minor := range []int{2, 5, 6} {
					a := bot.submit(s.ask(version(minor), wrong))
					a.refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "")
					if f := a.str("/error/field"); !strings.HasPrefix(f, "/request/default_on_expire") {
						s.t.Errorf("field = %q, want one at or below /request/default_on_expire", f)
					}
				}
			})
		}
		for what, right := range map[string]edit{
			"select":              several(choose(), byDefault("hold")),
			"select, none":        several(choose(), byDefault(nil)),
			"confirm":             byDefault("deny"),
			"confirm, of its own": several(alike, byDefault("b")),
			"input":               several(fillIn(), number, byDefault(doc{"reason": "late", "n": 1.0})),
			"input, none":         several(fillIn(), byDefault(nil)),
		} {
			s.run(what, func() { bot.submit(s.ask(right)).is(http.StatusAccepted) })
		}
	})
}

func TestB14_ConfirmMeansApproveOrDeny(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, value := range []string{"approve", "deny"} {
			id := bot.accepted(s.ask())
			alice.answers(id, value).is(http.StatusOK)
			bot.get(id).shows("/response/response/value", value).lacks("/request/options")
		}
		for _, value := range []string{"yes", "Approve", "approve ", ""} {
			alice.answers(bot.accepted(s.ask()), value).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
		}
		// Options of its own replace the two.
		id := bot.accepted(s.ask(alike))
		alice.answers(id, "approve").refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/value")
		alice.answers(id, "b").is(http.StatusOK)
	})
}

func TestB14_ConfirmHasExactlyTwoOptions(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for _, minor := range everyMinor {
			for _, options := range [][]doc{{}, {{"value": "a"}}, {{"value": "a"}, {"value": "b"}, {"value": "c"}}} {
				bot.submit(s.ask(version(minor), set("/request/options", options))).
					refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/options")
			}
			bot.submit(s.ask(version(minor), set("/request/options", []doc{{"value": "a"}, {"value": "b"}}))).
				is(http.StatusAccepted)
		}
	})
}

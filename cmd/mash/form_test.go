package main

import (
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestFieldValue(t *testing.T) {
	t.Parallel()
	f := readForm([]byte(`{"properties":{"n":{"type":"integer"},"x":{"type":"number"},"b":{"type":"boolean"},` +
		`"s":{"type":"string"},"maybe":{"type":["integer","null"]},"l":{"type":"array"},"pick":{"enum":[1,"one"]},"any":{}}}`))
	for in, want := range map[string]string{
		"n=3": `{"n":3}`, "x=2.5": `{"x":2.5}`, "b=yes": `{"b":true}`, "b=false": `{"b":false}`, "s=3": `{"s":"3"}`,
		"maybe=null": `{"maybe":null}`, "maybe=4": `{"maybe":4}`, "l=[1,2]": `{"l":[1,2]}`,
		"pick=1": `{"pick":1}`, "pick=one": `{"pick":"one"}`, "any=3": `{"any":"3"}`, "s=a=b": `{"s":"a=b"}`,
	} {
		if got, err := f.answer([]string{in}, nil); err != nil || string(got) != want {
			t.Errorf("answer(%q) = %s, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"n=three", "n=0x10", "x=NaN", "b=perhaps", "l=1 2", "other=1", "n", "pick=two"} {
		if got, err := f.answer([]string{in}, nil); err == nil {
			t.Errorf("answer(%q) = %s, want an error", in, got)
		}
	}
}

// TestFieldsReadLikeThePage holds what is wrong to the words of the inbox, behind the title that it shows too.
func TestFieldsReadLikeThePage(t *testing.T) {
	t.Parallel()
	f := readForm([]byte(`{"required":["n"],"properties":{"n":{"title":"How many","type":"integer","minimum":1,"maximum":9},` +
		`"x":{"type":"number","exclusiveMinimum":0.1,"exclusiveMaximum":0.3},"s":{"type":"string","minLength":2,"maxLength":3},` +
		`"p":{"type":"string","pattern":"^a"},"e":{"enum":["eu","us"]},"b":{"type":"boolean"}}}`))
	for in, want := range map[string]string{
		"n=10":    "How many: it can be at most 9",
		"n=0":     "How many: it has to be at least 1",
		"n=1.5":   "How many: write a whole number",
		"n=many":  "How many: write a whole number",
		"x=0.10":  "x: it has to be more than 0.1",
		"x=0.3":   "x: it has to be less than 0.3",
		"s=a":     "s: at least 2 characters are needed, and there are 1",
		"s=äöüß":  "s: at most 3 characters are taken, and there are 4",
		"p=b":     "p: it does not have the form that is asked for: ^a",
		"e=moon":  "e: choose one of eu, us",
		"b=maybe": "b: write yes or no",
		"b=yes":   "How many: this is needed; give it as --field n=VALUE",
	} {
		if _, err := f.answer([]string{in}, nil); err == nil || err.Error() != want {
			t.Errorf("answer(%q) = %v, want %s", in, err, want)
		}
	}
	refused := ma2h.FieldErrorf(ma2h.CodeInvalidField, "/value/n/0", "The value does not meet the request's schema: got 7, want a prime.")
	if got, want := f.refusal(refused).Error(), "How many: this is not what the agent can take: got 7, want a prime"; got != want {
		t.Errorf("refusal = %s, want %s", got, want)
	}
}

// TestExamplesAreAdmitted holds the command that is suggested to what the hub takes.
func TestExamplesAreAdmitted(t *testing.T) {
	t.Parallel()
	for _, property := range []string{
		`{"type":"integer"}`, `{"type":"integer","minimum":7}`, `{"type":"integer","maximum":-7}`, `{"type":"number","exclusiveMinimum":2}`,
		`{"type":"integer","exclusiveMaximum":-2}`, `{"type":"boolean"}`, `{"type":"string"}`, `{"type":"string","maxLength":2}`,
		`{"type":"string","minLength":9}`, `{"type":"string","format":"date"}`, `{"type":"string","format":"date-time"}`,
		`{"type":"string","format":"email"}`, `{"type":"string","format":"uri"}`, `{"type":"array"}`, `{"type":"object"}`,
		`{"type":["null","string"]}`, `{"type":"null"}`, `{"enum":["it's | [odd]","b"]}`, `{"default":"d"}`, `{}`,
	} {
		compiled, refused := ma2h.CompileAnswerSchema([]byte(`{"type":"object","required":["a b"],"properties":{"a b":` + property + `}}`))
		if refused != nil {
			t.Fatal(refused)
		}
		f := readForm([]byte(`{"required":["a b"],"properties":{"a b":` + property + `}}`))
		words := shellWords(f.example() + " ")
		if len(words) != 2 || words[0] != "--field" {
			t.Fatalf("the example for %s is %q", property, words)
		}
		got, err := f.answer(words[1:], nil)
		if err != nil || compiled.Check(got, "/value") != nil {
			t.Errorf("the example for %s is %s, which is read as %s, %v", property, words[1], got, err)
		}
	}
}

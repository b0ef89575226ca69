package main

import (
	"strings"
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
	alike := readForm([]byte(`{"properties":{"e":{"enum":[1,"1",true,"true",null,"null","","x"]}}}`))
	for in, want := range map[string]string{
		"e=1": `{"e":1}`, `e="1"`: `{"e":"1"}`, "e=true": `{"e":true}`, `e="true"`: `{"e":"true"}`, "e=null": `{"e":null}`, `e="null"`: `{"e":"null"}`,
		`e=""`: `{"e":""}`, "e=x": `{"e":"x"}`,
	} {
		if got, err := alike.answer([]string{in}, nil); err != nil || string(got) != want {
			t.Errorf("answer(%q) = %s, %v, want %s", in, got, err, want)
		}
	}
	if _, err := alike.answer([]string{"e=y"}, nil); err == nil || !strings.Contains(err.Error(), `choose one of 1, "1", true, "true", null, "null", "", x`) {
		t.Errorf("what there is to choose is said as %v", err)
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
		`"o":{"type":"string","minLength":1,"maxLength":1},"p":{"type":"string","pattern":"^a"},"e":{"enum":["eu","us"]},"b":{"type":"boolean"}}}`))
	for in, want := range map[string]string{
		"n=10":        "How many: it can be at most 9",
		"n=0":         "How many: it has to be at least 1",
		"n=1.5":       "How many: write a whole number",
		"n=many":      "How many: write a whole number",
		"n=5 x=0.10":  "x: it has to be more than 0.1",
		"n=5 x=0.3":   "x: it has to be less than 0.3",
		"n=5 s=a":     "s: at least 2 characters are needed, and this has 1",
		"n=5 s=äöüß":  "s: at most 3 characters are taken, and this has 4",
		"n=5 o=":      "o: at least 1 character is needed, and this has 0",
		"n=5 o=ab":    "o: at most 1 character is taken, and this has 2",
		"n=5 p=b":     "p: it does not have the form that is asked for: ^a",
		"n=5 e=moon":  "e: choose one of eu, us",
		"n=5 b=maybe": "b: write yes or no",
		"b=yes":       "How many: this is needed; give it as --field n=VALUE",
		"s=a e=moon": "s: at least 2 characters are needed, and this has 1\ne: choose one of eu, us\n" +
			"How many: this is needed; give it as --field n=VALUE",
	} {
		if _, err := f.answer(strings.Fields(in), nil); err == nil || err.Error() != want {
			t.Errorf("answer(%q) = %v, want %s", in, err, want)
		}
	}
	refused := ma2h.FieldErrorf(ma2h.CodeInvalidField, "/value/n/0", "The value does not meet the request's schema: got 7, want a prime.")
	if got, want := f.refusal(refused).Error(), "How many: in it, at 0, this is not what the agent can take: got 7, want a prime"; got != want {
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

// TestWhatIsLeftOutIsTheDefault holds a form on the command line to what the page sends of fields that nobody touched.
func TestWhatIsLeftOutIsTheDefault(t *testing.T) {
	t.Parallel()
	f := readForm([]byte(`{"required":["region","mail"],"properties":{"region":{"enum":["us","eu"],"default":"eu"},"mail":{"type":"string"},` +
		`"size":{"type":"integer","default":3},"note":{"type":"string","default":""},"maybe":{"type":["null","string"],"default":null},` +
		`"pw":{"type":"string","x-ma2h-sensitive":true,"default":"hush"},"zones":{"type":"array","items":{"enum":["a","b"]}}}}`))
	for in, want := range map[string]string{
		"mail=m":               `{"mail":"m","region":"eu","size":3}`,
		"mail=m region=us":     `{"mail":"m","region":"us","size":3}`,
		"mail=m size=4 note=n": `{"mail":"m","note":"n","region":"eu","size":4}`,
	} {
		if got, err := f.answer(strings.Fields(in), nil); err != nil || string(got) != want {
			t.Errorf("answer(%q) = %s, %v, want %s", in, got, err, want)
		}
	}
	const want = `  region  one of us, eu; if left out, it is eu
  mail    a text
  size    a whole number; if left out, it is 3
  note    a text; may be left out
  maybe   null, or a text; may be left out
  pw      a text; may be left out; kept secret: only the agent gets it
  zones   a JSON array of any of "a", "b"; may be left out
`
	if got := f.show(); got != want {
		t.Errorf("the form is shown as\n%s\nwant\n%s", got, want)
	}
}

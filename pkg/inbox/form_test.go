package inbox_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// form sends a schema as an ask of mode input and returns its id.
func (r *rig) form(schema string) string {
	r.t.Helper()
	return r.ask("Form", `"mode":"input","schema":`+schema)
}

// filled is a form, what is typed into it, and the answer that the agent gets.
type filled struct {
	schema string
	form   url.Values
	want   string
}

func simpleForms() map[string]filled {
	return map[string]filled{
		"text":               {`{"properties":{"a":{"type":"string"}}}`, url.Values{"f0": {` "x" ` + "\r\ny"}}, `{"a":" \"x\" \ny"}`},
		"empty text":         {`{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, url.Values{"f0": {""}, "f1": {"x"}}, `{"b":"x"}`},
		"text like a number": {`{"properties":{"a":{"type":"string"}}}`, url.Values{"f0": {"007"}}, `{"a":"007"}`},
		"integer":            {`{"properties":{"a":{"type":"integer"}}}`, url.Values{"f0": {" 42 "}}, `{"a":42}`},
		"large integer": {
			`{"properties":{"a":{"type":"integer"}}}`, url.Values{"f0": {"12345678901234567890123"}},
			`{"a":12345678901234567890123}`,
		},
		"number digit by digit": {
			`{"properties":{"a":{"type":"number"}}}`, url.Values{"f0": {"0.10000000000000000000001"}},
			`{"a":0.10000000000000000000001}`,
		},
		"number with a zero behind": {`{"properties":{"a":{"type":"number"}}}`, url.Values{"f0": {"2.50"}}, `{"a":2.50}`},
		"numbers as people write them": {
			`{"properties":{"a":{"type":"number"},"b":{"type":"number"},"c":{"type":"number"},"d":{"type":"number"}}}`,
			url.Values{"f0": {"+5"}, "f1": {"-007.5"}, "f2": {".5"}, "f3": {"5."}}, `{"a":5,"b":-7.5,"c":0.5,"d":5}`,
		},
		"exponent":             {`{"properties":{"a":{"type":"number"}}}`, url.Values{"f0": {"1.5E-3"}}, `{"a":1.5E-3}`},
		"true":                 {`{"properties":{"a":{"type":"boolean"}},"required":["a"]}`, url.Values{"f0": {"0"}}, `{"a":true}`},
		"false":                {`{"properties":{"a":{"type":"boolean"}}}`, url.Values{"f0": {"1"}}, `{"a":false}`},
		"boolean left out":     {`{"properties":{"a":{"type":"boolean"}}}`, url.Values{"f0": {""}}, `{}`},
		"enum":                 {`{"properties":{"a":{"enum":["x","1",1,true,null,{"b":[1]}]}}}`, url.Values{"f0": {"2"}}, `{"a":1}`},
		"enum of text":         {`{"properties":{"a":{"enum":["x","1",1]}}}`, url.Values{"f0": {"1"}}, `{"a":"1"}`},
		"enum of an object":    {`{"properties":{"a":{"enum":["x",{"b":[1]}]}}}`, url.Values{"f0": {"1"}}, `{"a":{"b":[1]}}`},
		"enum with empty text": {`{"properties":{"a":{"enum":["","x"]}},"required":["a"]}`, url.Values{"f0": {"0"}}, `{"a":""}`},
		"titled constants": {
			`{"properties":{"a":{"oneOf":[{"const":"de","title":"Germany"},{"const":"uk","title":"Britain"}]}}}`,
			url.Values{"f0": {"1"}}, `{"a":"uk"}`,
		},
		"several of some": {
			`{"properties":{"a":{"type":"array","items":{"enum":["x","y","z"]}}}}`, url.Values{"f0": {"0", "2"}}, `{"a":["x","z"]}`,
		},
	}
}

func oddForms() map[string]filled {
	return map[string]filled{
		"none of some, needed": {
			`{"properties":{"a":{"type":"array","items":{"enum":["x","y"]}}},"required":["a"]}`, url.Values{}, `{"a":[]}`,
		},
		"null where needed": {`{"properties":{"a":{"type":["string","null"]}},"required":["a"]}`, url.Values{"f0": {""}}, `{"a":null}`},
		"optional of two": {
			`{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}}}`, url.Values{"f0": {"3"}}, `{"a":3}`,
		},
		"reference": {
			`{"properties":{"a":{"$ref":"#/$defs/color"}},"$defs":{"color":{"enum":["red","blue"]}}}`,
			url.Values{"f0": {"1"}}, `{"a":"blue"}`,
		},
		"date": {`{"properties":{"a":{"type":"string","format":"date"}}}`, url.Values{"f0": {"2026-03-04"}}, `{"a":"2026-03-04"}`},
		"time": {
			`{"properties":{"a":{"type":"string","format":"date-time"}}}`, url.Values{"f0": {"2026-03-04T15:04"}},
			`{"a":"2026-03-04T15:04:00Z"}`,
		},
		"nested": {
			`{"properties":{"a":{"type":"object","properties":{"b":{"type":"integer"}}}}}`, url.Values{"f0.0": {`1.0`}},
			`{"a":{"b":1.0}}`,
		},
		"array":    {`{"properties":{"a":{"type":"array"}}}`, url.Values{"f0": {`[1, "two"]`}}, `{"a":[1,"two"]}`},
		"anything": {`{"properties":{"a":{}}}`, url.Values{"f0": {`"x"`}}, `{"a":"x"}`},
		"required that nothing describes": {
			`{"properties":{"a":{}},"required":["b"]}`, url.Values{"f1": {`7`}}, `{"b":7}`,
		},
		"names that are anything": {
			`{"properties":{"":{"type":"string"},"a/b~c":{"type":"string"},"\u202e\"<b>":{"type":"string"}}}`,
			url.Values{"f0": {"1"}, "f1": {"2"}, "f2": {"3"}}, `{"":"1","a/b~c":"2","` + "\u202e" + `\"<b>":"3"}`,
		},
		"as JSON": {
			`{"properties":{"a":{"type":"string"}}}`, url.Values{"do": {"json"}, "json": {"{\"a\": \"\",\r\n \"z\": 1e2}"}},
			`{"a":"","z":1e2}`,
		},
	}
}

func TestFieldsBecomeTypedValues(t *testing.T) {
	t.Parallel()
	r, cases := signedIn(t), simpleForms()
	maps.Copy(cases, oddForms())
	for name, c := range cases {
		id := r.form(c.schema)
		r.get("/inbox/" + id).is(http.StatusOK)
		if c.form.Get("do") == "" {
			c.form.Set("do", "send")
		}
		p := r.reply(id, c.form)
		if p.status != http.StatusSeeOther {
			t.Errorf("%s: POST = %d: %s", name, p.status, text(p.root))
			continue
		}
		if got := r.outcome(id).Value; got != c.want {
			t.Errorf("%s: value = %s, want %s", name, got, c.want)
		}
		r.get("/inbox/" + id).is(http.StatusOK)
	}
}

func TestFieldsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ property, typed, says string }{
		"needed":        {`{"type":"string"}`, "", "This is needed."},
		"short":         {`{"type":"string","minLength":3}`, "ä€", "At least 3 characters are needed, and this has 2."},
		"few":           {`{"type":"array","items":{"enum":["x","y"]},"minItems":1}`, "7", "At least one is needed, and this has 0."},
		"longer":        {`{"type":"string","maxLength":1}`, "ab", "At most one character is taken, and this has 2."},
		"long":          {`{"type":"string","maxLength":3}`, "abcd", "At most 3 characters are taken, and this has 4."},
		"pattern":       {`{"type":"string","pattern":"^[A-Z]+$"}`, "abc", "It does not have the form that is asked for: ^[A-Z]+$"},
		"no number":     {`{"type":"number"}`, "1,5", "Write a number"},
		"no digits":     {`{"type":"number"}`, "-.e5", "Write a number"},
		"infinite":      {`{"type":"number"}`, "1e999", "The number is too large."},
		"tiny":          {`{"type":"number"}`, "-1e-400", "The number is too close to zero"},
		"not a number":  {`{"type":"number"}`, "NaN", "Write a number"},
		"no integer":    {`{"type":"integer"}`, "1.5", "Write a whole number."},
		"minimum":       {`{"type":"integer","minimum":3}`, "2", "It has to be at least 3."},
		"maximum":       {`{"type":"number","maximum":0.1}`, "0.10000000000000000001", "It can be at most 0.1."},
		"above":         {`{"type":"number","exclusiveMinimum":3}`, "3", "It has to be more than 3."},
		"below":         {`{"type":"number","exclusiveMaximum":3}`, "3", "It has to be less than 3."},
		"by the hub":    {`{"type":"integer","not":{"const":12}}`, "12", "This is not what the agent can take"},
		"no JSON":       {`{"type":"object"}`, "{a:1}", "Write it as JSON"},
		"doubled":       {`{"type":"object"}`, `{"a":1,"a":2}`, "Write it as JSON"},
		"deep inside":   {`{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`, `[[1,"x"]]`, "This is not what the agent can take"},
		"no time":       {`{"type":"string","format":"date-time"}`, "noon", "Write a date and a time"},
		"no such item":  {`{"enum":["a","b"]}`, "7", "This is needed."},
		"no such digit": {`{"type":"boolean"}`, "x", "This is needed."},
	}
	r := signedIn(t)
	for name, c := range cases {
		id := r.form(`{"properties":{"a":` + c.property + `,"b":{"type":"string"}},"required":["a"]}`)
		p := r.reply(id, url.Values{"do": {"send"}, "f0": {c.typed}, "f1": {"kept text"}, "comment": {"kept comment"}})
		if p.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: POST = %d, want 422: %s", name, p.status, text(p.root))
			continue
		}
		p.says(c.says, "kept text", "kept comment", "one place needs a look")
		wrong := p.find("p", "id", "f0-wrong")
		if len(wrong) != 1 || !strings.Contains(text(wrong[0]), c.says) {
			t.Errorf("%s: what is wrong does not stand at the field", name)
		}
		if r.detail(id) != nil {
			t.Errorf("%s: the ask has an outcome", name)
		}
	}
}

func TestWrongJSONIsKept(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.form(`{"properties":{"a":{"type":"integer"}},"required":["a"]}`)
	for _, typed := range []string{`{"a":`, `[]`, `"x"`, `{}`, `{"a":"kept"}`, ``} {
		p := r.reply(id, url.Values{"do": {"json"}, "json": {typed}}).is(http.StatusUnprocessableEntity)
		area := p.find("textarea", "name", "json")
		if len(area) != 1 || strings.TrimPrefix(rawText(area[0]), "\n") != typed {
			t.Errorf("the JSON %q is not kept", typed)
		}
		if len(p.find("p", "id", "json-wrong")) != 1 {
			t.Errorf("what is wrong with %q does not stand at the JSON", typed)
		}
	}
}

func rawText(n *html.Node) string {
	if n.FirstChild == nil {
		return ""
	}
	return n.FirstChild.Data
}

func TestDefaultsStandInTheForm(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.form(`{"properties":{"text":{"type":"string","default":"a <b> \"c\""},"n":{"type":"number","default":1.50},` +
		`"yes":{"type":"boolean","default":false},"pick":{"enum":["a","b"],"default":"b"},` +
		`"many":{"type":"array","items":{"enum":[1,2,3]},"default":[1,3]},"o":{"type":"object","default":{"k":[1]}},` +
		`"at":{"type":"string","format":"date-time","default":"2026-03-04T15:04:05+01:00"},` +
		`"one":{"const":"only"},"null":{"type":["string","null"],"default":null}},"required":["one"]}`)
	p := r.get("/inbox/" + id)
	form := url.Values{"do": {"send"}}
	for _, n := range append(p.find("input", "", ""), p.find("textarea", "", "")...) {
		name := attr(n, "name")
		if !strings.HasPrefix(name, "f") {
			continue
		}
		kind := attr(n, "type")
		if (kind == "radio" || kind == "checkbox") && !hasAttr(n, "checked") {
			continue
		}
		value := attr(n, "value")
		if n.Data == "textarea" {
			value = strings.TrimPrefix(rawText(n), "\n")
		}
		form.Add(name, value)
	}
	r.reply(id, form).is(http.StatusSeeOther)
	want := `{"text":"a <b> \"c\"","n":1.50,"yes":false,"pick":"b","many":[1,3],"o":{"k":[1]},"at":"2026-03-04T15:04:05+01:00","one":"only"}`
	if got := r.outcome(id).Value; got != want {
		t.Errorf("the form as it came sends\n%s, want\n%s", got, want)
	}
}

func hasAttr(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.form(`{"properties":{"pin":{"type":"string","x-ma2h-sensitive":true,"pattern":"^[0-9]+$","default":"0000"},` +
		`"code":{"type":"object","x-ma2h-sensitive":true},"n":{"type":"integer","x-ma2h-sensitive":true,"multipleOf":5},` +
		`"x":{"type":"string"}},"required":["x"]}`)
	p := r.get("/inbox/" + id)
	for _, name := range []string{"f0", "f1", "f2"} {
		if in := p.find("input", "name", name); len(in) != 1 || attr(in[0], "type") != "password" || attr(in[0], "value") != "" {
			t.Errorf("the secret %s is not masked, or prefilled", name)
		}
	}
	for _, form := range []url.Values{
		{"f0": {"hush-1"}, "f1": {`{"hush":2}`}, "f2": {"10"}},
		{"f0": {"hush-1"}, "f2": {"86421357"}, "x": {"x"}},
		{"f0": {"1"}, "f2": {"86421357"}, "f3": {"x"}},
		{"f2": {"10"}, "json": {`{"pin":"hush-3","x":"y"}`}},
		{"f2": {"10"}, "json": {`{"pin":"hush-3",`}},
	} {
		form.Set("do", "send")
		p := r.reply(id, form).is(http.StatusUnprocessableEntity)
		if strings.Contains(p.body, "hush") || strings.Contains(p.body, "86421357") {
			t.Error("a secret comes back on the page")
		}
	}
	p = r.reply(id, url.Values{"do": {"json"}, "json": {`{"pin":"hush","x":"y"}`}}).is(http.StatusUnprocessableEntity)
	if got := text(p.find("p", "id", "json-wrong")[0]); strings.Contains(got, "hush") {
		t.Errorf("what is wrong says %q", got)
	}
	r.reply(id, url.Values{"do": {"send"}, "f0": {"4711"}, "f1": {`{"hush":2}`}, "f3": {"open"}}).is(http.StatusSeeOther)
	if got, want := r.outcome(id).Value, `{"pin":"4711","code":{"hush":2},"x":"open"}`; got != want {
		t.Errorf("value = %s, want %s", got, want)
	}
	p = r.get("/inbox/" + id)
	p.says("kept back", "open")
	if strings.Contains(p.body, "4711") || strings.Contains(p.body, "hush") {
		t.Error("the outcome shows a secret")
	}
}

func TestAFormOfTwentyFields(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	var properties, want []string
	form := url.Values{"do": {"send"}}
	for i := range 20 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"integer","title":"Field %d","description":"Number %d."}`, 19-i, i, i))
		want = append(want, fmt.Sprintf(`"p%d":%d`, 19-i, i))
		form.Set(fmt.Sprintf("f%d", i), fmt.Sprint(i))
	}
	id := r.form(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`)
	page := text(r.get("/inbox/" + id).root)
	last := -1
	for i := range 20 {
		at := strings.Index(page, fmt.Sprintf("Field %d ", i))
		if at <= last {
			t.Fatalf("field %d is not in the schema's order", i)
		}
		last = at
	}
	r.reply(id, form).is(http.StatusSeeOther)
	if got := r.outcome(id).Value; got != "{"+strings.Join(want, ",")+"}" {
		t.Errorf("value = %s, want %s", got, want)
	}
}

package ma2h_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// doubling is a schema whose references double at each of n levels.
func doubling(n int, keyword, leaf string) string {
	var b strings.Builder
	b.WriteString(`{"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, keyword, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":%q}}}`, n, leaf)
	return b.String()
}

// disguised is a schema whose references double, spelled so that whoever does not decode them finds harmless namesakes.
func disguised(n int) string {
	var b strings.Builder
	b.WriteString(`{"properties":{"a":{"$ref":"#/$defs/%6c0"}},"$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"l%d":{"allOf":[{"$ref":"#/$defs/%%6c%d"},{"$ref":"#/$defs/%%6c%d"}]},"%%6c%d":{"type":"string"},`, i, i+1, i+1, i)
	}
	fmt.Fprintf(&b, `"l%d":{"type":"string"},"%%6c%d":{"type":"string"}}}`, n, n)
	return b.String()
}

// disguisedByID is one whose references double below an id, by which they lead elsewhere than they seem to.
func disguisedByID(n int) string {
	var b strings.Builder
	b.WriteString(`{"$schema":"DIALECT","properties":{"a":{"id":"http://x/y","$ref":"#/definitions/l0"}},"definitions":{`)
	for i := range n {
		fmt.Fprintf(&b, `"l%d":{"allOf":[{"$ref":"#/definitions/l%d"},{"$ref":"#/definitions/l%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"l%d":{"type":"number"}}}`, n)
	return b.String()
}

func repeated(n int, each func(int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = each(i)
	}
	return strings.Join(parts, ",")
}

// Whatever the schema, neither compiling it nor holding an answer to it takes long.
func TestNoSchemaTakesLong(t *testing.T) {
	t.Parallel()
	long := `{"a":"` + strings.Repeat("x", 60<<10) + `"}`
	for name, c := range map[string]struct{ schema, answer string }{
		"references that double":                  {doubling(30, "allOf", "string"), `{"a":"x"}`},
		"references that fail double":             {doubling(40, "anyOf", "number"), `{"a":"x"}`},
		"a reference to itself":                   {`{"properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":{}}}`},
		"itself by two ways":                      {`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, strings.Repeat(`{"a":`, 40) + "{}" + strings.Repeat("}", 40)},
		"references that double, disguised":       {disguised(60), `{"a":"x"}`},
		"references that double beside an old id": {strings.Replace(disguisedByID(40), "DIALECT", "http://json-schema.org/draft-04/schema#", 1), `{"a":"x"}`},
		"references that double in a part of an old dialect": {
			`{"properties":{"a":{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","$ref":"#/definitions/l0"}},` +
				strings.TrimPrefix(disguisedByID(40), `{"$schema":"DIALECT","properties":{"a":{"id":"http://x/y","$ref":"#/definitions/l0"}},`),
			`{"a":"x"}`,
		},
		"a dialect that is the schema itself": {`{"$schema":"mem:///request/schema","properties":{"a":{"type":"string"}}}`, `{"a":"x"}`},
		"a dynamic reference":                 {`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}}}`, `{"a":{}}`},
		"a long pattern":                      {`{"properties":{"a":{"pattern":"(x?){1000}$"}}}`, long},
		"a pattern of many ways":              {`{"properties":{"a":{"pattern":"(.*x?){990}y"}}}`, long},
		"many patterns":                       {`{"properties":{"a":{"pattern":"` + strings.ReplaceAll(repeated(200, func(int) string { return "a{1,1000}b" }), ",", "|") + `"}}}`, long},
		"many patterns of names": {
			`{"properties":{"a":{}},"patternProperties":{` + repeated(3000, func(i int) string { return fmt.Sprintf(`"n%d":{}`, i) }) + `}}`,
			`{` + repeated(2500, func(i int) string { return fmt.Sprintf(`"n%d":1`, i) }) + `}`,
		},
		"many parts unevaluated": {
			`{"properties":{"a":{}},"allOf":[` + repeated(3000, func(int) string { return `{"properties":{"b":{}}}` }) + `],"unevaluatedProperties":false}`,
			`{` + repeated(2500, func(i int) string { return fmt.Sprintf(`"n%d":1`, i) }) + `}`,
		},
		"a number of many digits":      {`{"properties":{"a":{"items":{"enum":[1.` + strings.Repeat("0", 100_000) + `1]}}}}`, `{"a":[` + repeated(900, func(int) string { return "7" }) + `]}`},
		"an answer of many digits":     {`{"properties":{"a":{}}}`, `{"a":[1.` + strings.Repeat("0", 100_000) + `1]}`},
		"a number of a large exponent": {`{"properties":{"a":{"minimum":1e-100000000}}}`, `{"a":1}`},
		"patterns that are short to write": {`{"properties":{"p":{"anyOf":[` + repeated(10, func(int) string {
			return `{"pattern":"` + strings.Repeat("a{1000}", 3000) + `"}`
		}) + `]}}}`, `{}`},
		"patterns of names that are short to write": {`{"properties":{"p":{}},"patternProperties":{"` + strings.Repeat("a{1000}", 3000) + `":{}}}`, `{}`},
		"patterns of large sets":                    {`{"properties":{"p":{"pattern":"` + strings.Repeat(`\\pL`, 6000) + `"}}}`, `{}`},
		"a list against a list": {
			`{"properties":{"a":{"contains":{"enum":[` + repeated(30000, func(i int) string { return fmt.Sprint(i) }) + `]}}}}`,
			`{"a":[` + repeated(15000, func(int) string { return "-1" }) + `]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			s, err := ma2h.CompileAnswerSchema([]byte(c.schema))
			if err == nil {
				err = s.Check([]byte(c.answer), "/value")
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %s", took)
			}
			if err == nil || err.Code != ma2h.CodeInvalidField {
				t.Errorf("the schema or the answer = %v, want invalid_field", err)
			}
		})
	}
}

// No dialect asserts formats: what they cost is not bounded, and the page checks them where people write.
func TestFormatsAreNoConstraintInAnyDialect(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"draft-04/schema#", "draft-06/schema#", "draft-07/schema#", "draft/2019-09/schema", "draft/2020-12/schema"} {
		schema := `{"$schema":"http://json-schema.org/` + dialect + `","definitions":{"d":{"format":"date"}},"properties":{
			"a":{"format":"email"},"b":{"items":{"format":"regex"}},"c":{"allOf":[{"$ref":"#/definitions/d"}]},"d":{"additionalProperties":{"not":{"not":{"format":"ipv4"}}}}}}`
		s, err := ma2h.CompileAnswerSchema([]byte(strings.Replace(schema, "http://json-schema.org/draft/", "https://json-schema.org/draft/", 1)))
		if err == nil {
			err = s.Check([]byte(`{"a":"no mail","b":["("],"c":"soon","d":{"x":"here"}}`), "/value")
		}
		if err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
	}
}

// What is wrong with a value is said without it, since it may be a secret and errors are logged.
func TestARefusalDoesNotQuoteTheValue(t *testing.T) {
	t.Parallel()
	for _, constraint := range []string{
		`"pattern":"^z"`, `"minimum":90210000`, `"maximum":7`, `"exclusiveMinimum":90210000`, `"exclusiveMaximum":7`, `"multipleOf":7`,
		`"enum":["a"]`, `"const":"a"`, `"type":"boolean"`, `"minLength":100`, `"maxLength":1`, `"not":{}`,
	} {
		s, err := ma2h.CompileAnswerSchema([]byte(`{"properties":{"pin":{` + constraint + `}}}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{`"TOPSECRET4711"`, `90209999`} {
			err := s.Check([]byte(`{"pin":`+value+`}`), "/value")
			if err != nil && strings.Contains(err.Message, strings.Trim(value, `"`)) {
				t.Errorf("%s: %v", constraint, err)
			}
		}
	}
}

// What people are really asked is far below the bounds.
func TestFormsAreFarBelowTheBounds(t *testing.T) {
	t.Parallel()
	fields := repeated(100, func(i int) string {
		return fmt.Sprintf(`"f%d":{"$ref":"#/$defs/name"},"g%d":{"type":"array","items":{"enum":["a","b","c"]}}`, i, i)
	})
	schema := `{"type":"object","properties":{` + fields + `},"$defs":{"name":{"type":"string","pattern":"^[A-Z][a-z ]{1,40}$"}}}`
	answer := `{` + repeated(100, func(i int) string { return fmt.Sprintf(`"f%d":"Some name","g%d":["a","b"]`, i, i) }) + `}`
	s, err := ma2h.CompileAnswerSchema([]byte(schema))
	if err == nil {
		err = s.Check([]byte(answer), "/value")
	}
	if err != nil {
		t.Errorf("a form of 200 fields = %v, want it taken", err)
	}
}

func TestReferencesAreReadAsTheyAreEncoded(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"#/$defs/API%20key", "#/%24defs/API%20key", "#/$defs/API key"} {
		s, err := ma2h.CompileAnswerSchema([]byte(`{"properties":{"a":{"$ref":"` + ref + `"}},"$defs":{"API key":{"type":"string"}}}`))
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		if s.Check([]byte(`{"a":"x"}`), "") != nil || s.Check([]byte(`{"a":1}`), "") == nil {
			t.Errorf("%s leads elsewhere", ref)
		}
	}
	s, err := ma2h.CompileAnswerSchema([]byte(`{"properties":{"a":{"$ref":"#/$defs/a~1b~01%25"}},"$defs":{"a/b~1%":{"type":"string"}}}`))
	if err != nil || s.Check([]byte(`{"a":1}`), "") == nil {
		t.Errorf("a name of every kind of escape: %v", err)
	}
	for _, ref := range []string{"#/$defs/%zz", "#x", "x#/$defs/x", "#/$defs/~", "#/$defs/nowhere", "#/$defs/x/type/0"} {
		if _, err := ma2h.CompileAnswerSchema([]byte(`{"properties":{"a":{"$ref":"` + ref + `"}},"$defs":{"x":{"type":"string"}}}`)); err == nil {
			t.Errorf("%s is taken", ref)
		}
	}
}

func TestAnOldDialectIsReadAsWhatItIs(t *testing.T) {
	t.Parallel()
	s, err := ma2h.CompileAnswerSchema([]byte(`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"id":{"maximum":5,"exclusiveMaximum":true}}}`))
	if err != nil || s.Check([]byte(`{"id":4}`), "") != nil || s.Check([]byte(`{"id":5}`), "") == nil {
		t.Errorf("draft-04 with a property that is called id: %v", err)
	}
}

// A page shows a text as often as references lead to it.
func TestReferencesDoNotMultiplyTexts(t *testing.T) {
	t.Parallel()
	schema := func(n int, of string) string {
		return `{"properties":{` + repeated(n, func(i int) string { return fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d"}`, i) }) + `},"$defs":{"d":` + of + `}}`
	}
	long := strings.Repeat("x", 20_000)
	for name, of := range map[string]string{
		"description": `{"description":"` + long + `"}`, "default": `{"default":["` + long + `"]}`, "name": `{"properties":{"` + long + `":{}}}`,
		"pattern": `{"pattern":"a","title":"` + long + `"}`,
	} {
		if _, err := ma2h.CompileAnswerSchema([]byte(schema(800, of))); err == nil || err.Field != "/request/schema" {
			t.Errorf("%s: 800 references to a text of 20 kB: %v, want a refusal", name, err)
		}
		if _, err := ma2h.CompileAnswerSchema([]byte(schema(20, of))); err != nil {
			t.Errorf("%s: 20 references to it: %v", name, err)
		}
	}
}

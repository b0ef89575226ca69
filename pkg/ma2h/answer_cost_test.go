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
		"references that double":      {doubling(30, "allOf", "string"), `{"a":"x"}`},
		"references that fail double": {doubling(40, "anyOf", "number"), `{"a":"x"}`},
		"a reference to itself":       {`{"properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":{}}}`},
		"itself by two ways":          {`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, strings.Repeat(`{"a":`, 40) + "{}" + strings.Repeat("}", 40)},
		"a dynamic reference":         {`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}}}`, `{"a":{}}`},
		"a long pattern":              {`{"properties":{"a":{"pattern":"(x?){1000}$"}}}`, long},
		"a pattern of many ways":      {`{"properties":{"a":{"pattern":"(.*x?){990}y"}}}`, long},
		"many patterns":               {`{"properties":{"a":{"pattern":"` + strings.ReplaceAll(repeated(200, func(int) string { return "a{1,1000}b" }), ",", "|") + `"}}}`, long},
		"many patterns of names": {
			`{"properties":{"a":{}},"patternProperties":{` + repeated(3000, func(i int) string { return fmt.Sprintf(`"n%d":{}`, i) }) + `}}`,
			`{` + repeated(2500, func(i int) string { return fmt.Sprintf(`"n%d":1`, i) }) + `}`,
		},
		"many parts unevaluated": {
			`{"properties":{"a":{}},"allOf":[` + repeated(3000, func(int) string { return `{"properties":{"b":{}}}` }) + `],"unevaluatedProperties":false}`,
			`{` + repeated(2500, func(i int) string { return fmt.Sprintf(`"n%d":1`, i) }) + `}`,
		},
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

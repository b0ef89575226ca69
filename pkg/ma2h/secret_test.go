package ma2h_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

const (
	hush   = `{"x-ma2h-sensitive":true}`
	answer = `{"b":1.0,"a":"HUSH","l":["HUSH",["HUSH"]],"o":{"a":"HUSH"}}`
)

// Every keyword of every draft by which a schema can be about a part of an answer.
func TestASecretIsWithheldByWhateverKeywordItIsMarked(t *testing.T) {
	t.Parallel()
	a := `{"properties":{"a":` + hush + `}}`
	deep := a
	for range 30 {
		deep = `{"allOf":[` + deep + `]}`
	}
	for schema, want := range map[string]string{
		a:                          "/a",
		`{"allOf":[{},` + a + `]}`: "/a", `{"anyOf":[{},` + a + `]}`: "/a", `{"oneOf":[{},` + a + `]}`: "/a", `{"not":` + a + `}`: "/a",
		`{"if":` + a + `}`: "/a", `{"then":` + a + `}`: "/a", `{"else":` + a + `}`: "/a",
		`{"dependentSchemas":{"b":` + a + `}}`: "/a", `{"dependencies":{"b":` + a + `}}`: "/a", `{"dependencies":{"b":["a"],"c":` + a + `}}`: "/a",
		`{"extends":` + a + `}`: "/a", `{"extends":[{},` + a + `]}`: "/a", `{"type":["string",` + a + `]}`: "/a", `{"disallow":[` + a + `]}`: "/a",
		`{"$ref":"#/$defs/x","$defs":{"x":` + a + `}}`: "/a", `{"$ref":"#/definitions/x%20y","definitions":{"x y":` + a + `}}`: "/a",
		`{"$ref":"#/$defs/x~1y%25","$defs":{"x/y%":` + a + `}}`: "/a", deep: "/a", `{"properties":`: "",
		`{"properties":{"a":{"allOf":[{"anyOf":[` + hush + `]}]}}}`: "/a", `{"properties":{"a":{"if":` + hush + `}}}`: "/a",
		`{"patternProperties":{"^a$":` + hush + `}}`:       "/a /b /l /o",
		`{"additionalProperties":` + hush + `}`:            "/a /b /l /o",
		`{"unevaluatedProperties":` + hush + `}`:           "/a /b /l /o",
		`{"propertyNames":` + hush + `}`:                   "",
		`{"propertyNames":{"anyOf":[` + hush + `]}}`:       "",
		`{"x-of-another-time":{"deep":[` + a + `]}}`:       "",
		`{"properties":{"a":{"contentSchema":` + a + `}}}`: "/a",
		`{"properties":{"l":{"items":` + hush + `}}}`:      "/l/0 /l/1", `{"properties":{"l":{"items":[{},` + hush + `]}}}`: "/l/0 /l/1",
		`{"properties":{"l":{"prefixItems":[` + hush + `]}}}`: "/l/0 /l/1", `{"properties":{"l":{"additionalItems":` + hush + `}}}`: "/l/0 /l/1",
		`{"properties":{"l":{"unevaluatedItems":` + hush + `}}}`: "/l/0 /l/1", `{"properties":{"l":{"contains":` + hush + `}}}`: "/l/0 /l/1",
		`{"properties":{"l":{"items":{"items":` + hush + `}}}}`: "/l/1/0",
		`{"properties":{"o":` + a + `}}`:                        "/o/a", `{"properties":{"o":{"dependencies":{"z":` + a + `}}}}`: "/o/a",
		hush: "", `{"allOf":[` + hush + `]}`: "",
		`{"properties":{"a":{"x-ma2h-sensitive":false},"enum":` + hush + `,"default":` + hush + `,"o":{"properties":{"type":` + hush + `}}}}`: "-",
		`{"properties":{"a":{}},"$defs":{"x":` + a + `}}`:                            "-",
		`{"properties":{"a":{"enum":["HUSH",` + hush + `],"default":` + hush + `}}}`: "-",
	} {
		rest, withheld := ma2h.Withhold(jsontext.Value(answer), jsontext.Value(schema))
		slices.Sort(withheld)
		got := strings.Join(withheld, " ")
		if withheld == nil {
			got = "-"
		}
		if got != want {
			t.Errorf("%s withholds %q, want %q", schema, got, want)
		}
		if want == "-" && string(rest) != answer || want == "/a" && string(rest) != strings.Replace(answer, `"a":"HUSH",`, "", 1) {
			t.Errorf("%s leaves %s", schema, rest)
		}
		if want == "" != (rest == nil) || rest != nil && !json.Valid(rest) {
			t.Errorf("%s leaves %q", schema, rest)
		}
	}
}

// The fields of a form are secret where parts of an answer would be.
func TestAPartThatMayHideASecretSaysSo(t *testing.T) {
	t.Parallel()
	s := ma2h.SecrecyOf(jsontext.Value(`{"properties":{"a":{"items":` + hush + `},"b":{}},"dependencies":{"b":{"properties":{"c":` + hush + `}}}}`))
	got := fmt.Sprint(s.Secret(), s.Hides(), s.Member("a").Secret(), s.Member("a").Hides(), s.Member("a").Element().Secret(),
		s.Member("b").Hides(), s.Member("c").Secret(), s.Member("d").Hides())
	if want := "false true false true true false true false"; got != want {
		t.Errorf("the parts say %s, want %s", got, want)
	}
}

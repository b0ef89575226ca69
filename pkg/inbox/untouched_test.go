package inbox_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/hub"
)

// untouched is a property of a form that is sent as it came: the answer is its default, to the letter. The same ones are
// sent by a browser, among the tests of real time.
type untouched struct {
	Name     string         `json:"name"`
	Property jsontext.Value `json:"property"`
}

func untouchedCases(t *testing.T) []untouched {
	t.Helper()
	data, err := os.ReadFile("testdata/untouched.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []untouched
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 40 {
		t.Fatalf("%d cases, want 40 at least", len(cases))
	}
	return cases
}

// preset is the default, as it is spelled.
func (u untouched) preset(t *testing.T) string {
	t.Helper()
	var of struct {
		Default jsontext.Value `json:"default"`
	}
	if err := json.Unmarshal(u.Property, &of); err != nil {
		t.Fatal(err)
	}
	return spelled(t, of.Default)
}

// spelled writes JSON in which every number is as it came, and every text in one spelling.
func spelled(t *testing.T, v jsontext.Value) string {
	t.Helper()
	out := v.Clone()
	if err := out.Compact(jsontext.PreserveRawStrings(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		t.Fatalf("%s: %v", v, err)
	}
	return string(out)
}

func TestWhatNobodyTouchedIsTheDefaultToTheLetter(t *testing.T) {
	t.Parallel()
	cases := untouchedCases(t)
	cases = append(cases, untouched{"more than there are rows", jsontext.Value(`{"type":"array","items":{"type":"integer"},"default":` + numbers(300) + `}`)})
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			r := signedIn(t)
			want := c.preset(t)
			for _, required := range []string{"", `,"required":["a"]`} {
				schema := `{"properties":{"a":` + string(c.Property) + `}` + required + `}`
				id := r.form(schema)
				open(t, r.get("/inbox/"+id).is(http.StatusOK)).press(r, id, "send").is(http.StatusSeeOther)
				if got := spelled(t, r.pulled(id)); got != `{"a":`+want+`}` {
					t.Errorf("%s: the agent gets\n%q, want a to be\n%q", schema, got, want)
				}
				again := r.form(`{"properties":{"b":{"type":"integer"},"a":` + string(c.Property) + `}` + required + `}`)
				s := open(t, r.get("/inbox/"+again))
				s.fill("b", "x")
				s = open(t, s.press(r, again, "send").is(http.StatusUnprocessableEntity))
				s.fill("b", "1")
				s.press(r, again, "send").is(http.StatusSeeOther)
				if got := spelled(t, r.pulled(again)); got != `{"b":1,"a":`+want+`}` {
					t.Errorf("%s: after something was wrong elsewhere, the agent gets\n%q, want a to be\n%q", schema, got, want)
				}
			}
		})
	}
}

func TestWhatNobodyTouchedStaysBesideWhatSomebodyDid(t *testing.T) {
	t.Parallel()
	cases := []formCase{
		{"rows keep their defaults when one goes", of(`{"type":"array","items":{"type":"string","format":"date-time"},"default":["2024-01-01T00:00:00.1+05:30","2024-01-02T00:00:00.2+05:30","2024-01-03T00:00:00.3+05:30"]}`),
			[4]string{}, [][2]string{{"a/1", ""}, {"a/2", "2025-01-01T00:00"}}, `{"a":["2025-01-01T00:00:00Z","2024-01-03T00:00:00.3+05:30"]}`},
		{"empty texts stay", of(`{"type":"array","items":{"type":"string"},"default":["","a",""]}`),
			[4]string{}, [][2]string{{"a/2", "b"}}, `{"a":["","b",""]}`},
		{"null stays in an object", of(`{"type":"object","properties":{"n":{"type":["integer","null"]},"s":{"type":"string","maxLength":9}},"default":{"n":null,"s":"x"}}`),
			[4]string{}, [][2]string{{"a/s", "y"}}, `{"a":{"n":null,"s":"y"}}`},
		{"what fields do not say stands there as JSON", of(`{"type":"object","properties":{"n":{"type":"integer"}},"default":{"n":1,"z":2}}`),
			[4]string{"a", `{"n":`, "Write it as JSON"}, [][2]string{{"a", `{"n":2,"z":2}`}}, `{"a":{"n":2,"z":2}}`},
		{"a time is another when it is touched", of(`{"type":"string","format":"date-time","default":"2024-01-01T10:20:00+02:00"}`),
			[4]string{}, [][2]string{{"a", "2024-01-01T08:21"}}, `{"a":"2024-01-01T08:21:00Z"}`},
		{"a date that was none can be one", of(`{"type":"string","format":"date","default":"soon"}`),
			[4]string{"a", "later", "Write a date"}, [][2]string{{"a", "2024-01-01"}}, `{"a":"2024-01-01"}`},
		{"a default that is too short is no answer", `{"properties":{"a":{"type":"string","minLength":1,"default":""},"b":{"type":"array","items":{"type":"string"},"minItems":1,"default":[]}}}`,
			[4]string{}, nil, `{}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
	t.Run("a row that was taken away", func(t *testing.T) {
		t.Parallel()
		r := signedIn(t)
		id := r.form(of(`{"type":"array","items":{"type":"object","properties":{"n":{"type":"number"}}},"default":[{"n":1.0},{"n":2.0},{"n":3.0}]}`))
		s := open(t, r.get("/inbox/"+id))
		s = open(t, s.press(r, id, "less:f0.1").is(http.StatusOK))
		s.press(r, id, "send").is(http.StatusSeeOther)
		if got, want := string(r.pulled(id)), `{"a":[{"n":1.0},{"n":3.0}]}`; got != want {
			t.Errorf("the agent gets %s, want %s", got, want)
		}
	})
}

func TestWhatAPersonTypesIsNotWrittenAnew(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for format, typed := range map[string]string{"email": "jo@bücher.example", "uri": "HTTPS://bücher.example/%7e", "idn-email": "jö@example.org"} {
		id := r.form(of(fmt.Sprintf(`{"type":"string","format":%q}`, format)))
		s := open(t, r.get("/inbox/"+id))
		if kind := attr(s.control("a"), "type"); kind != "text" {
			t.Errorf("format %s has a control of type %s, in which browsers rewrite what is typed", format, kind)
		}
		s.fill("a", typed)
		s.press(r, id, "send").is(http.StatusSeeOther)
		if got := string(r.pulled(id)); !strings.Contains(got, typed) {
			t.Errorf("typed %s, and the agent gets %s", typed, got)
		}
	}
}

// pulled is the value that the agent gets, to the letter.
func (r *rig) pulled(id string) jsontext.Value {
	r.t.Helper()
	body, err := r.hub.Pull(r.t.Context(), r.agent, id, hub.PullOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	var m struct {
		Response struct {
			Response struct {
				Value jsontext.Value `json:"value"`
			} `json:"response"`
		} `json:"response"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		r.t.Fatal(err)
	}
	return m.Response.Response.Value
}

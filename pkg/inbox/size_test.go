package inbox_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// numbers writes an array of the numbers from 0 on.
func numbers(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(i))
	}
	return "[" + strings.Join(out, ",") + "]"
}

// tooMuch are those of hugeForms that the hub refuses: whatever refers to the same large thing over and over.
var tooMuch = []string{"one help for many fields", "one default for many", "one default of many values"}

// hugeForms are schemas of few bytes that make the most of them.
func hugeForms() map[string]string {
	long := strings.Repeat("long ", 4_000)
	var many []string
	for i := range 800 {
		many = append(many, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d"}`, i))
	}
	refers := func(def string) string {
		return `{"properties":{` + strings.Join(many, ",") + `},"$defs":{"d":` + def + `}}`
	}
	rows := func(properties, preset string) string {
		return `{"properties":{"n":{"type":"array","items":{"type":"object","properties":{` + properties + `}},"default":[` +
			strings.TrimSuffix(strings.Repeat(preset+",", 200), ",") + `]}}}`
	}
	wide := strings.Repeat(`{"type":"array","minItems":10,"items":{"type":"object","properties":{"m":`, 12) + `{"type":"string"}` +
		strings.Repeat(`}}}`, 12)
	return map[string]string{
		"rows of many choices":       rows(`"a":{"enum":`+numbers(4500)+`},"b":{"type":"integer"}`, `{"b":1}`),
		"rows of long help":          rows(`"a":{"type":"string","description":"`+long+`"}`, `{"a":"x"}`),
		"rows of boxes to tick":      rows(`"a":{"type":"array","items":{"enum":`+numbers(4000)+`}}`, `{"a":[1]}`),
		"many rows by themselves":    `{"properties":{"n":{"type":"array","minItems":10,"items":{"enum":` + numbers(4000) + `}},"m":` + wide + `}}`,
		"one help for many fields":   refers(`{"type":"string","description":"` + long + `"}`),
		"one default for many":       refers(`{"type":"string","default":"` + long + `"}`),
		"one default of many values": refers(`{"default":[` + strings.TrimSuffix(strings.Repeat("1,", 4_000), ",") + `]}`),
	}
}

// taken holds whether a form was sent to whether it is to be, and returns the error that it was given.
func taken(t *testing.T, name string, err error) error {
	t.Helper()
	if refused := slices.Contains(tooMuch, name); refused != (err != nil) {
		t.Fatalf("the hub refuses %s: %v, want %t", name, err, refused)
	}
	return err
}

func TestAPageIsNotMuchLargerThanItsMessage(t *testing.T) {
	t.Parallel()
	for name, schema := range hugeForms() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := signedIn(t)
			id, err := r.trySend(r.agent, `"type":"ask","title":"Q","request":{"allowed_resolvers":["human:owner"],"mode":"input","schema":`+schema+`}`)
			if taken(t, name, err) != nil {
				return // what the hub refuses makes no page
			}
			p := r.get("/inbox/" + id).is(http.StatusOK)
			if n := len(p.body); n > 4<<20 {
				t.Errorf("a schema of %d bytes makes a page of %d", len(schema), n)
			}
			s := open(t, p)
			s.values.Set("f0.0.0", "no such choice")
			again := s.press(r, id, "send")
			if n := len(again.body); n > 4<<20 {
				t.Errorf("what comes back is a page of %d bytes", n)
			}
		})
	}
}

// TestAListDoesNotBuildTheFormsOfItsRows runs by itself, since it counts what is allocated.
func TestAListDoesNotBuildTheFormsOfItsRows(t *testing.T) {
	for name, schema := range hugeForms() {
		r := signedIn(t)
		for range 10 {
			_, err := r.trySend(r.agent, `"type":"ask","title":"Q","priority":"urgent","request":{`+
				`"allowed_resolvers":["human:owner"],"mode":"input","schema":`+schema+`}`)
			if taken(t, name, err) != nil {
				break // what the hub refuses is in no list
			}
		}
		r.get("/inbox").is(http.StatusOK)
		const each = 200_000 // a schema has 5000 values at most, each of which is read some times
		if n := testing.AllocsPerRun(1, func() { r.get("/inbox") }); n > 10*each {
			t.Errorf("%s: a list of ten makes %.0f allocations, want %d at most", name, n, 10*each)
		}
	}
}

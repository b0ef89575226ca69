package schema_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// A case is one document of testdata/cases with what it must be in a version: a base document, some members set, some
// dropped, both named by JSON Pointers. "0.N" in the document stands for the version.
type tableCase struct {
	target
	rule     string
	document any
	valid    bool
	base     bool // nothing was changed
}

// cases reads the tables. It fails the test when there are none.
func cases(t testing.TB) []tableCase {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "cases", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("found %d tables of cases, error %v", len(paths), err)
	}
	var all []tableCase
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, table, perr := ma2h.ParseObject(b)
		if perr != nil {
			t.Fatalf("%s: %v", path, perr)
		}
		kind, _ := table["kind"].(string)
		bases, _ := table["bases"].(map[string]any)
		rows, _ := table["cases"].([]any)
		for _, row := range rows {
			all = append(all, readRow(t, ma2h.Kind(kind), bases, row.(map[string]any))...)
		}
	}
	return all
}

func readRow(t testing.TB, kind ma2h.Kind, bases, row map[string]any) []tableCase {
	t.Helper()
	rule, _ := row["rule"].(string)
	base, known := bases[row["base"].(string)]
	if rule == "" || !known {
		t.Fatalf("row %q of %s has no rule or no base", rule, kind)
	}
	var all []tableCase
	for _, valid := range []bool{true, false} {
		ranges, _ := row[map[bool]string{true: "valid", false: "invalid"}[valid]].(string)
		for _, minor := range minors(t, ranges) {
			document := edit(t, copied(base, "0."+strconv.Itoa(minor)), row)
			all = append(all, tableCase{target{kind, minor}, rule, document, valid, row["set"] == nil && row["drop"] == nil})
		}
	}
	if len(all) == 0 {
		t.Fatalf("row %q of %s names no versions", rule, kind)
	}
	return all
}

// minors reads "1-3,5-6".
func minors(t testing.TB, ranges string) []int {
	t.Helper()
	var all []int
	for r := range strings.SplitSeq(ranges, ",") {
		if r == "" {
			continue
		}
		var from, to int
		if _, err := fmt.Sscanf(r, "%d-%d", &from, &to); err != nil {
			t.Fatalf("range %q: %v", r, err)
		}
		for m := from; m <= to; m++ {
			all = append(all, m)
		}
	}
	return all
}

// copied returns a deep copy with version in the place of "0.N".
func copied(v any, version string) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for name, e := range v {
			c[name] = copied(e, version)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = copied(e, version)
		}
		return c
	case string:
		if v == "0.N" {
			return version
		}
	}
	return v
}

// edit drops and sets what a row says, shorter pointers first.
func edit(t testing.TB, document any, row map[string]any) any {
	t.Helper()
	drop, _ := row["drop"].([]any)
	for _, pointer := range drop {
		document = put(t, document, pointer.(string), nil, true)
	}
	set, _ := row["set"].(map[string]any)
	for _, pointer := range slices.Sorted(maps.Keys(set)) {
		document = put(t, document, pointer, set[pointer], false)
	}
	return document
}

// put sets the place that pointer names to v, or drops the member there.
func put(t testing.TB, document any, pointer string, v any, drop bool) any {
	t.Helper()
	if pointer == "" {
		return v
	}
	tokens := strings.Split(pointer, "/")[1:]
	at := document
	for _, token := range tokens[:len(tokens)-1] {
		at = step(at, token)
	}
	last := tokens[len(tokens)-1]
	if a, ok := at.([]any); ok {
		i, err := strconv.Atoi(last)
		if err != nil || i >= len(a) || drop {
			t.Fatalf("there is nothing to set at %s", pointer)
		}
		a[i] = v
		return document
	}
	o, ok := at.(map[string]any)
	if _, has := o[last]; !ok || drop && !has {
		t.Fatalf("there is nothing at %s", pointer)
	}
	if drop {
		delete(o, last)
	} else {
		o[last] = v
	}
	return document
}

func step(at any, token string) any {
	switch at := at.(type) {
	case map[string]any:
		return at[token]
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i < len(at) {
			return at[i]
		}
	}
	return nil
}

func TestCasesAgainstSchemasAndShape(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	seen := map[target]map[bool]int{}
	count := map[bool]int{}
	for _, c := range cases(t) {
		t.Run(fmt.Sprintf("%s/%s", c.target, c.rule), func(t *testing.T) {
			t.Parallel()
			check(t, all, c.target, c.document, c.valid)
		})
		if seen[c.target] == nil {
			seen[c.target] = map[bool]int{}
		}
		seen[c.target][c.valid]++
		count[c.valid]++
	}
	t.Logf("%d documents: %d valid, %d invalid", count[true]+count[false], count[true], count[false])
	for _, tg := range targets() {
		if seen[tg][true] == 0 || seen[tg][false] == 0 {
			t.Errorf("%s has %d valid and %d invalid documents; it needs some of both", tg, seen[tg][true], seen[tg][false])
		}
	}
}

package controlapi_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// answer is what came back of a request.
type answer struct {
	t      *testing.T
	what   string // method and path
	status int
	header http.Header
	body   []byte

	value  any
	parsed bool
}

// is fails the test at once unless the status is the one.
func (a *answer) is(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s = %d %s, want %d", a.what, a.status, a.body, status)
	}
	return a
}

// json returns the body, decoded; numbers are json.Number.
func (a *answer) json() any {
	a.t.Helper()
	if !a.parsed {
		d, err := ma2h.Parse(a.body)
		if err != nil {
			a.t.Fatalf("%s = %d %q, which is no JSON: %v", a.what, a.status, a.body, err)
		}
		a.value, a.parsed = d.Value, true
	}
	return a.value
}

// absent is what at returns of a member that is not there.
type absent struct{}

// at returns the value that a JSON Pointer names.
func (a *answer) at(pointer string) any {
	a.t.Helper()
	return lookUp(a.json(), pointer)
}

func lookUp(v any, pointer string) any {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if token == "" {
			continue
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if list, ok := v.([]any); ok {
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(list) {
				return absent{}
			}
			v = list[i]
			continue
		}
		if d, ok := v.(doc); ok {
			v = map[string]any(d)
		}
		o, _ := v.(map[string]any)
		var ok bool
		if v, ok = o[token]; !ok {
			return absent{}
		}
	}
	return v
}

// str returns the string that a JSON Pointer names, and fails the test at once when there is none.
func (a *answer) str(pointer string) string {
	a.t.Helper()
	s, ok := a.at(pointer).(string)
	if !ok {
		a.t.Fatalf("%s = %s, want a string at %s", a.what, a.body, pointer)
	}
	return s
}

// shows holds members of the body to what they must be: pointers and values in turn.
func (a *answer) shows(pairs ...any) *answer {
	a.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		pointer := pairs[i].(string)
		if diff := cmp.Diff(plain(a.t, pairs[i+1]), a.at(pointer)); diff != "" {
			a.t.Errorf("%s = %d %s; at %s (-want +got):\n%s", a.what, a.status, a.body, pointer, diff)
		}
	}
	return a
}

// lacks fails the test when the body has one of the members.
func (a *answer) lacks(pointers ...string) *answer {
	a.t.Helper()
	for _, p := range pointers {
		if v := a.at(p); v != (absent{}) {
			a.t.Errorf("%s = %s; at %s stands %v, want nothing", a.what, a.body, p, v)
		}
	}
	return a
}

// plain brings a value into the form of a decoded body.
func plain(t *testing.T, v any) any {
	t.Helper()
	if v == (absent{}) {
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d, invalid := ma2h.Parse(b)
	if invalid != nil {
		t.Fatal(invalid)
	}
	return d.Value
}

// sentence is what an error's message must be: for people, plain, and one to three sentences on one line.
var sentence = regexp.MustCompile(`^[A-Za-z0-9"].{10,300}\.$`)

// refused holds an answer to the error envelope, a status, a code and, unless it is empty, a field.
func (a *answer) refused(status int, code ma2h.Code, field string) *answer {
	a.t.Helper()
	a.is(status).shows("/error/code", code)
	if field != "" {
		a.shows("/error/field", field)
	}
	if m := a.str("/error/message"); !sentence.MatchString(m) {
		a.t.Errorf("%s: message %q is no plain sentence", a.what, m)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		a.t.Errorf("%s: Content-Type = %q, want application/json", a.what, got)
	}
	a.shaped(ma2h.KindError, ma2h.Newest)
	return a
}

// shaped holds the body to the shape of its kind.
func (a *answer) shaped(kind ma2h.Kind, version string) {
	a.t.Helper()
	v, err := ma2h.ParseVersion(version)
	if err == nil {
		err = ma2h.Shape(kind, v.SchemaMinor(), a.json())
	}
	if err != nil {
		a.t.Errorf("%s = %d %s, which is no %s of %s: %v", a.what, a.status, a.body, kind, version, err)
	}
}

package ma2h_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestParseKeepsWhatWasSent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		want       any
	}{
		{"every type of value", `{"a":[null,true,false,"x",1.50,{}]}`,
			map[string]any{"a": []any{nil, true, false, "x", json.Number("1.50"), map[string]any{}}}},
		{"a number keeps its spelling", `-0.10e+02`, json.Number("-0.10e+02")},
		{"blanks around the value", " \r\n\t[] \n", []any{}},
		{"an escaped pair of surrogates", `"\ud83d\ude00"`, "😀"},
		{"the replacement character itself", `"\ufffd"`, "\ufffd"},
		{"NUL is a character", `"\u0000"`, "\x00"},
		{"names that differ in case are two", `{"a":1,"A":2}`, map[string]any{"a": json.Number("1"), "A": json.Number("2")}},
		{"equal names in two objects", `[{"a":1},{"a":1}]`,
			[]any{map[string]any{"a": json.Number("1")}, map[string]any{"a": json.Number("1")}}},
		{"the largest double", `1.7976931348623157e308`, json.Number("1.7976931348623157e308")},
		{"the smallest double", `5e-324`, json.Number("5e-324")},
		{"zero, whatever its exponent", `-0.00e-999999999999`, json.Number("-0.00e-999999999999")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ma2h.Parse([]byte(tt.body))
			if err != nil {
				t.Fatalf("Parse(%s) = %v", tt.body, err)
			}
			if diff := cmp.Diff(tt.want, got.Value); diff != "" {
				t.Errorf("Parse(%s) (-want +got):\n%s", tt.body, diff)
			}
			if string(got.Raw) != tt.body {
				t.Errorf("Parse(%s) kept %s", tt.body, got.Raw)
			}
		})
	}
}

// What Go's decoders mend or merge in silence is refused (behaviour 81; spec §9.2 with RFC 8785 §3.1, §3.2.2; RFC 7493).
func TestParseRefusesWhatDecodersMend(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, field, says string }{
		{"a first half of a surrogate pair", `{"a":"\ud83d"}`, "/a", "surrogate"},
		{"a second half of a surrogate pair", `{"a":"\ude00"}`, "/a", "surrogate"},
		{"halves in the wrong order", `{"a":"\ude00\ud83d"}`, "/a", "surrogate"},
		{"half a pair in a name", `{"\ud83d":1}`, "", "surrogate"},
		{"half a pair, deep", `{"a":[{"b":"x\ud83dy"}]}`, "/a/0/b", "surrogate"},
		{"a name twice", `{"a":1,"a":2}`, "/a", "twice"},
		{"a name twice, once escaped", `{"a":1,"\u0061":1}`, "/a", "twice"},
		{"a name twice, deep", `{"x":[0,{"y":{"a":1,"b":2,"a":3}}]}`, "/x/1/y/a", "twice"},
		{"a name twice, as an emoji and escaped", `{"😀":1,"\ud83d\ude00":2}`, "/😀", "twice"},
		{"bytes that are no UTF-8", "{\"a\":\"\xff\"}", "/a", "UTF-8"},
		{"a surrogate encoded as UTF-8", "{\"a\":\"\xed\xa0\x80\"}", "/a", "UTF-8"},
		{"an overlong form", "{\"a\":\"\xc0\xaf\"}", "/a", "UTF-8"},
		{"bytes that are no UTF-8, in a name", "{\"\xfe\":1}", "", "UTF-8"},
		{"a number beyond a double", `{"a":[1e400]}`, "/a/0", "double"},
		{"a negative number beyond a double", `-1e309`, "", "double"},
		{"a number that a double would make zero", `{"a":1e-400}`, "/a", "double"},
		{"a number with an exponent that costs time", `-1e-999999`, "", "double"},
		{"a number with an exponent that no int holds", `1e-99999999999999999999`, "", "double"},
		{"more than one value", `{} {}`, "", "one JSON value"},
		{"a comma after the value", `{},`, "", "well-formed"},
		{"bytes after the value", `{}x`, "", "well-formed"},
		{"a byte order mark", "\xef\xbb\xbf{}", "", "well-formed"},
		{"nothing", ``, "", "empty"},
		{"blanks only", " \n", "", ""},
		{"an object that does not end", `{"a":`, "", "middle"},
		{"a string that does not end", `{"a":"b`, "", "middle"},
		{"a comma before the end", `{"a":1,}`, "", "well-formed"},
		{"a comment", `{/*x*/}`, "", "well-formed"},
		{"single quotes", `{'a':1}`, "", "well-formed"},
		{"a leading zero", `{"a":01}`, "", "well-formed"},
		{"a leading plus", `{"a":+1}`, "", "well-formed"},
		{"not a number", `NaN`, "", "well-formed"},
		{"a raw control character", "\"a\nb\"", "", "well-formed"},
		{"UTF-16", "{\x00}\x00", "", "well-formed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ma2h.Parse([]byte(tt.body))
			if err == nil {
				t.Fatalf("Parse(%q) = %v, want an error", tt.body, got.Value)
			}
			if err.Code != ma2h.CodeValidationError || !strings.Contains(err.Message, tt.says) {
				t.Errorf("Parse(%q) = %v, want a validation_error about %q", tt.body, err, tt.says)
			}
			if tt.field != "" && err.Field != tt.field {
				t.Errorf("Parse(%q) names %q, want %q", tt.body, err.Field, tt.field)
			}
			if strings.Contains(err.Message, tt.body) && len(tt.body) > 3 {
				t.Errorf("Parse(%q) = %v, which quotes the body", tt.body, err)
			}
		})
	}
}

func TestParseNestsUpToMaxDepth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, open, end string }{
		{"arrays", `[`, `]`},
		{"objects", `{"a":`, `}`},
	} {
		nested := func(depth int) []byte {
			return []byte(strings.Repeat(tt.open, depth) + "1" + strings.Repeat(tt.end, depth))
		}
		if _, err := ma2h.Parse(nested(ma2h.MaxDepth)); err != nil {
			t.Errorf("Parse(%d %s) = %v, want nil", ma2h.MaxDepth, tt.name, err)
		}
		if _, err := ma2h.Parse(nested(ma2h.MaxDepth + 1)); err == nil || !strings.Contains(err.Message, "deep") {
			t.Errorf("Parse(%d %s) = %v, want an error about depth", ma2h.MaxDepth+1, tt.name, err)
		}
		if _, err := ma2h.Parse([]byte(strings.Repeat(tt.open, 1_000_000))); err == nil {
			t.Errorf("Parse(a million %s) = nil, want an error", tt.name)
		}
	}
}

// An integer beyond ±(2^53−1) is accepted and marked (behaviour 76; spec §9.2).
func TestParseMarksInexactIntegers(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`9007199254740991`:          false,
		`-9007199254740991`:         false,
		`9007199254740992`:          true,
		`{"a":[-9007199254740993]}`: true,
		`1152921504606846976`:       true,
		`1e300`:                     true,
		`0.1`:                       false,
		`1e-7`:                      false,
		`"9007199254740993"`:        false,
	} {
		got, err := ma2h.Parse([]byte(body))
		if err != nil || got.Inexact != want {
			t.Errorf("Parse(%s) = inexact %t, %v, want %t", body, got.Inexact, err, want)
		}
	}
}

// A body that is null or an array is refused (behaviour 5; spec §8.5).
func TestParseObjectRefusesOtherValues(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`null`, `[]`, `[{}]`, `"{}"`, `1`, `true`} {
		if _, o, err := ma2h.ParseObject([]byte(body)); err == nil || o != nil || err.Code != ma2h.CodeValidationError {
			t.Errorf("ParseObject(%s) = %v, %v, want a validation_error", body, o, err)
		}
	}
	d, o, err := ma2h.ParseObject([]byte(`{"a":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"a": "b"}, o); diff != "" || string(d.Raw) != `{"a":"b"}` {
		t.Errorf("ParseObject gave %s of %s", diff, d.Raw)
	}
}

func TestPointerEscapes(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]string{
		{"", "a", "/a"}, {"/a", "b/c", "/a/b~1c"}, {"/a", "~1", "/a/~01"}, {"/a", "", "/a/"},
	} {
		if got := ma2h.Pointer(tt[0], tt[1]); got != tt[2] {
			t.Errorf("Pointer(%q, %q) = %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}

// 2^60 serialises as ECMAScript does (behaviour 76; RFC 8785 §3.2.2.3).
func TestCanonicalWritesNumbersAsECMAScript(t *testing.T) {
	t.Parallel()
	got, err := ma2h.Canonical([]byte(`{"b":1152921504606846976,"a":1.50,"\u00e9":-0.0,"c":1e21}`))
	const want = `{"a":1.5,"b":1152921504606847000,"c":1e+21,"é":0}`
	if err != nil || string(got) != want {
		t.Errorf("Canonical = %s, %v, want %s", got, err, want)
	}
}

// FuzzParse: whatever is let through is JSON to others, too, and reads the same again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"ma2h_version":"0.6","type":"notify","agent":{"id":"a","run_id":"r"},"title":"t"}`, `{"a":1,"\u0061":2}`, `"\ud83d\ude00"`,
		`"\ud83d"`, `[1e400,-0,1e-400]`, "\"\xff\"", "\xef\xbb\xbf{}", `[[[[{"a":[]}]]]]`, `{} {}`, ``, `nul`, `{"":{"":""}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d, perr := ma2h.Parse(body)
		if perr != nil {
			if perr.Code != ma2h.CodeValidationError || perr.Message == "" {
				t.Errorf("Parse(%q) = %v, want a validation_error with a sentence", body, perr)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("Parse(%q) accepted what encoding/json does not", body)
		}
		again, err := json.Marshal(d.Value)
		if err != nil {
			t.Fatalf("Marshal(%v) = %v", d.Value, err)
		}
		second, perr := ma2h.Parse(again)
		if perr != nil {
			t.Fatalf("Parse(%s) = %v, its own output", again, perr)
		}
		if diff := cmp.Diff(d, second, cmp.FilterPath(isRaw, cmp.Ignore())); diff != "" {
			t.Errorf("Parse(%q) reads another value the second time:\n%s", body, diff)
		}
		if _, err := ma2h.Canonical(body); err != nil {
			t.Errorf("Canonical(%q) = %v, want the form of what Parse accepts", body, err)
		}
	})
}

func isRaw(p cmp.Path) bool { return p.Last().String() == ".Raw" }

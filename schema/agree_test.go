package schema_test

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mash-hub/mash/pkg/ma2h"
)

const (
	fewMutants  = 20_000
	manyMutants = 200_000
	breeders    = 4 // fixed, so that a seed makes the same mutants on every machine
)

// mutants returns how many mutants to breed: MUTANTS of them, else few, or many with MASH_LONG=1.
func mutants(t testing.TB) int {
	t.Helper()
	if s := os.Getenv("MUTANTS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("MUTANTS is %q, want a number", s)
		}
		return n
	}
	if os.Getenv("MASH_LONG") == "1" {
		return manyMutants
	}
	return fewMutants
}

// seedOf returns the seed of the mutants: SEED, else always the same.
func seedOf(t testing.TB) uint64 {
	t.Helper()
	s := os.Getenv("SEED")
	if s == "" {
		return 20260301
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("SEED is %q, want a number", s)
	}
	return n
}

// TestShapeAgreesWithSchemas breeds mutants of the known documents and holds the two to each other.
func TestShapeAgreesWithSchemas(t *testing.T) {
	t.Parallel()
	all, seeds, n, seed := schemas(t), cases(t), mutants(t), seedOf(t)
	started := time.Now()
	var valid, wrong atomic.Int64
	var running sync.WaitGroup
	for i := range breeders {
		running.Go(func() {
			b := newBreeder(seeds, seed, uint64(i))
			for j := i; j < n && wrong.Load() < 10; j += breeders {
				if tg, v := b.mutant(); agree(t, all, tg, v, &wrong) {
					valid.Add(1)
				}
			}
		})
	}
	running.Wait()
	share := float64(valid.Load()) / float64(n)
	t.Logf("%d mutants of %d documents with SEED=%d: %d valid (%.1f %%), %d disagreements, in %.1f s",
		n, len(seeds), seed, valid.Load(), 100*share, wrong.Load(), time.Since(started).Seconds())
	if share < 0.1 && wrong.Load() == 0 {
		t.Errorf("%.1f %% of the mutants are valid, want a tenth at least", 100*share)
	}
}

// TestEveryPlaceAgrees puts probes of every type into every place of every base document, in every version of its kind,
// and drops what is there.
func TestEveryPlaceAgrees(t *testing.T) {
	t.Parallel()
	all := schemas(t)
	var wrong atomic.Int64
	valid, count := 0, 0
	for _, c := range cases(t) {
		if !c.base {
			continue
		}
		for _, v := range variants(t, c.document) {
			count++
			if agree(t, all, c.target, v, &wrong) {
				valid++
			}
		}
		if wrong.Load() >= 10 {
			break
		}
	}
	t.Logf("%d documents, %d valid", count, valid)
}

var probes = []any{nil, true, json.Number("0"), json.Number("-1.5"), "", "x", []any{}, map[string]any{}}

// variants returns the document with each place dropped and filled with each probe, in turn.
func variants(t testing.TB, document any) []any {
	t.Helper()
	var all []any
	for _, pointer := range pointers(document, "") {
		if pointer != "" && inObject(document, pointer) {
			all = append(all, put(t, copied(document, ""), pointer, nil, true))
		}
		for _, probe := range probes {
			all = append(all, put(t, copied(document, ""), pointer, copied(probe, ""), false))
		}
	}
	return all
}

// pointers returns the JSON Pointers of all places of a document.
func pointers(v any, at string) []string {
	all := []string{at}
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			all = append(all, pointers(e, ma2h.Pointer(at, name))...)
		}
	case []any:
		for i, e := range v {
			all = append(all, pointers(e, ma2h.Pointer(at, strconv.Itoa(i)))...)
		}
	}
	return all
}

// inObject says whether pointer names a member, not an element.
func inObject(document any, pointer string) bool {
	tokens := strings.Split(pointer, "/")[1:]
	for _, token := range tokens[:len(tokens)-1] {
		document = step(document, token)
	}
	_, ok := document.(map[string]any)
	return ok
}

// agree holds the two to each other on one document, and says whether both find it valid.
func agree(t *testing.T, all map[target]*jsonschema.Schema, tg target, v any, wrong *atomic.Int64) bool {
	bySchema := all[tg].Validate(v)
	byShape := ma2h.Shape(tg.kind, tg.minor, v)
	if (bySchema == nil) != (byShape == nil) {
		wrong.Add(1)
		t.Errorf("%s of %s:\nschema: %v\nShape: %v", tg, encode(t, v), bySchema, byShape)
		return false
	}
	if byShape != nil {
		if flaw := flawed(byShape, v); flaw != "" {
			wrong.Add(1)
			t.Errorf("Shape(%s) of %s = %v; %s", tg, encode(t, v), byShape, flaw)
		}
	}
	return byShape == nil
}

// flawed says what is wrong with an error of Shape itself: it has a code, a place in the document, and one sentence.
func flawed(err *ma2h.Error, v any) string {
	switch {
	case err.Code != ma2h.CodeValidationError:
		return "the code is not validation_error"
	case err.Message == "" || !strings.HasSuffix(err.Message, ".") || err.Message[0] < 'A' || err.Message[0] > 'Z':
		return "the message is no sentence"
	case err.Field == "":
		return ""
	case err.Field[0] != '/':
		return "the field is no JSON Pointer"
	}
	tokens := strings.Split(err.Field, "/")[1:]
	for _, token := range tokens[:len(tokens)-1] {
		v = step(v, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	switch v.(type) {
	case map[string]any, []any:
		return ""
	}
	return "the field is not in the document"
}

// FuzzShapeAgrees holds the two to each other on whatever bytes are a document.
func FuzzShapeAgrees(f *testing.F) {
	all, tgs := schemas(f), targets()
	for _, c := range cases(f) {
		if c.base {
			f.Add(uint8(slices.Index(tgs, c.target)), []byte(encode(f, c.document)))
		}
	}
	f.Fuzz(func(t *testing.T, index uint8, body []byte) {
		d, perr := ma2h.Parse(body)
		if perr != nil {
			return
		}
		var wrong atomic.Int64
		agree(t, all, tgs[int(index)%len(tgs)], d.Value, &wrong)
	})
}

func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWhatPassesShapeDecodes: a decoder never meets a document that Shape let through and it cannot read.
func TestWhatPassesShapeDecodes(t *testing.T) {
	t.Parallel()
	b := newBreeder(cases(t), seedOf(t), breeders)
	decoded := 0
	for range fewMutants {
		tg, v := b.mutant()
		into := wireType(tg)
		if into == nil || ma2h.Shape(tg.kind, tg.minor, v) != nil {
			continue
		}
		decoded++
		if body := encode(t, v); jsonv2.Unmarshal([]byte(body), into) != nil {
			t.Errorf("Unmarshal(%s) = %v for a %s that passes Shape", body, jsonv2.Unmarshal([]byte(body), into), tg)
		}
	}
	if decoded < fewMutants/50 {
		t.Errorf("only %d mutants were there to decode", decoded)
	}
}

// wireType returns a place to decode a document of that kind into, or nil. Until 0.4 checklists of Responses were free.
func wireType(tg target) any {
	switch tg.kind {
	case ma2h.KindMessage:
		return new(ma2h.Message)
	case ma2h.KindResolveRequest:
		return new(ma2h.Resolve)
	case ma2h.KindSubmitAck:
		return new(ma2h.SubmitAck)
	case ma2h.KindAck:
		return new(ma2h.Ack)
	case ma2h.KindResponse:
		if tg.minor >= ma2h.MinorInterAgent {
			return new(ma2h.Response)
		}
	}
	return nil
}

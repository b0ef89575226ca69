package schema_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/schema"
)

const newest = 6

// kindSince is a kind of document with the first minor that has it.
type kindSince struct {
	kind  ma2h.Kind
	since int
}

var kinds = []kindSince{
	{ma2h.KindMessage, 1},
	{ma2h.KindResponse, 1},
	{ma2h.KindSubmitAck, 1},
	{ma2h.KindGetMessage, 1},
	{ma2h.KindCapability, 2},
	{ma2h.KindError, 2},
	{ma2h.KindInboundMessage, 4},
	{ma2h.KindAck, 4},
	{ma2h.KindPresence, 4},
	{ma2h.KindSession, 5},
	{ma2h.KindRegisterRequest, 5},
	{ma2h.KindSessionEnvelope, 5},
	{ma2h.KindSessionList, 5},
	{ma2h.KindResolveRequest, 5},
}

// target is a kind of document in a version.
type target struct {
	kind  ma2h.Kind
	minor int
}

func (t target) String() string { return fmt.Sprintf("0.%d %s", t.minor, t.kind) }

// url names the schema of the target.
func (t target) url() string {
	name, fragment, _ := strings.Cut(string(t.kind), "#")
	u := schema.Base + schema.Path("0."+strconv.Itoa(t.minor), name)
	if fragment != "" {
		u += "#" + fragment
	}
	return u
}

// targets returns every kind in every version that has it.
func targets() []target {
	var all []target
	for _, k := range kinds {
		for minor := k.since; minor <= newest; minor++ {
			all = append(all, target{k.kind, minor})
		}
	}
	return all
}

// compiled holds the schema of every target.
var compiled = sync.OnceValues(compileAll)

func compileAll() (map[target]*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is loaded from anywhere
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: checkInstant})
	err := fs.WalkDir(schema.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return addFile(c, path)
	})
	if err != nil {
		return nil, err
	}
	all := map[target]*jsonschema.Schema{}
	for _, t := range targets() {
		if all[t], err = c.Compile(t.url()); err != nil {
			return nil, fmt.Errorf("compile %s: %w", t, err)
		}
	}
	return all, nil
}

func addFile(c *jsonschema.Compiler, path string) error {
	b, err := fs.ReadFile(schema.Files(), path)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return c.AddResource(schema.Base+path, doc)
}

func checkInstant(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	if _, ok := ma2h.ParseTime(s); !ok {
		return errors.New("no RFC 3339 time")
	}
	return nil
}

// schemas returns the compiled schemas, or fails the test.
func schemas(t testing.TB) map[target]*jsonschema.Schema {
	t.Helper()
	all, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// judge says what the schema and Shape each find wrong with a document.
func judge(all map[target]*jsonschema.Schema, tg target, v any) (bySchema, byShape error) {
	bySchema = all[tg].Validate(v)
	if err := ma2h.Shape(tg.kind, tg.minor, v); err != nil {
		byShape = err
	}
	return bySchema, byShape
}

// check fails the test unless schema and Shape both find the document valid, or both not.
func check(t *testing.T, all map[target]*jsonschema.Schema, tg target, v any, valid bool) {
	t.Helper()
	bySchema, byShape := judge(all, tg, v)
	if (bySchema == nil) != valid {
		t.Errorf("schema(%s) = %v, want valid %t", tg, bySchema, valid)
	}
	if (byShape == nil) != valid {
		t.Errorf("Shape(%s) = %v, want valid %t", tg, byShape, valid)
	}
}

func TestEveryVersionHasItsSchemas(t *testing.T) {
	t.Parallel()
	schemas(t)
	want := map[string]bool{}
	for _, tg := range targets() {
		name, _, _ := strings.Cut(string(tg.kind), "#")
		version := "0." + strconv.Itoa(tg.minor)
		want[schema.Path(version, name)] = true
		if _, ok := schema.Bytes(version, name); !ok {
			t.Errorf("Bytes(%q, %q) found nothing", version, name)
		}
		if !slices.Contains(schema.Versions(), version) {
			t.Errorf("Versions() lacks %s", version)
		}
	}
	found, err := fs.Glob(schema.Files(), "v0.*/*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if !want[path] {
			t.Errorf("%s is there, but no kind of document has it", path)
		}
	}
	if _, ok := schema.Bytes("0.1", "ack"); ok {
		t.Error(`Bytes("0.1", "ack") found something; acks came with 0.4`)
	}
}

func TestEverySchemaIsNamedAfterItsPlace(t *testing.T) {
	t.Parallel()
	found, err := fs.Glob(schema.Files(), "v0.*/*.schema.json")
	if err != nil || len(found) == 0 {
		t.Fatalf("Glob found %d schemas, error %v", len(found), err)
	}
	for _, path := range found {
		b, err := fs.ReadFile(schema.Files(), path)
		if err != nil {
			t.Fatal(err)
		}
		_, doc, perr := ma2h.ParseObject(b)
		if perr != nil {
			t.Fatalf("ParseObject(%s) = %v", path, perr)
		}
		if got, want := doc["$id"], schema.Base+path; got != want {
			t.Errorf("$id of %s = %v, want %s", path, got, want)
		}
	}
}

package conform

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/schema"
)

// schemas compiles the schemas of all versions, each when it is first needed.
type schemas struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

var loaded = sync.OnceValues(loadSchemas)

func loadSchemas() (*schemas, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is loaded from anywhere
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: checkInstant})
	files := schema.Files()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		return c.AddResource(schema.Base+path, doc)
	})
	return &schemas{compiler: c, compiled: map[string]*jsonschema.Schema{}}, err
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

// validate holds a body to the schema of its kind, in the version that it declares.
func validate(kind ma2h.Kind, version string, body []byte) error {
	all, err := loaded()
	if err != nil {
		return err
	}
	declared, invalid := ma2h.ParseVersion(version)
	if invalid != nil {
		return invalid
	}
	name, fragment, _ := strings.Cut(string(kind), "#")
	url := schema.Base + schema.Path(fmt.Sprintf("0.%d", declared.SchemaMinor()), name)
	if fragment != "" {
		url += "#" + fragment
	}
	s, err := all.of(url)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	fault := s.Validate(v)
	if fault == nil {
		return nil
	}
	if d, invalid := ma2h.Parse(body); invalid == nil { // which says the same in a sentence
		if said := ma2h.Shape(kind, declared.SchemaMinor(), d.Value); said != nil {
			return said
		}
	}
	return fault
}

func (s *schemas) of(url string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.compiled[url]; ok {
		return c, nil
	}
	c, err := s.compiler.Compile(url)
	if err == nil {
		s.compiled[url] = c
	}
	return c, err
}

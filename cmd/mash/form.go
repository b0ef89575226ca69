package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// form is what we read of the schema of an input. The hub holds the whole answer to the whole schema.
type form struct {
	Properties map[string]field `json:"properties"`
	Required   []string         `json:"required"`
}

// readForm reads a schema. One of a shape that we do not read has no fields: every field is what its value looks like.
func readForm(schema jsontext.Value) form {
	var f form
	if json.Unmarshal(schema, &f) != nil {
		return form{}
	}
	return f
}

// names returns the fields, those that are required first.
func (f *form) names() []string {
	names := slices.Sorted(maps.Keys(f.Properties))
	slices.SortStableFunc(names, func(x, y string) int { return f.rank(x) - f.rank(y) })
	return names
}

func (f *form) rank(name string) int {
	if i := slices.Index(f.Required, name); i >= 0 {
		return i
	}
	return len(f.Required)
}

// label is what people call a field.
func (f *form) label(name string) string {
	if title := cleanLine(f.Properties[name].Title); title != "" {
		return title
	}
	return cleanLine(name)
}

// answer builds the answer to an input from NAME=VALUE, from JSON, or for a form of one field from its value alone.
func (f *form) answer(fields, given []string) (jsontext.Value, error) {
	if len(given) == 1 {
		if v := jsontext.Value(given[0]); v.IsValid() && v.Kind() == '{' {
			return v, nil
		}
		if len(f.Properties) != 1 {
			return nil, usagef("", "This is a form; give its fields as --field NAME=VALUE: %s.", f.list())
		}
		fields = []string{f.names()[0] + "=" + given[0]}
	}
	object := map[string]jsontext.Value{}
	for _, given := range fields {
		name, text, ok := strings.Cut(given, "=")
		if !ok {
			return nil, usagef("", "--field wants NAME=VALUE, not %q.", given)
		}
		known, ok := f.Properties[name]
		if !ok && len(f.Properties) > 0 {
			return nil, fmt.Errorf("the form has no field %q; its fields are %s", name, f.list())
		}
		v, wrong := known.value(text)
		if wrong != "" {
			return nil, f.wrong(name, wrong)
		}
		object[name] = v
	}
	for _, name := range f.Required {
		if _, ok := object[name]; !ok {
			return nil, f.wrong(name, "this is needed; give it as --field "+shellQuote(cleanLine(name))+"=VALUE")
		}
	}
	return json.Marshal(object, json.Deterministic(true))
}

func (f *form) list() string { return cleanLine(strings.Join(f.names(), ", ")) }

// wrong is the error of a field, by the name that people know.
func (f *form) wrong(name, what string) error { return fmt.Errorf("%s: %s", f.label(name), what) }

// refusal reads what the hub found wrong with an answer as the form would have said it.
func (f *form) refusal(err error) error {
	e := ma2h.AsError(err)
	if e == nil {
		return err
	}
	pointer, ok := strings.CutPrefix(e.Field, "/value/")
	if !ok {
		return err
	}
	token, _, _ := strings.Cut(pointer, "/")
	name := strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	because := strings.TrimPrefix(e.Message, "The value does not meet the request's schema: ")
	return f.wrong(name, "this is not what the agent can take: "+strings.TrimSuffix(cleanLine(because), "."))
}

// show tells what the fields are, one a line.
func (f *form) show() string {
	width := 0
	for name := range f.Properties {
		width = max(width, len([]rune(cleanLine(name))))
	}
	var out strings.Builder
	for _, name := range f.names() {
		property := f.Properties[name]
		words := strings.Join(property.hints(), ", ")
		if title := cleanLine(property.Title); title != "" {
			words = title + ": " + words
		}
		if !slices.Contains(f.Required, name) {
			words += "; may be left out"
		}
		fmt.Fprintf(&out, "  %-*s  %s\n", width, cleanLine(name), words)
		if more := cleanLine(property.Description); more != "" {
			fmt.Fprintf(&out, "  %-*s  %s\n", width, "", more)
		}
	}
	return out.String()
}

// example fills in the form with flags that can be pasted: what is required, or one field where nothing is.
func (f *form) example() string {
	names := slices.DeleteFunc(f.names(), func(name string) bool { return !slices.Contains(f.Required, name) })
	if len(names) == 0 && len(f.Properties) > 0 {
		names = f.names()[:1]
	}
	if len(names) == 0 {
		return "--value-json '{}'"
	}
	var flags []string
	for _, name := range names {
		property := f.Properties[name]
		flags = append(flags, "--field "+shellQuote(cleanLine(name+"="+property.example())))
	}
	return strings.Join(flags, " ")
}

package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// value builds the answer that was given, with the types that the ask wants.
func (f *answerFlags) value(p *program, m *client.Reading, given []string) (jsontext.Value, error) {
	r := m.Message.Request
	if f.json != "" {
		return p.jsonText("--value-json", f.json)
	}
	if r.Mode == ma2h.ModeInput {
		return formValue(r.Schema, *f.fields, given)
	}
	if len(given) == 0 {
		return nil, usagef("", "This wants one of its options, not fields: %s.", optionList(r))
	}
	v, err := ma2h.ParseVersion(m.Message.Version)
	if !r.HasOption(given[0]) && (err != nil || !r.Editable(v)) {
		return nil, fmt.Errorf("%q is none of the options; give one of %s, or --decline", given[0], optionList(r))
	}
	return jsonString(given[0]), nil
}

func optionList(r *ma2h.Request) string {
	var words []string
	for _, o := range r.EffectiveOptions() {
		words = append(words, cleanLine(o.Value))
	}
	return strings.Join(words, ", ")
}

// formSchema is what we read of the schema of an input. The hub holds the whole answer to the whole schema.
type formSchema struct {
	Properties map[string]fieldSchema `json:"properties"`
	Required   []string               `json:"required"`
}

type fieldSchema struct {
	Type jsontext.Value   `json:"type"` // a name or several
	Enum []jsontext.Value `json:"enum"`
}

// names returns the fields, those that are required first.
func (s *formSchema) names() []string {
	names := slices.Sorted(maps.Keys(s.Properties))
	slices.SortStableFunc(names, func(x, y string) int {
		return s.rank(x) - s.rank(y)
	})
	return names
}

func (s *formSchema) rank(name string) int {
	if i := slices.Index(s.Required, name); i >= 0 {
		return i
	}
	return len(s.Required)
}

// types returns the types that a field may have.
func (f fieldSchema) types() []string {
	var one string
	if json.Unmarshal(f.Type, &one) == nil {
		return []string{one}
	}
	var several []string
	if json.Unmarshal(f.Type, &several) == nil {
		return several
	}
	return nil
}

// formValue builds the answer to an input from NAME=VALUE, from JSON, or for a form of one field from its value alone.
func formValue(schema jsontext.Value, fields, given []string) (jsontext.Value, error) {
	var s formSchema
	if err := json.Unmarshal(schema, &s); err != nil {
		s = formSchema{} // of a shape that we do not read: every field is what its value looks like
	}
	if len(given) == 1 {
		if v := jsontext.Value(given[0]); v.IsValid() && v.Kind() == '{' {
			return v, nil
		}
		if len(s.Properties) != 1 {
			return nil, usagef("", "This is a form; give its fields as --field NAME=VALUE: %s.", strings.Join(s.names(), ", "))
		}
		fields = []string{s.names()[0] + "=" + given[0]}
	}
	object := map[string]jsontext.Value{}
	for _, field := range fields {
		name, text, ok := strings.Cut(field, "=")
		if !ok {
			return nil, usagef("", "--field wants NAME=VALUE, not %q.", field)
		}
		known, ok := s.Properties[name]
		if !ok && len(s.Properties) > 0 {
			return nil, fmt.Errorf("the form has no field %q; its fields are %s", name, strings.Join(s.names(), ", "))
		}
		v, err := fieldValue(name, known, text)
		if err != nil {
			return nil, err
		}
		object[name] = v
	}
	return json.Marshal(object, json.Deterministic(true))
}

// fieldValue writes what was typed as the type that the field wants.
func fieldValue(name string, f fieldSchema, text string) (jsontext.Value, error) {
	for _, e := range f.Enum {
		if valueText(e) == text {
			return e, nil
		}
	}
	types := f.types()
	if len(types) == 0 || slices.Contains(types, "string") {
		return jsonString(text), nil
	}
	v := jsontext.Value(text)
	for _, t := range types {
		switch {
		case t == "boolean" && isYes(text):
			return jsontext.Value("true"), nil
		case t == "boolean" && isNo(text):
			return jsontext.Value("false"), nil
		case t == "integer" || t == "number":
			if _, err := strconv.ParseFloat(text, 64); err == nil && v.IsValid() {
				return v, nil
			}
		case (t == "array" || t == "object" || t == "null") && v.IsValid():
			return v, nil
		}
	}
	return nil, fmt.Errorf("the field %s wants %s, not %q", name, strings.Join(types, " or "), text)
}

func isYes(s string) bool { return s == "true" || s == "yes" }
func isNo(s string) bool  { return s == "false" || s == "no" }

// formHint names the fields of a form as the flags that fill it.
func formHint(r *ma2h.Request) string {
	var s formSchema
	if json.Unmarshal(r.Schema, &s) != nil || len(s.Properties) == 0 {
		return "--value-json JSON"
	}
	var flags []string
	for _, name := range s.names() {
		kind := strings.ToUpper(strings.Join(s.Properties[name].types(), "-OR-"))
		if enum := s.Properties[name].Enum; len(enum) > 0 {
			kind = enumHint(enum)
		}
		flag := "--field " + shellQuote(cleanLine(name)) + "=" + kind
		if !slices.Contains(s.Required, name) {
			flag = "[" + flag + "]"
		}
		flags = append(flags, flag)
	}
	return strings.Join(flags, " ")
}

func enumHint(enum []jsontext.Value) string {
	var words []string
	for _, e := range enum {
		words = append(words, cleanLine(valueText(e)))
	}
	return strings.Join(words, "|")
}

package main

import (
	"bytes"
	"errors"
	"fmt"
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

	order   []string // of the properties
	secrecy ma2h.Secrecy
}

// readForm reads a schema. One of a shape that we do not read has no fields: every field is what its value looks like.
func readForm(schema jsontext.Value) form {
	var f form
	if json.Unmarshal(schema, &f) != nil {
		f = form{}
	}
	var raw struct {
		Properties jsontext.Value `json:"properties"`
	}
	if f.Properties != nil && json.Unmarshal(schema, &raw) == nil {
		f.order = memberNames(raw.Properties)
	}
	f.secrecy = ma2h.SecrecyOf(schema)
	return f
}

// names returns the fields in the order of the schema, which is that of the page.
func (f *form) names() []string { return slices.Clone(f.order) }

// memberNames returns the names of an object's members as they come.
func memberNames(object jsontext.Value) []string {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil
	}
	var names []string
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil
		}
		names = append(names, name.String())
		if d.SkipValue() != nil {
			return nil
		}
	}
	return names
}

// preset is what a field is where it is not given: its default, as on the page, which has no secret and no blank in it
// that may be left out.
func (f *form) preset(name string) jsontext.Value {
	d := f.Properties[name].Default
	blank := d.Kind() == 'n' || string(d) == `""`
	if len(d) == 0 || f.secrecy.Member(name).Hides() || blank && !slices.Contains(f.Required, name) {
		return nil
	}
	return d
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
	object, faults := map[string]jsontext.Value{}, []string(nil)
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
			faults = append(faults, f.wrong(name, wrong).Error())
		}
		object[name] = v
	}
	faults = append(faults, f.complete(object)...)
	if len(faults) > 0 {
		return nil, errors.New(strings.Join(faults, "\n"))
	}
	return json.Marshal(object, json.Deterministic(true))
}

// complete adds the defaults of what was not given, and says what is still missing.
func (f *form) complete(object map[string]jsontext.Value) (faults []string) {
	for _, name := range f.names() {
		if d := f.preset(name); object[name] == nil && d != nil {
			object[name] = d
		}
	}
	for _, name := range f.Required {
		if _, ok := object[name]; !ok {
			faults = append(faults, f.wrong(name, "this is needed; give it as --field "+shellWord(name)+"=VALUE").Error())
		}
	}
	return faults
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
	tokens := ma2h.Tokens("/" + pointer)
	name, within := tokens[0], ""
	if len(tokens) > 1 {
		within = "in it, at " + cleanLine(strings.Join(tokens[1:], " › ")) + ", "
	}
	if f.secrecy.Member(name).Hides() { // the hub's words might quote it
		return f.wrong(name, within+"this is not what the agent can take")
	}
	because := strings.TrimPrefix(e.Message, "The value does not meet the request's schema: ")
	return f.wrong(name, within+"this is not what the agent can take: "+strings.TrimSuffix(cleanLine(because), "."))
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
		switch d := f.preset(name); {
		case d != nil:
			words += "; if left out, it is " + plainWord(valueText(d))
		case !slices.Contains(f.Required, name):
			words += "; may be left out"
		}
		if f.secrecy.Member(name).Hides() {
			words += "; kept secret: only the agent gets it"
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
		if f.secrecy.Member(name).Hides() {
			property.Default = nil
		}
		flags = append(flags, "--field "+shellWord(name+"="+property.example()))
	}
	return strings.Join(flags, " ")
}

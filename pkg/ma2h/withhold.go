package ma2h

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Withhold returns an answer without the members and elements that its schema calls secrets, and where those were. What is
// left stands as it came. An answer that is one secret is nil, withheld at "".
func Withhold(answer, schema jsontext.Value) (rest jsontext.Value, withheld []string) {
	s := SecrecyOf(schema)
	if !s.Hides() {
		return answer, nil
	}
	return withhold(answer, s)
}

// WithholdPresets returns a schema without the defaults and examples of what it calls secrets, or may have one in it. All
// else stands as it came.
func WithholdPresets(schema jsontext.Value) jsontext.Value {
	s := SecrecyOf(schema)
	if !s.Hides() {
		return schema
	}
	rest, _ := withhold(schema, presets{of: s, place: placeSchema})
	return rest
}

// withhold returns a value without its secret parts, and where those were.
func withhold[P secrecy[P]](value jsontext.Value, s P) (rest jsontext.Value, withheld []string) {
	w := withholder[P]{dec: jsontext.NewDecoder(bytes.NewReader(value))}
	rest, err := w.value(s, "")
	if err != nil {
		return nil, []string{""}
	}
	return rest, w.withheld
}

// secrecy is what is known of a part of a value.
type secrecy[P any] interface {
	Secret() bool // as a whole
	Hides() bool  // is a secret, or may have one in it
	Member(name string) P
	Element() P
}

type withholder[P secrecy[P]] struct {
	dec      *jsontext.Decoder
	withheld []string
}

// value reads a value and returns what may be shown of it, which is nil for a secret.
func (w *withholder[P]) value(s P, at string) (jsontext.Value, error) {
	if s.Secret() {
		w.withheld = append(w.withheld, at)
		return nil, w.dec.SkipValue()
	}
	kind := w.dec.PeekKind()
	if kind != '{' && kind != '[' || !s.Hides() {
		v, err := w.dec.ReadValue()
		return v.Clone(), err
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return nil, err
	}
	out := jsontext.Value{byte(kind)}
	for i := 0; w.dec.PeekKind() != '}' && w.dec.PeekKind() != ']'; i++ {
		shown, err := w.inner(s, kind, i, at)
		if err != nil {
			return nil, err
		}
		if len(shown) > 0 && len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, shown...)
	}
	end, err := w.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	return append(out, end.String()[0]), nil
}

// inner reads the ith member or element of a value, and returns what may be shown of it, with its name.
func (w *withholder[P]) inner(s P, kind jsontext.Kind, i int, at string) (jsontext.Value, error) {
	if kind == '[' {
		return w.value(s.Element(), Pointer(at, strconv.Itoa(i)))
	}
	key, err := w.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	name := key.String()
	shown, err := w.value(s.Member(name), Pointer(at, name))
	if err != nil || shown == nil {
		return nil, err
	}
	quoted, err := jsontext.AppendQuote(nil, name)
	if err != nil {
		return nil, err
	}
	return append(append(quoted, ':'), shown...), nil
}

// presets is a part of a schema, seen for what it says of values beforehand.
type presets struct {
	of    Secrecy // what the schemas here are about
	vague bool    // whether that is not known, so that anything may be a secret
	place place
}

// place is what stands in a part of a schema.
type place int

const (
	placeData    place = iota
	placePreset        // a default, or examples
	placeSchema        // or a list of them
	placeNamed         // schemas by names that mean nothing here
	placeMembers       // schemas by the members that they are about
)

// Secret says whether this is a default, or examples, of something that may be or hold a secret.
func (p presets) Secret() bool { return p.place == placePreset && (p.vague || p.of.Hides()) }

// Hides says whether there are schemas in this part.
func (p presets) Hides() bool { return p.place >= placeSchema }

// Member is what the name stands for, a keyword in a schema.
func (p presets) Member(name string) presets {
	switch p.place {
	case placeMembers:
		return presets{of: p.of.Member(name), vague: p.vague, place: placeSchema}
	case placeNamed:
		return presets{of: p.of, vague: p.vague, place: placeSchema}
	}
	switch name {
	case "default", "examples":
		return presets{of: p.of, vague: p.vague, place: placePreset}
	case "enum", "const", "required":
		return presets{}
	case "properties":
		return presets{of: p.of, vague: p.vague, place: placeMembers}
	case "dependentSchemas", "dependencies":
		return presets{of: p.of, vague: p.vague, place: placeNamed}
	case "patternProperties", "$defs", "definitions":
		return presets{vague: true, place: placeNamed}
	case "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains":
		return presets{of: p.of.Element(), vague: p.vague, place: placeSchema}
	case "allOf", "anyOf", "oneOf", "extends", "type", "disallow", "if", "then", "else", "not":
		return presets{of: p.of, vague: p.vague, place: placeSchema}
	}
	return presets{vague: true, place: placeSchema}
}

// Element is any schema of a list.
func (p presets) Element() presets { return p }

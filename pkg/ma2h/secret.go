package ma2h

import (
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
)

// sensitive marks a schema whose value is a secret (spec §9.6).
const sensitive = "x-ma2h-sensitive"

// Secrecy says which part of an answer is a secret: what any schema marks that might be about it, of whatever draft, whether
// or not it turns out to hold. The zero Secrecy is that of an answer without secrets.
type Secrecy struct {
	root    any
	schemas []map[string]any // that may be about this part
}

// SecrecyOf is what a schema says of a whole answer. One that cannot be read, which the hub does not take, might say
// anything; none says nothing.
func SecrecyOf(schema jsontext.Value) Secrecy {
	if len(schema) == 0 {
		return Secrecy{}
	}
	d, err := Parse(schema)
	if err != nil {
		return Secrecy{schemas: []map[string]any{{sensitive: true}}}
	}
	s := Secrecy{root: d.Value}
	if !s.marks(d.Value, map[uintptr]bool{}) {
		return Secrecy{}
	}
	return s.about(d.Value)
}

// Secret says whether this part is a secret as a whole.
func (s Secrecy) Secret() bool {
	for _, schema := range s.schemas {
		if schema[sensitive] == true {
			return true
		}
		for word, of := range schema {
			if !placed[word] && s.marks(of, map[uintptr]bool{}) {
				return true // about its names, its decoded text, or a keyword of another time
			}
		}
	}
	return false
}

// Hides says whether this part is a secret, or may have one in it.
func (s Secrecy) Hides() bool {
	seen := map[uintptr]bool{}
	for _, schema := range s.schemas {
		if s.marks(schema, seen) {
			return true
		}
	}
	return false
}

// placed are the keywords whose schemas are known to be about a part of the answer, and those that hold none.
var placed = map[string]bool{
	"allOf": true, "anyOf": true, "oneOf": true, "extends": true, "type": true, "disallow": true,
	"if": true, "then": true, "else": true, "not": true, "dependentSchemas": true, "dependencies": true, "$ref": true,
	"properties": true, "patternProperties": true, "additionalProperties": true, "unevaluatedProperties": true,
	"items": true, "prefixItems": true, "additionalItems": true, "unevaluatedItems": true, "contains": true,
	"$defs": true, "definitions": true, "enum": true, "const": true, "default": true, "examples": true, "required": true,
}

// Member is the part of that name, of an object.
func (s Secrecy) Member(name string) Secrecy {
	var of []any
	for _, schema := range s.schemas {
		if properties, ok := schema["properties"].(map[string]any); ok {
			of = append(of, properties[name])
		}
		of = append(of, members(schema["patternProperties"])...)
		of = append(of, schema["additionalProperties"], schema["unevaluatedProperties"])
	}
	return s.about(of...)
}

// Element is any element, of an array.
func (s Secrecy) Element() Secrecy {
	var of []any
	for _, schema := range s.schemas {
		for _, word := range []string{"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"} {
			of = append(append(of, schema[word]), elements(schema[word])...)
		}
	}
	return s.about(of...)
}

// about gathers the schemas that are about the same part as those given: by reference, as alternatives, and on conditions.
func (s Secrecy) about(of ...any) Secrecy {
	out := Secrecy{root: s.root}
	seen := map[uintptr]bool{}
	for len(of) > 0 {
		schema, ok := of[0].(map[string]any)
		if of = of[1:]; !ok || seen[sameMap(schema)] {
			continue
		}
		seen[sameMap(schema)] = true
		out.schemas = append(out.schemas, schema)
		of = append(of, s.target(schema))
		for _, word := range []string{"allOf", "anyOf", "oneOf", "extends", "type", "disallow"} {
			of = append(append(of, schema[word]), elements(schema[word])...)
		}
		of = append(of, schema["if"], schema["then"], schema["else"], schema["not"])
		of = append(append(of, members(schema["dependentSchemas"])...), members(schema["dependencies"])...)
	}
	return out
}

// target is where the reference of a schema leads, or nil.
func (s Secrecy) target(schema map[string]any) any {
	ref, _ := schema["$ref"].(string)
	tokens, ok := LocalRef(ref)
	if !ok || ref == "" {
		return nil
	}
	v, _ := follow(s.root, tokens)
	return v
}

// marks says whether anything marks a secret in v, or where it refers to.
func (s Secrecy) marks(v any, seen map[uintptr]bool) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if s.marks(e, seen) {
				return true
			}
		}
	case map[string]any:
		if seen[sameMap(v)] {
			return false
		}
		seen[sameMap(v)] = true
		if v[sensitive] == true || s.marks(s.target(v), seen) {
			return true
		}
		for _, e := range v {
			if s.marks(e, seen) {
				return true
			}
		}
	}
	return false
}

// sameMap tells maps apart, which cannot be compared.
func sameMap(m map[string]any) uintptr { return reflect.ValueOf(m).Pointer() }

func elements(v any) []any {
	list, _ := v.([]any)
	return list
}

// members returns what an object holds.
func members(v any) []any {
	var out []any
	o, _ := v.(map[string]any)
	for _, e := range o {
		out = append(out, e)
	}
	return out
}

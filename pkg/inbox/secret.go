package inbox

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// marked says whether a schema says that its value is a secret (spec §9.6).
func marked(s *node) bool {
	v := s.get("x-ma2h-sensitive")
	return v != nil && v.kind == 't'
}

// hides says whether anything in a schema is a secret.
func (b *builder) hides(s *node, steps int) bool {
	if s == nil || steps > maxSteps {
		return s != nil
	}
	if marked(s) {
		return true
	}
	if target := refer(s.get("$ref").str(), b.root); target != nil && b.hides(target, steps+1) {
		return true
	}
	for _, m := range s.members {
		if b.hides(m.value, steps) {
			return true
		}
	}
	return slices.ContainsFunc(s.items, func(n *node) bool { return b.hides(n, steps) })
}

// veil knows which parts of an answer are secret: those that any schema which might be about them marks.
type veil struct{ root *node }

// about returns the schemas that a value may be held to because it is held to these.
func (w veil) about(list []*node) []*node {
	var out []*node
	for steps := 0; len(list) > 0 && steps < maxSteps; steps++ {
		out = append(out, list...)
		var next []*node
		for _, s := range list {
			if target := refer(s.get("$ref").str(), w.root); target != nil {
				next = append(next, target)
			}
			for _, word := range []string{"allOf", "anyOf", "oneOf"} {
				if of := s.get(word); of != nil {
					next = append(next, of.items...)
				}
			}
			for _, word := range []string{"if", "then", "else", "not"} {
				if of := s.get(word); of != nil {
					next = append(next, of)
				}
			}
			if of := s.get("dependentSchemas"); of != nil {
				next = append(next, values(of)...)
			}
		}
		list = next
	}
	return out
}

func values(n *node) []*node {
	var out []*node
	for _, m := range n.members {
		out = append(out, m.value)
	}
	return out
}

// under returns the schemas that may be about the member of that name.
func (w veil) under(schemas []*node, name string) []*node {
	var out []*node
	for _, s := range schemas {
		if p := s.get("properties").get(name); p != nil {
			out = append(out, p)
		}
		if of := s.get("patternProperties"); of != nil {
			out = append(out, values(of)...)
		}
		for _, word := range []string{"additionalProperties", "unevaluatedProperties"} {
			if of := s.get(word); of != nil {
				out = append(out, of)
			}
		}
	}
	return w.about(out)
}

// inside returns the schemas that may be about an element.
func (w veil) inside(schemas []*node) []*node {
	var out []*node
	for _, s := range schemas {
		if of := s.get("prefixItems"); of != nil {
			out = append(out, of.items...)
		}
		for _, word := range []string{"items", "contains", "unevaluatedItems", "additionalItems"} {
			if of := s.get(word); of != nil {
				out = append(append(out, of), of.items...)
			}
		}
	}
	return w.about(out)
}

// covered returns n without its secrets, each of them in turn nil, and n itself where there are none. It is nil when n is
// one.
func (w veil) covered(n *node, schemas []*node) *node {
	if slices.ContainsFunc(schemas, marked) {
		return nil
	}
	if n.kind != '{' && n.kind != '[' || len(schemas) == 0 {
		return n
	}
	out := &node{kind: n.kind, raw: n.raw}
	for _, m := range n.members {
		out.members = append(out.members, member{name: m.name, value: w.covered(m.value, w.under(schemas, m.name))})
	}
	inside := w.inside(schemas)
	for _, v := range n.items {
		out.items = append(out.items, w.covered(v, inside))
	}
	out.raw = bare(out)
	return out
}

// cover returns a value without its secrets, as covered does.
func cover(n, schema *node) *node {
	w := veil{root: schema}
	return w.covered(n, w.about([]*node{schema}))
}

// bare writes a value without the members and elements that are secret.
func bare(n *node) jsontext.Value {
	switch n.kind {
	case '{':
		out := jsontext.Value{'{'}
		for _, m := range n.members {
			if m.value == nil {
				continue
			}
			if len(out) > 1 {
				out = append(out, ", "...)
			}
			out = append(append(append(out, quote(m.name)...), ": "...), bare(m.value)...)
		}
		return append(out, '}')
	case '[':
		var kept []jsontext.Value
		for _, v := range n.items {
			if v != nil {
				kept = append(kept, bare(v))
			}
		}
		return jsontext.Value("[" + string(joinValues(kept)) + "]")
	}
	return n.raw
}

package inbox

import "github.com/mash-hub/mash/pkg/ma2h"

// control is what a person fills a field in with.
type control string

const (
	controlText     control = "text"
	controlArea     control = "area"
	controlNumber   control = "number"
	controlChoice   control = "choice"
	controlMany     control = "many" // any of some choices: an array
	controlDate     control = "date"
	controlTime     control = "time"
	controlDateTime control = "datetime"
	controlEmail    control = "email"
	controlURL      control = "url"
	controlObject   control = "object" // fields of its own
	controlList     control = "list"   // rows, each of them a field
	controlJSON     control = "json"   // what has no better one
)

// maxSteps is how many references, and schemas in an allOf, are followed one after the other. The hub takes no schema that
// refers to itself.
const maxSteps = 32

// flatten returns a schema that says what s says with its references and its allOf written out, as far as a form needs it:
// what stands nearer wins where a keyword can stand only once, while properties and what is required add up. What that
// leaves out is the hub's to check.
func flatten(s, root *node, steps int) *node {
	if s == nil || s.kind != '{' || steps > maxSteps {
		return s
	}
	var more []*node
	if target := refer(s.get("$ref").str(), root); target != nil {
		more = append(more, target)
	}
	if all := s.get("allOf"); all != nil {
		more = append(more, all.items...)
	}
	if len(more) == 0 {
		return s
	}
	flat := flattener{flat: &node{kind: '{', raw: s.raw}, seen: map[string]int{}, described: map[string]bool{}}
	for _, m := range s.members {
		if m.name != "$ref" && m.name != "allOf" {
			flat.include(m)
		}
	}
	for _, other := range more {
		other = flatten(other, root, steps+1)
		if other == nil || other.kind != '{' {
			continue
		}
		for _, m := range other.members {
			flat.include(m)
		}
	}
	return flat.flat
}

// flattener adds up schemas that all hold, looking at each of their keywords once.
type flattener struct {
	flat      *node
	seen      map[string]int  // keywords, and where they stand
	described map[string]bool // properties
}

// include adds a keyword of another schema that holds as well.
func (f *flattener) include(m member) {
	i, doubled := f.seen[m.name]
	switch {
	case m.name == "properties":
		if !doubled {
			i = f.add(member{name: m.name, value: &node{kind: '{', raw: m.value.raw}})
		}
		joined := f.flat.members[i].value
		for _, p := range m.value.members {
			if !f.described[p.name] {
				f.described[p.name] = true
				joined.members = append(joined.members, p)
			}
		}
	case m.name == "required":
		if !doubled {
			i = f.add(member{name: m.name, value: &node{kind: '['}})
		}
		joined := f.flat.members[i].value
		joined.items = append(joined.items, m.value.items...)
	case !doubled:
		f.add(m)
	}
}

func (f *flattener) add(m member) int {
	f.seen[m.name] = len(f.flat.members)
	f.flat.members = append(f.flat.members, m)
	return f.seen[m.name]
}

// property is one of an object, as its schema has it.
type property struct {
	name     string
	schema   *node
	required bool
}

// propertiesOf lists the properties of an object in the schema's order. Required ones that it does not describe come last.
func propertiesOf(s *node) []property {
	required, described := map[string]bool{}, map[string]bool{}
	var names []string
	if list := s.get("required"); list != nil {
		for _, n := range list.items {
			if !required[n.text] {
				names = append(names, n.text)
			}
			required[n.text] = true
		}
	}
	var out []property
	if properties := s.get("properties"); properties != nil {
		for _, m := range properties.members {
			described[m.name] = true
			if m.value.kind != 'f' || required[m.name] { // one that must not be there
				out = append(out, property{m.name, m.value, required[m.name]})
			}
		}
	}
	for _, name := range names {
		if !described[name] {
			out = append(out, property{name, &node{kind: '{'}, true})
		}
	}
	return out
}

// refer returns what a reference within the schema names, or nil.
func refer(ref string, root *node) *node {
	tokens, ok := ma2h.LocalRef(ref)
	if !ok {
		return nil
	}
	target := root
	for _, token := range tokens {
		target = target.at(token)
	}
	return target
}

// withoutNull recognises the choice between null and one other schema, and returns the other.
func withoutNull(s, root *node) (other *node, nullable bool) {
	for _, word := range []string{"anyOf", "oneOf"} {
		list := s.get(word)
		if list == nil || len(list.items) != 2 {
			continue
		}
		for i, n := range list.items {
			if n.get("type").str() == "null" {
				return flatten(list.items[1-i], root, 0), true
			}
		}
	}
	return s, false
}

// simpleType returns the one type, besides null, that a schema admits, or nothing.
func simpleType(s *node) (kind string, nullable bool) {
	t := s.get("type")
	if t == nil || t.kind == '"' {
		return t.str(), false
	}
	var types []string
	for _, n := range t.items {
		if n.text == "null" {
			nullable = true
		} else {
			types = append(types, n.text)
		}
	}
	if len(types) == 1 {
		return types[0], nullable
	}
	return "", nullable
}

// controlOf is the control for a property that has no choices, and whether its answer may be null.
func controlOf(s *node) (c control, nullable bool) {
	kind, nullable := simpleType(s)
	switch {
	case described(s) && (kind == "object" || kind == ""):
		return controlObject, nullable
	case s.get("anyOf") != nil || s.get("oneOf") != nil || s.get("$ref") != nil || s.get("prefixItems") != nil:
		return controlJSON, nullable
	}
	switch kind {
	case "string":
		return textControl(s), nullable
	case "integer", "number":
		return controlNumber, nullable
	case "array":
		return controlList, nullable
	}
	return controlJSON, nullable
}

// described says whether the properties of an object are those that its schema lists, so that fields can say them all.
func described(s *node) bool {
	properties := s.get("properties")
	if properties == nil || len(properties.members) == 0 {
		return false
	}
	for _, word := range []string{"anyOf", "oneOf", "if", "then", "else"} {
		branch := s.get(word)
		if branch == nil {
			continue
		}
		for _, b := range append([]*node{branch}, branch.items...) {
			if b.get("$ref") != nil || b.get("allOf") != nil || !among(b.get("properties"), properties) {
				return false
			}
		}
	}
	return true
}

// among says whether all properties of one list stand in another.
func among(some, all *node) bool {
	if some == nil {
		return true
	}
	for _, m := range some.members {
		if all.get(m.name) == nil {
			return false
		}
	}
	return true
}

// longText is from how many characters on a text gets room for several lines.
const longText = 100

func textControl(s *node) control {
	switch s.get("format").str() {
	case "date":
		return controlDate
	case "time":
		return controlTime
	case "date-time":
		return controlDateTime
	case "email", "idn-email":
		return controlEmail
	case "uri", "url", "iri":
		return controlURL
	}
	limit, bounded := s.get("maxLength").integer()
	if bounded && limit <= longText || s.get("pattern") != nil || s.get("format") != nil {
		return controlText
	}
	return controlArea
}

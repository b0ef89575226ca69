package inbox

import (
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// control is what a person fills a field in with.
type control string

const (
	controlText     control = "text"
	controlArea     control = "area"
	controlNumber   control = "number"
	controlChoice   control = "choice"
	controlMany     control = "many" // any of some choices: an array
	controlDate     control = "date"
	controlDateTime control = "datetime"
	controlEmail    control = "email"
	controlJSON     control = "json" // what has no better one
)

// choice is one value that may be picked, as the schema spells it.
type choice struct {
	Label theirs
	value *node
}

// field is one property of the schema of an ask of mode input, and what a person has put there.
type field struct {
	Name     string // of the control in the form: property names may be anything
	Property string
	Label    theirs
	Help     theirs
	Control  control
	Required bool
	Nullable bool // an answer may say null
	Secret   bool // x-ma2h-sensitive: never shown, not even to whoever typed it
	Integer  bool
	Choices  []choice

	schema *node
	preset *node // the default, or nil

	value jsontext.Value // as read, or nil where it is left out

	Typed []string      // as it came, or from the schema's default; of choices, their numbers
	Wrong template.HTML // what is wrong with it, or empty
}

// readFields returns the fields of the form for a schema, in its order. Required properties that it does not describe
// come last. Times are those of zone.
func readFields(schema []byte, zone *time.Location) []field {
	root, err := parseNode(schema)
	if err != nil {
		return nil // the hub took only schemas that parse
	}
	required := map[string]bool{}
	var names []string
	if list := root.get("required"); list != nil {
		for _, n := range list.items {
			required[n.text] = true
			names = append(names, n.text)
		}
	}
	var fields []field
	described := map[string]bool{}
	if properties := root.get("properties"); properties != nil {
		for _, m := range properties.members {
			described[m.name] = true
			if m.value.kind == 'f' && !required[m.name] {
				continue // a property that must not be there
			}
			fields = append(fields, newField(m.name, m.value, root, required[m.name]))
		}
	}
	for _, name := range names {
		if !described[name] {
			described[name] = true
			fields = append(fields, newField(name, &node{kind: '{'}, root, true))
		}
	}
	for i := range fields {
		fields[i].Name = "f" + strconv.Itoa(i)
		fields[i].prefill(zone)
	}
	return fields
}

func newField(name string, given, root *node, required bool) field {
	s := follow(given, root)
	f := field{Property: name, Required: required, schema: s}
	f.Label = clean(first(given.get("title").str(), s.get("title").str(), name)).or("(unnamed)")
	f.Help = cleanLines(first(given.get("description").str(), s.get("description").str()))
	for _, n := range []*node{given, s} {
		if v := n.get("x-ma2h-sensitive"); v != nil && v.kind == 't' {
			f.Secret = true
		}
	}
	f.schema = f.choose(s, root)
	if f.preset = given.get("default"); f.preset == nil {
		f.preset = s.get("default")
	}
	return f
}

func first(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

// follow resolves references within the schema to what they name, as far as a few steps lead.
func follow(s, root *node) *node {
	for range 8 {
		ref := s.get("$ref").str()
		path, ok := strings.CutPrefix(ref, "#/")
		if !ok {
			return s
		}
		target := root
		for token := range strings.SplitSeq(path, "/") {
			target = target.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		}
		if target == nil {
			return s
		}
		s = target
	}
	return s
}

// choose picks the control for a property and returns the schema that describes what is typed into it.
func (f *field) choose(s, root *node) *node {
	if inner := f.nullable(s, root); inner != nil {
		s = inner
	}
	if choices := choicesOf(s); choices != nil {
		f.Control = controlChoice
		f.Choices = f.withoutNull(choices)
		return s
	}
	switch kind := f.simpleType(s); {
	case s.get("allOf") != nil || s.get("anyOf") != nil || s.get("oneOf") != nil || s.get("$ref") != nil:
		f.Control = controlJSON
	case kind == "string":
		f.Control = textControl(s)
	case kind == "integer" || kind == "number":
		f.Control, f.Integer = controlNumber, kind == "integer"
	case kind == "boolean":
		f.Control, f.Choices = controlChoice, booleans()
	case kind == "array":
		f.Control = controlJSON
		if choices := choicesOf(follow(s.get("items"), root)); len(choices) > 1 {
			f.Control, f.Choices = controlMany, choices
		}
	default:
		f.Control = controlJSON
	}
	if f.Secret && f.Control == controlArea {
		f.Control = controlText
	}
	return s
}

// nullable recognises the choice between null and one other schema, and returns the other.
func (f *field) nullable(s, root *node) *node {
	for _, word := range []string{"anyOf", "oneOf"} {
		list := s.get(word)
		if list == nil || len(list.items) != 2 {
			continue
		}
		for i, n := range list.items {
			if n.get("type").str() == "null" {
				f.Nullable = true
				return follow(list.items[1-i], root)
			}
		}
	}
	return nil
}

// simpleType returns the one type, besides null, that the schema admits, or nothing.
func (f *field) simpleType(s *node) string {
	t := s.get("type")
	if t == nil || t.kind == '"' {
		return t.str()
	}
	var types []string
	for _, n := range t.items {
		if n.text == "null" {
			f.Nullable = true
		} else {
			types = append(types, n.text)
		}
	}
	if len(types) == 1 {
		return types[0]
	}
	return ""
}

func (f *field) withoutNull(choices []choice) []choice {
	return slices.DeleteFunc(choices, func(c choice) bool {
		if c.value.kind == 'n' {
			f.Nullable = true
			return true
		}
		return false
	})
}

// choicesOf returns the values that an enum, a const or a list of titled constants admits, or nil.
func choicesOf(s *node) []choice {
	if s == nil {
		return nil
	}
	var out []choice
	if list := s.get("enum"); list != nil {
		for _, n := range list.items {
			out = append(out, choice{Label: labelOf(n), value: n})
		}
		return out
	}
	if n := s.get("const"); n != nil {
		return []choice{{Label: labelOf(n), value: n}}
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		list := s.get(word)
		if list == nil {
			continue
		}
		for _, n := range list.items {
			value := n.get("const")
			if value == nil {
				return nil
			}
			out = append(out, choice{Label: clean(n.get("title").str()).or(string(labelOf(value))), value: value})
		}
		return out
	}
	return nil
}

func booleans() []choice {
	return []choice{
		{Label: "Yes", value: &node{kind: 't', raw: jsontext.Value("true")}},
		{Label: "No", value: &node{kind: 'f', raw: jsontext.Value("false")}},
	}
}

func labelOf(n *node) theirs {
	switch n.kind {
	case '"':
		return clean(n.text).or(string(n.raw))
	default:
		return clean(string(n.raw))
	}
}

// longText is from how many characters on a text gets room for several lines.
const longText = 100

func textControl(s *node) control {
	switch s.get("format").str() {
	case "date":
		return controlDate
	case "date-time":
		return controlDateTime
	case "email":
		return controlEmail
	}
	limit, bounded := s.get("maxLength").integer()
	if bounded && limit <= longText || s.get("pattern") != nil || s.get("format") != nil {
		return controlText
	}
	return controlArea
}

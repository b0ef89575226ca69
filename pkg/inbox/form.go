package inbox

import (
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// field is one property of the schema of an ask of mode input, or one element of an array, and what a person has put
// there.
type field struct {
	Name     string // of the control in the form: property names may be anything
	Property string
	Label    theirs
	Help     theirs
	Row      int // which element of an array it is, from 1; 0 for a property
	Control  control
	Required bool
	Needed   bool // required, and so is what it is in
	Nullable bool // an answer may say null
	Secret   bool // x-ma2h-sensitive: never shown, not even to whoever typed it
	Integer  bool
	Present  bool // an object that is sent even if nothing of it was filled in
	Focus    bool // where the page begins
	Choices  []choice
	Fields   []*field // of an object
	Rows     []*field // of an array
	Hints    []template.HTML

	schema *node
	item   *node // the schema of an array's elements
	preset *node // the default, or nil
	hides  bool  // something in it is a secret

	value jsontext.Value // as read, or nil where it is left out
	sent  []int          // of an array, which rows its elements came from

	Typed []string      // as it came, or from the schema's default; of choices, their numbers
	Wrong template.HTML // what is wrong with it, or empty
}

// How many rows an array gets, and how many fields a form, however a schema and a sender nest them.
const (
	maxRows   = 200
	maxFields = 1000
	spareRows = 2
)

// builder makes the fields of a schema. Times are those of now's zone.
type builder struct {
	words catalogue
	now   time.Time
	root  *node
	left  int // fields that may still be made for rows
}

// newBuilder reads a schema. One that does not parse, which the hub does not take, is nil, and has no fields.
func newBuilder(schema []byte, words catalogue, now time.Time) *builder {
	b := &builder{words: words, now: now, left: maxFields}
	b.root, _ = parseNode(schema)
	return b
}

// scope is what surrounds a field.
type scope struct {
	required bool
	needed   bool
	secret   bool
	preset   *node // its part of the default around it
	own      bool  // whether its schema's own default applies
	row      int
}

// fields returns the fields of the form, in the schema's order. Required properties that it does not describe come last.
func (b *builder) fields() []*field {
	return b.members("f", flatten(b.root, b.root, 0), scope{needed: true, own: true})
}

// members makes the fields for the properties of an object; the names of their controls begin with prefix.
func (b *builder) members(prefix string, s *node, in scope) []*field {
	required := map[string]bool{}
	var names []string
	if list := s.get("required"); list != nil {
		for _, n := range list.items {
			if !required[n.text] {
				names = append(names, n.text)
			}
			required[n.text] = true
		}
	}
	var out []*field
	add := func(name string, given *node) {
		within := scope{required: required[name], needed: in.needed, secret: in.secret, own: in.own}
		if in.preset != nil && in.preset.kind == '{' {
			within.preset, within.own = in.preset.get(name), false
		}
		out = append(out, b.field(prefix+strconv.Itoa(len(out)), name, given, within))
	}
	if properties := s.get("properties"); properties != nil {
		for _, m := range properties.members {
			if m.value.kind != 'f' || required[m.name] { // one that must not be there
				add(m.name, m.value)
			}
		}
	}
	for _, name := range names {
		if properties := s.get("properties"); properties.get(name) == nil {
			add(name, &node{kind: '{'})
		}
	}
	return out
}

// field makes the field of one schema.
func (b *builder) field(name, property string, given *node, in scope) *field {
	b.left--
	s := flatten(given, b.root, 0)
	inner, nullable := withoutNull(s, b.root)
	f := &field{
		Name: name, Property: property, Row: in.row, Required: in.required, Needed: in.required && in.needed,
		Nullable: nullable, schema: inner, Secret: in.secret || marked(s) || marked(inner),
	}
	f.Label = clean(first(s.get("title").str(), inner.get("title").str(), property)).short(maxLabel).
		or(b.words.plain("field.unnamed"))
	f.Help = cleanLines(first(s.get("description").str(), inner.get("description").str()))
	if f.preset = in.preset; in.own {
		f.preset = firstNode(in.preset, s.get("default"), inner.get("default"))
	}
	b.choose(f)
	if f.hides = f.Secret || b.hides(inner, 0); f.Control == controlJSON {
		f.Secret = f.hides
	}
	b.fill(f, in)
	f.Hints = f.hints(b.words, b.now.Format("MST"))
	return f
}

// choose picks the control.
func (b *builder) choose(f *field) {
	s := f.schema
	kind, orNull := simpleType(s)
	if f.Choices = b.choices(s); f.Choices == nil && kind == "boolean" {
		f.Choices = b.booleans()
	}
	if f.Choices != nil {
		f.Control = controlChoice
		if f.Nullable || orNull && kind == "boolean" {
			f.Choices, f.Nullable = b.orNull(f.Choices), false
		}
		return
	}
	f.Control, orNull = controlOf(s)
	f.Nullable = f.Nullable || orNull
	switch {
	case f.Control == controlNumber:
		f.Integer = kind == "integer"
	case f.Control == controlList:
		b.chooseList(f)
	case f.Control == controlArea && f.Secret:
		f.Control = controlText
	}
}

// chooseList picks the control of an array: boxes to tick, rows to fill in, or JSON where its elements would be just that.
func (b *builder) chooseList(f *field) {
	f.item = flatten(f.schema.get("items"), b.root, 0)
	if f.Choices = b.choices(f.item); f.Choices != nil {
		f.Control = controlMany
		return
	}
	probe := &field{schema: f.item}
	if f.item != nil {
		probe.schema, _ = withoutNull(f.item, b.root)
	}
	kind, _ := simpleType(probe.schema)
	c, _ := controlOf(probe.schema)
	switch {
	case f.Secret, kind != "boolean" && b.choices(probe.schema) == nil && (c == controlJSON || c == controlList):
		f.Control = controlJSON
	}
}

// fill puts into a field what it holds before anybody typed: fields and rows of its own, or the default.
func (b *builder) fill(f *field, in scope) {
	switch f.Control {
	case controlObject:
		f.Present = f.preset != nil && f.preset.kind == '{'
		f.Fields = b.members(f.Name+".", f.schema, scope{needed: f.Needed && !f.Nullable, secret: f.Secret, preset: f.preset, own: in.own})
	case controlList:
		b.firstRows(f)
	default:
		f.prefill(b.now.Location())
	}
}

// firstRows gives an array a row for each element of its default, and some to spare.
func (b *builder) firstRows(f *field) {
	var presets []*node
	if f.preset != nil && f.preset.kind == '[' {
		presets = f.preset.items
	}
	spare := spareRows
	if f.item.get("properties") != nil {
		spare = 1
	}
	if least, ok := f.schema.get("minItems").integer(); ok {
		spare = max(spare, min(least-len(presets), 10))
	}
	if most, ok := f.schema.get("maxItems").integer(); ok {
		spare = min(spare, max(most-len(presets), 0))
	}
	b.addRows(f, len(presets)+spare, presets)
}

// addRows gives an array n rows, as far as the form may grow. No default of the elements' schema stands in them, so that a
// row nobody touched is an empty one.
func (b *builder) addRows(f *field, n int, presets []*node) {
	f.Rows = nil
	for i := range min(n, maxRows) {
		if b.left <= 0 {
			return
		}
		in := scope{secret: f.Secret, row: i + 1}
		if i < len(presets) {
			in.preset = presets[i]
		}
		row := b.field(f.Name+"."+strconv.Itoa(i), "", f.item, in)
		row.Label = f.Label
		if own := f.item.get("title").str(); own != "" {
			row.Label = clean(own).short(maxLabel).or(string(f.Label))
		}
		f.Rows = append(f.Rows, row)
	}
}

func first(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

func firstNode(nodes ...*node) *node {
	for _, n := range nodes {
		if n != nil {
			return n
		}
	}
	return nil
}

// prefill puts the schema's default, and the only choice there is, into the field. A secret is never shown.
func (f *field) prefill(zone *time.Location) {
	d := f.preset
	switch {
	case f.fixed():
		f.Typed = []string{"0"}
	case f.Secret:
	case f.Control == controlChoice && d != nil:
		f.Typed = f.pick(d)
	case d == nil || d.kind == 'n':
	case f.Control == controlMany:
		for _, n := range d.items {
			f.Typed = append(f.Typed, f.pick(n)...)
		}
	case f.Control == controlJSON:
		f.Typed = []string{string(d.raw)}
	case f.Control == controlDateTime:
		if t, ok := ma2h.ParseTime(d.text); ok {
			f.Typed = []string{t.In(zone).Format(localTime)}
		}
	case f.Control == controlTime:
		if t, err := time.Parse(fullTime, d.text); err == nil {
			f.Typed = []string{t.Format(wallTime)}
		}
	case d.kind == '"' || f.Control == controlNumber && d.kind == '0':
		f.Typed = []string{d.text}
	}
}

package inbox

import (
	"html/template"
	"net/url"
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
	Plain    bool // the default is no such thing as its control holds, so that it has one for texts
	Lines    bool // and one for several lines, as the default has them
	Origin   int  // which element of the default a row shows, from 1; 0 for none
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
	part   bool  // the default is part of one around it
	same   bool  // nobody changed what stood there
	full   bool  // an array that gets no more rows: the form is large enough

	value jsontext.Value // as read, or nil where it is left out
	sent  []int          // of an array, which rows its elements came from

	Typed []string      // as it came, or from the schema's default; of choices, their numbers
	Wrong template.HTML // what is wrong with it, or empty
}

// How many rows an array gets, and of about how many bytes all rows of a form may be, however a schema and a sender nest
// them. An array that needs more is asked for as JSON.
const (
	maxRows     = 200
	maxRowBytes = 1 << 20
	spareRows   = 2
)

// builder makes the fields of a schema. Times are those of now's zone.
type builder struct {
	words catalogue
	now   time.Time
	root  *node
	whole ma2h.Secrecy
	form  url.Values // what a person sent, whose rows are those of the form; nil before that
	plain bool       // without defaults, and one row for each array: what it takes to name the parts of an answer
	left  int        // bytes that rows may still take
	known map[*node][]choice
}

// newBuilder reads a schema. One that does not parse, which the hub does not take, is nil, and has no fields.
func newBuilder(schema []byte, words catalogue, now time.Time) *builder {
	b := &builder{words: words, now: now, left: maxRowBytes, known: map[*node][]choice{}}
	b.root, _ = parseNode(schema)
	b.whole = ma2h.SecrecyOf(schema)
	return b
}

// scope is what surrounds a field.
type scope struct {
	required bool
	needed   bool
	secrecy  ma2h.Secrecy
	secret   bool
	preset   *node // its part of the default around it
	own      bool  // whether its schema's own default applies
	row      int
	listed   bool // it stands in a row, or is one
}

// fields returns the fields of the form, in the schema's order. Required properties that it does not describe come last.
func (b *builder) fields() []*field {
	out := b.members("f", flatten(b.root, b.root, 0), scope{needed: true, own: !b.plain, secrecy: b.whole, secret: b.whole.Secret()})
	b.bound(out)
	return out
}

// members makes the fields for the properties of an object; the names of their controls begin with prefix.
func (b *builder) members(prefix string, s *node, in scope) []*field {
	var out []*field
	for i, p := range propertiesOf(s) {
		within := scope{required: p.required, needed: in.needed, secret: in.secret, own: in.own, listed: in.listed}
		within.secrecy = in.secrecy.Member(p.name)
		if in.preset != nil && in.preset.kind == '{' {
			within.preset, within.own = in.preset.get(p.name), false
		}
		out = append(out, b.field(prefix+strconv.Itoa(i), p.name, p.schema, within))
	}
	return out
}

// field makes the field of one schema.
func (b *builder) field(name, property string, given *node, in scope) *field {
	s := flatten(given, b.root, 0)
	inner, nullable := withoutNull(s, b.root)
	f := &field{
		Name: name, Property: property, Row: in.row, Required: in.required, Needed: in.required && in.needed,
		Nullable: nullable, schema: inner, Secret: in.secret || in.secrecy.Secret(), hides: in.secret || in.secrecy.Hides(),
	}
	f.Label = clean(first(s.get("title").str(), inner.get("title").str(), property)).short(maxLabel).
		or(b.words.plain("field.unnamed"))
	f.Help = cleanLines(first(s.get("description").str(), inner.get("description").str()))
	if f.preset, f.part = in.preset, in.preset != nil; in.own {
		f.preset = firstNode(in.preset, s.get("default"), inner.get("default"))
	}
	b.choose(f)
	if f.Control != controlObject && f.Control != controlList {
		f.Secret = f.hides // whichever part of it is
	}
	b.fill(f, in)
	f.Hints = f.hints(b.words, b.now.Format("MST"))
	if in.listed {
		b.left -= f.weight()
	}
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
	if f.Choices = b.choices(f.item); f.Choices != nil && !f.doubles() {
		f.Control = controlMany
		return
	}
	f.Choices = nil
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

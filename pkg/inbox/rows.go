package inbox

import (
	"strconv"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// asWritten ends the name of a field that has become one of JSON, although its schema is of something better: what comes
// back under that name is JSON again.
const asWritten = ".j"

// fill puts into a field what it holds before anybody typed: fields and rows of its own, or the default.
func (b *builder) fill(f *field, in scope) {
	switch {
	case f.Control != controlObject && f.Control != controlList:
		f.prefill(b.now)
	case b.form.Has(f.Name + asWritten):
		b.write(f)
	case f.Control == controlObject:
		f.Present = f.preset != nil && f.preset.kind == '{'
		f.Fields = b.members(f.Name+".", f.schema, scope{
			needed: f.Needed && !f.Nullable, secret: f.Secret, secrecy: in.secrecy, preset: f.preset, own: in.own, listed: in.listed,
		})
		if f.Present && !f.says() {
			b.write(f)
		}
	case !b.firstRows(f, in.secrecy.Element()):
		b.write(f)
	}
}

// write makes a field one of JSON.
func (b *builder) write(f *field) {
	f.Name, f.Control, f.Secret = f.Name+asWritten, controlJSON, f.hides
	f.Present, f.Fields, f.Rows = false, nil, nil
	f.prefill(b.now)
}

// firstRows gives an array the rows that came with a form, or else one for each element of its default and some to spare.
// It says whether there is room for those of the default, and for one at least.
func (b *builder) firstRows(f *field, element ma2h.Secrecy) bool {
	presets := f.presetItems()
	if b.form.Has(f.Name) {
		b.addRows(f, rowsOf(b.form, f.Name), presets, element)
		return true
	}
	least := max(len(presets), 1)
	if least > maxRows {
		return false
	}
	if most, ok := f.schema.get("maxItems").integer(); ok && most == 0 {
		least = 0
	}
	b.addRows(f, len(presets)+b.spare(f, len(presets)), presets, element)
	return len(f.Rows) >= least && (presets == nil || f.says())
}

// spare is how many rows an array gets beyond those of its default.
func (b *builder) spare(f *field, filled int) int {
	if b.plain {
		return 1
	}
	spare := spareRows
	if f.item.get("properties") != nil {
		spare = 1
	}
	if least, ok := f.schema.get("minItems").integer(); ok {
		spare = max(spare, min(least-filled, 10))
	}
	if most, ok := f.schema.get("maxItems").integer(); ok {
		spare = min(spare, max(most-filled, 0))
	}
	return spare
}

// addRows gives an array n rows, as far as the form may grow. No default of the elements' schema stands in them, so that a
// row nobody touched is an empty one.
func (b *builder) addRows(f *field, n int, presets []*node, element ma2h.Secrecy) {
	for i := range min(n, maxRows) {
		if b.left <= 0 {
			return
		}
		in := scope{secret: f.Secret, secrecy: element, row: i + 1, listed: true}
		name := f.Name + "." + strconv.Itoa(i)
		origin := b.origin(name, i, f.Name)
		if origin < len(presets) {
			in.preset = presets[origin]
		}
		before := b.left
		row := b.field(name, "", f.item, in)
		row.Label = f.Label
		if own := f.item.get("title").str(); own != "" {
			row.Label = clean(own).short(maxLabel).or(string(f.Label))
		}
		if in.preset != nil {
			row.Origin = origin + 1
		}
		f.Rows = append(f.Rows, row)
		if i == 0 && !b.form.Has(f.Name) && (before-b.left)*(len(presets)-1) > b.left {
			return // the rest would not find room
		}
	}
}

// fromDefault ends the name under which a row says which element of the default it shows.
const fromDefault = ".from"

// origin is the number of the element of the default that a row shows, as a form that came says. There may be no such one.
func (b *builder) origin(row string, at int, list string) int {
	if !b.form.Has(list) {
		return at
	}
	n, err := strconv.Atoi(b.form.Get(row + fromDefault))
	if err != nil || n < 1 {
		return maxFrom
	}
	return n - 1
}

// maxFrom is the number of no element of a default.
const maxFrom = 1 << 30

// weight is about how many bytes a field takes on a page, without those in it.
func (f *field) weight() int {
	const frame, option = 800, 120
	n := frame + len(f.Help) + 2*len(f.Label)
	for _, c := range f.Choices {
		n += option + len(c.Label)
	}
	for _, t := range f.Typed {
		n += len(t)
	}
	return n
}

// bound notes which arrays get no more rows, for lack of room.
func (b *builder) bound(fields []*field) {
	for _, f := range fields {
		if len(f.Rows) > 0 {
			f.full = f.Rows[0].within() > b.left
		} else {
			f.full = b.left <= 0
		}
		b.bound(f.Fields)
		b.bound(f.Rows)
	}
}

// within is the weight of a field with those in it.
func (f *field) within() int {
	n := f.weight()
	for _, in := range f.Fields {
		n += in.within()
	}
	for _, in := range f.Rows {
		n += in.within()
	}
	return n
}

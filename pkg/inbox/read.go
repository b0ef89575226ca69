package inbox

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// reader reads what a person sent into the fields of a form that was built for it. Times are those of now's zone.
type reader struct {
	words catalogue
	now   time.Time
	form  url.Values
}

// read takes what a person sent and returns the value of the property as JSON, or nothing where it is left out. What is
// wrong with it is left in the field.
func (r reader) read(f *field) jsontext.Value {
	f.Wrong, f.Focus = "", false
	switch f.Control {
	case controlObject:
		f.value = r.readObject(f)
	case controlList:
		f.value = r.readList(f)
	default:
		f.value = r.readLeaf(f)
	}
	return f.value
}

// readObject reads the fields of an object, which is there if it has to be, if its box is ticked, or if anything in it is
// other than it was.
func (r reader) readObject(f *field) jsontext.Value {
	touched := false
	for _, inner := range f.Fields {
		r.read(inner)
		touched = touched || !inner.same
	}
	was := f.Present
	f.Present = f.Boxed() && r.form.Has(f.Name)
	f.same = !touched && (!f.Boxed() || f.Present == was)
	if d := f.kept(r.words); d != nil {
		f.forgive()
		return d.raw
	}
	there := f.Present || f.Required && !f.Nullable || touched
	if f.Row > 0 {
		there = len(f.typed()) > 0
	}
	if there {
		return objectOf(f.Fields)
	}
	f.forgive()
	if f.Required && f.Nullable {
		return jsontext.Value("null")
	}
	return nil
}

// objectOf is the object that fields make.
func objectOf(fields []*field) jsontext.Value {
	out := jsontext.Value{'{'}
	for _, f := range fields {
		if f.value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(f.Property)...), ':'), f.value...)
	}
	return append(out, '}')
}

// readList reads the rows of an array; those in which nothing stands are none of its elements, unless that is what they
// show of the default.
func (r reader) readList(f *field) jsontext.Value {
	f.sent, f.same = nil, true
	var values []jsontext.Value
	shown := 0
	for i, row := range f.Rows {
		v := r.read(row)
		kept := row.Origin > 0 && row.same && v != nil
		if !kept && len(row.typed()) == 0 {
			row.forgive()
			f.same = f.same && row.Origin == 0
			continue
		}
		f.sent, values = append(f.sent, i), append(values, v)
		shown++
		f.same = f.same && kept && row.Origin == shown
	}
	f.same = f.same && (f.preset == nil || shown == len(f.preset.items))
	if d := f.kept(r.words); d != nil {
		f.forgive()
		return d.raw
	}
	if len(values) == 0 && !f.Required {
		return nil
	}
	if len(values) == 0 && f.Nullable {
		return jsontext.Value("null")
	}
	f.checkItems(values, r.words)
	return jsontext.Value("[" + string(joinValues(values)) + "]")
}

func joinValues(values []jsontext.Value) []byte {
	var out []byte
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return out
}

// typed lists what was typed into a field and those in it.
func (f *field) typed() []string {
	if f.fixed() {
		return nil
	}
	out := slices.Clone(f.Typed)
	for _, inner := range slices.Concat(f.Fields, f.Rows) {
		if typed := inner.typed(); len(typed) > 0 {
			out = append(append(out, inner.Name), typed...)
		}
	}
	return out
}

// forgive takes back what is wrong with a field and those in it: they are not sent.
func (f *field) forgive() {
	f.Wrong = ""
	for _, inner := range slices.Concat(f.Fields, f.Rows) {
		inner.forgive()
	}
}

// readLeaf reads a field that holds no others.
func (r reader) readLeaf(f *field) jsontext.Value {
	stood := f.Typed
	f.Typed = nil
	for _, s := range r.form[f.Name] {
		if s != "" {
			f.Typed = append(f.Typed, strings.ReplaceAll(s, "\r\n", "\n"))
		}
	}
	if f.fixed() {
		f.Typed, f.same = []string{"0"}, true
		return f.Choices[0].value.raw
	}
	f.same = f.asItWas(stood)
	if d := f.kept(r.words); d != nil {
		return d.raw
	}
	switch {
	case f.Control == controlMany && (len(f.Typed) > 0 || f.Required):
		return f.checkMany(r.words)
	case len(f.Typed) == 0:
		return f.empty(r.words)
	}
	typed := f.Typed[0]
	switch f.Control {
	case controlChoice:
		if v := f.chosen(typed); v != nil {
			return v
		}
		return f.empty(r.words)
	case controlNumber:
		return f.readNumber(typed, r.words)
	case controlJSON:
		return f.readJSON(typed, r.words)
	case controlDateTime:
		return f.readDateTime(typed, r.words, r.now.Location())
	case controlTime:
		return f.readTime(typed, r.words, r.now)
	}
	return f.readText(typed, r.words)
}

package inbox

import (
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// prefill puts the schema's default, and the only choice there is, into the field. A secret is never shown. A text that the
// field's own control cannot hold stands in one for texts.
func (f *field) prefill(now time.Time) {
	d := f.preset
	switch {
	case f.fixed():
		f.Typed = []string{"0"}
	case f.Secret || d == nil:
	case f.Control == controlChoice:
		f.Typed = f.pick(d)
	case f.Control == controlMany:
		for _, n := range d.items {
			f.Typed = append(f.Typed, f.pick(n)...)
		}
	case d.kind == 'n':
	case f.Control == controlJSON:
		f.Typed = []string{string(d.raw)}
	case f.Control == controlNumber:
		if d.kind == '0' {
			f.Typed = []string{d.text}
		}
	case d.kind == '"' && d.text != "":
		typed, ok := f.localised(d.text, now)
		f.Typed, f.Plain = []string{typed}, !ok
		f.Lines = strings.ContainsAny(typed, "\r\n")
	}
}

// localised is a text as the control of its format holds it, and whether that can.
func (f *field) localised(s string, now time.Time) (string, bool) {
	switch f.Control {
	case controlDate:
		t, err := time.Parse(time.DateOnly, s)
		return s, err == nil && t.Year() > 0
	case controlTime:
		t, err := time.Parse(fullTime, s)
		if err != nil {
			return s, false
		}
		t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, t.Location())
		return t.In(now.Location()).Format(wallTime), true
	case controlDateTime:
		t, ok := ma2h.ParseTime(s)
		if t = t.In(now.Location()); !ok || t.Year() < 1 || t.Year() > 9999 {
			return s, false
		}
		return t.Format(localTime), true
	}
	return s, true
}

// says says whether a field shows all there is in its default, so that whoever leaves it as it is sends what they read.
// What is secret is not shown, and of no concern.
func (f *field) says() bool {
	d := f.preset
	switch {
	case d == nil || f.hides || f.Control == controlJSON:
		return true
	case f.Control == controlChoice:
		return f.fixed() || f.pick(d) != nil
	case d.kind == 'n':
		return f.Nullable
	case f.Control == controlMany:
		return d.kind == '[' && len(f.Typed) == len(d.items)
	case f.Control == controlObject:
		return d.kind == '{' && f.saysMembers()
	case f.Control == controlList:
		return d.kind == '[' && f.saysItems()
	case f.Control == controlNumber:
		return d.kind == '0'
	}
	return d.kind == '"'
}

// doubles says whether the default of an array has one value twice, which no boxes to tick can show.
func (f *field) doubles() bool {
	seen := map[string]bool{}
	for _, n := range f.presetItems() {
		if seen[string(n.raw)] {
			return true
		}
		seen[string(n.raw)] = true
	}
	return false
}

// presetItems are the elements of an array's default.
func (f *field) presetItems() []*node {
	if f.preset == nil || f.preset.kind != '[' {
		return nil
	}
	return f.preset.items
}

func (f *field) saysMembers() bool {
	said := 0
	for _, in := range f.Fields {
		if !in.says() {
			return false
		}
		if f.preset.get(in.Property) != nil {
			said++
		}
	}
	return said == len(f.preset.members)
}

func (f *field) saysItems() bool {
	said := 0
	for _, row := range f.Rows {
		if !row.says() {
			return false
		}
		if row.Origin > 0 {
			said++
		}
	}
	return said == len(f.preset.items)
}

// asItWas says whether what came is what stood in the control, which a browser may have sent in another spelling.
func (f *field) asItWas(stood []string) bool {
	if f.Secret {
		return len(f.Typed) == 0
	}
	if f.Control == controlMany || f.Control == controlChoice {
		a, b := slices.Clone(stood), slices.Clone(f.Typed)
		slices.Sort(a)
		slices.Sort(b)
		return slices.Equal(slices.Compact(a), slices.Compact(b))
	}
	if len(stood) == 0 || len(f.Typed) == 0 {
		return len(stood) == len(f.Typed)
	}
	return f.spelled(stood[0]) == f.spelled(f.Typed[0])
}

// spelled writes a text in the one way in which two can be compared.
func (f *field) spelled(s string) string {
	if !f.Plain {
		for _, form := range timeForms {
			if t, err := time.Parse(form, s); err == nil && (f.Control == controlDateTime || f.Control == controlTime) {
				return t.Format(time.RFC3339Nano)
			}
		}
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(s)
}

// kept returns the default where nobody touched what shows it, or nil. An empty text is one only where it may be, and null
// only within a default around it; otherwise, nothing stands there.
func (f *field) kept(words catalogue) *node {
	d := f.preset
	switch {
	case !f.same || d == nil || f.hides || !f.says():
		return nil
	case f.part, f.Control == controlChoice, f.Control == controlMany:
		return d
	case d.kind == 'n':
		return nil
	case d.kind == '"' && d.text == "":
		probe := *f
		if probe.Wrong = ""; f.Control != controlText && f.Control != controlArea {
			return nil
		}
		if probe.checkText("", words); probe.Wrong != "" {
			return nil
		}
	case d.kind == '[' && len(d.items) == 0:
		if least, ok := f.schema.get("minItems").integer(); ok && least > 0 {
			return nil
		}
	}
	return d
}

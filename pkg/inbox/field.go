package inbox

import (
	"html/template"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// What is left empty is left out of the answer: an empty field never becomes an empty text. Where the property must be
// there it becomes null, if null is admitted, or else is asked for. Whoever must answer with an empty text, or with
// anything else that the fields cannot say, writes the answer as JSON instead.

// prefill puts the schema's default, and the only choice there is, into the field. A secret is never shown.
func (f *field) prefill(zone *time.Location) {
	d := f.preset
	switch {
	case f.Secret:
	case f.Control == controlChoice && d == nil && f.Required && len(f.Choices) == 1:
		f.Typed = []string{"0"}
	case d == nil || d.kind == 'n':
	case f.Control == controlChoice:
		f.Typed = f.pick(d)
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
	default:
		f.Typed = []string{d.text}
	}
}

// pick returns the number of the choice that a value is.
func (f *field) pick(n *node) []string {
	for i, c := range f.Choices {
		if c.value.same(n) {
			return []string{strconv.Itoa(i)}
		}
	}
	return nil
}

// Picked says whether the choice of that number is picked.
func (f field) Picked(i int) bool {
	for _, t := range f.Typed {
		if t == strconv.Itoa(i) {
			return true
		}
	}
	return false
}

// Text is what stands in the field.
func (f field) Text() string {
	if len(f.Typed) == 0 || f.Secret {
		return ""
	}
	return f.Typed[0]
}

// Optional says whether the property may be left out.
func (f field) Optional() bool { return !f.Required }

// Few says whether the choices are shown all at once.
func (f field) Few() bool { return len(f.Choices) <= 6 }

// read takes what a person sent and returns the value of the property as JSON, or nothing where it is left out. What is
// wrong with it is left in the field.
func (f *field) read(sent []string, words catalogue, zone *time.Location) jsontext.Value {
	f.Typed, f.Wrong = nil, ""
	for _, s := range sent {
		if s != "" {
			f.Typed = append(f.Typed, strings.ReplaceAll(s, "\r\n", "\n"))
		}
	}
	if f.Control == controlMany && (len(f.Typed) > 0 || f.Required) {
		return f.readMany()
	}
	if len(f.Typed) == 0 {
		return f.empty(words)
	}
	typed := f.Typed[0]
	switch f.Control {
	case controlChoice:
		if v := f.chosen(typed); v != nil {
			return v
		}
		return f.empty(words)
	case controlNumber:
		return f.readNumber(typed, words)
	case controlJSON:
		return f.readJSON(typed, words)
	case controlDateTime:
		return f.readTime(typed, words, zone)
	default:
		return f.readText(typed, words)
	}
}

func (f *field) empty(words catalogue) jsontext.Value {
	switch {
	case !f.Required:
	case f.Nullable:
		return jsontext.Value("null")
	default:
		f.Wrong = words.html("field.needed")
	}
	return nil
}

func (f *field) chosen(number string) jsontext.Value {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(f.Choices) {
		return nil
	}
	return f.Choices[i].value.raw
}

func (f *field) readMany() jsontext.Value {
	out := jsontext.Value{'['}
	for _, t := range f.Typed {
		v := f.chosen(t)
		if v == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

func (f *field) readText(typed string, words catalogue) jsontext.Value {
	n := utf8.RuneCountInString(typed)
	if least, ok := f.schema.get("minLength").integer(); ok && n < least {
		f.Wrong = words.html("field.short", least, n)
	}
	if most, ok := f.schema.get("maxLength").integer(); ok && n > most {
		f.Wrong = words.html("field.long", most, n)
	}
	// The hub compiles patterns just so. One that does not compile here is the hub's to judge.
	if p := f.schema.get("pattern").str(); p != "" && f.Wrong == "" {
		if re, err := regexp.Compile(p); err == nil && !re.MatchString(typed) {
			f.refuse("", words)
		}
	}
	b, err := jsontext.AppendQuote(nil, typed)
	if err != nil {
		f.Wrong = words.html("field.refused")
		return nil
	}
	return b
}

// readJSON takes a value as it is, where it is one.
func (f *field) readJSON(typed string, words catalogue) jsontext.Value {
	if _, err := ma2h.Parse([]byte(typed)); err != nil {
		f.Wrong = words.html("field.json")
		return nil
	}
	return jsontext.Value(typed)
}

// localTime is the form in which a browser sends a time without a zone; the seconds may be missing.
const localTime = "2006-01-02T15:04:05"

func (f *field) readTime(typed string, words catalogue, zone *time.Location) jsontext.Value {
	for _, form := range []string{localTime, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(form, strings.TrimSpace(typed), zone); err == nil {
			return jsontext.Value(`"` + t.Format(time.RFC3339) + `"`)
		}
	}
	if _, ok := ma2h.ParseTime(typed); ok {
		return jsontext.Value(`"` + typed + `"`)
	}
	f.Wrong = words.html("field.time")
	return nil
}

var number = regexp.MustCompile(`^\+?(-?)0*(\d*)(\.\d*)?([eE][+-]?\d+)?$`)

// readNumber takes a number digit by digit as it was typed, so that none is rounded. What people write and JSON does not
// know is mended: a plus, zeros in front, nothing before or behind the point.
func (f *field) readNumber(typed string, words catalogue) jsontext.Value {
	typed = strings.TrimSpace(typed)
	m := number.FindStringSubmatch(typed)
	if m == nil || !strings.ContainsAny(strings.TrimSuffix(typed, m[4]), "0123456789") {
		f.Wrong = words.html("field.number")
		return nil
	}
	whole, fraction := m[2], m[3]
	if whole == "" {
		whole = "0"
	}
	if fraction == "." {
		fraction = ""
	}
	literal := m[1] + whole + fraction + m[4]
	if _, err := ma2h.Parse([]byte(literal)); err != nil {
		f.Wrong = words.html("field.number.size")
		return nil
	}
	f.bounds(literal, words)
	return jsontext.Value(literal)
}

// bounds says in a person's words what the hub would say in the schema's.
func (f *field) bounds(literal string, words catalogue) {
	x, ok := new(big.Rat).SetString(literal)
	if !ok {
		return
	}
	if f.Integer && !x.IsInt() {
		f.Wrong = words.html("field.integer")
	}
	for _, b := range []struct {
		keyword string
		sign    int  // of x against the bound where it is wrong
		strict  bool // whether the bound itself is wrong, too
	}{{"minimum", -1, false}, {"maximum", 1, false}, {"exclusiveMinimum", -1, true}, {"exclusiveMaximum", 1, true}} {
		limit := f.schema.get(b.keyword)
		if limit == nil {
			continue
		}
		l, ok := new(big.Rat).SetString(limit.text)
		if ok && (x.Cmp(l) == b.sign || b.strict && x.Cmp(l) == 0) {
			f.Wrong = words.html("field."+b.keyword, limit.text)
		}
	}
}

// refuse records what the hub found wrong. Of a secret it says nothing that the hub's words might quote.
func (f *field) refuse(reason string, words catalogue) {
	switch pattern := f.schema.get("pattern").str(); {
	case pattern != "":
		f.Wrong = words.html("field.pattern", clean(pattern))
	case f.Secret:
		f.Wrong = words.html("field.refused")
	default:
		f.Wrong = words.html("field.because", clean(reason))
	}
}

// hints says what the schema asks of the field, as far as words can.
func (f field) hints(words catalogue, zone string) []template.HTML {
	var out []template.HTML
	least, hasLeast := f.schema.get("minLength").integer()
	most, hasMost := f.schema.get("maxLength").integer()
	switch {
	case hasLeast && hasMost && least > 0:
		out = append(out, words.html("hint.between", least, most))
	case hasMost:
		out = append(out, words.html("hint.most", most))
	case hasLeast && least > 1:
		out = append(out, words.html("hint.least", least))
	}
	for _, k := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		if limit := f.schema.get(k); limit != nil && limit.kind == '0' {
			out = append(out, words.html("hint."+k, clean(limit.text)))
		}
	}
	if p := f.schema.get("pattern").str(); p != "" {
		out = append(out, words.html("hint.pattern", clean(p)))
	}
	switch {
	case f.Integer:
		out = append(out, words.html("hint.integer"))
	case f.Control == controlDateTime:
		out = append(out, words.html("hint.zone", zone))
	case f.Control == controlJSON:
		out = append(out, words.html("hint.json"))
	}
	if f.Secret {
		out = append(out, words.html("hint.secret"))
	}
	return out
}

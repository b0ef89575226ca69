package inbox

import (
	"html/template"
	"math/big"
	"regexp"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// checkText says in a person's words what the hub would say in the schema's. Of formats it says more than the hub, to
// which they are notes: a wrong address is of no use to the agent.
func (f *field) checkText(typed string, words catalogue) {
	n := len([]rune(typed))
	least, hasLeast := f.schema.get("minLength").integer()
	most, hasMost := f.schema.get("maxLength").integer()
	switch {
	case hasLeast && n < least:
		f.Wrong = words.html("field.short", least, n) // never of one, which is asked for otherwise
	case hasMost && n > most:
		f.Wrong = words.bound("field.long", most, n)
	case f.Control == controlDate && !dated(typed):
		f.Wrong = words.html("field.date")
	case f.Control == controlEmail && !addressed(typed):
		f.Wrong = words.html("field.email")
	case f.Control == controlURL && !located(typed):
		f.Wrong = words.html("field.url")
	}
	// The hub compiles patterns just so. One that does not compile here is the hub's to judge.
	if p := f.schema.get("pattern").str(); p != "" && f.Wrong == "" {
		if re, err := regexp.Compile(p); err == nil && !re.MatchString(typed) {
			f.refuse("", words)
		}
	}
}

func dated(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// bounds holds a number to what the schema asks.
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
	if step := f.schema.get("multipleOf"); step != nil && f.Wrong == "" {
		s, ok := new(big.Rat).SetString(step.text)
		if ok && s.Sign() != 0 && !new(big.Rat).Quo(x, s).IsInt() {
			f.Wrong = words.html("field.multipleOf", step.text)
		}
	}
}

// checkItems holds an array to how many elements it may have, and whether two may be the same.
func (f *field) checkItems(values []jsontext.Value, words catalogue) {
	least, hasLeast := f.schema.get("minItems").integer()
	most, hasMost := f.schema.get("maxItems").integer()
	unique := f.schema.get("uniqueItems")
	switch {
	case hasLeast && len(values) < least:
		f.Wrong = words.bound("field.few", least, len(values))
	case hasMost && len(values) > most:
		f.Wrong = words.bound("field.many", most, len(values))
	case unique != nil && unique.kind == 't' && doubled(values):
		f.Wrong = words.html("field.doubled")
	}
}

// doubled says whether two values are spelled alike; which others are equal is the hub's to say.
func doubled(values []jsontext.Value) bool {
	seen := map[string]bool{}
	for _, v := range values {
		if v != nil && seen[string(v)] {
			return true
		}
		seen[string(v)] = true
	}
	return false
}

// checkMany reads the boxes that are ticked.
func (f *field) checkMany(words catalogue) jsontext.Value {
	value := f.readMany()
	ticked := 0
	for _, t := range f.Typed {
		if f.chosen(t) != nil {
			ticked++
		}
	}
	f.checkItems(make([]jsontext.Value, ticked), words)
	return value
}

// refuse records what the hub found wrong. Of a secret it says nothing that the hub's words might quote.
func (f *field) refuse(reason string, words catalogue) {
	switch pattern := f.schema.get("pattern").str(); {
	case pattern != "":
		f.Wrong = words.html("field.pattern", clean(pattern).short(maxLabel))
	case f.Secret || f.hides || reason == "":
		f.Wrong = words.html("field.refused")
	default:
		f.Wrong = words.html("field.because", clean(reason).short(2*maxLabel))
	}
}

// hints says what the schema asks of the field, as far as words can.
func (f *field) hints(words catalogue, zone string) []template.HTML {
	var out []template.HTML
	add := func(key string, parts ...any) { out = append(out, words.html(key, parts...)) }
	out = f.lengthHints(out, words)
	for _, k := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		if limit := f.schema.get(k); limit != nil && limit.kind == '0' && f.Control == controlNumber {
			add("hint."+k, clean(limit.text))
		}
	}
	if p := f.schema.get("pattern").str(); p != "" {
		add("hint.pattern", clean(p).short(maxLabel))
	}
	switch {
	case f.Integer:
		add("hint.integer")
	case f.Control == controlDateTime, f.Control == controlTime:
		add("hint.zone", zone)
	case f.Control == controlJSON:
		add("hint.json")
	}
	if f.Secret && f.Control != controlObject {
		add("hint.secret")
	}
	return out
}

// lengthHints says how long a text, and how many elements of an array, may be.
func (f *field) lengthHints(out []template.HTML, words catalogue) []template.HTML {
	low, high, hint := "minLength", "maxLength", "hint."
	if f.Control == controlList || f.Control == controlMany {
		low, high, hint = "minItems", "maxItems", "hint.items."
	}
	least, hasLeast := f.schema.get(low).integer()
	most, hasMost := f.schema.get(high).integer()
	switch {
	case hasLeast && hasMost && least == most:
		out = append(out, words.counted(hint+"exactly", most))
	case hasLeast && hasMost && least > 0:
		out = append(out, words.html(hint+"between", least, most))
	case hasMost:
		out = append(out, words.counted(hint+"most", most))
	case hasLeast && least > 1:
		out = append(out, words.html(hint+"least", least))
	}
	if unique := f.schema.get("uniqueItems"); unique != nil && unique.kind == 't' && f.Control == controlList {
		out = append(out, words.html("hint.items.unique"))
	}
	return out
}

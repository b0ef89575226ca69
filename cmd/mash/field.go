package main

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// field is what we read of the schema of one property of a form.
type field struct {
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Type        jsontext.Value   `json:"type"` // a name or several
	Enum        []jsontext.Value `json:"enum"`
	Format      string           `json:"format"`
	Pattern     string           `json:"pattern"`
	Default     jsontext.Value   `json:"default"`
	Items       jsontext.Value   `json:"items"` // a schema, of whatever shape
	MinLength   int              `json:"minLength"`
	MaxLength   *int             `json:"maxLength"`

	Minimum          jsontext.Value `json:"minimum"`
	Maximum          jsontext.Value `json:"maximum"`
	ExclusiveMinimum jsontext.Value `json:"exclusiveMinimum"`
	ExclusiveMaximum jsontext.Value `json:"exclusiveMaximum"`
}

// types returns the types that a field may have.
func (f *field) types() []string {
	var one string
	if json.Unmarshal(f.Type, &one) == nil {
		return []string{one}
	}
	var several []string
	if json.Unmarshal(f.Type, &several) == nil {
		return several
	}
	return nil
}

// value writes what was typed as the type that the field wants, or says what is wrong with it, in the words of the inbox.
func (f *field) value(text string) (_ jsontext.Value, wrong string) {
	for i, word := range f.words() {
		if word == text {
			return f.Enum[i], ""
		}
	}
	if len(f.Enum) > 0 {
		return nil, "choose one of " + f.choices()
	}
	types := f.types()
	if len(types) == 0 || slices.Contains(types, "string") {
		return jsonString(text), f.wrongText(text)
	}
	v := jsontext.Value(text)
	for _, t := range types {
		switch {
		case t == "boolean" && isYes(text):
			return jsontext.Value("true"), ""
		case t == "boolean" && isNo(text):
			return jsontext.Value("false"), ""
		case t == "integer" || t == "number":
			if _, err := strconv.ParseFloat(text, 64); err == nil && v.IsValid() {
				return v, f.wrongNumber(text, t == "integer")
			}
		case (t == "array" || t == "object" || t == "null") && v.IsValid():
			return v, ""
		}
	}
	return nil, "write " + f.kind()
}

func isYes(s string) bool { return s == "true" || s == "yes" }
func isNo(s string) bool  { return s == "false" || s == "no" }

func (f *field) wrongText(text string) string {
	n := utf8.RuneCountInString(text)
	if n < f.MinLength {
		return fmt.Sprintf("at least %s needed, and this has %d", are(f.MinLength, "character"), n)
	}
	if f.MaxLength != nil && n > *f.MaxLength {
		return fmt.Sprintf("at most %s taken, and this has %d", are(*f.MaxLength, "character"), n)
	}
	if re, err := regexp.Compile(f.Pattern); err == nil && !re.MatchString(text) {
		return "it does not have the form that is asked for: " + cleanLine(f.Pattern)
	}
	return ""
}

// wrongNumber compares exactly, so that no bound is missed by rounding.
func (f *field) wrongNumber(text string, whole bool) string {
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		return ""
	}
	if whole && !x.IsInt() {
		return "write a whole number"
	}
	for _, b := range f.bounds() {
		limit, ok := new(big.Rat).SetString(string(b.limit))
		if ok && (x.Cmp(limit) == b.sign || b.strict && x.Cmp(limit) == 0) {
			return b.wrong + " " + string(b.limit)
		}
	}
	return ""
}

// bound is a limit of a number.
type bound struct {
	limit       jsontext.Value
	sign        int  // of the number against the limit where it is wrong
	strict      bool // whether the limit itself is wrong, too
	wrong, hint string
}

// bounds returns the limits that there are.
func (f *field) bounds() []bound {
	return slices.DeleteFunc([]bound{
		{f.Minimum, -1, false, "it has to be at least", "at least"},
		{f.Maximum, 1, false, "it can be at most", "at most"},
		{f.ExclusiveMinimum, -1, true, "it has to be more than", "more than"},
		{f.ExclusiveMaximum, 1, true, "it has to be less than", "less than"},
	}, func(b bound) bool { return b.limit.Kind() != '0' })
}

// words are what the choices are called: a text as it is, unless another value reads the same, and all else as JSON.
func (f *field) words() []string {
	same := map[string]int{}
	for _, e := range f.Enum {
		same[valueText(e)]++
	}
	var words []string
	for _, e := range f.Enum {
		text := valueText(e)
		if same[text] > 1 || text == "" {
			text = string(e)
		}
		words = append(words, text)
	}
	return words
}

func (f *field) choices() string {
	words := f.words()
	for i := range words {
		words[i] = plainWord(words[i])
	}
	return strings.Join(words, ", ")
}

// elements are the values that an array may have, as JSON, or empty where it may have others.
func (f *field) elements() string {
	var items struct {
		Enum []jsontext.Value `json:"enum"`
	}
	if json.Unmarshal(f.Items, &items) != nil {
		return ""
	}
	words := make([]string, len(items.Enum))
	for i, e := range items.Enum {
		words[i] = cleanLine(string(e))
	}
	return strings.Join(words, ", ")
}

// kind says what to write, in a few words.
func (f *field) kind() string {
	if len(f.Enum) > 0 {
		return "one of " + f.choices()
	}
	var words []string
	for _, t := range f.types() {
		switch format := kindOfFormat(f.Format); {
		case t == "string" && format != "":
			words = append(words, format)
		case t == "array" && f.elements() != "":
			words = append(words, "a JSON array of any of "+f.elements())
		default:
			words = append(words, kindOfType(t))
		}
	}
	if len(words) == 0 {
		return "any text"
	}
	return strings.Join(words, ", or ")
}

func kindOfType(t string) string {
	switch t {
	case "integer":
		return "a whole number"
	case "number":
		return "a number"
	case "boolean":
		return "yes or no"
	case "string":
		return "a text"
	case "array":
		return "a JSON array"
	case "object":
		return "a JSON object"
	}
	return cleanLine(t)
}

// kindOfFormat is empty for a format that we have no words for.
func kindOfFormat(format string) string {
	switch format {
	case "date", "date-time":
		return "a " + strings.TrimPrefix(format, "date-") + ", such as " + exampleOfFormat(format)
	case "email":
		return "an email address"
	case "uri":
		return "a URL"
	}
	return ""
}

func exampleOfFormat(format string) string {
	switch format {
	case "date":
		return "2026-01-31"
	case "date-time":
		return "2026-01-31T12:00:00Z"
	case "email":
		return "name@example.com"
	case "uri":
		return "https://example.com"
	}
	return ""
}

// hints says what the schema asks of the field, as far as words can.
func (f *field) hints() []string {
	words := []string{f.kind()}
	switch {
	case f.MaxLength != nil && f.MinLength == *f.MaxLength:
		words = append(words, counted(*f.MaxLength, "character"))
	case f.MinLength > 0 && f.MaxLength != nil:
		words = append(words, fmt.Sprintf("%d to %d characters", f.MinLength, *f.MaxLength))
	case f.MaxLength != nil:
		words = append(words, fmt.Sprintf("at most %s", counted(*f.MaxLength, "character")))
	case f.MinLength > 1:
		words = append(words, fmt.Sprintf("at least %d characters", f.MinLength))
	}
	for _, b := range f.bounds() {
		words = append(words, b.hint+" "+string(b.limit))
	}
	if f.Pattern != "" {
		words = append(words, "in the form "+cleanLine(f.Pattern))
	}
	if f.Format != "" && kindOfFormat(f.Format) == "" {
		words = append(words, "in the format "+cleanLine(f.Format))
	}
	return words
}

package ma2h

import (
	"encoding/json"
	"net/url"
	"regexp/syntax"
	"strconv"
	"strings"
)

// A JSON Schema of a few lines can take hours to answer: by references that double, by long patterns, by long lists held
// against long lists. The library that validates cannot be stopped, so what it will have to do is bounded before it is
// asked. The bounds are far above what a person could fill in, for whom the schema is "flat" (spec §5.2).
const (
	maxSchemaParts  = 5_000      // JSON values of a schema, each counted as often as references lead to it
	maxPatternSteps = 20_000     // instructions of all its patterns, counted likewise
	maxSchemaText   = 1 << 20    // bytes of its texts and names, counted likewise: a page shows them that often
	maxAnswerWork   = 1_000_000  // parts of the schema times values of the answer
	maxPatternWork  = 50_000_000 // steps of patterns times bytes of the answer
	maxNumber       = 100        // characters of a number: whoever compares two works with all of their digits
	maxExponent     = 400        // of a number, which has that many digits when it is written out
)

// cost is what a part of a schema takes to be held against one value.
type cost struct{ parts, steps, text int }

func (c *cost) add(d cost) {
	c.parts = min(c.parts+d.parts, maxSchemaParts+1)
	c.steps = min(c.steps+d.steps, maxPatternSteps+1)
	c.text = min(c.text+d.text, maxSchemaText+1)
}

// schemaCost works out the cost of a schema. The error says what in it cannot be bounded.
func schemaCost(root any) (cost, *Error) {
	m := meter{root: root, known: map[string]cost{}, open: map[string]bool{}}
	c, err := m.value(root, "")
	if err != nil {
		return c, err
	}
	if c.parts > maxSchemaParts || c.steps > maxPatternSteps || c.text > maxSchemaText {
		return c, tooLarge()
	}
	return c, nil
}

// elsewhere are the keywords that make a reference lead to what a pointer does not name. In the oldest dialect $id was id.
var elsewhere = map[string]bool{"$id": true, "$anchor": true, "$dynamicAnchor": true, "$dynamicRef": true, "$recursiveRef": true}

const draft4 = "http://json-schema.org/draft-04/schema"

// meter walks a schema. References are followed once each and remembered.
type meter struct {
	root  any
	known map[string]cost
	open  map[string]bool // references being followed
	steps int             // of all patterns so far
}

// dialect is what the schema says that it is written in.
func (m *meter) dialect() string {
	root, _ := m.root.(map[string]any)
	name, _ := root["$schema"].(string)
	return strings.TrimSuffix(strings.Replace(name, "https:", "http:", 1), "#")
}

func (m *meter) value(v any, at string) (cost, *Error) {
	c := cost{parts: 1}
	switch v := v.(type) {
	case string:
		c.text = len(v)
	case json.Number:
		c.text = len(v)
		if long(v) {
			return c, longNumber("/request/schema" + at)
		}
	case []any:
		for i, e := range v {
			d, err := m.value(e, at+"/"+strconv.Itoa(i))
			if err != nil {
				return c, err
			}
			c.add(d)
		}
	case map[string]any:
		for name, e := range v {
			d, err := m.member(name, e, Pointer(at, name))
			if err != nil {
				return c, err
			}
			d.text += len(name)
			c.add(d)
		}
	}
	return c, nil
}

// member is the cost of one member of an object. Whether the object is a schema or, say, a list of properties is not
// looked at: what looks like a keyword is counted as one, which can only count too much.
func (m *meter) member(name string, v any, at string) (cost, *Error) {
	text, isText := v.(string)
	switch {
	case name == "$ref" && isText:
		return m.reference(text, at)
	case isText && (elsewhere[name] || name == "id" && m.dialect() == draft4):
		return cost{}, FieldErrorf(CodeInvalidField, "/request/schema"+at,
			"A form's schema cannot have %s; refer by $ref to #/$defs/….", name)
	case isText && name == "$schema" && at != "/$schema":
		return cost{}, FieldErrorf(CodeInvalidField, "/request/schema"+at,
			"A form's schema is of one dialect; name it at its root, or not at all.")
	case name == "pattern" && isText:
		return m.pattern(text)
	}
	c, err := m.value(v, at)
	if patterns, ok := v.(map[string]any); ok && err == nil && name == "patternProperties" {
		for p := range patterns {
			d, err := m.pattern(p)
			if err != nil {
				return c, err
			}
			c.add(d)
		}
	}
	return c, err
}

// pattern is the cost of a pattern. The walk ends once all of them together are too long, so that no more are looked at.
func (m *meter) pattern(text string) (cost, *Error) {
	steps := patternSteps(text)
	if m.steps += steps; m.steps > maxPatternSteps {
		return cost{}, tooLarge()
	}
	return cost{parts: 1, steps: steps}, nil
}

func tooLarge() *Error {
	return FieldErrorf(CodeInvalidField, "/request/schema", "The schema is too large or its patterns are too long for a form; make it smaller.")
}

// reference is the cost of what a $ref leads to, within the schema.
func (m *meter) reference(ref, at string) (cost, *Error) {
	tokens, local := LocalRef(ref)
	target, found := follow(m.root, tokens)
	if !local || !found {
		return cost{}, FieldErrorf(CodeInvalidField, "/request/schema"+at, "The $ref leads nowhere in the schema; refer to #/$defs/….")
	}
	pointer := ""
	for _, t := range tokens {
		pointer = Pointer(pointer, t)
	}
	if c, ok := m.known[pointer]; ok {
		return c, nil
	}
	if m.open[pointer] {
		return cost{}, FieldErrorf(CodeInvalidField, "/request/schema"+at, "The schema refers to itself without end; a form has to have one.")
	}
	m.open[pointer] = true
	c, err := m.value(target, pointer)
	delete(m.open, pointer)
	m.known[pointer] = c
	return c, err
}

// patternSteps is how many instructions a pattern takes at most, or somewhat more than maxPatternSteps. It is not compiled for that:
// a few bytes can stand for very many. One that does not parse is refused elsewhere.
func patternSteps(pattern string) int {
	if len(pattern) > maxPatternSteps {
		return maxPatternSteps + 1
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 1
	}
	return stepsOf(re)
}

func stepsOf(re *syntax.Regexp) int {
	steps := 1
	switch re.Op { //nolint:exhaustive // the others are one instruction each, beside what they hold
	case syntax.OpLiteral:
		steps = len(re.Rune)
	case syntax.OpCharClass:
		steps += len(re.Rune) / 16 // which its instruction keeps
	case syntax.OpCapture:
		steps++
	}
	for _, sub := range re.Sub {
		steps = min(steps+stepsOf(sub), maxPatternSteps+1)
	}
	if re.Op == syntax.OpRepeat {
		steps *= 1 + max(re.Min, re.Max)
	}
	return min(steps, maxPatternSteps+1)
}

// longNumber is the error of a number that is too long.
func longNumber(field string) *Error {
	return FieldErrorf(CodeInvalidField, field, "A number of a form has at most %d characters and an exponent of at most %d; write a shorter one.",
		maxNumber, maxExponent)
}

// long says whether a number is too long to be compared with others again and again.
func long(n json.Number) bool {
	_, exponent, found := strings.Cut(strings.ToLower(string(n)), "e")
	e, err := strconv.Atoi(exponent)
	return len(n) > maxNumber || found && (err != nil || e > maxExponent || e < -maxExponent)
}

// firstLong is the pointer to a number of v that is too long; ok is false where there is none.
func firstLong(v any, at string) (pointer string, ok bool) {
	switch v := v.(type) {
	case json.Number:
		return at, long(v)
	case []any:
		for i, e := range v {
			if p, ok := firstLong(e, at+"/"+strconv.Itoa(i)); ok {
				return p, true
			}
		}
	case map[string]any:
		for name, e := range v {
			if p, ok := firstLong(e, Pointer(at, name)); ok {
				return p, true
			}
		}
	}
	return "", false
}

// LocalRef returns the tokens of the JSON Pointer of a $ref that stays within its document, such as #/$defs/API%20key, as
// validators read it: percent-encoding first, then ~0 and ~1. The whole document has none. ok is false for any other text.
func LocalRef(ref string) (tokens []string, ok bool) {
	fragment, ok := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !ok || err != nil {
		return nil, false
	}
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false // an anchor
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(token), "~") {
			return nil, false
		}
		tokens = append(tokens, strings.NewReplacer("~0", "~", "~1", "/").Replace(token))
	}
	return tokens, true
}

// follow returns the value to which the tokens of a pointer lead.
func follow(v any, tokens []string) (any, bool) {
	for _, token := range tokens {
		switch w := v.(type) {
		case map[string]any:
			next, ok := w[token]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(w) {
				return nil, false
			}
			v = w[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// affordable says whether an answer can be held to a schema of this cost within a moment.
func (c cost) affordable(answer any, size int) bool {
	return c.parts*values(answer) <= maxAnswerWork && c.steps*size <= maxPatternWork
}

// values counts the JSON values in v, member names included.
func values(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += values(e)
		}
	case map[string]any:
		for _, e := range v {
			n += 1 + values(e)
		}
	case json.Number, string, bool, nil:
	}
	return n
}

package ma2h

import (
	"encoding/json"
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
	maxAnswerWork   = 1_000_000  // parts of the schema times values of the answer
	maxPatternWork  = 50_000_000 // steps of patterns times bytes of the answer
)

// cost is what a part of a schema takes to be held against one value.
type cost struct{ parts, steps int }

func (c *cost) add(d cost) {
	c.parts = min(c.parts+d.parts, maxSchemaParts+1)
	c.steps = min(c.steps+d.steps, maxPatternSteps+1)
}

// schemaCost works out the cost of a schema. The error says what in it cannot be bounded.
func schemaCost(root any) (cost, *Error) {
	m := meter{root: root, known: map[string]cost{}, open: map[string]bool{}}
	c, err := m.value(root, "")
	if err != nil {
		return c, err
	}
	if c.parts > maxSchemaParts || c.steps > maxPatternSteps {
		return c, FieldErrorf(CodeInvalidField, "/request/schema",
			"The schema is too large or its patterns are too long for a form; make it smaller.")
	}
	return c, nil
}

// meter walks a schema. References are followed once each and remembered.
type meter struct {
	root  any
	known map[string]cost
	open  map[string]bool // references being followed
}

func (m *meter) value(v any, at string) (cost, *Error) {
	c := cost{parts: 1}
	switch v := v.(type) {
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
	case isText && (name == "$dynamicRef" || name == "$recursiveRef" || name == "$anchor" || name == "$dynamicAnchor" || name == "$id"):
		return cost{}, FieldErrorf(CodeInvalidField, "/request/schema"+at,
			"A form's schema cannot have %s; refer by $ref to #/$defs/….", name)
	case name == "pattern" && isText:
		return patternCost(text), nil
	}
	c, err := m.value(v, at)
	if patterns, ok := v.(map[string]any); ok && name == "patternProperties" {
		for p := range patterns {
			c.add(patternCost(p))
		}
	}
	return c, err
}

// reference is the cost of what a $ref leads to, within the schema.
func (m *meter) reference(ref, at string) (cost, *Error) {
	pointer, local := strings.CutPrefix(ref, "#")
	target, found := resolvePointer(m.root, pointer)
	if !local || !found {
		return cost{}, FieldErrorf(CodeInvalidField, "/request/schema"+at, "The $ref leads nowhere in the schema; refer to #/$defs/….")
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

// patternCost counts the instructions of a pattern; one that does not compile is refused elsewhere.
func patternCost(pattern string) cost {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return cost{parts: 1}
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return cost{parts: 1}
	}
	return cost{parts: 1, steps: len(prog.Inst)}
}

// resolvePointer follows a JSON Pointer, possibly percent-encoded, to a value.
func resolvePointer(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
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

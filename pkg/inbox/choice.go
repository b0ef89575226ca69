package inbox

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// choice is one value that may be picked, as the schema spells it.
type choice struct {
	Label theirs
	value *node
}

// maxLabel is how many characters of a title are shown; an agent may send any number.
const maxLabel = 200

// choices returns the values that an enum, a const or a list of titled constants admits, or nil. Rows and references ask
// for the same ones again and again.
func (b *builder) choices(s *node) []choice {
	list := choiceList(s, b.root)
	if list == nil {
		return nil
	}
	made, ok := b.known[list]
	if !ok {
		for _, n := range list.items {
			made = append(made, b.choice(n, list == s.get("oneOf") || list == s.get("anyOf")))
		}
		made = slices.Clip(distinct(made))
		b.known[list] = made
	}
	return made
}

// choice is one of an enum, or of a list of schemas for one value each.
func (b *builder) choice(n *node, schema bool) choice {
	if !schema {
		return choice{Label: b.labelOf(n), value: n}
	}
	n = flatten(n, b.root, 0)
	value := constant(n)
	label := clean(n.get("title").str()).short(maxLabel)
	return choice{Label: label.or(string(b.labelOf(value))), value: value}
}

// choiceList returns the list of what may be chosen: of values, or of schemas each of which admits a single one. It is nil
// where nothing is to choose.
func choiceList(s, root *node) *node {
	if list := s.get("enum"); list != nil {
		return list
	}
	if n := s.get("const"); n != nil {
		return &node{kind: '[', items: []*node{n}}
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		list := s.get(word)
		if list == nil {
			continue
		}
		for _, n := range list.items {
			if constant(flatten(n, root, 0)) == nil {
				return nil
			}
		}
		return list
	}
	return nil
}

// constant returns the one value that a schema admits, or nil.
func constant(s *node) *node {
	if value := s.get("const"); value != nil {
		return value
	}
	if of := s.get("enum"); of != nil && len(of.items) == 1 {
		return of.items[0]
	}
	if s.get("type").str() == "null" {
		return null()
	}
	return nil
}

// distinct tells choices apart that look the same, such as the text "1" and the number 1.
func distinct(list []choice) []choice {
	count := map[theirs]int{}
	for _, c := range list {
		count[c.Label]++
	}
	for i, c := range list {
		if count[c.Label] < 2 {
			continue
		}
		raw := clean(string(c.value.raw)).short(maxLabel)
		if list[i].Label = raw; c.Label != clean(c.value.text) {
			list[i].Label = c.Label + " (" + raw + ")"
		}
	}
	return list
}

func (b *builder) booleans() []choice {
	return []choice{
		{Label: theirs(b.words.plain("choice.yes")), value: &node{kind: 't', raw: jsontext.Value("true")}},
		{Label: theirs(b.words.plain("choice.no")), value: &node{kind: 'f', raw: jsontext.Value("false")}},
	}
}

func (b *builder) labelOf(n *node) theirs {
	switch n.kind {
	case '"':
		return clean(n.text).short(maxLabel).or(string(n.raw))
	case 'n':
		return theirs(b.words.plain("choice.null"))
	}
	return clean(string(n.raw)).short(maxLabel)
}

func null() *node { return &node{kind: 'n', raw: jsontext.Value("null")} }

// orNull adds null to the choices where it is admitted and not among them.
func (b *builder) orNull(list []choice) []choice {
	for _, c := range list {
		if c.value.kind == 'n' {
			return list
		}
	}
	return append(list, choice{Label: b.labelOf(null()), value: null()})
}

// pick returns the number of the choice that a value is.
func (f *field) pick(n *node) []string {
	for i, c := range f.Choices {
		if c.value.same(n) {
			return []string{strconv.Itoa(i)}
		}
	}
	for i, c := range f.Choices {
		if c.value.equal(n) {
			return []string{strconv.Itoa(i)}
		}
	}
	return nil
}

// Picked says whether the choice of that number is picked. Which of some secrets it is, is a secret.
func (f *field) Picked(i int) bool {
	if f.Secret && !f.fixed() {
		return false
	}
	for _, t := range f.Typed {
		if t == strconv.Itoa(i) {
			return true
		}
	}
	return false
}

// Few says whether the choices are shown all at once.
func (f *field) Few() bool { return len(f.Choices) <= 6 }

// fixed says whether there is nothing to choose: one choice, and one is needed.
func (f *field) fixed() bool { return f.Control == controlChoice && f.Required && len(f.Choices) == 1 }

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

package inbox

import "github.com/mash-hub/mash/pkg/hub"

// values is the answer to a form as its fields name it, secrets kept back.
func (v *visit) values(m *hub.Reading, answer []byte) []pair {
	n, err := parseNode(answer)
	if err != nil {
		return nil
	}
	b := v.builder(m, nil)
	b.plain = true
	if b.root == nil {
		return nil
	}
	covered := cover(n, b.whole)
	if covered == nil {
		return []pair{{Name: clean(v.words.plain("answer.title")), Value: v.words.data(nil, 0)}}
	}
	return b.answered(covered, b.fields(), 0).Pairs
}

// answered is an object of an answer, each member under the label of its field.
func (b *builder) answered(n *node, fields []*field, depth int) *data {
	if len(n.members) == 0 || depth >= maxNesting {
		return b.words.data(n, depth)
	}
	d := &data{Kind: "pairs"}
	for _, m := range n.members {
		p := pair{Name: clean(m.name).or(`""`)}
		var f *field
		for _, g := range fields {
			if g.Property == m.name {
				f, p.Name = g, g.Label
			}
		}
		p.Value = b.answerOf(m.value, f, depth+1)
		d.Pairs = append(d.Pairs, p)
	}
	return d
}

// answerOf is one value of an answer as its field, which may be none, would name it.
func (b *builder) answerOf(n *node, f *field, depth int) *data {
	switch {
	case n == nil || f == nil || depth >= maxNesting:
		return b.words.data(n, depth)
	case f.Secret:
		return b.words.data(nil, depth)
	case f.Control == controlObject && n.kind == '{':
		return b.answered(n, f.Fields, depth)
	case f.Control == controlList && n.kind == '[' && len(n.items) > 0 && len(f.Rows) > 0:
		d := &data{Kind: "items"}
		for _, item := range n.items {
			d.Items = append(d.Items, b.answerOf(item, f.Rows[0], depth+1))
		}
		return d
	case f.Control == controlChoice:
		if picked := f.pick(n); picked != nil {
			return b.choiceData(f, n, depth)
		}
	}
	return b.words.data(n, depth)
}

// choiceData is a picked choice: what was read on the form, and what the agent gets where that is something else than yes,
// no or nothing.
func (b *builder) choiceData(f *field, n *node, depth int) *data {
	d := b.words.data(n, depth)
	for _, c := range f.Choices {
		switch {
		case !c.value.same(n) || c.Label == d.Text:
		case n.kind == 't' || n.kind == 'f' || n.kind == 'n':
			return &data{Kind: "word", Text: c.Label}
		default:
			d.Meant = c.Label
		}
	}
	return d
}

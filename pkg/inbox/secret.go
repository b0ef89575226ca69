package inbox

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// cover returns n without its secrets, each of them in turn nil, and n itself where there are none. It is nil when n is one.
func cover(n *node, s ma2h.Secrecy) *node {
	if s.Secret() {
		return nil
	}
	if n.kind != '{' && n.kind != '[' || !s.Hides() {
		return n
	}
	out := &node{kind: n.kind}
	for _, m := range n.members {
		out.members = append(out.members, member{name: m.name, value: cover(m.value, s.Member(m.name))})
	}
	for _, v := range n.items {
		out.items = append(out.items, cover(v, s.Element()))
	}
	out.raw = bare(out)
	return out
}

// bare writes a value without the members and elements that are secret.
func bare(n *node) jsontext.Value {
	switch n.kind {
	case '{':
		out := jsontext.Value{'{'}
		for _, m := range n.members {
			if m.value == nil {
				continue
			}
			if len(out) > 1 {
				out = append(out, ", "...)
			}
			out = append(append(append(out, quote(m.name)...), ": "...), bare(m.value)...)
		}
		return append(out, '}')
	case '[':
		var kept []jsontext.Value
		for _, v := range n.items {
			if v != nil {
				kept = append(kept, bare(v))
			}
		}
		return jsontext.Value("[" + string(joinValues(kept)) + "]")
	}
	return n.raw
}

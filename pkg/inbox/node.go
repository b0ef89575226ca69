package inbox

import (
	"bytes"
	"fmt"
	"math/big"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// node is one JSON value with its members in the order in which they came, which maps would lose: people see data and
// forms in the order that the agent chose.
type node struct {
	kind    jsontext.Kind // '{' '[' '"' '0' 't' 'f' 'n'
	text    string        // of a string; a number's literal
	members []member      // of an object
	items   []*node       // of an array
	raw     jsontext.Value
}

type member struct {
	name  string
	value *node
}

// parseNode reads one JSON value.
func parseNode(data []byte) (*node, error) {
	n, err := readNode(jsontext.NewDecoder(bytes.NewReader(data)))
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return n, nil
}

func readNode(d *jsontext.Decoder) (*node, error) {
	switch d.PeekKind() {
	case '{', '[':
		return readNested(d)
	}
	v, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	n := &node{kind: v.Kind(), raw: v.Clone()}
	switch n.kind {
	case '"':
		b, err := jsontext.AppendUnquote(nil, v)
		if err != nil {
			return nil, err
		}
		n.text = string(b)
	case '0':
		n.text = string(v)
	}
	return n, nil
}

func readNested(d *jsontext.Decoder) (*node, error) {
	open, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{kind: open.Kind()}
	raw := []byte{byte(n.kind)}
	for {
		if k := d.PeekKind(); k == '}' || k == ']' {
			_, err := d.ReadToken()
			n.raw = append(raw, byte(k))
			return n, err
		}
		if len(raw) > 1 {
			raw = append(raw, ',')
		}
		if n.kind == '{' {
			name, err := d.ReadValue()
			if err != nil {
				return nil, err
			}
			raw = append(append(raw, name...), ':')
			key, err := jsontext.AppendUnquote(nil, name)
			if err != nil {
				return nil, err
			}
			n.members = append(n.members, member{name: string(key)})
		}
		v, err := readNode(d)
		if err != nil {
			return nil, err
		}
		raw = append(raw, v.raw...)
		if n.kind == '{' {
			n.members[len(n.members)-1].value = v
		} else {
			n.items = append(n.items, v)
		}
	}
}

// get returns the member of that name, or nil; of anything but an object, nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// at returns the member of that name, or the element of that number, or nil.
func (n *node) at(token string) *node {
	if n == nil || n.kind != '[' {
		return n.get(token)
	}
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(n.items) {
		return nil
	}
	return n.items[i]
}

// str returns the text of a string, or nothing.
func (n *node) str() string {
	if n == nil || n.kind != '"' {
		return ""
	}
	return n.text
}

// same says whether two values are the same one, spelled alike where they are numbers.
func (n *node) same(o *node) bool {
	if n == nil || o == nil {
		return n == o
	}
	return n.kind == o.kind && n.text == o.text && (n.kind != '{' && n.kind != '[' || bytes.Equal(n.raw, o.raw))
}

// equal says whether two values are the same one, however they are spelled.
func (n *node) equal(o *node) bool {
	if n.kind != o.kind || n.kind != '0' {
		return n.same(o)
	}
	x, ok := new(big.Rat).SetString(n.text)
	y, also := new(big.Rat).SetString(o.text)
	return ok && also && x.Cmp(y) == 0
}

// leaves counts the values in n that hold no others.
func (n *node) leaves() int {
	count := 0
	for _, m := range n.members {
		count += m.value.leaves()
	}
	for _, v := range n.items {
		count += v.leaves()
	}
	return max(count, 1)
}

// size counts n and the values in it.
func (n *node) size() int {
	count := 1
	for _, m := range n.members {
		count += m.value.size()
	}
	for _, v := range n.items {
		count += v.size()
	}
	return count
}

// integer returns the value of a number that is a plain integer.
func (n *node) integer() (int, bool) {
	if n == nil || n.kind != '0' {
		return 0, false
	}
	i, err := strconv.Atoi(n.text)
	return i, err == nil
}

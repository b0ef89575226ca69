package inbox

import "unicode/utf8"

// What makes a table of an array: this many objects at least and columns at most, values of this many characters at most,
// and rows with no more holes than values.
const (
	minTableRows = 2
	maxTableCols = 6
	maxCellChars = 60
)

// table lays out an array of objects that hold no others, and much the same members, as a table. It is nil for what reads
// better otherwise.
func (c catalogue) table(n *node, depth int) *data {
	if n.kind != '[' || len(n.items) < minTableRows {
		return nil
	}
	columns, filled := columnsOf(n)
	if columns == nil || 2*filled <= len(columns)*len(n.items) {
		return nil
	}
	t := &data{Kind: "table"}
	for _, name := range columns {
		t.Heads = append(t.Heads, clean(name).or(`""`))
	}
	for _, item := range n.items {
		row := make([]*data, len(columns))
		for i, name := range columns {
			if cell := item.get(name); cell != nil {
				row[i] = c.data(cell, depth+1)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// columnsOf returns the names of the members of an array's objects in the order in which they first come, and how many
// values there are; nil if the array is no table.
func columnsOf(n *node) (columns []string, filled int) {
	at := map[string]bool{}
	for _, item := range n.items {
		if item == nil || item.kind != '{' || len(item.members) > maxTableCols {
			return nil, 0
		}
		for _, m := range item.members {
			if !fitsCell(m.value) {
				return nil, 0
			}
			if !at[m.name] {
				at[m.name] = true
				columns = append(columns, m.name)
			}
			filled++
		}
	}
	if len(columns) < 2 || len(columns) > maxTableCols {
		return nil, 0
	}
	return columns, filled
}

func fitsCell(n *node) bool {
	if n == nil || len(n.members)+len(n.items) > 0 {
		return false
	}
	for _, r := range n.text {
		if r == '\n' {
			return false
		}
	}
	return utf8.RuneCountInString(n.text) <= maxCellChars
}

package inbox

import (
	"html/template"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// data is a JSON value as it is shown: as the tree, the table, the text or the number that it is.
type data struct {
	Pairs  []pair
	Items  []*data
	Heads  []theirs  // of a table
	Rows   [][]*data // of a table; nil is a cell with nothing in it
	Diff   []line
	Text   theirs
	Link   target        // of a text that is an address
	Kind   string        // pairs, items, table, text, diff, word (a number, a boolean, null), empty, raw or secret
	Lines  bool          // the text has several
	Meant  theirs        // what a choice is called, where that is not its value
	Folded template.HTML // says how much is folded away, or empty
}

type pair struct {
	Name  theirs
	Value *data
}

// maxNesting is how deep data is laid out; what lies deeper is shown as JSON, since nothing would be left of the width.
const maxNesting = 5

func (c catalogue) data(n *node, depth int) *data {
	switch {
	case n == nil:
		return &data{Kind: "secret"}
	case n.kind == '"' && n.text == "":
		return &data{Kind: "empty", Text: `""`}
	case n.kind == '"':
		return c.textData(n.text)
	case n.kind != '{' && n.kind != '[':
		return &data{Kind: "word", Text: clean(string(n.raw))}
	case len(n.members)+len(n.items) == 0:
		return &data{Kind: "empty", Text: theirs(n.raw)}
	case depth >= maxNesting:
		return &data{Kind: "raw", Text: indented(n)}
	}
	if t := c.table(n, depth); t != nil {
		return t
	}
	d := &data{Kind: "pairs"}
	for _, m := range n.members {
		d.Pairs = append(d.Pairs, pair{Name: clean(m.name).or(`""`), Value: c.data(m.value, depth+1)})
	}
	if n.kind == '[' {
		d.Kind = "items"
	}
	for _, v := range n.items {
		d.Items = append(d.Items, c.data(v, depth+1))
	}
	return d
}

// textData is a text, a change of one, or an address.
func (c catalogue) textData(s string) *data {
	if lines := readDiff(s); lines != nil {
		return &data{Kind: "diff", Diff: lines, Folded: c.foldedDiff(lines)}
	}
	t := cleanLines(s)
	return &data{
		Kind: "text", Text: t, Link: wholeLink(s), Lines: strings.Contains(strings.TrimRight(s, "\r\n"), "\n"), Folded: c.foldedText(t),
	}
}

// foldedText says how much of a text is folded away, or nothing where it is short.
func (c catalogue) foldedText(t theirs) template.HTML {
	n := strings.Count(strings.TrimRight(string(t), "\n"), "\n") + 1
	switch {
	case n > longLines:
		return c.counted("folded.lines", n)
	case len(t) > longChars:
		return c.html("folded.chars", utf8.RuneCountInString(string(t)))
	}
	return ""
}

// indented writes a value as JSON with a line for each part of it, unless that would be mostly blanks. Numbers stay as they
// came.
func indented(n *node) theirs {
	raw := n.raw.Clone()
	if err := raw.Indent(jsontext.WithIndent("  ")); err != nil || len(raw) > 6*len(n.raw)+1000 {
		return cleanLines(string(n.raw))
	}
	return cleanLines(string(raw))
}

// wholeLink is where a text leads that is nothing but an address.
func wholeLink(s string) target {
	if strings.ContainsAny(s, " \n\t") {
		return target{}
	}
	if t := targetOf(s); t.Host != "mailto" {
		return t
	}
	return target{}
}

// part is one attachment.
type part struct {
	Kind    string // text, diff, data or file
	Text    theirs
	Diff    []line
	Data    *data
	Name    theirs // of a file
	Type    theirs
	Link    target
	Address theirs        // of a file that is no link
	Folded  template.HTML // says how much is folded away, or empty
}

// From how many lines, characters and values on a part is folded.
const (
	longLines  = 24
	longChars  = 2400
	longLeaves = 40
)

// How many values of a message's data are laid out, one by one: a page of a hundred thousand elements is of no use to
// anybody. What lies beyond is shown as JSON.
const maxLaidOut = 3000

func (v *visit) parts(list []ma2h.Part) []part {
	var out []part
	left := maxLaidOut
	for _, p := range list {
		switch {
		case p.Kind == "data":
			out = append(out, v.dataPart(p, &left))
		case p.Kind == "file" && p.File != nil:
			out = append(out, v.filePart(p.File))
		default:
			out = append(out, v.textPart(p.Text))
		}
	}
	return out
}

func (v *visit) textPart(s string) part {
	if lines := readDiff(s); lines != nil {
		return part{Kind: "diff", Diff: lines, Folded: v.words.foldedDiff(lines)}
	}
	p := part{Kind: "text", Text: cleanLines(strings.TrimRight(s, "\r\n"))}
	p.Folded = v.words.foldedText(p.Text)
	return p
}

func (v *visit) dataPart(p ma2h.Part, left *int) part {
	n, err := parseNode(p.Data)
	if err != nil {
		return v.textPart(string(p.Data)) // the hub took only JSON
	}
	count, size := n.leaves(), n.size()
	out := part{Kind: "data", Data: &data{Kind: "raw"}}
	switch {
	case n.kind == '"':
		return v.textPart(n.text)
	case size > *left:
		out.Data.Text = indented(n)
	default:
		*left -= size
		out.Data = v.words.data(n, 0)
	}
	if count > longLeaves {
		out.Folded = v.words.counted("folded.values", count)
	}
	return out
}

// filePart names a file. Nobody fetches it but a person who follows the link (spec §4.2, §9.6).
func (v *visit) filePart(f *ma2h.File) part {
	t := targetOf(f.URI)
	p := part{Kind: "file", Name: clean(f.Name), Type: clean(f.MIMEType), Link: t}
	if t.Host == "" {
		p.Address = clean(f.URI)
	}
	p.Name = p.Name.or(string(clean(f.URI).short(120)))
	return p
}

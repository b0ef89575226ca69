package inbox

import (
	"html/template"
	"strings"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// data is a JSON value as it is shown: as the list, the pairs, the text or the number that it is.
type data struct {
	Pairs []pair
	Items []*data
	Text  theirs
	Link  target // of a text that is an address
	Kind  string // pairs, items, text, word (a number, a boolean, null), empty, raw or secret
	Lines bool   // the text has several
	Meant theirs // what a choice is called, where that is not its value
}

type pair struct {
	Name  theirs
	Value *data
}

// maxNesting is how deep data is laid out; what lies deeper is shown as JSON, since nothing would be left of the width.
const maxNesting = 5

func newData(n *node, depth int) *data {
	switch {
	case n == nil:
		return &data{Kind: "secret"}
	case n.kind == '"' && n.text == "":
		return &data{Kind: "empty", Text: `""`}
	case n.kind == '"':
		t := cleanLines(n.text)
		return &data{Kind: "text", Text: t, Link: wholeLink(n.text), Lines: strings.Contains(n.text, "\n")}
	case n.kind != '{' && n.kind != '[':
		return &data{Kind: "word", Text: clean(string(n.raw))}
	case len(n.members)+len(n.items) == 0:
		return &data{Kind: "empty", Text: theirs(n.raw)}
	case depth >= maxNesting:
		return &data{Kind: "raw", Text: cleanLines(string(n.raw))}
	}
	d := &data{Kind: "pairs"}
	for _, m := range n.members {
		d.Pairs = append(d.Pairs, pair{Name: clean(m.name).or(`""`), Value: newData(m.value, depth+1)})
	}
	if n.kind == '[' {
		d.Kind = "items"
	}
	for _, v := range n.items {
		d.Items = append(d.Items, newData(v, depth+1))
	}
	return d
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
	Kind    string // text, data or file
	Text    theirs
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

func (v *visit) parts(list []ma2h.Part) []part {
	var out []part
	for _, p := range list {
		switch {
		case p.Kind == "data":
			out = append(out, v.dataPart(p))
		case p.Kind == "file" && p.File != nil:
			out = append(out, v.filePart(p.File))
		default:
			out = append(out, v.textPart(p.Text))
		}
	}
	return out
}

func (v *visit) textPart(s string) part {
	p := part{Kind: "text", Text: cleanLines(strings.TrimRight(s, "\r\n"))}
	if n := strings.Count(string(p.Text), "\n") + 1; n > longLines || len(p.Text) > longChars {
		p.Folded = v.words.counted("folded.lines", n)
	}
	return p
}

func (v *visit) dataPart(p ma2h.Part) part {
	n, err := parseNode(p.Data)
	if err != nil {
		return v.textPart(string(p.Data)) // the hub took only JSON
	}
	out := part{Kind: "data", Data: newData(n, 0)}
	if count := n.leaves(); count > longLeaves {
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

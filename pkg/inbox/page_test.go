package inbox_test

import (
	"strings"

	"golang.org/x/net/html"
)

// find returns the elements of that name whose attribute has that value, all of the name without an attribute, and all
// with the attribute without a name.
func (a *answer) find(name, attribute, value string) []*html.Node {
	var out []*html.Node
	for n := range a.root.Descendants() {
		if n.Type != html.ElementNode || name != "" && n.Data != name {
			continue
		}
		if attribute == "" || attr(n, attribute) == value {
			out = append(out, n)
		}
	}
	return out
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is what a person reads of a node.
func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// says holds the page to what a person should read on it.
func (a *answer) says(texts ...string) *answer {
	a.t.Helper()
	page := text(a.root)
	for _, s := range texts {
		if !strings.Contains(page, s) {
			a.t.Errorf("the page does not say %q; it says:\n%s", s, page)
		}
	}
	return a
}

func (a *answer) lacks(texts ...string) *answer {
	a.t.Helper()
	for _, s := range texts {
		if strings.Contains(text(a.root), s) {
			a.t.Errorf("the page says %q", s)
		}
	}
	return a
}

func (a *answer) is(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status = %d, want %d; the page says:\n%s", a.status, status, text(a.root))
	}
	return a
}

package inbox_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

func TestACommentComesBeforeTheChoicesAndDecliningAfter(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	many := `"mode":"select","options":[{"value":"a"},{"value":"b"},{"value":"c"},{"value":"d"},{"value":"e"}]`
	for _, request := range []string{`"mode":"confirm"`, many, `"mode":"input","schema":{"properties":{"a":{}}}`} {
		p := r.get("/inbox/" + r.ask("Q", request))
		p.says("Comment, sent with your answer (optional)")
		var order []string
		for n := range p.root.Descendants() {
			switch {
			case n.Data == "textarea" && attr(n, "name") == "comment":
				order = append(order, "comment")
			case attr(n, "value") == "decline":
				order = append(order, "decline")
			case attr(n, "name") == "do" && attr(n, "value") != "json":
				order = append(order, "choice")
			}
		}
		if got := slices.Compact(order); !cmp.Equal(got, []string{"comment", "choice", "decline"}) {
			t.Errorf("with %s the order is %v, want the comment, the choices, declining", request, got)
		}
		if in := p.find("form", "id", "form"); len(in) != 1 {
			t.Fatal("the page has no form")
		}
		for _, name := range []string{"comment", "do"} {
			for _, n := range p.find("", "name", name) {
				if attr(n, "form") != "form" && !within(n, "form") {
					t.Errorf("%s belongs to no form", render(n))
				}
			}
		}
	}
}

func within(n *html.Node, name string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Data == name {
			return true
		}
	}
	return false
}

package inbox_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// apart holds a page to what keeps alike things apart for who hears it, whatever others call theirs: no two landmarks of a
// kind have one name, and of what acts on one entry of a list none is called as another is, unless a line of its entry is
// read with it.
func (a *answer) apart() {
	a.t.Helper()
	seen := map[string]bool{}
	once := func(what string) {
		if seen[what] {
			a.t.Errorf("two of a kind have one name: %s", what)
		}
		seen[what] = true
	}
	for n := range a.root.Descendants() {
		switch n.Data {
		case "nav", "main":
			once(n.Data + " " + a.label(n))
		case "section", "form":
			if name := a.label(n); name != "" || attr(n, "role") != "" {
				once(n.Data + " " + attr(n, "role") + " " + name)
			}
		case "button", "summary":
			inEntry := hasAbove(n, "li", "") && hasAbove(n, "ul", "roll")
			if inEntry && (n.Data == "summary" || !hasAbove(n, "details", "")) { // and else the summary says which it is
				once(n.Data + " " + text(n) + " " + attr(n, "aria-describedby"))
			}
		}
	}
}

// label is the name that an element got by an attribute.
func (a *answer) label(n *html.Node) string {
	name := attr(n, "aria-label")
	for id := range strings.FieldsSeq(attr(n, "aria-labelledby")) {
		for _, by := range a.find("", "id", id) {
			name += text(by)
		}
	}
	return name
}

func hasAbove(n *html.Node, element, class string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Data == element && (class == "" || slices.Contains(strings.Fields(attr(p, "class")), class)) {
			return true
		}
	}
	return false
}

// TestEqualNamesAreKeptApart: every page with a list has entries of one name twice, and is held to apart.
func TestEqualNamesAreKeptApart(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	const choose = `"mode":"select","permissions":{"allow_edit":true},"options":[{"value":"ship"},{"value":"hold"}]`
	var open string
	for range 2 {
		open = r.ask("Again?", choose)
		r.send(`"type":"ask","title":"Again?","request":{"mode":"confirm","allowed_resolvers":["human:grace"]}`)
		r.send(`"type":"ask","title":"Again?","request":{"mode":"confirm"}`)
		r.send(`"type":"notify","title":"Again!"`)
		r.reply(r.ask("Again?", choose), url.Values{"do": {"option:0"}}).is(http.StatusSeeOther)
		r.visitor().signIn()
		r.post("/settings", "/settings/tokens", url.Values{"name": {"laptop"}}).is(http.StatusOK)
		r.post("/people", "/people/invitations", url.Values{"name": {"linus"}, "role": {"member"}}).is(http.StatusOK)
	}
	for path, names := range map[string]string{
		"/inbox": "Again?", "/inbox/" + open: "Again?", "/history": "Again?", "/agents": "deploybot/dev-team",
		"/people": "the invitation of linus", "/settings": "laptop",
	} {
		p := r.get(path).is(http.StatusOK)
		if n := strings.Count(text(p.root), names); n < 2 && path != "/agents" && path != "/people" {
			t.Errorf("%s says %q %d times, want it twice at least", path, names, n)
		}
		for _, f := range p.find("form", "class", "quick") {
			if group := f.Parent; path == "/inbox" && attr(f, "action") == "/inbox/"+open && attr(group, "aria-label") != "Answers to: Again?" {
				t.Errorf("the answers of a row are within %s, want a group that names them", render(group))
			}
		}
	}
}

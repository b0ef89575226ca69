package inbox_test

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// sound holds a page to what every page promises, whatever an agent sent: nothing that runs, nothing from elsewhere, and
// a structure that a person who does not see can follow.
func (a *answer) sound() {
	a.t.Helper()
	ids := map[string]bool{}
	headings := 0
	for n := range a.root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		a.harmless(n)
		if id := attr(n, "id"); id != "" {
			if ids[id] {
				a.t.Errorf("two elements have the id %q", id)
			}
			ids[id] = true
		}
		if n.Data == "h1" {
			headings++
		}
		a.named(n)
	}
	if headings != 1 {
		a.t.Errorf("the page has %d h1, want one", headings)
	}
	a.referred(ids)
	a.apart()
	if lang := attr(a.find("html", "", "")[0], "lang"); lang != "en" {
		a.t.Errorf("lang = %q, want en", lang)
	}
	csp := a.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'self'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
		"base-uri 'none'", "form-action 'self'", "img-src 'self'"} {
		if !strings.Contains(csp, want) {
			a.t.Errorf("the policy %q lacks %q", csp, want)
		}
	}
	if strings.Contains(csp, "unsafe") || a.header.Get("X-Content-Type-Options") != "nosniff" ||
		a.header.Get("Cache-Control") != "no-store" || a.header.Get("Referrer-Policy") == "" {
		a.t.Errorf("headers are not strict: %v", a.header)
	}
}

// allowed are the elements that pages are made of.
var allowed = strings.Fields(`html head meta title link body a header img nav span main article section h1 h2 h3 h4 h5 h6
	p ul ol li dl dt dd div pre code form input button textarea select option label fieldset legend details summary strong
	em small kbd bdi time blockquote ins del br hr table thead tbody tr th td`)

// harmless: no element that runs or embeds, no attribute that acts or styles, and nothing loaded from elsewhere.
func (a *answer) harmless(n *html.Node) {
	a.t.Helper()
	if !slices.Contains(allowed, n.Data) && !ourScript(n) {
		a.t.Errorf("the page has a <%s>", n.Data)
	}
	for _, at := range n.Attr {
		key := strings.ToLower(at.Key)
		if strings.HasPrefix(key, "on") || key == "style" || key == "srcset" || key == "formaction" || key == "ping" {
			a.t.Errorf("<%s> has the attribute %s=%q", n.Data, at.Key, at.Val)
		}
		ours := strings.HasPrefix(at.Val, "/") && !strings.HasPrefix(at.Val, "//") || strings.HasPrefix(at.Val, "#")
		switch {
		case key == "src" || key == "action" || key == "href" && n.Data == "link":
			if !ours {
				a.t.Errorf("<%s> loads %q", n.Data, at.Val)
			}
		case key == "href" && !ours:
			a.leadsAway(n, at.Val)
		}
	}
}

var scriptPath = regexp.MustCompile(`^(/[a-z/]+)?/static/(inbox|keys)\.[0-9a-f]{12}\.js$`)

// ourScript says whether an element is the one script that pages have: a file of ours, and nothing within.
func ourScript(n *html.Node) bool {
	return n.Data == "script" && n.Parent.Data == "head" && n.FirstChild == nil && scriptPath.MatchString(attr(n, "src"))
}

// leadsAway: a link elsewhere is one of the web or of mail, and tells nobody where it was followed.
func (a *answer) leadsAway(n *html.Node, to string) {
	a.t.Helper()
	lower := strings.ToLower(to)
	if !strings.HasPrefix(lower, "https://") && !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "mailto:") {
		a.t.Errorf("a link leads to %q", to)
	}
	for _, rel := range []string{"nofollow", "noopener", "noreferrer"} {
		if strings.HasPrefix(lower, "http") && !strings.Contains(attr(n, "rel"), rel) {
			a.t.Errorf("a link to %q has rel %q, want %s in it", to, attr(n, "rel"), rel)
		}
	}
}

// named: whatever a person works with has a name, and whatever acts carries the session's token.
func (a *answer) named(n *html.Node) {
	a.t.Helper()
	switch n.Data {
	case "a", "button", "summary":
		if text(n) == "" {
			a.t.Errorf("a %s has no name", n.Data)
		}
	case "form":
		if attr(n, "method") == "get" && !strings.Contains(render(n), "csrf") {
			return // it asks for a page, whose address holds no token
		}
		if attr(n, "method") != "post" || !strings.Contains(render(n), `name="csrf"`) {
			a.t.Errorf("a form does not post, or has no token: %s", render(n))
		}
	case "input", "textarea", "select":
		if attr(n, "type") != "hidden" && !labelled(a, n) {
			a.t.Errorf("a control has no label: %s", render(n))
		}
	}
}

func labelled(a *answer, n *html.Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Data == "label" {
			return text(p) != ""
		}
	}
	labels := a.find("label", "for", attr(n, "id"))
	return attr(n, "id") != "" && len(labels) == 1 && text(labels[0]) != ""
}

// referred: what an attribute refers to is there.
func (a *answer) referred(ids map[string]bool) {
	a.t.Helper()
	for n := range a.root.Descendants() {
		for _, key := range []string{"aria-labelledby", "aria-describedby", "for", "form"} {
			for id := range strings.FieldsSeq(attr(n, key)) {
				if !ids[id] {
					a.t.Errorf("%s=%q refers to nothing", key, id)
				}
			}
		}
		if to, ok := strings.CutPrefix(attr(n, "href"), "#"); ok && !ids[to] {
			a.t.Errorf("a link leads to #%s, which is not there", to)
		}
	}
}

func render(n *html.Node) string {
	var b strings.Builder
	if err := html.Render(&b, n); err != nil {
		return err.Error()
	}
	return b.String()
}

package inbox_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/html"
)

// sheet is a form as a browser has it: what is rendered, and what a person does to it, who goes by what they read.
type sheet struct {
	t      *testing.T
	page   *answer
	values url.Values
}

// open takes over what the controls of the rendered form hold, as a browser does (HTML, "constructing the entry list").
func open(t *testing.T, p *answer) *sheet {
	t.Helper()
	forms := p.find("form", "id", "form")
	if len(forms) != 1 {
		t.Fatalf("the page has %d forms to answer with", len(forms))
	}
	s := &sheet{t: t, page: p, values: url.Values{}}
	for n := range p.root.Descendants() {
		if n.Type != html.ElementNode || attr(n, "name") == "" || !within(n, "form") && attr(n, "form") != "form" {
			continue
		}
		name := attr(n, "name")
		switch n.Data {
		case "input":
			kind := attr(n, "type")
			if (kind == "radio" || kind == "checkbox") && !hasAttr(n, "checked") {
				continue
			}
			s.values.Add(name, held(kind, attr(n, "value")))
		case "textarea":
			s.values.Add(name, strings.ReplaceAll(rawText(n), "\n", "\r\n"))
		case "select":
			s.values.Add(name, selected(n))
		}
	}
	return s
}

// held is what an input holds of a value (HTML, "value sanitization algorithm").
func held(kind, value string) string {
	if kind == "hidden" || kind == "radio" || kind == "checkbox" {
		return value
	}
	value = strings.NewReplacer("\r", "", "\n", "").Replace(value)
	forms := map[string][]string{"date": {"2006-01-02"}, "time": {"15:04:05", "15:04"}, "datetime-local": {"2006-01-02T15:04:05", "2006-01-02T15:04"}}[kind]
	if forms == nil {
		return value
	}
	for _, form := range forms {
		if t, err := time.Parse(form, value); err == nil && (kind == "time" || t.Year() > 0) {
			return strings.TrimSuffix(value, map[bool]string{true: ":00"}[form == forms[0] && kind != "date"])
		}
	}
	return ""
}

func selected(n *html.Node) string {
	value, found := "", false
	for o := range n.Descendants() {
		if o.Data == "option" && o.Type == html.ElementNode && (!found || hasAttr(o, "selected")) {
			value, found = attr(o, "value"), true
		}
	}
	return value
}

// control finds what a path of labels names, such as "Customer/Address/Street" or "Tags/2": fieldsets by their legends,
// rows by their numbers, and the last by its label.
func (s *sheet) control(path string) *html.Node {
	s.t.Helper()
	at := s.page.find("form", "id", "form")[0]
	steps := strings.Split(path, "/")
	for i := 0; i < len(steps); i++ {
		step := steps[i]
		found := inner(at, step, i == len(steps)-1)
		for found == nil && i < len(steps)-1 { // a label with a slash in it
			i++
			step += "/" + steps[i]
			found = inner(at, step, i == len(steps)-1)
		}
		if found == nil {
			s.t.Fatalf("nothing on the form is labelled %q, of %q; it says:\n%s", step, path, text(at))
		}
		at = found
	}
	return at
}

// inner finds the nearest thing below n with that label. A number is the element of an array.
func inner(n *html.Node, label string, last bool) *html.Node {
	for d := range n.Descendants() {
		if d.Type != html.ElementNode || d.Data != "legend" && d.Data != "label" {
			continue
		}
		said := strings.TrimSuffix(text(d), " optional")
		if said != label && !strings.HasSuffix(said, ", number "+label) {
			continue
		}
		switch {
		case d.Data == "legend":
			return d.Parent
		case attr(d, "for") != "" && last:
			return byID(n, attr(d, "for"))
		}
	}
	return nil
}

func byID(n *html.Node, id string) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && attr(d, "id") == id {
			return d
		}
	}
	return nil
}

// fill types into a control, picks a choice by its label, or ticks boxes by theirs, parted by |.
func (s *sheet) fill(path, typed string) {
	s.t.Helper()
	n := s.control(path)
	name := attr(n, "name")
	switch n.Data {
	case "input", "textarea":
		s.values.Set(name, strings.ReplaceAll(typed, "\n", "\r\n"))
	case "select":
		s.values.Set(name, s.option(n, typed))
	case "fieldset":
		s.pick(n, typed)
	default:
		s.t.Fatalf("%s is a <%s>", path, n.Data)
	}
}

func (s *sheet) option(n *html.Node, label string) string {
	s.t.Helper()
	for o := range n.Descendants() {
		if o.Data == "option" && text(o) == label {
			return attr(o, "value")
		}
	}
	s.t.Fatalf("no option reads %q in %s", label, text(n))
	return ""
}

func (s *sheet) pick(n *html.Node, labels string) {
	s.t.Helper()
	cleared := map[string]bool{}
	for label := range strings.SplitSeq(labels, "|") {
		found := false
		for d := range n.Descendants() {
			if d.Data != "label" || text(d) != label {
				continue
			}
			for in := range d.Descendants() {
				if in.Data != "input" || in.Type != html.ElementNode {
					continue
				}
				name := attr(in, "name")
				if !cleared[name] {
					s.values.Del(name)
					cleared[name] = true
				}
				s.values.Add(name, attr(in, "value"))
				found = true
			}
			break
		}
		if !found {
			s.t.Fatalf("nothing to pick reads %q in %s", label, text(n))
		}
	}
}

// press sends the form with a button, as a browser does.
func (s *sheet) press(r *rig, id, do string) *answer {
	s.t.Helper()
	found := false
	for _, b := range s.page.find("button", "name", "do") {
		found = found || attr(b, "value") == do
	}
	if !found {
		s.t.Fatalf("no button does %q", do)
	}
	s.values.Set("do", do)
	return r.do(r.browser, http.MethodPost, "/inbox/"+id, s.values, map[string]string{"Sec-Fetch-Site": "same-origin"})
}

// compact writes JSON without blanks, and changes nothing else: no number is rounded, no member moves.
func compact(t *testing.T, v string) string {
	t.Helper()
	out := jsontext.Value(v)
	if err := out.Compact(jsontext.PreserveRawStrings(true), jsontext.CanonicalizeRawFloats(false)); err != nil {
		t.Fatalf("%s: %v", v, err)
	}
	return string(bytes.TrimSpace(out))
}

// formCase is one schema with what a person types: a wrong entry first, which is said where it stands, then the right ones.
type formCase struct {
	name, schema string
	wrong        [4]string   // where, what, what the page says of it, and at what else it says that; none where nothing can be wrong
	typed        [][2]string // where and what
	want         string      // what the agent gets
}

func TestFormsOfEverySchema(t *testing.T) {
	t.Parallel()
	if n := len(formCases()); n < 40 {
		t.Fatalf("%d schemas, want 40 at least", n)
	}
	for _, c := range formCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c formCase) run(t *testing.T) {
	r := signedIn(t)
	id := r.form(c.schema)
	s := open(t, r.get("/inbox/"+id).is(http.StatusOK))
	if c.wrong[0] != "" {
		for _, e := range c.typed {
			s.fill(e[0], e[1])
		}
		s.fill(c.wrong[0], c.wrong[1])
		p := s.press(r, id, "send").is(http.StatusUnprocessableEntity)
		c.saysWhere(t, p)
		if r.detail(id) != nil {
			t.Fatal("the wrong entry was sent")
		}
		s = open(t, p)
	}
	for _, e := range c.typed {
		s.fill(e[0], e[1])
	}
	s.press(r, id, "send").is(http.StatusSeeOther)
	if got, want := compact(t, string(r.pulled(id))), compact(t, c.want); got != want {
		t.Errorf("the agent gets\n%s, want\n%s", got, want)
	}
	r.get("/inbox/" + id).is(http.StatusOK)
}

// saysWhere holds the page to saying what is wrong at the field, and to a link that leads there.
func (c formCase) saysWhere(t *testing.T, p *answer) {
	t.Helper()
	s := &sheet{t: t, page: p}
	at := cmp.Or(c.wrong[3], c.wrong[0])
	n := s.control(at)
	id := attr(n, "id")
	said := p.find("p", "id", id+"-wrong")
	if len(said) != 1 || !strings.Contains(text(said[0]), c.wrong[2]) {
		t.Errorf("at %s the page does not say %q; it says %v in:\n%s", at, c.wrong[2], said, text(p.root))
	}
	if attr(n, "aria-invalid") != "true" || !strings.Contains(attr(n, "aria-describedby"), id+"-wrong") {
		t.Errorf("%s is not said to be wrong: %s", at, render(n))
	}
	if len(p.find("a", "href", "#"+id)) != 1 {
		t.Errorf("no link leads to %s", at)
	}
	n = s.control(c.wrong[0])
	if kind := attr(n, "type"); n.Data == "input" && kind != "password" && attr(n, "value") != c.wrong[1] {
		t.Errorf("%s holds %q, want what was typed, %q", c.wrong[0], attr(n, "value"), c.wrong[1])
	}
}

// nest wraps a property in n objects, each required.
func nest(n int, property string) string {
	s := `{"type":"object","properties":{"leaf":` + property + `},"required":["leaf"]}`
	for i := n - 1; i > 0; i-- {
		s = fmt.Sprintf(`{"type":"object","properties":{"l%d":%s},"required":["l%d"]}`, i, s, i)
	}
	return s
}

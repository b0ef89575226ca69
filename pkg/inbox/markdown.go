package inbox

import (
	"bytes"
	"html/template"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// markdown renders what agents write. Two parts keep it harmless, each by itself: the renderer writes no HTML that is not
// its own, and the policy lets through only what is listed (spec §9.6).
type markdown struct {
	convert goldmark.Markdown
	policy  *bluemonday.Policy
}

func newMarkdown() *markdown {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "strong", "em", "del", "code", "pre", "blockquote", "ul", "ol", "li", "hr",
		"h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^host$`)).OnElements("span")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	table := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))
	return &markdown{
		policy: p,
		convert: goldmark.New(
			goldmark.WithExtensions(table, extension.Strikethrough, extension.Linkify),
			goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(plainer{}, 1)))),
	}
}

// html renders Markdown. What would take too long, or fails, stands as it is.
func (m *markdown) html(source string) template.HTML {
	var out bytes.Buffer
	if !tame(source) || m.convert.Convert([]byte(source), &out) != nil {
		out.Reset()
		out.WriteString("<pre>" + template.HTMLEscapeString(source) + "</pre>")
	}
	safe := m.policy.SanitizeBytes(out.Bytes())
	// Last, since a character reference in the source is a character only now.
	return template.HTML(cleanLines(string(safe))) //nolint:gosec // the policy let it through
}

// How long a text may be, how many brackets, backticks and marks of emphasis it may have, how many nested quotes and lists
// a line may open, and how many cells its lines could make of a table: the parser's time grows with the square of some, a
// row of a table is filled up to the width of its head, and an agent must not keep a person waiting.
const (
	maxMarkdown  = 64 << 10
	maxBrackets  = 1000
	maxBackticks = 8000
	maxEmphasis  = 6000
	maxNested    = 32
	maxCells     = 20_000
)

// tame says whether Markdown is rendered in a moment.
func tame(source string) bool {
	emphasis := strings.Count(source, "*") + strings.Count(source, "_") + strings.Count(source, "~")
	if len(source) > maxMarkdown || emphasis > maxEmphasis ||
		strings.Count(source, "[") > maxBrackets || strings.Count(source, "`") > maxBackticks {
		return false
	}
	lines, columns := 0, 0
	for line := range strings.Lines(source) {
		lines, columns = lines+1, max(columns, strings.Count(line, "|"))
		if marker.FindString(line) != "" {
			return false
		}
	}
	return lines*columns <= maxCells
}

var marker = regexp.MustCompile(`^([ \t]*(>|([-+*]|\d{1,9}[.)])[ \t])){` + strconv.Itoa(maxNested) + `}`)

// plainer renders what could lead away or pretend to be ours: links say where they go, images are links, HTML is text,
// and headings stay below those of the page.
type plainer struct{}

// RegisterFuncs is how goldmark learns of it.
func (p plainer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, p.link)
	r.Register(ast.KindAutoLink, p.autoLink)
	r.Register(ast.KindImage, p.image)
	r.Register(ast.KindRawHTML, p.rawHTML)
	r.Register(ast.KindHTMLBlock, p.htmlBlock)
	r.Register(ast.KindHeading, p.heading)
}

func (plainer) link(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	destination := string(n.(*ast.Link).Destination) // registered for this kind
	t := targetOf(destination)
	switch {
	case entering && t.Host != "":
		_, _ = w.WriteString(`<a href="` + template.HTMLEscapeString(t.URL) + `">`)
		if clean(textOf(n, source)).blank() {
			_, _ = w.WriteString(template.HTMLEscapeString(t.URL)) // or nobody could see or press it
		}
	case !entering && t.Host != "":
		_, _ = w.WriteString("</a>" + hostMark(string(t.Host)))
	case !entering:
		_, _ = w.WriteString(hostMark(destination))
	}
	return ast.WalkContinue, nil
}

func (plainer) autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	link := n.(*ast.AutoLink) // registered for this kind
	label := string(link.Label(source))
	destination := string(link.URL(source))
	if link.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(destination), "mailto:") {
		destination = "mailto:" + destination
	}
	writeLink(w, destination, label)
	return ast.WalkContinue, nil
}

func writeLink(w util.BufWriter, destination, label string) {
	t := targetOf(destination)
	if t.Host == "" {
		_, _ = w.WriteString(template.HTMLEscapeString(label))
		return
	}
	_, _ = w.WriteString(`<a href="` + template.HTMLEscapeString(t.URL) + `">` + template.HTMLEscapeString(label) + "</a>")
	if !t.SaidBy(theirs(label)) {
		_, _ = w.WriteString(hostMark(string(t.Host)))
	}
}

func (plainer) image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	image := n.(*ast.Image) // registered for this kind
	alt := strings.TrimSpace(textOf(image, source))
	if clean(alt).blank() {
		alt = string(image.Destination)
	}
	destination := string(image.Destination)
	if within(image, ast.KindLink) {
		_, _ = w.WriteString(template.HTMLEscapeString(alt)) // no link can hold another
		return ast.WalkSkipChildren, nil
	}
	writeLink(w, destination, alt)
	if targetOf(destination).Host == "" && alt != destination {
		_, _ = w.WriteString(hostMark(destination))
	}
	return ast.WalkSkipChildren, nil
}

// within says whether a node lies in one of that kind.
func within(n ast.Node, kind ast.NodeKind) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == kind {
			return true
		}
	}
	return false
}

// textOf is the text below a node, without its marks.
func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		} else {
			b.WriteString(textOf(c, source))
		}
	}
	return b.String()
}

func (plainer) rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		segments := n.(*ast.RawHTML).Segments // registered for this kind
		for i := range segments.Len() {
			s := segments.At(i)
			_, _ = w.WriteString(template.HTMLEscapeString(string(s.Value(source))))
		}
	}
	return ast.WalkSkipChildren, nil
}

func (plainer) htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.HTMLBlock) // registered for this kind
	_, _ = w.WriteString("<pre>")
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		_, _ = w.WriteString(template.HTMLEscapeString(string(line.Value(source))))
	}
	if block.HasClosure() {
		_, _ = w.WriteString(template.HTMLEscapeString(string(block.ClosureLine.Value(source))))
	}
	_, _ = w.WriteString("</pre>\n")
	return ast.WalkContinue, nil
}

func (plainer) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	level := min(n.(*ast.Heading).Level+2, 6) // registered for this kind
	tag := "h" + strconv.Itoa(level) + ">"
	if entering {
		_, _ = w.WriteString("<" + tag)
	} else {
		_, _ = w.WriteString("</" + tag + "\n")
	}
	return ast.WalkContinue, nil
}

// target is where a link leads.
type target struct {
	URL  string
	Host theirs // empty for what is no link to somewhere else on the web

	mail string // the address that a link to a mail is for
}

// targetOf reads an address. Only the web and mail are led to; a relative one would lead into these pages.
func targetOf(address string) target {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		return target{}
	case strings.EqualFold(u.Scheme, "mailto") && u.Opaque != "":
		return target{URL: u.String(), Host: "mailto", mail: u.Opaque}
	case (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")) && u.Host != "":
		return target{URL: u.String(), Host: honest(u.Host)}
	}
	return target{}
}

// honest writes a host so that no letter of another script passes for one of ours.
func honest(host string) theirs {
	quoted := strconv.QuoteToASCII(host)
	return clean(quoted[1 : len(quoted)-1])
}

// SaidBy says whether a label already begins with where the link leads.
func (t target) SaidBy(label theirs) bool {
	if t.mail != "" {
		return string(label) == t.mail
	}
	_, rest, ok := strings.Cut(string(label), "://")
	if !ok {
		rest = string(label)
	}
	return rest == string(t.Host) || strings.HasPrefix(rest, string(t.Host)+"/")
}

func hostMark(host string) string {
	return ` <span class="host">(` + template.HTMLEscapeString(string(clean(host))) + `)</span>`
}

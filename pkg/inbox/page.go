package inbox

import (
	"bytes"
	"embed"
	"html/template"
	"net"
	"net/http"
	"strings"
	"sync"
)

//go:embed templates/*.html
var templateFiles embed.FS

// page is what every page has, with its own part as Body.
type page struct {
	Title   string // of the tab
	Here    string // which entry of the navigation is this one
	Person  theirs // who is signed in, or empty
	Owns    bool   // whether the person is an owner of the account
	Waiting string // how many messages wait, or empty
	CSRF    string
	CSS     string
	Scripts []string
	Icon    string
	Touch   string // the icon of a phone's home screen, which takes no SVG
	Live    live
	Notice  *notice // nil when nothing has just been done
	Body    any
}

// notice says what has just been done, and where to see it.
type notice struct {
	Text, Name template.HTML
	Path       string
}

func (v *visit) page(here, title string, body any) *page {
	p := &page{
		Title: v.words.plain("tab", title), Here: here, CSRF: v.csrf(), Body: body,
		CSS: v.in.assets.path(styleSheet), Icon: v.in.assets.path("icon.svg"), Touch: v.in.assets.path("touch.png"),
		Scripts: []string{v.in.assets.path("inbox.js"), v.in.assets.path("keys.js")},
	}
	if v.caller != nil {
		p.Person, p.Owns = clean(v.caller.Person.ID), v.caller.Owns()
		p.Notice = v.becameAnother()
	}
	if here == "signin" || here == "join" {
		p.CSRF = v.openCSRF()
	}
	return p
}

// parsePages parses what all pages share, and each page with it once it is asked for: a function is ready sooner, and makes few of
// them.
func parsePages(words catalogue, c Config) map[string]func() *template.Template {
	functions := template.FuncMap{
		"t": words.html, "n": words.counted, "give": give, "inc": func(i int) int { return i + 1 },
		"command": c.command, "folder": c.folder, "link": c.link, "operate": c.operate,
	}
	shared := template.Must(template.New("shared").Funcs(functions).ParseFS(templateFiles,
		"templates/layout.html", "templates/rows.html", "templates/parts.html", "templates/form.html", "templates/snippet.html"))
	pages := map[string]func() *template.Template{}
	for _, name := range []string{
		"list", "message", "history", "agents", "agent", "token", "revoke", "stop", "thread", "told", "mail", "settings", "signin", "plain", "join", "people", "keys",
	} {
		pages[name] = sync.OnceValue(func() *template.Template {
			return template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, "templates/"+name+".html"))
		})
	}
	return pages
}

// give hands a part of a page what it needs beside the page's token.
func give(csrf string, v any) map[string]any { return map[string]any{"CSRF": csrf, "V": v} }

// render writes a page. It is made whole before any of it is sent, so that a fault cannot leave half a page.
func (v *visit) render(status int, name string, p *page) {
	var out bytes.Buffer
	if err := v.in.pages[name]().ExecuteTemplate(&out, "page", p); err != nil {
		v.in.config.Log.ErrorContext(v.r.Context(), "page not rendered", "page", name, "err", err)
		http.Error(v.w, v.words.plain("internal_error.text"), http.StatusInternalServerError)
		return
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if status == http.StatusOK && v.unchanged(out.Bytes()) {
		return
	}
	v.w.WriteHeader(status)
	_, _ = v.w.Write(v.in.based(out.Bytes())) // which goes nowhere for a HEAD
}

// plainView is a page of one heading and one sentence.
type plainView struct{ Heading, Text template.HTML }

// say writes such a page from the catalogue.
func (v *visit) say(status int, key string) {
	v.render(status, "plain", v.page("", v.words.plain(key+".title"),
		plainView{Heading: v.words.html(key + ".title"), Text: v.words.html(key + ".text")}))
}

// setHeaders closes the page to everything that is not ours.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
		"object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// stayOnHTTPS tells the browser to come by https alone for a year, unless all that runs on a machine goes by this name.
func (in *Inbox) stayOnHTTPS(h http.Header, r *http.Request) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if in.config.Secure && host != "localhost" && !strings.HasSuffix(host, ".localhost") {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

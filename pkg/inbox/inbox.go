// Package inbox is the web inbox: the list of what waits for a person, one message with what is needed to decide it, and
// the answer. The pages are rendered here and work without JavaScript. They never show HTML of an agent, load nothing
// from another origin, and act on nothing but a POST that a page of ours sent (spec §9.1, §9.6).
package inbox

import (
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/hub"
)

// Config is what an Inbox needs.
type Config struct {
	// Hub returns the hub of a request, or an error for one whose hub is unknown.
	Hub func(*http.Request) (*hub.Hub, error)

	// Log gets the errors that are ours, with ids and codes only.
	Log *slog.Logger

	// Secure says that people reach the pages over https, so that the cookie of a session never travels in the clear.
	Secure bool

	// Base is the path below which people reach the pages, such as /mash in https://example.com/mash: with a slash before it
	// and none behind, or empty. Handler itself serves without it, see httpapi.Below.
	Base string

	// Stream says that a request may be held open for long, so that pages are told at once of what changes. Where it is
	// false they look again now and then.
	Stream bool

	// Stopping, when closed, ends what is held open. Nil means never.
	Stopping <-chan struct{}

	// Command is what the reader of a page types to run mash, as it stands in a shell, such as bin/mash; empty means mash.
	Command string

	// Folder is the data folder that a command must name with --data to reach this hub, or empty when it finds it by itself.
	// It is shown to whoever reaches the page that says how to sign in.
	Folder string

	// Stack is the stack of a hub on AWS, which mash-aws must name with --stack to make a link or a token, and empty where
	// mash does that on the machine that the hub runs on. It is shown as Folder is.
	Stack string
}

// Inbox serves the pages.
type Inbox struct {
	config   Config
	words    catalogue
	pages    map[string]func() *template.Template
	assets   assets
	markdown *markdown
	doors    *doors
	streams  streams
}

// New returns the inbox of a hub.
func New(c Config) *Inbox {
	in := &Inbox{config: c, words: english(), assets: loadAssets(), markdown: newMarkdown(), doors: newDoors()}
	in.pages = parsePages(in.words, c)
	return in
}

// route is one page or deed.
type route struct {
	method, path string
	handle       func(*visit) error
	open         bool // to those who are not signed in, too
}

// routes are all pages and deeds, each listed in the file that is about it.
func routes() []route {
	return slices.Concat(
		messageRoutes(),
		callbackRoutes(),
		historyRoutes(),
		agentRoutes(),
		stopRoutes(),
		threadRoutes(),
		mailRoutes(),
		liveRoutes(),
		tryRoutes(),
		keysRoutes(),
		doorRoutes(),
		settingsRoutes(),
		peopleRoutes(),
	)
}

// messageRoutes are the list and its messages.
func messageRoutes() []route {
	return []route{
		{http.MethodGet, "/{$}", (*visit).home, true},
		{http.MethodGet, "/inbox", (*visit).list, false},
		{http.MethodGet, "/inbox/{$}", (*visit).home, true},
		{http.MethodGet, "/inbox/{id}", (*visit).message, false},
		{http.MethodPost, "/inbox/{id}", (*visit).answer, false},
	}
}

// Paths returns the patterns of http.ServeMux under which Handler belongs, where a hub serves more than pages. To a path
// that ends in a slash belongs the one without it.
func Paths() []string {
	return []string{"/{$}", "/inbox/", "/history/", "/agents/", "/in/", "/join/", "/people/", "/settings/", "/signin", "/signout", "/static/", "/keys", "/live/", "/mail/"}
}

// Handler returns everything below Paths. / itself leads to the inbox.
func (in *Inbox) Handler() http.Handler {
	mux := http.NewServeMux()
	allowed := map[string][]string{}
	for _, rt := range routes() {
		allowed[rt.path] = append(allowed[rt.path], rt.method)
		if rt.method == http.MethodGet {
			allowed[rt.path] = append(allowed[rt.path], http.MethodHead)
		}
		mux.HandleFunc(rt.method+" "+rt.path, func(w http.ResponseWriter, r *http.Request) { in.serve(w, r, rt) })
	}
	for path, methods := range allowed {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			in.serve(w, r, route{handle: (*visit).otherMethod, open: true})
		})
	}
	mux.HandleFunc("GET /static/{name}", in.static)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		in.serve(w, r, route{handle: (*visit).nowhere, open: true})
	})
	return mux
}

func (v *visit) home() error {
	http.Redirect(v.w, v.r, "/inbox", http.StatusSeeOther)
	return nil
}

package inbox

import (
	"net/http"
	"slices"
)

// Pages returns the path of every page, as http.ServeMux writes it, each once and in order. A test that looks at pages in
// a browser asks here which there are.
func Pages() []string {
	var pages []string
	for _, rt := range routes() {
		if rt.method == http.MethodGet && !slices.Contains(unseen, rt.path) {
			pages = append(pages, rt.path)
		}
	}
	slices.Sort(pages)
	return slices.Compact(pages)
}

// unseen are the paths whose answers are read by our own script, and are no pages.
var unseen = []string{eventsPath}

// Route is a page or a deed of the inbox.
type Route struct {
	Method, Path string // as http.ServeMux writes them
	Open         bool   // to those who are not signed in, too
}

// Routes returns every page and deed. A test that holds all of them to something asks here which there are.
func Routes() []Route {
	var all []Route
	for _, rt := range routes() {
		all = append(all, Route{rt.method, rt.path, rt.open})
	}
	return all
}

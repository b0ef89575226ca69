package lambdahttp

import (
	"maps"
	"net/http"
)

// answer is the library's ResponseWriter with the manners of net/http: the first status counts and fixes the header, a
// handler that writes nothing has said 200 (to the library it is an error), and there is no body to a HEAD.
type answer struct {
	to     http.ResponseWriter
	header http.Header
	bare   bool // without a body
	begun  bool
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter. Informational statuses have no place in an event and are dropped.
func (a *answer) WriteHeader(status int) {
	if a.begun || status < http.StatusOK {
		return
	}
	a.begun = true
	maps.Copy(a.to.Header(), a.header.Clone())
	a.to.WriteHeader(status)
	a.bare = a.bare || status == http.StatusNoContent || status == http.StatusNotModified
}

// Write implements http.ResponseWriter.
func (a *answer) Write(body []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.bare {
		return len(body), nil
	}
	return a.to.Write(body)
}

package httpapi

import (
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// Paths returns the patterns of http.ServeMux under which Handler belongs, where a hub serves more than endpoints. They are
// for Mount.
func Paths() []string { return []string{"/v1/", "/.well-known/", "/healthz", "/readyz"} }

// Mount is mux.Handle for a path. To one that ends in a slash belongs the path without it: otherwise the mux would send
// whoever asks for that to the other, in HTML.
func Mount(mux *http.ServeMux, pattern string, h http.Handler) {
	mux.Handle(pattern, h)
	if bare, below := strings.CutSuffix(pattern, "/"); below && bare != "" {
		mux.Handle(bare, h)
	}
}

// Unclean answers requests for paths with //, /./ or /../ in them, of which there is none. A ServeMux would send the
// caller to the path that they might have meant, in HTML. Paths are judged as a ServeMux does, before they are decoded: the
// id in one may be anything.
func Unclean(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !clean(r.URL.EscapedPath()) {
			WriteError(log, w, r, nowhere())
			return
		}
		next.ServeHTTP(w, r)
	})
}

func clean(p string) bool {
	want := path.Clean(p)
	if strings.HasSuffix(p, "/") && want != "/" {
		want += "/"
	}
	return p == want
}

func nowhere() error { return ma2h.Errorf(ma2h.CodeNotFound, "There is nothing at this path.") }

// unrouted answers for paths that are no endpoint, for endpoints under another method, and for those that this process
// does not serve.
func (s *Server) unrouted(w http.ResponseWriter, r *http.Request) {
	if allowed := allowedMethods(r); len(allowed) > 0 && !slices.Contains(allowed, r.Method) {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		s.writeError(w, r, ma2h.Errorf(ma2h.CodeMethodNotAllowed, "This path takes %s.", strings.Join(allowed, " or ")))
		return
	}
	s.writeError(w, r, nowhere())
}

// allowedMethods returns the methods under which a path is an endpoint. Whatever takes a GET takes a HEAD.
func allowedMethods(r *http.Request) []string {
	var allowed []string
	for _, e := range endpoint.All() {
		mux := http.NewServeMux()
		mux.HandleFunc(e.Path, func(http.ResponseWriter, *http.Request) {})
		if _, pattern := mux.Handler(r); pattern != e.Path {
			continue
		}
		allowed = append(allowed, e.Method)
		if e.Method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	return allowed
}

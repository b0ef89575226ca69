package inbox

import (
	"net/http"
	"regexp"
	"strings"
)

// localPath finds the attributes of our own pages that hold a path: a quote in a text is always escaped, so that nothing
// else looks like one. A value that begins with two slashes is no path.
var localPath = regexp.MustCompile(`( (?:href|src|action|formaction|data-[a-z-]+)=")(/(?:[^/]|"))`)

// based writes the paths of a page as they are where the pages lie below Base. Templates and handlers know nothing of it.
func (in *Inbox) based(page []byte) []byte {
	if in.config.Base == "" {
		return page
	}
	return localPath.ReplaceAll(page, []byte("${1}"+in.config.Base+"${2}"))
}

// basedWriter does the same for redirects.
type basedWriter struct {
	http.ResponseWriter
	base string
}

// WriteHeader writes the status.
func (w basedWriter) WriteHeader(status int) {
	if to := w.Header().Get("Location"); strings.HasPrefix(to, "/") {
		w.Header().Set("Location", w.base+to)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w basedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Below serves below a base path, which begins with a slash and does not end with one, what handler serves at the root. It
// makes no difference whether a proxy in front takes the base path away. An empty base changes nothing.
func Below(base string, handler http.Handler) http.Handler {
	if base == "" {
		return handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := strings.CutPrefix(r.URL.Path, base)
		raw, okRaw := strings.CutPrefix(r.URL.EscapedPath(), base)
		if !ok || !okRaw || path != "" && path[0] != '/' {
			handler.ServeHTTP(w, r)
			return
		}
		if path == "" {
			path, raw = "/", "/"
		}
		r = r.WithContext(r.Context()) // a copy
		u := *r.URL
		u.Path, u.RawPath = path, raw
		r.URL = &u
		handler.ServeHTTP(w, r)
	})
}

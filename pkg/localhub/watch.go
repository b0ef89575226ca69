package localhub

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/metrics"
)

// watch counts every request and says at the level debug what came of it: by the pattern that it matched, never by its path,
// in which tokens and ids may stand.
func watch(next http.Handler, m *metrics.Metrics, log *slog.Logger) http.Handler {
	names := endpointNames()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m != nil {
			m.Began()
		}
		began, seen := time.Now(), &watched{ResponseWriter: w}
		defer func() {
			took, name := time.Since(began), nameOf(names, r.Pattern)
			if m != nil {
				m.Request(name, seen.code(), took)
			}
			log.DebugContext(r.Context(), "request", "method", methodOf(r), "endpoint", name, "status", seen.code(), "took", took)
		}()
		next.ServeHTTP(seen, r)
	})
}

// endpointNames returns the names of endpoints by their patterns.
func endpointNames() map[string]string {
	names := map[string]string{}
	for _, e := range endpoint.All() {
		names[e.Pattern()] = string(e.Name)
	}
	return names
}

// nameOf returns what to call what a request matched: an endpoint, or the pattern of a page without its method.
func nameOf(names map[string]string, pattern string) string {
	if name, ok := names[pattern]; ok {
		return name
	}
	if _, path, ok := strings.Cut(pattern, " "); ok {
		pattern = path
	}
	if pattern == "" || pattern == "/" {
		return "none"
	}
	return pattern
}

// methodOf returns a request's method if it is one that anything takes: it is the caller's text.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete:
		return r.Method
	}
	return "other"
}

// watched notes the status of an answer.
type watched struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *watched) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK { // those below are no answer yet
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Flush implements http.Flusher, for those who look for it.
func (w *watched) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *watched) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

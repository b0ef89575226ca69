package httpapi

import (
	"net/http"
	"net/url"
	"strings"
)

// BasePath is the path of a hub's public URL, below which everything of it lies: with a slash before it and none behind, or
// empty.
func BasePath(publicURL string) string {
	u, err := url.Parse(publicURL)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Path, "/")
}

// Below serves below a base path, which begins with a slash and does not end with one, what handler serves at the root. It
// makes no difference whether what stands in front takes the base path away, as some proxies do, or leaves it, as API Gateway
// does. An empty base changes nothing.
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
		below := r.WithContext(r.Context()) // a copy
		u := *r.URL
		u.Path, u.RawPath = path, raw
		below.URL = &u
		handler.ServeHTTP(w, below)
		r.Pattern = below.Pattern // for whoever counts
	})
}

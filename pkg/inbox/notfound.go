package inbox

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// NotFound answers requests for paths at which there is nothing: browsers, which prefer HTML, with a page, and everybody
// else with other.
func (in *Inbox) NotFound(other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		if !prefersHTML(r.Header.Values("Accept")) {
			other.ServeHTTP(w, r)
			return
		}
		in.serve(w, r, route{handle: (*visit).nowhere, open: true})
	})
}

// prefersHTML says whether a request would rather have a page than JSON. Who takes anything, as programs do, does not.
func prefersHTML(accept []string) bool {
	var html, json float64
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if s, ok := parameters["q"]; ok {
			if q, err = strconv.ParseFloat(s, 64); err != nil {
				continue
			}
		}
		switch kind {
		case "text/html", "application/xhtml+xml":
			html = max(html, q)
		case "application/json":
			json = max(json, q)
		}
	}
	return html > json
}

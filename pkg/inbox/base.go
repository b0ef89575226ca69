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

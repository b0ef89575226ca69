package inbox_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/inbox"
)

func TestNotFoundAnswersBrowsersWithAPage(t *testing.T) {
	t.Parallel()
	const firefox = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	cases := map[string]struct {
		accept []string
		page   bool
	}{
		"a browser":             {[]string{firefox}, true},
		"curl":                  {[]string{"*/*"}, false},
		"nothing said":          {nil, false},
		"a program":             {[]string{"application/json"}, false},
		"a program with a fall": {[]string{"application/json, text/html;q=0.5"}, false},
		"rather a page":         {[]string{"application/json;q=0.5", "text/html"}, true},
		"anything but a page":   {[]string{"text/html;q=0"}, false},
		"nonsense":              {[]string{"text/html;q=much,;;"}, false},
	}
	r := newRig(t)
	handler := inbox.New(inbox.Config{
		Hub: func(*http.Request) (*hub.Hub, error) { return r.hub, nil }, Log: slog.New(slog.DiscardHandler),
	}).NotFound(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{}}`, http.StatusNotFound)
	}))
	for name, c := range cases {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/nope", nil)
		request.Header["Accept"] = c.accept
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, request)
		if page := strings.Contains(w.Body.String(), "Nothing here"); w.Code != http.StatusNotFound || page != c.page {
			t.Errorf("%s: GET /nope = %d, a page: %t; want 404, a page: %t", name, w.Code, page, c.page)
		}
		if w.Header().Get("Vary") != "Accept" {
			t.Errorf("%s: Vary = %q, want Accept", name, w.Header().Get("Vary"))
		}
		if c.page && w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: the page has no policy", name)
		}
	}
}

func TestNotFoundWithoutAHub(t *testing.T) {
	t.Parallel()
	handler := inbox.New(inbox.Config{
		Hub: func(*http.Request) (*hub.Hub, error) { return nil, errors.New("none") }, Log: slog.New(slog.DiscardHandler),
	}).NotFound(http.NotFoundHandler())
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/nope", nil)
	request.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, request)
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "<h1>") {
		t.Errorf("GET /nope = %d, want a page of 500", w.Code)
	}
}

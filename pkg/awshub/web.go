package awshub

import (
	"context"
	"net/http"
	"strings"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/inbox"
)

// Endpoint returns the handler of one endpoint and of no other. One that opens no keys asks nobody for them.
func (c Config) Endpoint(ctx context.Context, name endpoint.Name) (http.Handler, error) {
	e := endpoint.Of(name)
	h, err := c.later(ctx, c.opener(e.Access))
	if err != nil {
		return nil, err
	}
	return oneSegment(e, c.api(h).Endpoint(name)), nil
}

// Inbox returns the handler of the pages, and of all paths at which there is nothing.
func (c Config) Inbox(ctx context.Context) (http.Handler, error) {
	h, err := c.later(ctx, c.opener(endpoint.WorkerOf(endpoint.Inbox).Access))
	if err != nil {
		return nil, err
	}
	pages := inbox.New(inbox.Config{
		Hub: h.of, Log: c.log(), Secure: strings.HasPrefix(c.BaseURL, "https:"), Stack: h.name(),
	})
	unrouted := c.api(h).Unrouted()
	mux := http.NewServeMux()
	for _, path := range []string{"/v1", "/v1/", "/.well-known/", "/healthz"} {
		mux.Handle(path, unrouted)
	}
	mux.Handle("/", pages.NotFound(unrouted))
	for _, path := range inbox.Paths() {
		mux.Handle(path, pages.Handler())
	}
	return httpapi.Unclean(mux, c.log()), nil
}

// opener returns what opens the hub for one with this access.
func (c Config) opener(a endpoint.Access) func(context.Context) (*hub.Hub, error) {
	if a.Unwraps {
		return c.Open
	}
	return func(context.Context) (*hub.Hub, error) { return c.openKeyless() }
}

func (c Config) api(h *later) *httpapi.Server { return &httpapi.Server{Hub: h.of, Log: c.log()} }

// oneSegment makes one segment again of an agent's id with a slash in it. An HTTP API of API Gateway, by others' account,
// decodes a path before it hands it over, %2F included, so that the id seems to be several segments. A function has one
// endpoint, which has one place for an id: so whatever stands there is the id.
func oneSegment(e endpoint.Endpoint, next http.Handler) http.Handler {
	before, after, ok := strings.Cut(e.Path, "{agent}")
	if !ok {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, begins := strings.CutPrefix(r.URL.Path, before)
		id, ends := strings.CutSuffix(id, after)
		if begins && ends && id != "" && r.Method == e.Method {
			u := *r.URL
			u.RawPath = e.Fill(id)
			r = r.WithContext(r.Context()) // a copy
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

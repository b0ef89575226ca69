package awshub

import (
	"context"
	"net/http"
	"slices"
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
	return httpapi.Below(httpapi.BasePath(c.BaseURL), oneSegment(c.api(h).Endpoint(name), e)), nil
}

// Inbox returns the handler of the pages, and of all paths at which there is nothing.
func (c Config) Inbox(ctx context.Context) (http.Handler, error) {
	h, err := c.later(ctx, c.opener(endpoint.WorkerOf(endpoint.Inbox).Access))
	if err != nil {
		return nil, err
	}
	base := httpapi.BasePath(c.BaseURL)
	pages := inbox.New(inbox.Config{
		Hub: h.of, Log: c.log(), Secure: strings.HasPrefix(c.BaseURL, "https:"), Base: base, Stack: h.name(),
	})
	unrouted := c.api(h).Unrouted()
	mux := http.NewServeMux()
	for _, path := range httpapi.Paths() {
		httpapi.Mount(mux, path, unrouted)
	}
	mux.Handle("/", pages.NotFound(unrouted))
	for _, path := range inbox.Paths() {
		httpapi.Mount(mux, path, pages.Handler())
	}
	return httpapi.Below(base, oneSegment(httpapi.Unclean(mux, c.log()))), nil
}

// opener returns what opens the hub for one with this access.
func (c Config) opener(a endpoint.Access) func(context.Context) (*hub.Hub, error) {
	if a.Unwraps {
		return c.Open
	}
	return func(context.Context) (*hub.Hub, error) { return c.openKeyless() }
}

func (c Config) api(h *later) *httpapi.Server {
	return &httpapi.Server{Hub: h.of, Log: c.log(), Ready: h.ready}
}

// oneSegment makes one segment again of an agent's id with a slash in it. An HTTP API of API Gateway, by others' account,
// decodes a path before it hands it over, %2F included, so that the id seems to be several segments. What stands where an
// endpoint has an id is the id: in the function's own one where it is called, and else, for what is said of the path, in
// that with the longest path.
func oneSegment(next http.Handler, own ...endpoint.Endpoint) http.Handler {
	others := endpoint.All()
	slices.SortStableFunc(others, func(a, b endpoint.Endpoint) int { return len(b.Path) - len(a.Path) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called := slices.DeleteFunc(slices.Clone(own), func(e endpoint.Endpoint) bool { return e.Method != r.Method })
		for _, e := range append(called, others...) {
			if id, ok := agentIn(e, r.URL.Path); ok {
				u := *r.URL
				u.RawPath = e.Fill(id)
				r = r.WithContext(r.Context()) // a copy
				r.URL = &u
				break
			}
		}
		next.ServeHTTP(w, r)
	})
}

// agentIn returns what stands in a path where an endpoint has the id of an agent.
func agentIn(e endpoint.Endpoint, path string) (id string, ok bool) {
	before, after, ok := strings.Cut(e.Path, "{agent}")
	if !ok {
		return "", false
	}
	id, begins := strings.CutPrefix(path, before)
	id, ends := strings.CutSuffix(id, after)
	return id, begins && ends && id != ""
}

//go:build browser

package realtime_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// onPages runs a test on every engine that looks at pages. What a page shows and where is what such a test is about, so on
// a hub that others use, too, it is somebody else than they: an owner who has just joined and may answer what the test asks
// and nothing besides.
func onPages(t *testing.T, test func(s *server)) {
	t.Helper()
	onEngines(t, func(s *server) { test(s.alone()) })
}

// freshToken finds the token that the page of settings has just made.
var freshToken = regexp.MustCompile(`<code>(mashp_[0-9a-z_]+)</code>`)

// alone makes the owner whom a test acts as one of its own, where the hub is shared.
func (s *server) alone() *server {
	s.t.Helper()
	if !s.shared {
		return s
	}
	first := s.owner
	link, name := s.invitation("owner")
	b := s.browser()
	b.postAs(link, url.Values{"csrf": {b.csrfOf(link)}}, http.Header{}).is(http.StatusSeeOther)
	made := b.post("/settings/tokens", url.Values{"name": {"test"}}).is(http.StatusOK)
	token := freshToken.FindSubmatch(made.body)
	if token == nil {
		s.t.Fatalf("no token on the page: %s", made.body)
	}
	s.owner = &caller{server: s, actor: "human:" + name, token: string(token[1])}
	s.t.Cleanup(func() { // so that pages of people do not grow
		first.call(endpoint.PersonRemove, nil, s.personID(name)).is(http.StatusNoContent)
	})
	return s
}

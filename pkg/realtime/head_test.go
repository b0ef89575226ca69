package realtime_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// ownHeaders are those that each answer has for itself, or that tell of a body that a HEAD does not have.
var ownHeaders = []string{"Date", "Content-Length", "Transfer-Encoding", "Connection", "Apigw-Requestid"}

// compared is a header less what differs from answer to answer.
func compared(h http.Header) http.Header {
	h = h.Clone()
	for name := range h {
		if slices.Contains(ownHeaders, name) || strings.HasPrefix(name, "X-Amz") {
			h.Del(name)
		}
	}
	return h
}

// like holds the answer to a HEAD to that of the GET.
func (a *answer) like(get *answer) {
	a.t.Helper()
	if a.status != get.status || len(a.body) > 0 {
		a.t.Errorf("%s = %d with %d bytes, want %d as the GET has it, and none", a.what, a.status, len(a.body), get.status)
	}
	same(a.t, "the header of "+a.what, compared(a.header), compared(get.header))
}

// TestB30_HEADIsAGETThatNobodyReads: each endpoint with a GET answers a HEAD with the status and header of that GET. Nothing
// is delivered by it.
func TestB30_HEADIsAGETThatNobodyReads(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		s.owner.answers(id, "approve").is(http.StatusOK)
		for _, e := range endpoint.All() {
			if e.Method != http.MethodGet {
				continue
			}
			path := s.placeOf(e, strings.NewReplacer("{id}", id, "{agent}", bot.id).Replace(e.Path))
			r := request{method: http.MethodHead, path: path, token: bot.token}
			if e.Caller == endpoint.Person {
				r.token = s.owner.token
			}
			head, nobodys := s.send(r), s.send(request{method: http.MethodHead, path: path})
			s.read(id).is(http.StatusOK).shows("/status", "answered").lacks("/delivery")
			r.method = http.MethodGet
			if e.Name != endpoint.Pull { // whose GET is a delivery, and comes last
				head.like(s.send(r))
				nobodys.like(s.send(request{method: http.MethodGet, path: path}))
			}
		}
		for _, query := range []string{"", "?since=2999-01-01T00:00:00Z", "?wait=5", "?wait=x"} {
			to := "/v1/messages/" + bot.accepted(s.ask()) + query
			s.send(request{method: http.MethodHead, path: to, token: bot.token}).like(bot.get(to))
		}
		head := s.send(request{method: http.MethodHead, path: "/v1/messages/" + id, token: bot.token})
		s.read(id).is(http.StatusOK).lacks("/delivery")
		get := bot.pull(id, "").is(http.StatusOK).shows("/status", "answered", "/delivery/state", string(ma2h.TrackDeliveredToAgent))
		head.like(get)
		s.read(id).is(http.StatusOK).shows("/delivery/state", string(ma2h.TrackDeliveredToAgent))
	})
}

// TestPages_HEADIsAGET: as for endpoints. That of a link, which a GET uses up, stands in TestPages_ALinkSignsInOnce.
func TestPages_HEADIsAGET(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, b := s.agent("bot"), s.signedIn()
		id := bot.accepted(s.ask())
		s.owner.answers(id, "approve").is(http.StatusOK)
		signIn := b.page("/signin").is(http.StatusOK).loads(s.base)[0]
		for _, path := range []string{
			"/", "/inbox", "/inbox/", "/inbox/" + id, "/inbox/nothing", "/signin", "/settings", "/static/nothing", "/nothing", signIn,
			"/signout", "/in/mashp_x_y_z",
		} {
			for _, by := range []*browser{b, s.browser()} {
				head, get := by.do(request{method: http.MethodHead, path: path}), by.page(path)
				for _, a := range []*answer{head, get} {
					a.header.Del("Set-Cookie") // of a form, which is made once
				}
				head.like(get)
			}
		}
		s.read(id).is(http.StatusOK).shows("/status", "answered").lacks("/delivery")
		b.page("/inbox").is(http.StatusOK)
	})
}

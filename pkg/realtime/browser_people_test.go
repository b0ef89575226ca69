//go:build browser

package realtime_test

import (
	"net/http"
	"net/url"
	"regexp"
)

// joinLink is what the page of people shows of a new invitation.
var joinLink = regexp.MustCompile(`/join/mashp_[0-9a-z_]+`)

// peopleScenes are the people of an account, and how somebody becomes one.
func peopleScenes() []scene {
	return []scene{
		{name: "people", route: "/people", set: func(s *server) string {
			s.samplePeople()
			return "/people"
		}},
		{name: "people-alone", route: "/people", set: func(*server) string { return "/people" }},
		{name: "join", route: "/join/{token}", open: true, set: func(s *server) string {
			return s.sampleInvitation("grace")
		}},
		{name: "join-dead", open: true, set: func(*server) string { return "/join/mashp_x_y_z" }},
		{name: "settings-with-everything", set: func(s *server) string {
			s.samplePeople()
			return "/settings"
		}},
	}
}

// sampleInvitation is the path of an invitation's link.
func (s *server) sampleInvitation(name string) string {
	s.t.Helper()
	form := url.Values{"name": {unique(name)}, "role": {"member"}}
	page := s.signedIn().post("/people/invitations", form).is(http.StatusOK)
	return joinLink.FindString(string(page.body))
}

// samplePeople lets one join and leaves one invited, and signs the owner in elsewhere.
func (s *server) samplePeople() {
	s.t.Helper()
	b, link := s.browser(), s.sampleInvitation("grace")
	form := url.Values{"csrf": {b.csrfOf(link)}}
	b.postAs(link, form, http.Header{}).is(http.StatusSeeOther)
	s.sampleInvitation("linus")
	phone := s.browser()
	phone.do(request{method: http.MethodGet, path: s.link(), header: http.Header{
		"User-Agent": {"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1"},
	}}).is(http.StatusOK)
	phone.post("/settings/tokens", url.Values{"name": {"laptop"}}).is(http.StatusOK)
}

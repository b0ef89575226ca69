package realtime_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/inbox"
)

// invitation is the path of a fresh invitation's link, and the name that it is for.
func (s *server) invitation(role string) (link, name string) {
	s.t.Helper()
	name = unique("grace")
	made := s.owner.call(endpoint.PersonInvite, doc{"name": name, "role": role}).is(http.StatusCreated).str("/url")
	link, ok := strings.CutPrefix(made, s.url)
	if !ok {
		s.t.Fatalf("the invitation is %s, want one of %s", made, s.url)
	}
	return link, name
}

// member is the browser of somebody who has just joined, and their name.
func (s *server) member(password string) (*browser, string) {
	s.t.Helper()
	link, name := s.invitation("member")
	b := s.browser()
	b.postAs(link, url.Values{"csrf": {b.csrfOf(link)}, "new": {password}}, http.Header{}).is(http.StatusSeeOther)
	b.page("/inbox").is(http.StatusOK)
	return b, name
}

var parameter = regexp.MustCompile(`\{\w+\}`)

// deeds are the paths of all that pages do, with something in place of each id.
func deeds(t *testing.T) (open, closed []string) {
	t.Helper()
	for _, r := range inbox.Routes() {
		path := parameter.ReplaceAllString(r.Path, "x")
		switch {
		case r.Method == http.MethodGet:
		case r.Open:
			open = append(open, path)
		default:
			closed = append(closed, path)
		}
	}
	if len(open) < 2 || len(closed) < 8 {
		t.Fatalf("the inbox does %v openly and %v else", open, closed)
	}
	return open, closed
}

// foreign are the ways in which a browser tells that a form is somebody else's.
func foreign() map[string]http.Header {
	return map[string]http.Header{
		"from another site": {"Sec-Fetch-Site": {"cross-site"}}, "from a sister site": {"Sec-Fetch-Site": {"same-site"}},
		"typed in": {"Sec-Fetch-Site": {"none"}}, "another origin": {"Origin": {"https://evil.example"}},
	}
}

func TestA7_AStolenFormIsRefusedOnEveryRoute(t *testing.T) {
	onEngines(t, func(s *server) {
		open, closed := deeds(s.t)
		b, _ := s.member("")
		mine, theirs := b.csrf(), s.signedIn().csrf()
		for _, path := range closed {
			for what, token := range map[string]string{"no token": "", "another's token": theirs} {
				if a := b.postAs(path, url.Values{"csrf": {token}}, http.Header{}); a.status != http.StatusForbidden {
					s.t.Errorf("%s with %s = %d, want 403", a.what, what, a.status)
				}
			}
			if a := s.browser().postAs(path, url.Values{"csrf": {mine}}, http.Header{}); a.status != http.StatusUnauthorized {
				s.t.Errorf("%s with a session's token and without its cookie = %d, want 401", a.what, a.status)
			}
		}
		stranger, other := s.browser(), s.browser()
		stranger.csrfOf("/signin")
		for _, path := range open {
			for what, token := range map[string]string{"no token": "", "another's token": other.csrfOf("/signin"), "a session's": mine} {
				if a := stranger.postAs(path, url.Values{"csrf": {token}}, http.Header{}); a.status != http.StatusForbidden {
					s.t.Errorf("%s with %s = %d, want 403", a.what, what, a.status)
				}
			}
		}
		b.page("/inbox").is(http.StatusOK)
	})
}

func TestA7_AWrongOriginIsRefusedOnEveryRoute(t *testing.T) {
	onEngines(t, func(s *server) {
		open, closed := deeds(s.t)
		b, _ := s.member("")
		stranger := s.browser()
		for _, c := range []struct {
			by    *browser
			token string
			paths []string
		}{{b, b.csrf(), closed}, {b, b.csrf(), open}, {stranger, stranger.csrfOf("/signin"), open}} {
			for _, path := range c.paths {
				for what, header := range foreign() {
					if a := c.by.postAs(path, url.Values{"csrf": {c.token}}, header); a.status != http.StatusForbidden {
						s.t.Errorf("%s, %s, = %d, want 403", a.what, what, a.status)
					}
				}
			}
		}
		b.page("/inbox").is(http.StatusOK)
	})
}

func TestA7_AReplayedLinkIsRefused(t *testing.T) {
	onEngines(t, func(s *server) {
		link := s.link()
		s.browser().page(link).is(http.StatusOK)
		for range 2 {
			again := s.browser()
			again.page(link).is(http.StatusUnauthorized).says("used already")
			again.page("/inbox").is(http.StatusUnauthorized)
		}
	})
}

func TestA7_AReplayedInvitationIsRefused(t *testing.T) {
	onEngines(t, func(s *server) {
		link, name := s.invitation("member")
		for range 2 { // who looks, or looks ahead, does not use it up
			s.browser().page(link).is(http.StatusOK).says(name)
			s.browser().do(request{method: http.MethodHead, path: link}).is(http.StatusOK)
		}
		late := s.browser()
		token := late.csrfOf(link) // the form was open before
		b := s.browser()
		b.postAs(link, url.Values{"csrf": {b.csrfOf(link)}}, http.Header{}).is(http.StatusSeeOther)
		late.postAs(link, url.Values{"csrf": {token}}, http.Header{}).is(http.StatusUnauthorized).says("not open")
		late.page("/inbox").is(http.StatusUnauthorized)
		s.browser().page(link).is(http.StatusUnauthorized).says("not open")
	})
}

// closedPages are the paths of all pages that are for those who are signed in.
func closedPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, r := range inbox.Routes() {
		if r.Method == http.MethodGet && !r.Open {
			pages = append(pages, parameter.ReplaceAllString(r.Path, "x"))
		}
	}
	if len(pages) < 4 {
		t.Fatalf("the inbox has the pages %v", pages)
	}
	return pages
}

// isOut holds a browser's cookies, as they were, to be worth nothing anywhere.
func (b *browser) isOut(token string, cookies []*http.Cookie) {
	b.t.Helper()
	thief := b.browser()
	thief.client.Jar.SetCookies(b.root(), cookies)
	for _, path := range closedPages(b.t) {
		if a := thief.page(path); a.status != http.StatusUnauthorized {
			b.t.Errorf("%s = %d, want 401", a.what, a.status)
		}
	}
	_, closed := deeds(b.t)
	for _, path := range closed {
		a := thief.postAs(path, url.Values{"csrf": {token}}, http.Header{})
		if a.status != http.StatusUnauthorized {
			b.t.Errorf("%s = %d, want 401", a.what, a.status)
		}
	}
}

func (b *browser) cookies() []*http.Cookie {
	b.t.Helper()
	all := b.client.Jar.Cookies(b.root())
	if len(all) == 0 {
		b.t.Fatal("the browser has no cookies")
	}
	return all
}

func TestA7_ASessionAfterSigningOutIsRefusedOnEveryRoute(t *testing.T) {
	onEngines(t, func(s *server) {
		b, _ := s.member("")
		token, kept := b.csrf(), b.cookies()
		b.post("/signout", url.Values{}).is(http.StatusSeeOther)
		b.isOut(token, kept)
	})
}

func TestA7_SessionsAfterSigningOutEverywhereAreRefusedOnEveryRoute(t *testing.T) {
	onEngines(t, func(s *server) {
		const password = "stapler under moss"
		b, name := s.member(password)
		other := s.browser()
		form := url.Values{"csrf": {other.csrfOf("/signin")}, "name": {name}, "password": {password}}
		other.postAs("/signin", form, http.Header{}).is(http.StatusSeeOther)
		other.page("/inbox").is(http.StatusOK)
		tokens, kept := []string{b.csrf(), other.csrf()}, [][]*http.Cookie{b.cookies(), other.cookies()}
		b.post("/settings/sign-out-everywhere", url.Values{}).is(http.StatusSeeOther)
		for i := range kept {
			b.isOut(tokens[i], kept[i])
		}
	})
}

func TestA7_WhoIsRemovedIsRefusedOnEveryRoute(t *testing.T) {
	onEngines(t, func(s *server) {
		const password = "stapler under moss"
		b, name := s.member(password)
		token, kept := b.csrf(), b.cookies()
		page := b.post("/settings/tokens", url.Values{"name": {"laptop"}}).is(http.StatusOK)
		credential := regexp.MustCompile(`mashp_[0-9a-z_]+`).FindString(string(page.body))
		me := &caller{server: s, token: credential}
		me.call(endpoint.Me, nil).is(http.StatusOK).shows("/actor", "human:"+name)
		s.owner.call(endpoint.PersonRemove, nil, s.personID(name)).is(http.StatusNoContent)
		b.isOut(token, kept)
		me.call(endpoint.Me, nil).is(http.StatusUnauthorized)
		again := s.browser()
		form := url.Values{"csrf": {again.csrfOf("/signin")}, "name": {name}, "password": {password}}
		again.postAs("/signin", form, http.Header{}).is(http.StatusUnauthorized)
	})
}

// personID is the id of somebody of the account, once the list shows them.
func (s *server) personID(name string) string {
	s.t.Helper()
	id := ""
	s.until("the person is listed", func() bool {
		rows, _ := s.owner.call(endpoint.PersonList, nil).is(http.StatusOK).at("/people").([]any)
		for _, row := range rows {
			if lookUp(row, "/name") == name {
				id, _ = lookUp(row, "/id").(string)
			}
		}
		return id != ""
	})
	return id
}

package inbox_test

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

func TestLinkSignsInOnceAndShowsTheInbox(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ask("Ship it?", `"mode":"confirm"`)
	link := r.newLink()

	for range 2 {
		if p := r.do(r.browser, http.MethodHead, link, nil, nil); p.status != http.StatusOK || p.header.Get("Set-Cookie") != "" {
			t.Errorf("HEAD of a link = %d, cookie %q; want 200 and none", p.status, p.header.Get("Set-Cookie"))
		}
	}
	guess := r.do(r.browser, http.MethodGet, link, nil, map[string]string{"Sec-Purpose": "prefetch;prerender"})
	if guess.status != http.StatusNoContent || guess.header.Get("Set-Cookie") != "" {
		t.Errorf("a prefetch of a link = %d, cookie %q; want 204 and none", guess.status, guess.header.Get("Set-Cookie"))
	}

	p := r.get(link).is(http.StatusOK)
	p.says("Ship it?", "Approve")
	cookie := p.header.Get("Set-Cookie")
	for _, want := range []string{r.cookieName() + "=", "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=15552000"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("Set-Cookie = %q, want %s in it", cookie, want)
		}
	}
	if strings.Contains(cookie, "Secure") {
		t.Errorf("Set-Cookie = %q over http, want no Secure", cookie)
	}
	if got := p.header.Get("Referrer-Policy"); got != "no-referrer" {
		t.Errorf("Referrer-Policy of the link = %q, want no-referrer", got)
	}
	r.get("/inbox").is(http.StatusOK)

	again := r.get(link).is(http.StatusSeeOther)
	if to := again.header.Get("Location"); to != "/inbox" {
		t.Errorf("a used link leads somebody signed in to %q, want /inbox", to)
	}
	r.getIn(r.newBrowser(), link).is(http.StatusUnauthorized).says("used already", "mash link")
}

// cookieName is the name of the session's cookie: the port of the server is in it.
func (r *rig) cookieName() string {
	_, port, _ := net.SplitHostPort(r.server.Listener.Addr().String())
	return "mash_session_" + port
}

func TestHubsOnOneMachineLeaveEachOthersPeopleSignedIn(t *testing.T) {
	t.Parallel()
	one, two := newRig(t), newRig(t)
	two.browser = one.browser
	one.signIn()
	two.signIn()
	for _, r := range []*rig{one, two} {
		r.get("/inbox").is(http.StatusOK)
	}
	one.post("/settings", "/signout", nil).is(http.StatusSeeOther)
	one.get("/inbox").is(http.StatusUnauthorized)
	two.get("/inbox").is(http.StatusOK)
}

func TestTheCookieIsNamedByThePort(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for host, want := range map[string]string{
		"127.0.0.1:7420":     "mash_session_7420",
		"[::1]:7420":         "mash_session_7420",
		"mash.example":       "mash_session",
		"mash.example:8443":  "mash_session_8443",
		"[::1]":              "mash_session",
		"mash.example:https": "mash_session",
		"mash.example:99999": "mash_session",
		"mash.example:":      "mash_session",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.server.URL+r.newLink(), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := r.newBrowser().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got, _, _ := strings.Cut(response.Header.Get("Set-Cookie"), "="); got != want {
			t.Errorf("the cookie of %s is named %q, want %q", host, got, want)
		}
	}
}

func TestLinkLeadsToALocalPageOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	p := r.get(r.newLink() + "?next=/inbox/" + id).is(http.StatusOK)
	if len(p.find("form", "action", "/inbox/"+id)) == 0 {
		t.Error("the link with next does not show the message's form")
	}
	for _, next := range []string{"https://evil.example/", "//evil.example", "/settings", "/inbox/../settings", "/inbox/" + id + "//x"} {
		p := r.getIn(r.newBrowser(), r.newLink()+"?next="+url.QueryEscape(next)).is(http.StatusOK)
		p.says("Waiting for you")
		if p.header.Get("Location") != "" {
			t.Errorf("next=%q redirects to %q", next, p.header.Get("Location"))
		}
	}
}

func TestSecureCookie(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := secure(r).get(r.newLink()).is(http.StatusOK)
	if cookie := p.header.Get("Set-Cookie"); !strings.Contains(cookie, "; Secure") {
		t.Errorf("Set-Cookie = %q, want Secure", cookie)
	}
}

func TestOnlyTheRightCredentialsOpenPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	token, err := r.hub.NewLogin(t.Context(), r.owner, hub.LoginToken, 0)
	if err != nil {
		t.Fatal(err)
	}
	old, err := r.hub.NewLogin(t.Context(), r.owner, hub.LoginSession, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	link := strings.TrimPrefix(r.newLink(), "/in/")
	r.pass(2 * time.Minute)
	for name, cookie := range map[string]string{"none": "", "nonsense": "x", "a token": token, "a link": link, "expired": old} {
		for _, path := range []string{"/inbox", "/inbox/" + id, "/settings"} {
			p := r.do(r.newBrowser(), http.MethodGet, path, nil, map[string]string{"Cookie": r.cookieName() + "=" + cookie})
			p.is(http.StatusUnauthorized).says("mash link")
			p.lacks("Ship it?")
			if name != "none" && p.header.Get("WWW-Authenticate") == "" {
				t.Errorf("401 without WWW-Authenticate")
			}
		}
	}
	r.getIn(r.newBrowser(), "/in/"+token).is(http.StatusUnauthorized)
	r.get("/signin").is(http.StatusOK).says("mash link")
}

func TestSignOutEndsTheSession(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	u, err := url.Parse(r.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	kept := r.browser.Jar.Cookies(u)[0].String()
	p := r.post("/settings", "/signout", nil).is(http.StatusSeeOther)
	if to := p.header.Get("Location"); to != "/signin" {
		t.Errorf("Location = %q, want /signin", to)
	}
	r.get("/inbox").is(http.StatusUnauthorized)
	r.do(r.newBrowser(), http.MethodGet, "/inbox", nil, map[string]string{"Cookie": kept}).is(http.StatusUnauthorized)
}

func TestForgedPostsDoNothing(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	token := r.token("/settings")
	other := r.newBrowser()
	r.getIn(other, r.newLink())
	otherPage := r.getIn(other, "/settings")
	cases := map[string]struct {
		token   string
		headers map[string]string
	}{
		"no token":           {"", nil},
		"another's token":    {attr(otherPage.find("input", "name", "csrf")[0], "value"), nil},
		"from another site":  {token, map[string]string{"Sec-Fetch-Site": "cross-site"}},
		"from a sister site": {token, map[string]string{"Sec-Fetch-Site": "same-site"}},
		"another origin":     {token, map[string]string{"Origin": "https://evil.example"}},
	}
	for name, c := range cases {
		for _, path := range []string{"/inbox/" + id, "/settings/default-resolvers", "/signout"} {
			form := url.Values{"csrf": {c.token}, "do": {"option:0"}, "on": {"1"}}
			if p := r.do(r.browser, http.MethodPost, path, form, c.headers); p.status != http.StatusForbidden {
				t.Errorf("POST %s with %s = %d, want 403", path, name, p.status)
			}
		}
	}
	query := r.do(r.browser, http.MethodPost, "/inbox/"+id+"?csrf="+token+"&do=option:0", url.Values{}, nil)
	query.is(http.StatusForbidden)
	if r.detail(id) != nil {
		t.Error("a forged POST answered")
	}
	for _, origin := range []string{r.server.URL, "null", ""} {
		form := url.Values{"csrf": {token}, "do": {"nothing"}}
		p := r.do(r.browser, http.MethodPost, "/inbox/"+id, form, map[string]string{"Origin": origin})
		if p.status == http.StatusForbidden {
			t.Errorf("a POST of ours with Origin %q is refused", origin)
		}
	}
	out := r.do(r.newBrowser(), http.MethodPost, "/inbox/"+id, url.Values{"csrf": {token}, "do": {"option:0"}}, nil)
	out.is(http.StatusUnauthorized)
}

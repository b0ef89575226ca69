package inbox_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/inbox"
)

func TestFormsOfThoseWhoAreNotSignedInCannotBeForged(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	r.joined("bob", "member", good)
	link := r.invite("carol", "member")
	for _, path := range []string{"/signin", link} {
		page := "/signin"
		v, other := r.visitor(), r.visitor()
		mine, theirs := v.token(page), other.token(page)
		for what, c := range map[string]struct {
			token  string
			header map[string]string
		}{
			"no token":                   {"", nil},
			"the token of another":       {theirs, nil},
			"the token of a session":     {r.token("/settings"), nil},
			"from another site":          {mine, map[string]string{"Sec-Fetch-Site": "cross-site"}},
			"from a sister site":         {mine, map[string]string{"Sec-Fetch-Site": "same-site"}},
			"another origin":             {mine, map[string]string{"Origin": "https://evil.example"}},
			"another port of the origin": {mine, map[string]string{"Origin": "http://127.0.0.1:1"}},
		} {
			form := url.Values{"csrf": {c.token}, "name": {"bob"}, "password": {good}}
			if p := v.do(v.browser, http.MethodPost, path, form, c.header); p.status != http.StatusForbidden {
				t.Errorf("POST %.6s with %s = %d, want 403", path, what, p.status)
			}
		}
		bare := r.newBrowser() // without the cookie of the form
		form := url.Values{"csrf": {mine}, "name": {"bob"}, "password": {good}}
		r.do(bare, http.MethodPost, path, form, nil).is(http.StatusForbidden)
	}
	r.get("/people").says("Invitations that are open")
}

// below is the same hub behind pages that people reach below a path.
func below(r *rig, base string) *rig {
	s := &rig{t: r.t, hub: r.hub, owner: r.owner}
	config := inbox.Config{
		Hub: func(*http.Request) (*hub.Hub, error) { return r.hub, nil }, Log: slog.New(slog.DiscardHandler), Base: base,
	}
	s.server = httptest.NewServer(httpapi.Below(base, inbox.New(config).Handler()))
	r.t.Cleanup(s.server.Close)
	s.browser = s.newBrowser()
	return s
}

var pathOfPage = regexp.MustCompile(` (?:href|src|action)="(/[^"]*)"`)

func TestPagesBelowAPath(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	r.send(`"type":"ask","title":"Text","body":"see [there](/inbox) and <a href=\"/x\">","request":{"mode":"input","allowed_resolvers":["human:owner"],` +
		`"schema":{"type":"object","properties":{"path":{"type":"string","default":"/etc"}}}}`)
	s := below(r, "/mash")
	if p := s.get("/mash").is(http.StatusSeeOther); p.header.Get("Location") != "/mash/inbox" {
		t.Errorf("/mash leads to %q", p.header.Get("Location"))
	}
	in := s.get("/mash" + r.newLink()).is(http.StatusOK)
	if cookie := in.header.Get("Set-Cookie"); !strings.Contains(cookie, "Path=/mash/") {
		t.Errorf("Set-Cookie = %q, want Path=/mash/", cookie)
	}
	for _, path := range []string{"/inbox", "/inbox/" + id, "/settings", "/people", "/signin", "/nowhere"} {
		page := s.get("/mash" + path)
		found := pathOfPage.FindAllStringSubmatch(page.body, -1)
		if len(found) < 3 {
			t.Errorf("%s has %d paths", path, len(found))
		}
		for _, m := range found {
			if !strings.HasPrefix(m[1], "/mash/") {
				t.Errorf("%s leads to %s, which is not below /mash", path, m[1])
			}
		}
		css := page.find("link", "rel", "stylesheet")
		s.get(attr(css[0], "href")).is(http.StatusOK)
	}
	answered := s.post("/mash/settings", "/mash/inbox/"+id, url.Values{"do": {"option:0"}}).is(http.StatusSeeOther)
	if to := answered.header.Get("Location"); to != "/mash/inbox?done="+id {
		t.Errorf("the answer leads to %q", to)
	}
	if p := s.get("/inbox/"); p.header.Get("Location") != "/mash/inbox" { // a proxy took the base path away
		t.Errorf("/inbox/ leads to %q", p.header.Get("Location"))
	}
	s.get("/mashed/inbox").is(http.StatusNotFound)
}

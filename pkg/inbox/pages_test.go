package inbox_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/inbox"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// secure is the same hub behind an inbox that is reached over https.
func secure(r *rig) *rig {
	s := &rig{t: r.t, hub: r.hub, owner: r.owner}
	s.server = httptest.NewServer(inbox.New(inbox.Config{
		Hub: func(*http.Request) (*hub.Hub, error) { return r.hub, nil }, Log: slog.New(slog.DiscardHandler), Secure: true,
	}).Handler())
	r.t.Cleanup(s.server.Close)
	s.browser = s.newBrowser()
	return s
}

func TestPagesThatAreNotThere(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	stranger, err := r.hub.EnsureAccount(t.Context(), "stranger")
	if err != nil {
		t.Fatal(err)
	}
	made, err := r.hub.AddAgent(t.Context(), stranger, "spy")
	if err != nil || made == nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/inbox/msg_00000000000000000000000000", "/inbox/nonsense", "/nowhere", "/static/nothing.css"} {
		r.get(path).is(http.StatusNotFound).says("Nothing here")
	}
	for path, to := range map[string]string{"/": "/inbox", "/inbox/": "/inbox"} {
		if p := r.get(path).is(http.StatusSeeOther); p.header.Get("Location") != to {
			t.Errorf("GET %s leads to %q, want %q", path, p.header.Get("Location"), to)
		}
	}
	p := r.do(r.browser, http.MethodDelete, "/inbox", nil, nil).is(http.StatusMethodNotAllowed)
	if p.header.Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("Allow = %q, want GET, HEAD, POST", p.header.Get("Allow"))
	}
}

func TestAnotherAccountsMessageIsUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	stranger, err := r.hub.EnsureAccount(t.Context(), "stranger")
	if err != nil {
		t.Fatal(err)
	}
	r.owner = stranger
	r.signIn()
	r.get("/inbox/" + id).is(http.StatusNotFound).lacks("Ship it?")
	r.reply(id, url.Values{"do": {"option:0"}}).is(http.StatusNotFound)
	r.get("/inbox?done=" + id).is(http.StatusOK).lacks("Ship it?")
}

func TestStaticFilesAreKeptByTheirHash(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page := r.get("/signin")
	for _, link := range page.find("link", "", "") {
		p := r.get(attr(link, "href")).is(http.StatusOK)
		if got := p.header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("Cache-Control of %s = %q, want immutable", attr(link, "href"), got)
		}
		if strings.Contains(p.body, "url(") || strings.Contains(p.body, "@import") {
			t.Errorf("%s loads something else", attr(link, "href"))
		}
	}
	css := r.get(attr(page.find("link", "rel", "stylesheet")[0], "href"))
	if got := css.header.Get("Content-Type"); !strings.HasPrefix(got, "text/css") {
		t.Errorf("Content-Type of the style sheet = %q", got)
	}
}

func TestErrorsOfOursSayNothing(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	handler := inbox.New(inbox.Config{
		Hub: func(*http.Request) (*hub.Hub, error) { return nil, errors.New("secret cause") },
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	}).Handler()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/inbox", nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != http.StatusInternalServerError || strings.Contains(string(body), "secret") {
		t.Errorf("GET without a hub = %d %v %s; want 500 and no cause", w.Code, err, body)
	}
	if !strings.Contains(log.String(), "secret cause") {
		t.Error("the cause is not in the log")
	}
}

func TestSettingsTurnTheDefaultListOnAndOff(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.send(`"type":"ask","title":"Old ask","request":{"mode":"confirm"}`)
	p := r.get("/inbox")
	p.says("Nobody may answer")
	if len(p.find("button", "value", "option:0")) != 0 {
		t.Error("an ask that nobody may answer has options in the list")
	}
	if got := len(p.find("form", "action", "/settings/default-resolvers")); got != 1 {
		t.Fatalf("%d buttons turn the default list on, want 1", got)
	}
	r.get("/inbox/" + id).says("Nobody may answer this")
	r.reply(id, url.Values{"do": {"option:0"}}).is(http.StatusForbidden)

	p = r.post("/inbox", "/settings/default-resolvers", url.Values{"on": {"1"}, "back": {"inbox"}}).is(http.StatusSeeOther)
	p = r.get(p.header.Get("Location"))
	p.says("You may answer asks to come that list nobody", "its agent has to ask again")
	if len(p.find("form", "action", "/settings/default-resolvers")) != 0 {
		t.Error("the button stays after it was pressed")
	}
	r.agent.Account = r.account()
	next := r.send(`"type":"ask","title":"New ask","request":{"mode":"confirm"}`)
	r.reply(next, url.Values{"do": {"option:1"}}).is(http.StatusSeeOther)

	r.get("/settings").says("They can be answered by you")
	r.post("/settings", "/settings/default-resolvers", url.Values{"on": {"0"}}).is(http.StatusSeeOther)
	r.get("/settings").says("They can be answered by nobody")
	if list := r.account().DefaultResolvers; len(list) != 0 {
		t.Errorf("default resolvers = %v, want none", list)
	}
}

// account is the owner's account as it is now.
func (r *rig) account() hub.Account {
	r.t.Helper()
	c, err := r.hub.EnsureAccount(r.t.Context(), "owner")
	if err != nil {
		r.t.Fatal(err)
	}
	return c.Account
}

func TestGetChangesNothing(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	before := r.get("/inbox").body
	for _, path := range []string{"/inbox/" + id + "?do=option:0", "/inbox?done=" + id, "/inbox?resolvers=on",
		"/settings?on=1", "/signin", "/"} {
		r.get(path)
	}
	for _, path := range []string{"/signout", "/settings/default-resolvers"} {
		r.get(path).is(http.StatusMethodNotAllowed)
	}
	if m, err := r.hub.Read(t.Context(), r.owner, id); err != nil || m.Status != ma2h.StatusOpen {
		t.Errorf("after GETs the ask is %v, %v; want open", m, err)
	}
	if after := r.get("/inbox").body; after != before {
		t.Error("GETs changed the list")
	}
}

package realtime_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// browser is somebody's browser on the pages of a hub. It follows no redirect.
type browser struct {
	*server
	client *http.Client
}

func (s *server) browser() *browser {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	by := *s.client
	by.Jar = jar
	return &browser{s, &by}
}

// page asks for a page as a browser does.
func (b *browser) page(path string) *answer {
	b.t.Helper()
	return b.do(request{method: http.MethodGet, path: path})
}

func (b *browser) do(r request) *answer {
	b.t.Helper()
	header := http.Header{"Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}}
	for name, values := range r.header {
		header[name] = values
	}
	r.header = header
	a, err := b.tryWith(b.client, r)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// post sends a form as a page would, with the token of the session.
func (b *browser) post(path string, form url.Values) *answer {
	b.t.Helper()
	form.Set("csrf", b.csrf())
	return b.postAs(path, form, http.Header{"Sec-Fetch-Site": {"same-origin"}})
}

func (b *browser) postAs(path string, form url.Values, header http.Header) *answer {
	b.t.Helper()
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(request{method: http.MethodPost, path: path, body: form.Encode(), header: header})
}

var csrfField = regexp.MustCompile(`name="csrf" value="([0-9a-f]+)"`)

func (b *browser) csrf() string {
	b.t.Helper()
	return b.csrfOf("/settings")
}

// csrfOf is the token that the forms of a page carry.
func (b *browser) csrfOf(path string) string {
	b.t.Helper()
	found := csrfField.FindSubmatch(b.page(path).body)
	if found == nil {
		b.t.Fatalf("the page %s has no token", path)
	}
	return string(found[1])
}

// says holds a page to what stands in it.
func (a *answer) says(texts ...string) *answer {
	a.t.Helper()
	for _, text := range texts {
		if !strings.Contains(string(a.body), text) {
			a.t.Errorf("%s = %d, and does not say %q: %s", a.what, a.status, text, a.body)
		}
	}
	return a
}

// wayIn is what makes a link where the hub runs.
var wayIn = regexp.MustCompile(`mash link|mash-aws bootstrap --stack \w+`)

func (a *answer) saysHowToSignIn() {
	a.t.Helper()
	if !wayIn.Match(a.body) {
		a.t.Errorf("%s = %d, and names no command that makes a link: %s", a.what, a.status, a.body)
	}
}

// link is the path of a fresh link that signs the owner in.
func (s *server) link() string {
	s.t.Helper()
	made := s.owner.call(endpoint.Link, nil).is(http.StatusCreated).str("/url")
	path, ok := strings.CutPrefix(made, s.url)
	if !ok {
		s.t.Fatalf("the link is %s, want one of %s", made, s.url)
	}
	return path
}

// signedIn is a browser with the owner in it.
func (s *server) signedIn() *browser {
	s.t.Helper()
	b := s.browser()
	b.page(s.link()).is(http.StatusOK)
	return b
}

func TestPages_ALinkSignsInOnce(t *testing.T) {
	onEngines(t, func(s *server) {
		link, b := s.link(), s.browser()
		b.page("/inbox").is(http.StatusUnauthorized).saysHowToSignIn()
		for _, header := range []http.Header{{"Sec-Purpose": {"prefetch"}}} {
			a := b.do(request{method: http.MethodGet, path: link, header: header}).is(http.StatusNoContent)
			same(s.t, "cookies of a look ahead", a.header.Values("Set-Cookie"), []string(nil))
		}
		a := b.do(request{method: http.MethodHead, path: link}).is(http.StatusOK)
		same(s.t, "cookies of a HEAD", a.header.Values("Set-Cookie"), []string(nil))

		in := b.page(link).is(http.StatusOK)
		cookie := in.header.Get("Set-Cookie")
		for _, want := range []string{"mash_session", "HttpOnly", "SameSite=Lax", "Path=" + s.base + "/;", "Max-Age="} {
			if !strings.Contains(cookie, want) {
				s.t.Errorf("Set-Cookie = %q, want %s in it", cookie, want)
			}
		}
		if got, want := strings.Contains(cookie, "Secure"), strings.HasPrefix(s.url, "https:"); got != want {
			s.t.Errorf("Set-Cookie = %q: Secure is %t, want %t", cookie, got, want)
		}
		b.page("/inbox").is(http.StatusOK)
		s.browser().page(link).is(http.StatusUnauthorized).says("used already")
		s.browser().page("/in/mashp_x_y_z").is(http.StatusUnauthorized)
		s.browser().page("/signin").is(http.StatusOK).saysHowToSignIn()
	})
}

func TestPages_AnAskIsAnsweredByTheForm(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, b := s.agent("bot"), s.signedIn()
		const title = `Größe <b>&"wählen"</b> ✓`
		id := bot.accepted(s.ask(choose, set("/title", title), set("/body", "Either **way**.\n\n<script>alert(1)</script>")))
		s.until("it is listed", func() bool { return strings.Contains(string(b.page("/inbox").is(http.StatusOK).body), "/inbox/"+id) })
		page := b.page("/inbox/"+id).is(http.StatusOK).
			says("Größe &lt;b&gt;", "<strong>way</strong>", "Ship to prod now", bot.id, `action="`+s.base+`/inbox/`+id+`"`)
		if strings.Contains(string(page.body), "<script>") {
			s.t.Errorf("the page runs what the agent wrote: %s", page.body)
		}
		wrong := b.post("/inbox/"+id, url.Values{"do": {"other"}, "other": {"x"}, "comment": {"kept <i>"}}).
			is(http.StatusUnprocessableEntity)
		wrong.says("kept &lt;i&gt;")
		done := b.post("/inbox/"+id, url.Values{"do": {"option:1"}, "comment": {"Zeile 1\r\nZeile 2 + 100% ✓"}}).is(http.StatusSeeOther)
		same(s.t, "where the answer leads", done.header.Get("Location"), s.base+"/inbox?done="+id)
		bot.pull(id, "").is(http.StatusOK).shows("/status", "answered", "/response/response/value", "hold",
			"/response/response/comment", "Zeile 1\nZeile 2 + 100% ✓", "/response/response/actor", s.owner.actor)
		b.page("/inbox/" + id).is(http.StatusOK).says("How it ended")
		b.post("/inbox/"+id, url.Values{"do": {"option:0"}}).is(http.StatusConflict)

		form := bot.accepted(s.ask(fillIn))
		b.post("/inbox/"+form, url.Values{"do": {"json"}, "json": {`{"reason":"weil 漢字"}`}}).is(http.StatusSeeOther)
		bot.pull(form, "").shows("/response/response/value", doc{"reason": "weil 漢字"})
		task := bot.accepted(s.task(set("/action/checklist", []doc{{"text": "one"}, {"text": "two"}})))
		b.post("/inbox/"+task, url.Values{"do": {"complete"}, "step1": {"1"}}).is(http.StatusSeeOther)
		bot.pull(task, "").shows("/status", "completed",
			"/response/response/checklist", []doc{{"text": "one", "done": false}, {"text": "two", "done": true}})
		b.page("/inbox/msg_00000000000000000000000000").is(http.StatusNotFound)
	})
}

func TestPages_ForgedPostsDoNothing(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, b := s.agent("bot"), s.signedIn()
		id := bot.accepted(s.ask())
		token, others := b.csrf(), s.signedIn().csrf()
		for what, c := range map[string]struct {
			token  string
			header http.Header
		}{
			"no token":           {"", http.Header{}},
			"another's token":    {others, http.Header{}},
			"from another site":  {token, http.Header{"Sec-Fetch-Site": {"cross-site"}}},
			"from a sister site": {token, http.Header{"Sec-Fetch-Site": {"same-site"}}},
			"another origin":     {token, http.Header{"Origin": {"https://evil.example"}}},
		} {
			for _, path := range []string{"/inbox/" + id, "/settings/default-resolvers", "/signout"} {
				a := b.postAs(path, url.Values{"csrf": {c.token}, "do": {"option:0"}, "on": {"1"}}, c.header.Clone())
				if a.status != http.StatusForbidden {
					s.t.Errorf("%s with %s = %d, want 403", a.what, what, a.status)
				}
			}
		}
		s.browser().postAs("/inbox/"+id, url.Values{"csrf": {token}, "do": {"option:0"}}, http.Header{}).is(http.StatusUnauthorized)
		s.read(id).shows("/status", "open")
		b.postAs("/inbox/"+id, url.Values{"csrf": {token}, "do": {"option:0"}}, http.Header{"Origin": {s.origin()}}).is(http.StatusSeeOther)
	})
}

func TestPages_SigningOutEndsTheSession(t *testing.T) {
	onEngines(t, func(s *server) {
		b, other := s.signedIn(), s.signedIn()
		kept := b.cookies()
		if len(kept) != 2 {
			s.t.Fatalf("the browser holds %d cookies, want the session's and its own mark", len(kept))
		}
		out := b.post("/signout", url.Values{}).is(http.StatusSeeOther)
		same(s.t, "where it leads", out.header.Get("Location"), s.base+"/signin")
		b.page("/inbox").is(http.StatusUnauthorized)
		again := s.browser()
		again.client.Jar.SetCookies(s.root(), kept)
		again.page("/inbox").is(http.StatusUnauthorized)
		other.page("/inbox").is(http.StatusOK) // each browser for itself
	})
}

func TestPages_Headers(t *testing.T) {
	onEngines(t, func(s *server) {
		b := s.browser()
		home := b.page("/").is(http.StatusSeeOther)
		same(s.t, "where / leads", home.header.Get("Location"), s.base+"/inbox")
		page := b.page("/signin").is(http.StatusOK)
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Referrer-Policy": "same-origin",
		} {
			same(s.t, name, page.header.Get(name), want)
		}
		if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'self'") {
			s.t.Errorf("Content-Security-Policy = %q", policy)
		}
		b.page("/static/nothing.css").is(http.StatusNotFound)
		b.page("/nothing").is(http.StatusNotFound).says("<html")
		a := b.do(request{method: http.MethodDelete, path: "/inbox"}).is(http.StatusMethodNotAllowed)
		same(s.t, "Allow", a.header.Get("Allow"), "GET, HEAD, POST")
	})
}

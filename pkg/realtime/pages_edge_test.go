package realtime_test

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What stands between a browser and the pages, a gateway or a base path, must change nothing of what these tests look at.

// TestPages_CookiesAreTheHubsOwn: every cookie of every page that sets one is kept from scripts and from other sites, goes to
// no neighbour on the host, and only travels under TLS where there is any.
func TestPages_CookiesAreTheHubsOwn(t *testing.T) {
	onEngines(t, func(s *server) {
		b, link := s.browser(), s.link()
		secure := strings.HasPrefix(s.url, "https:")
		seen := map[string]bool{}
		for _, a := range []*answer{b.page("/signin"), b.page(link), b.post("/signout", url.Values{})} {
			for _, line := range a.header.Values("Set-Cookie") {
				c, err := http.ParseSetCookie(line)
				if err != nil {
					s.t.Fatalf("Set-Cookie = %q: %v", line, err)
				}
				if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != s.base+"/" || c.Domain != "" || c.Secure != secure {
					s.t.Errorf("%s sets %q; want HttpOnly, SameSite=Lax, Path=%s/, no Domain, and Secure %t", a.what, line, s.base, secure)
				}
				name, _, _ := strings.Cut(strings.TrimPrefix(c.Name, "mash_"), "_")
				seen[name+map[bool]string{true: " ends"}[c.MaxAge < 0]] = true
			}
		}
		for _, want := range []string{"form", "session", "browser", "session ends"} {
			if !seen[want] {
				s.t.Errorf("no page set the cookie %s: %v", want, seen)
			}
		}
	})
}

// TestPages_RedirectsStayBelowTheHub: each leads to a page of the hub, wherever that lies.
func TestPages_RedirectsStayBelowTheHub(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, b, guest := s.agent("bot"), s.signedIn(), s.browser()
		id := bot.accepted(s.ask())
		join, name := s.invitation("member")
		const password = "stapler under moss"
		form := func(csrf string) url.Values {
			return url.Values{"csrf": {csrf}, "new": {password}, "name": {name}, "password": {password}}
		}
		for _, c := range []struct {
			by *browser
			a  *answer
			to string
		}{
			{b, b.page(""), "/inbox"},
			{b, b.page("/"), "/inbox"},
			{b, b.page("/inbox/"), "/inbox"},
			{b, b.post("/inbox/"+id, url.Values{"do": {"option:0"}}), "/inbox?done=" + id},
			{guest, guest.postAs(join, form(guest.csrfOf(join)), http.Header{}), "/inbox?joined=1"},
			{guest, guest.post("/signout", url.Values{}), "/signin"},
			{guest, guest.postAs("/signin", form(guest.csrfOf("/signin")), http.Header{}), "/inbox"},
		} {
			c.a.is(http.StatusSeeOther)
			to := c.a.header.Get("Location")
			same(s.t, c.a.what+" leads to", to, s.base+c.to)
			c.by.page(strings.TrimPrefix(to, s.base)).is(http.StatusOK)
		}
	})
}

var loaded = regexp.MustCompile(`(?:href|src)="([^"]*/static/[^"]+)"`)

// loads are the paths of the files that a page loads, below the base path, each once.
func (a *answer) loads(base string) []string {
	a.t.Helper()
	var all []string
	for _, found := range loaded.FindAllSubmatch(a.body, -1) {
		to, ok := strings.CutPrefix(string(found[1]), base)
		if !ok || !strings.HasPrefix(to, "/static/") {
			a.t.Errorf("%s loads %s, which is not below %q", a.what, found[1], base+"/static/")
		}
		if !slices.Contains(all, to) {
			all = append(all, to)
		}
	}
	return all
}

// sources are the files of the inbox by the name under which a page loads them, without the hash in it.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, pattern := range []string{"../inbox/static/*", "../inbox/style/*.css"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			if path.Ext(name) == ".css" {
				name = "inbox.css"
			}
			all[name] = append(all[name], text...)
		}
	}
	return all
}

var hashInName = regexp.MustCompile(`\.[0-9a-f]{12}\.`)

// TestPages_FilesArriveByteForByte: what pages load is what lies in the source, pictures too, under its own type and for ever.
func TestPages_FilesArriveByteForByte(t *testing.T) {
	onEngines(t, func(s *server) {
		b, want := s.signedIn(), sources(s.t)
		types := map[string]string{".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png"}
		for _, file := range b.page("/inbox").is(http.StatusOK).loads(s.base) {
			got, name := b.page(file).is(http.StatusOK), hashInName.ReplaceAllString(path.Base(file), ".")
			if !bytes.Equal(got.body, want[name]) {
				s.t.Errorf("%s has %d bytes, and the source %d, or others", got.what, len(got.body), len(want[name]))
			}
			if cache := got.header.Get("Cache-Control"); !strings.Contains(cache, "immutable") {
				s.t.Errorf("%s: Cache-Control = %q", got.what, cache)
			}
			if kind := got.header.Get("Content-Type"); types[path.Ext(name)] == "" || !strings.HasPrefix(kind, types[path.Ext(name)]) {
				s.t.Errorf("%s: Content-Type = %q", got.what, kind)
			}
			delete(want, name)
		}
		if len(want) > 0 {
			s.t.Errorf("no page loads %v", slices.Collect(maps.Keys(want)))
		}
		b.page("/static/nothing.css").is(http.StatusNotFound)
	})
}

var (
	lookAddress   = regexp.MustCompile(` data-look="([^"]+)"`)
	streamAddress = regexp.MustCompile(` data-events="([^"]+)"`)
)

// TestPages_APageLooksAgain: its script has an address to ask at, which answers 304 without a body until something has
// changed, and then shows it. A stream is offered where one can be held and nowhere else, and who asks for one there is told
// not to come back.
func TestPages_APageLooksAgain(t *testing.T) {
	onQuietEngines(t, func(s *server) {
		bot, b := s.agent("bot"), s.signedIn()
		page := b.page("/inbox").is(http.StatusOK)
		if offered := streamAddress.Match(page.body); offered == s.shared {
			s.t.Errorf("a stream is offered: %t; on AWS none can be held, and elsewhere one can", offered)
		}
		if s.shared {
			a := b.do(request{method: http.MethodGet, path: "/live/events"}).is(http.StatusNoContent)
			same(s.t, "what a stream says", string(a.body), "")
		}
		found := lookAddress.FindSubmatch(page.body)
		if found == nil {
			s.t.Fatalf("the page has no address to look again at: %s", page.body)
		}
		look := strings.TrimPrefix(string(found[1]), s.base)
		same(s.t, "where to look again", s.base+look, s.base+"/inbox?live=1")
		tag := ""
		s.until("304 comes when nothing has changed", func() bool { // what has just ended leaves the list of an index a little later
			a := b.lookAgain(look, tag)
			tag = a.header.Get("ETag")
			return a.status == http.StatusNotModified
		})
		id := bot.accepted(s.ask(set("/priority", "urgent")))
		s.until("the ask is on the page", func() bool {
			a := b.lookAgain(look, tag)
			return a.status == http.StatusOK && a.header.Get("ETag") != tag && strings.Contains(string(a.body), `data-id="`+id+`"`)
		})
	})
}

// lookAgain asks as the script of a page does that has a version of it.
func (b *browser) lookAgain(path, tag string) *answer {
	b.t.Helper()
	a := b.do(request{method: http.MethodGet, path: path, header: http.Header{"If-None-Match": {tag}}})
	switch {
	case a.status == http.StatusNotModified && len(a.body) > 0:
		b.t.Errorf("304 has a body of %d bytes", len(a.body))
	case a.header.Get("ETag") == "":
		b.t.Errorf("%s = %d without an ETag", a.what, a.status)
	}
	return a
}

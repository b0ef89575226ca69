package localhub_test

import (
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/hub/hubtest"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// failing is a receiver that fails in one way, what is kept of it, how often it is tried and what a person reads.
type failing struct {
	handle http.HandlerFunc // nil for one that does not get so far
	url    string           // where there is no handler
	tls    bool             // with a certificate that nobody trusts
	want   string           // status or failure
	tries  int              // 0 for as often as the policy has it
	words  string
	asked  time.Duration // by Retry-After
}

func answering(status int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
	}
}

// hijacked writes a text and breaks the connection.
func hijacked(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, text)
		_ = conn.Close()
	}
}

func waiting(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only then is a gone client noticed
	<-r.Context().Done()
}

// everyWayToFail are the receivers. The last ones take what they get, whatever becomes of their answer.
func everyWayToFail() map[string]failing {
	return map[string]failing{
		"500":                     {handle: answering(500), want: "500", words: "answered 500"},
		"503 that asks for time":  {handle: answering(503, "Retry-After", "600"), want: "503", words: "answered 503", asked: 10 * time.Minute},
		"slow":                    {handle: waiting, want: "timeout", words: "did not answer in time"},
		"reset":                   {handle: hijacked(""), want: "reset", words: "broke off"},
		"half an answer":          {handle: hijacked("HTTP/1.1 200 OK\r\nContent-"), want: "malformed", words: "no whole answer"},
		"huge header":             {handle: answering(200, "X", strings.Repeat("x", 100<<10)), want: "too_long", words: "had no end"},
		"wrong certificate":       {handle: answering(200), tls: true, want: "tls", words: "certificate"},
		"nobody listens":          {url: "http://" + deadEnd(), want: "connect", words: "nobody listens"},
		"name that leads nowhere": {url: "https://nobody.callback.example/", want: "dns", words: "leads nowhere"},
		"redirect":                {handle: answering(307, "Location", "/elsewhere"), want: "307", tries: 1, words: "which sends the hub elsewhere"},
		"404":                     {handle: answering(404), want: "404", tries: 1, words: "answered 404"},
		"429 that asks for time":  {handle: answering(429, "Retry-After", "1"), want: "429", tries: 1, words: "answered 429"},
		"huge answer": {handle: func(w http.ResponseWriter, _ *http.Request) {
			for chunk, n := make([]byte, 64<<10), 0; n < 1<<12; n++ {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, want: "200", tries: 1, words: "answered 200"},
		"half a body": {handle: hijacked("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), want: "200", tries: 1, words: "answered 200"},
	}
}

// deadEnd is an address at which nobody listens.
func deadEnd() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// life is a hub in a folder that is started anew as often as one likes, and its clock.
type life struct {
	t      *testing.T
	folder string
	allow  string
	now    time.Time

	patience time.Duration // of an attempt: little only where the receiver is slow, for the machine may be, too

	hub     *hub.Hub
	store   *sqlitestore.Store
	handler http.Handler
}

// restart ends the hub, if one runs, and starts another over the same folder.
func (l *life) restart() {
	l.t.Helper()
	l.stop()
	wrapper, err := keyring.OpenFile(filepath.Join(l.folder, "key"))
	if err != nil {
		l.t.Fatal(err)
	}
	if l.store, err = sqlitestore.Open(filepath.Join(l.folder, "mash.db")); err != nil {
		l.t.Fatal(err)
	}
	keys, err := keyring.Open(l.t.Context(), l.store, wrapper)
	if err != nil {
		l.t.Fatal(err)
	}
	c := callback.Config{Resolver: hubtest.ResolverTo(), Timeout: l.patience}
	if l.allow != "" {
		c.Allow = []string{l.allow}
	}
	pusher, err := callback.New(c)
	if err != nil {
		l.t.Fatal(err)
	}
	settings := hub.DefaultSettings()
	settings.BaseURL, settings.Retry.MaxAttempts = "http://hub.example", 6
	l.hub = hub.New(l.store, keys, pusher, &localhub.Bell{}, unwound{}, settings)
	l.hub.Now = func() time.Time { return l.now }
	l.handler = localhub.Web{Hub: l.hub, BaseURL: settings.BaseURL, Log: slog.New(slog.DiscardHandler)}.Handler()
}

func (l *life) stop() {
	if l.store != nil {
		if err := l.store.Close(); err != nil {
			l.t.Error(err)
		}
	}
}

// TestB78_AReceiverThatFailsInEveryWay: each failure is tried as often and as far apart as the policy says, and the page of
// the message says so, though the hub is started anew before every attempt.
func TestB78_AReceiverThatFailsInEveryWay(t *testing.T) {
	t.Parallel()
	for name, f := range everyWayToFail() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &life{t: t, folder: t.TempDir(), now: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), patience: time.Minute}
			if f.want == "timeout" {
				l.patience = 150 * time.Millisecond
			}
			url := f.url
			if f.handle != nil {
				url = l.receiver(f)
			}
			l.allow = strings.TrimPrefix(strings.TrimPrefix(url, "https://"), "http://")
			if strings.HasSuffix(url, "/") {
				l.allow = "" // a name
			}
			l.restart()
			defer l.stop()
			l.live(f, url)
		})
	}
}

func (l *life) receiver(f failing) string {
	server := httptest.NewUnstartedServer(f.handle)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if f.tls {
		server.StartTLS()
	} else {
		server.Start()
	}
	l.t.Cleanup(server.Close)
	return server.URL
}

// live goes through all attempts of one answer.
func (l *life) live(f failing, url string) {
	id := l.answered(url)
	key, _ := hub.StateKey(id)
	policy := l.hub.Settings.Retry
	tries := f.tries
	if tries == 0 {
		tries = policy.MaxAttempts
	}
	wait := policy.First
	for try := 1; try <= tries; try++ {
		l.restart()
		began := l.now
		next, err := l.hub.Fire(l.t.Context(), key)
		if err != nil {
			l.t.Fatal(err)
		}
		l.page(id, f, try, tries)
		if try == tries {
			break
		}
		least := max(wait, f.asked)
		if apart := next.Sub(began); apart < least || apart > least+least/4 {
			l.t.Errorf("after attempt %d the next one comes in %s, want %s and up to a quarter more", try, apart, least)
		}
		l.now, wait = next, 2*wait
	}
	if _, err := l.hub.Fire(l.t.Context(), key); err != nil {
		l.t.Error(err)
	}
	l.page(id, f, tries, tries) // no more
}

// answered has an ask declined whose answer is to be pushed.
func (l *life) answered(url string) string {
	l.t.Helper()
	owner, _, err := l.hub.EnsureOwner(l.t.Context(), "ada")
	if err != nil {
		l.t.Fatal(err)
	}
	made, err := l.hub.AddAgent(l.t.Context(), owner, "bot")
	if err != nil {
		l.t.Fatal(err)
	}
	e, invalid := ma2h.ReadMessage(fmt.Appendf(nil, `{"ma2h_version":"0.6","type":"ask","created_at":"2026-03-01T10:00:00Z",`+
		`"agent":{"id":"bot","run_id":"r"},"title":"Ship?","idempotency_key":"k","request":{"mode":"confirm",`+
		`"allowed_resolvers":["human:ada"],"callback":{"url":%q,"auth":{"scheme":"hmac","secret_ref":%q}}}}`, url, hub.PushSecretRef))
	if invalid != nil {
		l.t.Fatal(invalid)
	}
	credential, bad := auth.Parse(made.Token)
	if bad != nil {
		l.t.Fatal(bad)
	}
	agent, err := auth.For(l.hub).Caller(l.t.Context(), credential)
	if err != nil {
		l.t.Fatal(err)
	}
	s, err := l.hub.Submit(l.t.Context(), agent, e)
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.hub.Resolve(l.t.Context(), owner, s.Ack.ID, "", &ma2h.Resolve{Resolution: ma2h.StatusDeclined}); err != nil {
		l.t.Fatal(err)
	}
	return s.Ack.ID
}

var markup = regexp.MustCompile(`<[^>]*>`)

// page holds the page of the message to what has happened after so many attempts.
func (l *life) page(id string, f failing, try, tries int) {
	l.t.Helper()
	owner, err := l.hub.Owner(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	link, err := l.hub.NewLogin(l.t.Context(), owner, hub.LoginLink, time.Hour)
	if err != nil {
		l.t.Fatal(err)
	}
	server := httptest.NewServer(l.handler)
	defer server.Close()
	jar, err := cookiejar.New(nil)
	if err != nil {
		l.t.Fatal(err)
	}
	resp, err := (&http.Client{Jar: jar}).Get(server.URL + "/in/" + link + "?next=/inbox/" + id)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	text := strings.Join(strings.Fields(markup.ReplaceAllString(string(body), "")), " ")
	state := "The next attempt to push the answer to"
	switch {
	case f.want == "200":
		state = "The answer was pushed to"
	case try == tries:
		state = "The hub gave up pushing the answer to"
	}
	if got := strings.Count(text, f.words); got != try || !strings.Contains(text, fmt.Sprintf("Push %d:", try)) || !strings.Contains(text, state) {
		l.t.Errorf("after %d attempts the page says %d times %q, want %q with it: %s", try, got, f.words, state, text)
	}
	l.account(id, f, try)
}

// account holds what is kept of the attempts to what has happened.
func (l *life) account(id string, f failing, try int) {
	l.t.Helper()
	owner, err := l.hub.Owner(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	r, err := l.hub.Read(l.t.Context(), owner, id)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, a := range r.Attempts {
		if got := strings.TrimPrefix(fmt.Sprint(a.Status, a.Failure), "0 "); strings.TrimSpace(got) != f.want && strings.TrimPrefix(got, "0") != f.want {
			l.t.Errorf("an attempt is kept as %q, want %q", got, f.want)
		}
	}
	if len(r.Attempts) != try {
		l.t.Errorf("%d attempts are kept, want %d", len(r.Attempts), try)
	}
}

package inbox_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/inbox"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// start is the time at which every hub of these tests begins.
var start = time.Date(2026, time.March, 4, 14, 20, 7, 0, time.UTC)

// rig is an inbox that serves, with a hub in memory behind it and the owner's browser before it.
type rig struct {
	t     testing.TB
	hub   *hub.Hub
	owner *hub.Caller
	agent *hub.Caller
	log   *strings.Builder

	server  *httptest.Server
	browser *http.Client

	mu  sync.Mutex
	now time.Time
	n   int
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return newRigWith(t, inbox.Config{})
}

// newRigWith completes a configuration with its hub and log.
func newRigWith(t testing.TB, c inbox.Config) *rig {
	t.Helper()
	store, err := sqlitestore.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	r := &rig{t: t, now: start, log: &strings.Builder{}}
	r.hub = hub.New(store, keyring.Ephemeral(), still{}, still{}, still{}, hub.DefaultSettings())
	r.hub.Settings.RequestsPerMinute = 0
	r.hub.Now = r.clock
	if r.owner, err = r.hub.EnsureAccount(t.Context(), "owner"); err != nil {
		t.Fatal(err)
	}
	r.agent = r.newAgent("deploybot/dev-team")
	c.Hub = func(*http.Request) (*hub.Hub, error) { return r.hub, nil }
	c.Log = slog.New(slog.NewTextHandler(r.log, nil))
	r.server = httptest.NewServer(inbox.New(c).Handler())
	t.Cleanup(r.server.Close)
	r.hub.Settings.BaseURL = r.server.URL
	r.browser = r.newBrowser()
	return r
}

// still is a Pusher, Bell and Clockwork that do nothing.
type still struct{}

func (still) Push(context.Context, hub.Push) hub.PushResult {
	return hub.PushResult{Status: http.StatusOK}
}
func (still) Check(string) error                         { return nil }
func (still) Ring(context.Context, string)               {}
func (still) Arm(context.Context, record.Key, time.Time) {}
func (still) Listen(context.Context, ...string) (<-chan struct{}, func()) {
	return nil, func() {}
}
func (still) Forget(context.Context, string) {}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// newBrowser is a browser of somebody who is not signed in, and does not follow redirects.
func (r *rig) newBrowser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (r *rig) newAgent(id string) *hub.Caller {
	r.t.Helper()
	made, err := r.hub.AddAgent(r.t.Context(), r.owner, id)
	if err != nil {
		r.t.Fatal(err)
	}
	credential, invalid := auth.Parse(made.Token)
	if invalid != nil {
		r.t.Fatal(invalid)
	}
	caller, err := auth.Authenticator{Store: r.hub.Store, Now: r.hub.Now}.Caller(r.t.Context(), credential)
	if err != nil {
		r.t.Fatal(err)
	}
	return caller
}

// newLink returns the path of a link that signs the owner in.
func (r *rig) newLink() string {
	r.t.Helper()
	token, err := r.hub.NewLogin(r.t.Context(), r.owner, hub.LoginLink, time.Hour)
	if err != nil {
		r.t.Fatal(err)
	}
	return "/in/" + token
}

// signIn opens a link in the owner's browser.
func (r *rig) signIn() *rig {
	r.t.Helper()
	if p := r.get(r.newLink()); p.status != http.StatusOK {
		r.t.Fatalf("GET of a fresh link = %d, want 200", p.status)
	}
	return r
}

// signedIn is newRig with the owner signed in.
func signedIn(t testing.TB) *rig {
	t.Helper()
	return newRig(t).signIn()
}

// send submits a message of the agent; members are those of the envelope that matter, as JSON. It returns the id.
func (r *rig) send(members string) string {
	r.t.Helper()
	id, err := r.trySend(r.agent, members)
	if err != nil {
		r.t.Fatalf("submit %.200s: %v", members, err)
	}
	return id
}

func (r *rig) trySend(agent *hub.Caller, members string) (string, error) {
	r.n++
	r.pass(time.Millisecond) // so that messages have an order
	doc := fmt.Sprintf(`{"ma2h_version":"0.6","created_at":"2026-03-04T14:20:00Z","idempotency_key":"k%d",`+
		`"agent":{"id":%q,"run_id":"run_88"},%s}`, r.n, agent.Agent.ID, members)
	e, invalid := ma2h.ReadMessage([]byte(doc))
	if invalid != nil {
		return "", invalid
	}
	s, err := r.hub.Submit(r.t.Context(), agent, e)
	if err != nil {
		return "", err
	}
	return s.Ack.ID, nil
}

// ask submits an ask with this request, which the owner may answer.
func (r *rig) ask(title, request string) string {
	r.t.Helper()
	return r.send(fmt.Sprintf(`"type":"ask","title":%q,"request":{"allowed_resolvers":["human:owner"],%s}`, title, request))
}

// detail is what became of a message, as the hub has it.
func (r *rig) detail(id string) *ma2h.Response {
	r.t.Helper()
	m, err := r.hub.Read(r.t.Context(), r.owner, id)
	if err != nil {
		r.t.Fatal(err)
	}
	return m.Response
}

// answer is a page that came.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   string
	root   *html.Node
}

func (r *rig) get(path string) *answer { return r.getIn(r.browser, path) }

func (r *rig) getIn(browser *http.Client, path string) *answer {
	r.t.Helper()
	return r.do(browser, http.MethodGet, path, nil, nil)
}

// post sends a form as a page would, with the token of the session that the page at from holds.
func (r *rig) post(from, path string, form url.Values) *answer {
	r.t.Helper()
	values := url.Values{"csrf": {r.token(from)}}
	for k, v := range form {
		values[k] = v
	}
	return r.do(r.browser, http.MethodPost, path, values, map[string]string{"Sec-Fetch-Site": "same-origin"})
}

// reply answers the message with this id from its own page.
func (r *rig) reply(id string, form url.Values) *answer {
	r.t.Helper()
	return r.post("/settings", "/inbox/"+id, form)
}

func (r *rig) token(from string) string {
	r.t.Helper()
	input := r.get(from).find("input", "name", "csrf")
	if len(input) == 0 {
		r.t.Fatalf("no token on the page %s", from)
	}
	return attr(input[0], "value")
}

func (r *rig) do(
	browser *http.Client, method, path string, form url.Values, headers map[string]string,
) *answer {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		r.t.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for k, v := range headers {
		request.Header.Set(k, v)
	}
	response, err := browser.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(string(body)))
	if err != nil {
		r.t.Fatal(err)
	}
	a := &answer{t: r.t, status: response.StatusCode, header: response.Header, body: string(body), root: root}
	if strings.HasPrefix(a.header.Get("Content-Type"), "text/html") && len(body) > 0 && a.find("main", "", "") != nil {
		a.sound()
	}
	return a
}

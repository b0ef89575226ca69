package localhub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/record"
)

// server is a hub in real time, as its agents and people see it.
type server struct {
	t      *testing.T
	url    string
	hub    *hub.Hub
	owner  *hub.Caller
	client *http.Client
}

// onStores runs a test against a hub of its own on every store, with windows as small as settings make them. Callbacks may
// go to the addresses in allow.
func onStores(t *testing.T, settings func(*hub.Settings), allow []string, test func(s *server)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(serveSQLite(t, settings, allow))
	})
	if !dynamotest.Wanted(t) {
		return
	}
	t.Run("DynamoDB", func(t *testing.T) {
		t.Parallel()
		test(serveStore(t, dynamotest.Store(t), settings, allow))
	})
}

// serveSQLite runs the very server of mash serve.
func serveSQLite(t *testing.T, settings func(*hub.Settings), allow []string) *server {
	t.Helper()
	none := 0
	s, err := localhub.Open(t.Context(), localhub.Config{
		Folder: localhub.Folder(t.TempDir()), Listen: "127.0.0.1:0", AllowCallback: allow, Rate: &none, Depth: &none,
	})
	if err != nil {
		t.Fatal(err)
	}
	settings(&s.Hub.Settings)
	runUntilDone(t, func(ctx context.Context) {
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return &server{t: t, url: s.URL, hub: s.Hub, owner: s.Owner, client: newClient(t)}
}

// serveStore runs a hub of the same parts on another store.
func serveStore(t *testing.T, store record.Store, settings func(*hub.Settings), allow []string) *server {
	t.Helper()
	pusher, err := callback.New(callback.Config{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	h := hub.New(store, keyring.Ephemeral(), pusher, &localhub.Bell{}, nil, hub.DefaultSettings())
	h.Settings.RequestsPerMinute, h.Settings.InboxDepth = 0, 0
	settings(&h.Settings)
	runUntilDone(t, localhub.Wind(h, slog.New(slog.DiscardHandler)))
	web := httptest.NewServer(localhub.Web{Hub: h, BaseURL: "http://hub.example", Log: slog.New(slog.DiscardHandler)}.Handler())
	t.Cleanup(web.Close)
	owner, _, err := h.EnsureOwner(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	return &server{t: t, url: web.URL, hub: h, owner: owner, client: newClient(t)}
}

// runUntilDone runs f in the background until the test is over, and waits for its end.
func runUntilDone(t *testing.T, f func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f(ctx) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
}

// agent makes an agent of the owner's account and returns its token and push secret.
func (s *server) agent(id string) *hub.NewCredentials {
	s.t.Helper()
	made, err := s.hub.AddAgent(s.t.Context(), s.owner, id)
	if err != nil {
		s.t.Fatal(err)
	}
	return made
}

// person makes a person of the owner's account, or finds the owner, and returns a token.
func (s *server) person(name string) string {
	s.t.Helper()
	p := hub.Person{Ref: s.hub.PersonRef(name), ID: name, Account: s.owner.Account.Ref}
	put := record.Put(record.Record{Key: hub.PersonKey(p.Ref), Kind: hub.KindPerson, Body: hub.Encode(p)}, "")
	if err := s.hub.Store.Commit(s.t.Context(), put); err != nil && record.AsConflict(err) == nil {
		s.t.Fatal(err)
	}
	token, err := s.hub.NewLogin(s.t.Context(), &hub.Caller{Person: &p, Account: s.owner.Account}, hub.LoginToken, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// reply is what came back of a request.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// doc is a JSON object.
type doc map[string]any

// newClient returns a client whose connections go before its server does, which would else wait for what they might still
// ask.
func newClient(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// try makes one request.
func (s *server) try(method, path, token string, body any) (reply, error) {
	var sent io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return reply{}, err
		}
		sent = strings.NewReader(string(b))
	}
	req, err := http.NewRequestWithContext(context.Background(), method, s.url+path, sent)
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	r := reply{status: resp.StatusCode, header: resp.Header}
	r.body, err = io.ReadAll(resp.Body)
	return r, err
}

// send makes one request that must get the status, and returns the body.
func (s *server) send(method, path, token string, body any, want int) doc {
	s.t.Helper()
	r, err := s.try(method, path, token, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if r.status != want {
		s.t.Fatalf("%s %s = %d %s, want %d", method, path, r.status, r.body, want)
	}
	return r.doc(s.t)
}

func (r reply) doc(t *testing.T) doc {
	t.Helper()
	var d doc
	if len(r.body) > 0 {
		if err := json.Unmarshal(r.body, &d); err != nil {
			t.Errorf("%q is no JSON object: %v", r.body, err)
		}
	}
	return d
}

// at returns the member that a path of names leads to, or nil.
func (d doc) at(names ...string) any {
	var v any = map[string]any(d)
	for _, n := range names {
		o, _ := v.(map[string]any)
		v = o[n]
	}
	return v
}

// reading is the message as alice sees it, which stamps nothing.
func (s *server) reading(alice string, id any) doc {
	s.t.Helper()
	return s.send("GET", "/v1/waiting/"+id.(string), alice, nil, http.StatusOK)
}

var confirm = doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice"}}

// ask is an envelope of agent bot, with its key for title.
func ask(key string, request doc, expires time.Time) doc {
	d := doc{
		"ma2h_version": "0.6", "type": "ask", "created_at": "2026-03-14T12:00:00Z", "title": key, "idempotency_key": key,
		"agent": doc{"id": "bot", "run_id": "r"}, "state": doc{"key": key}, "request": request,
	}
	if !expires.IsZero() {
		d["expires_at"] = expires.UTC().Format(time.RFC3339Nano)
	}
	return d
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not as wanted (-want +got):\n%s", what, diff)
	}
}

func messagePath(id any, more string) string { return fmt.Sprintf("/v1/messages/%v%s", id, more) }

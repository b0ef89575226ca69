package localhub_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// here is a client of its own: closing any test server ends the idle connections of the usual one, also those that another
// test is just about to use.
var here = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// web is the handler of a hub with an owner, and the owner's token.
type web struct {
	t     *testing.T
	hub   *hub.Hub
	owner *hub.Caller
	token string
	http.Handler
}

func newWeb(t *testing.T, wrap func(record.Store) record.Store) *web {
	t.Helper()
	store, err := localhub.MemoryStore()
	if err != nil {
		t.Fatal(err)
	}
	if closer, ok := store.(interface{ Close() error }); ok {
		t.Cleanup(func() { _ = closer.Close() })
	}
	h := hub.New(wrap(store), keyring.Ephemeral(), nil, &localhub.Bell{}, unwound{}, hub.DefaultSettings())
	w := &web{t: t, hub: h, Handler: localhub.Web{
		Hub: h, BaseURL: "http://hub", Log: slog.New(slog.DiscardHandler), NewStore: localhub.MemoryStore,
	}.Handler()}
	if w.owner, _, err = h.EnsureOwner(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	if w.token, err = h.NewLogin(t.Context(), w.owner, hub.LoginToken, 0); err != nil {
		t.Fatal(err)
	}
	return w
}

// unwound is a clockwork that does nothing.
type unwound struct{}

func (unwound) Arm(context.Context, record.Key, time.Time) {}

func plain(s record.Store) record.Store { return s }

func (w *web) send(method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+w.token)
	answer := httptest.NewRecorder()
	w.ServeHTTP(answer, r)
	return answer
}

// store writes an agent as hubs once made them, whatever its id.
func (w *web) store(id string) {
	w.t.Helper()
	made, err := w.hub.AddAgent(w.t.Context(), w.owner, "like")
	if err != nil {
		w.t.Fatal(err)
	}
	credential, invalid := auth.Parse(made.Token)
	if invalid != nil {
		w.t.Fatal(invalid)
	}
	like, err := auth.For(w.hub).Caller(w.t.Context(), credential)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.hub.RevokeAgent(w.t.Context(), w.owner, "like"); err != nil {
		w.t.Fatal(err)
	}
	a := *like.Agent
	a.Ref, a.ID = w.hub.AgentRef(w.owner.Account.Ref, id), id
	r := record.Record{Key: hub.AgentKey(a.Ref), Kind: hub.KindAgent, Body: hub.Encode(a)}
	if err := w.hub.Store.Commit(w.t.Context(), record.Put(r, "")); err != nil {
		w.t.Fatal(err)
	}
}

// TestAgentsOfAnyNameCanBeRevoked: those, too, that can be made no longer. (A lone slash is none that a ServeMux can match.)
func TestAgentsOfAnyNameCanBeRevoked(t *testing.T) {
	t.Parallel()
	w := newWeb(t, plain)
	revoke := endpoint.Of(endpoint.AgentRevoke)
	for _, id := range []string{
		".", "..", "//", "/a", "a//b", "a/../b", "team//x", "a/", "a/./b", "what?", "tab\tand", "./..", "a/rotate", "%2e", "\x00",
	} {
		w.store(id)
		if got := w.send(revoke.Method, revoke.Fill(id), ""); got.Code != http.StatusNoContent {
			t.Errorf("DELETE %s = %d %s, want 204", revoke.Fill(id), got.Code, got.Body)
		}
		w.gone(id)
	}
}

// gone holds an agent to be there, and revoked.
func (w *web) gone(id string) {
	w.t.Helper()
	rotate := endpoint.Of(endpoint.AgentRotate)
	got := w.send(rotate.Method, rotate.Fill(id), "")
	if got.Code != http.StatusNotFound || !strings.Contains(got.Body.String(), "revoked") {
		w.t.Errorf("POST %s = %d %s, want 404 for a revoked agent", rotate.Fill(id), got.Code, got.Body)
	}
}

func TestTheControlAPIWithoutItsSlashIsNothing(t *testing.T) {
	t.Parallel()
	got := newWeb(t, plain).send(http.MethodGet, "/_conformance", "")
	if got.Code != http.StatusNotFound || got.Header().Get("Content-Type") != "application/json" {
		t.Errorf("GET /_conformance = %d %v, want 404 in JSON", got.Code, got.Header())
	}
}

// overtaken is a store in which somebody else is always faster at changing an agent or account.
type overtaken struct{ record.Store }

func (o overtaken) Commit(ctx context.Context, writes ...record.Write) error {
	if k := writes[0].Record.Kind; writes[0].Was != "" && (k == hub.KindAgent || k == hub.KindAccount) {
		recs, err := o.Get(ctx, writes[0].Record.Key)
		if err != nil {
			return err
		}
		return &record.Conflict{Lost: recs}
	}
	return o.Store.Commit(ctx, writes...)
}

func TestWhoIsAlwaysTooSlowIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	w := newWeb(t, func(s record.Store) record.Store { return overtaken{s} })
	if _, err := w.hub.AddAgent(t.Context(), w.owner, "bot"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ method, path, body string }{
		{http.MethodPost, "/v1/agents/bot/rotate", ""}, {http.MethodDelete, "/v1/agents/bot", ""},
		{http.MethodPut, "/v1/settings", `{"default_resolvers":[]}`},
	} {
		got := w.send(c.method, c.path, c.body)
		if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") != "1" {
			t.Errorf("%s %s = %d %s, Retry-After %q; want 503 and 1", c.method, c.path, got.Code, got.Body, got.Header().Get("Retry-After"))
		}
	}
}

// TestWhoGivesUpIsToldToComeBack: nobody reads that but what stands between, which may repeat the request.
func TestWhoGivesUpIsToldToComeBack(t *testing.T) {
	t.Parallel()
	w := newWeb(t, plain)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{"/v1/me", "/inbox"} {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+w.token)
		r.Header.Set("Cookie", "mash_session="+w.token)
		got := httptest.NewRecorder()
		w.ServeHTTP(got, r)
		if got.Code != ma2h.CodeUnavailable.Status() || got.Header().Get("Retry-After") != "1" {
			t.Errorf("GET %s = %d %s, Retry-After %q; want 503 and 1", path, got.Code, got.Body, got.Header().Get("Retry-After"))
		}
	}
}

// TestHEADTellsTheLengthOfAGET: one that delivers is as long as it will be then.
func TestHEADTellsTheLengthOfAGET(t *testing.T) {
	t.Parallel()
	w := newWeb(t, plain)
	now := time.Now().Truncate(time.Second)
	w.hub.Now = func() time.Time { return now }
	made, err := w.hub.AddAgent(t.Context(), w.owner, "bot")
	if err != nil {
		t.Fatal(err)
	}
	owner, bot := w.token, made.Token
	w.token = bot
	sent := w.send(http.MethodPost, "/v1/messages", `{"ma2h_version":"0.6","type":"ask","title":"Q","idempotency_key":"k",`+
		`"created_at":"2026-03-14T11:59:00Z","agent":{"id":"bot","run_id":"r"},`+
		`"request":{"mode":"confirm","allowed_resolvers":["human:ada"]}}`)
	_, id, _ := strings.Cut(sent.Body.String(), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	path := "/v1/messages/" + id
	w.token = owner
	if got := w.send(http.MethodPost, path+"/resolve", `{"resolution":"answered","value":"approve"}`); got.Code != http.StatusOK {
		t.Fatalf("resolve = %d %s", got.Code, got.Body)
	}
	server := httptest.NewServer(w)
	defer server.Close()
	length := func(method string) int64 {
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+bot)
		resp, err := here.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.ContentLength
	}
	if head, get := length(http.MethodHead), length(http.MethodGet); head != get || head < 1 {
		t.Errorf("HEAD tells a length of %d, and GET one of %d", head, get)
	}
}

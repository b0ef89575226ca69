package conform_test

import (
	"context"
	"log/slog"
	"net"
	"net/http/httptest"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/conform"
	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/realtime"
	"github.com/mash-hub/mash/pkg/record"
)

// start runs a hub in one process, with the control API or without.
func start(t *testing.T, control bool, allow ...string) (*localhub.Server, string) {
	t.Helper()
	folder := localhub.Folder(t.TempDir())
	s, err := localhub.Open(t.Context(), localhub.Config{
		Folder: folder, Listen: "127.0.0.1:0", Conformance: control, AllowCallback: allow,
	})
	if err != nil {
		t.Fatal(err)
	}
	settings := realtime.Settings()
	settings.InboxDepth = hub.DefaultSettings().InboxDepth // since given agents keep what clauses leave to them
	settings.ServeAt(s.URL)
	if !control {
		s.Hub.Settings = settings
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the hub ended with %v", err)
		}
	})
	token, err := folder.OwnerToken()
	if err != nil {
		t.Fatal(err)
	}
	return s, token
}

// stranger is an agent of a second account.
func stranger(t *testing.T, s *localhub.Server) *conform.Credential {
	t.Helper()
	other, err := s.Hub.EnsureAccount(t.Context(), "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.Hub.AddAgent(t.Context(), other, "stranger")
	if err != nil {
		t.Fatal(err)
	}
	return &conform.Credential{ID: made.ID, Token: made.Token}
}

// freeAddress is a host:port of this machine at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// notAsked are the clauses that cannot be asked of a hub of ours: for every hub, and in real time.
var (
	notAsked = []string{"dp-007.8"}
	notSoon  = []string{"dp-021.6", "dp-021.7", "dp-022.3b", "dp-022.5c", "dp-022.7b"}
)

// hold wants every clause to have passed, but for those that cannot be asked.
func hold(t *testing.T, results []conform.Result, notApplicable ...string) {
	t.Helper()
	if len(results) != len(conform.Clauses()) {
		t.Errorf("%d results of %d clauses", len(results), len(conform.Clauses()))
	}
	for _, r := range results {
		want := conform.Passed
		if slices.Contains(notApplicable, r.Clause) {
			want = conform.NotApplicable
		}
		if r.Verdict != want {
			t.Errorf("%s %s: %s, want %s %s\n  sent %s\n  came %s\n  want %s", r.Clause, r.Title, r.Verdict, want, r.Why, r.Sent, r.Came, r.Want)
		}
	}
}

func TestEveryClauseHoldsInVirtualTime(t *testing.T) {
	t.Parallel()
	engines := map[string]func(*testing.T) string{"SQLite": func(t *testing.T) string { s, _ := start(t, true); return s.URL }}
	if dynamotest.Wanted(t) {
		engines["DynamoDB"] = controlled
	}
	for name, url := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, err := conform.Run(t.Context(), &conform.Virtual{URL: url(t)}, conform.Options{})
			if err != nil {
				t.Fatal(err)
			}
			hold(t, results, notAsked...)
		})
	}
}

// controlled serves tenants over DynamoDB, which notice late what is due, as on AWS.
func controlled(t *testing.T) string {
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = localhub.Web{
		BaseURL: "http://" + server.Listener.Addr().String(), Grace: 2 * time.Minute, Log: slog.New(slog.DiscardHandler),
		NewStore: func() (record.Store, error) { return dynamotest.Store(t), nil },
	}.Handler()
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func TestEveryClauseHoldsInRealTime(t *testing.T) {
	t.Parallel()
	at := freeAddress(t)
	s, token := start(t, false, at)
	stage := &conform.Real{URL: s.URL, Owner: token, Stranger: stranger(t, s), Callback: at}
	results, err := conform.Run(t.Context(), stage, conform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hold(t, results, slices.Concat(notAsked, notSoon)...)
	if err := stage.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for _, a := range agents(t, s.URL, token) {
		if !a.Revoked {
			t.Errorf("the agent %s that was added is not revoked", a.ID)
		}
	}
}

// TestGivenAgentsWillDo asks what can be asked of a hub of which nothing is known but two agents.
func TestGivenAgentsWillDo(t *testing.T) {
	t.Parallel()
	s, token := start(t, false)
	owner := client.New(s.URL, token)
	if err := owner.AllowMail(t.Context()); err != nil {
		t.Fatal(err)
	}
	stage := &conform.Real{URL: s.URL, Person: &conform.Credential{ID: "human:owner", Token: token}}
	for _, id := range []string{"a", "b"} {
		made, err := owner.AddAgent(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		stage.Agents = append(stage.Agents, conform.Credential{ID: id, Token: made.Token})
	}
	only := regexp.MustCompile(`^dp-(002|020|023|024|026)`)
	results, err := conform.Run(t.Context(), stage, conform.Options{Only: only})
	if err != nil {
		t.Fatal(err)
	}
	n := conform.Count(results)
	for _, r := range results {
		if r.Verdict == conform.Failed {
			t.Errorf("%+v", r)
		}
	}
	if n[conform.Passed] < 35 {
		t.Errorf("%v, want 35 that passed at least", n)
	}
}

func agents(t *testing.T, url, token string) []client.Agent {
	t.Helper()
	list, err := client.New(url, token).ListAgents(t.Context())
	if err != nil || len(list) == 0 {
		t.Fatalf("ListAgents = %v, %v", list, err)
	}
	return list
}

type bodyKey struct{}

func withBody(ctx context.Context, body []byte) context.Context {
	return context.WithValue(ctx, bodyKey{}, body)
}

func bodyOf(ctx context.Context) []byte {
	body, _ := ctx.Value(bodyKey{}).([]byte)
	return body
}

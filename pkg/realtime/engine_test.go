package realtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/realtime"
)

// stackFile names the file of a deployed stack, which awsdeploy writes. Without it no test asks for AWS; what runs them
// there sees to it that they all did.
const stackFile = "MASH_TEST_STACK"

// How many race. On AWS each needs a process of its own.
const (
	racers      = 200
	racersOnAWS = 50
)

// engine is something that a hub runs on.
type engine struct {
	name  string
	serve func(*testing.T) *server
}

// engines returns what every test runs on: SQLite, DynamoDB where there is an emulator (see dynamotest), and AWS where there
// is a stack.
func engines(t *testing.T) []engine {
	t.Helper()
	all := []engine{{"SQLite", serveSQLite}}
	if dynamotest.Wanted(t) {
		all = append(all, engine{"DynamoDB", serveDynamoDB})
	}
	if os.Getenv(stackFile) != "" {
		all = append(all, engine{"AWS", useStack})
	}
	return all
}

// onEngines runs a test on a hub on every engine. On AWS they all share one, which may be used again after them: so each
// test makes its own agents and asserts nothing about what it did not make.
func onEngines(t *testing.T, test func(s *server)) {
	t.Helper()
	t.Parallel()
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			test(e.serve(t))
		})
	}
}

// onQuietEngines is onEngines while no other test runs, for what only shows where nothing else happens.
func onQuietEngines(t *testing.T, test func(s *server)) {
	t.Helper()
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) { test(e.serve(t)) })
	}
}

// serveSQLite runs the very server of mash serve.
func serveSQLite(t *testing.T) *server {
	t.Helper()
	folder := localhub.Folder(t.TempDir())
	s, err := localhub.Open(t.Context(), localhub.Config{
		Folder: folder, Listen: "127.0.0.1:0", AllowCallback: []string{callbacks(t).address},
	})
	if err != nil {
		t.Fatal(err)
	}
	settings := realtime.Settings()
	settings.ServeAt(s.URL)
	s.Hub.Settings = settings
	runUntilDone(t, func(ctx context.Context) {
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	token, err := folder.OwnerToken()
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, s.URL, s.Owner.Actor(), token)
}

// serveDynamoDB runs a hub of the same parts over DynamoDB.
func serveDynamoDB(t *testing.T) *server {
	t.Helper()
	pusher, err := callback.New(callback.Config{Allow: []string{callbacks(t).address}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	settings := realtime.Settings()
	settings.ServeAt("http://" + listener.Addr().String())
	h := hub.New(dynamotest.Store(t), keyring.Ephemeral(), pusher, &localhub.Bell{}, nil, settings)
	h.Prover = pusher
	runUntilDone(t, localhub.Wind(h, slog.New(slog.DiscardHandler)))
	web := httptest.NewUnstartedServer(
		localhub.Web{Hub: h, BaseURL: settings.BaseURL, Log: slog.New(slog.DiscardHandler)}.Handler())
	web.Listener.Close()
	web.Listener = listener
	web.Start()
	t.Cleanup(web.Close)
	owner, _, err := h.EnsureOwner(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	token, err := h.NewLogin(t.Context(), owner, hub.LoginToken, 0)
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, web.URL, owner.Actor(), token)
}

// stack is what the file of a deployed stack says that these tests need.
type stack struct {
	URL      string `json:"url"`
	Owner    string `json:"owner"`
	Token    string `json:"token"`
	Callback string `json:"callback"`
}

func readStack() (stack, error) {
	var s stack
	text, err := os.ReadFile(os.Getenv(stackFile))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: %w", os.Getenv(stackFile), err)
	}
	if s.URL == "" || s.Owner == "" || s.Token == "" || s.Callback == "" {
		return s, fmt.Errorf("%s lacks url, owner, token or callback", os.Getenv(stackFile))
	}
	return s, nil
}

// useStack asks the deployed hub.
func useStack(t *testing.T) *server {
	t.Helper()
	s, err := readStack()
	if err != nil {
		t.Fatal(err)
	}
	callbacks(t) // may be called from now on
	on := newServer(t, s.URL, s.Owner, s.Token)
	on.racers, on.shared = racersOnAWS, true
	return on
}

func newServer(t *testing.T, url, owner, token string) *server {
	transport := client.Transport()
	transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost = racers, racers
	t.Cleanup(transport.CloseIdleConnections) // before the server goes, which would else wait for what they might still ask
	s := &server{t: t, url: url, base: httpapi.BasePath(url), racers: racers, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	s.owner = &caller{server: s, actor: owner, token: token}
	return s
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

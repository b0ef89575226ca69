package awshub_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/sfnclock"
)

// remedy is what a deployment without keys says to do.
const remedy = "mash-aws bootstrap --stack Mash"

// fresh is a stack that was deployed a moment ago: a table and a key, and nothing in them.
func fresh(t *testing.T) *stack {
	t.Helper()
	s := &stack{t: t, config: deploy(t).config}
	s.config.Table = dynamotest.Table(t, dynamodb.NewFromConfig(s.config.AWS))
	return s
}

// page fetches a page as a browser does.
func page(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAFreshDeploymentSaysWhoMakesItsKeysAndThenWorks(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	submit, jwks, me := s.function(endpoint.Submit), s.function(endpoint.JWKS), s.function(endpoint.Me)
	pages, err := s.config.Inbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sweep := s.sweeper()

	token := hub.NewToken(hub.AgentTokenPrefix, "abcdefghijkl", strings.Repeat("a", 26))
	for name, r := range map[string]reply{
		"submit": s.send(submit, "POST", "/v1/messages", token, ask("k", confirm, time.Time{})),
		"jwks":   s.send(jwks, "GET", "/.well-known/jwks.json", "", nil),
		"readyz": s.send(s.function(endpoint.Readyz), "GET", "/readyz", "", nil),
	} {
		if r.status != http.StatusServiceUnavailable || !strings.Contains(r.body, remedy) ||
			!strings.Contains(r.body, `"unavailable"`) || r.header["Retry-After"] != "30" {
			t.Errorf("%s = %d %v %s", name, r.status, r.header, r.body)
		}
	}
	for _, path := range []string{"/inbox", "/signin", "/in/" + token, "/nowhere"} {
		w := page(t, pages, path)
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), remedy) ||
			!strings.Contains(w.Body.String(), "<h1") || w.Header().Get("Retry-After") != "30" {
			t.Errorf("GET %s = %d %v %s", path, w.Code, w.Header(), w.Body)
		}
	}
	if r := s.send(me, "GET", "/v1/me", token, nil); r.status != http.StatusUnauthorized { // it opens no keys, and no token is good
		t.Errorf("me = %d %s", r.status, r.body)
	}
	if r := s.send(s.function(endpoint.Healthz), "GET", "/healthz", "", nil); r.status != http.StatusOK {
		t.Errorf("healthz = %d %s", r.status, r.body)
	}
	if swept, err := sweep(t.Context()); err != nil || swept != (awshub.Swept{}) {
		t.Errorf("sweep = %+v, %v", swept, err)
	}
	s.madeNothing()

	if _, _, err := s.config.Bootstrap(t.Context(), "alice"); err != nil {
		t.Fatal(err)
	}
	s.must(jwks, "GET", "/.well-known/jwks.json", "", nil, http.StatusOK)
	for path, status := range map[string]int{"/signin": http.StatusOK, "/inbox": http.StatusUnauthorized} {
		if w := page(t, pages, path); w.Code != status || !strings.Contains(w.Body.String(), "<code>"+remedy+"</code>") {
			t.Errorf("GET %s = %d %s, want %s", path, w.Code, w.Body, remedy)
		}
	}
	if s.hub, err = s.config.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.owner, err = s.hub.Owner(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.must(submit, "POST", "/v1/messages", s.bot(), ask("k", confirm, time.Time{}), http.StatusAccepted)
}

// madeNothing checks that nobody has made the keys of the hub.
func (s *stack) madeNothing() {
	s.t.Helper()
	if _, err := s.config.Token(s.t.Context()); err == nil || !strings.Contains(err.Error(), "no owner yet") {
		s.t.Errorf("Token = %v, want no owner", err)
	}
	if h, err := s.config.Open(s.t.Context()); err == nil {
		s.t.Errorf("somebody has made the keys of %v", h)
	}
}

func TestAnExecutionTellsWhatIsNoInput(t *testing.T) {
	t.Parallel()
	s := deploy(t)
	for name, start := range map[string]func(context.Context) (awshub.Execution, error){
		"fire": s.config.Firer, "deliver": s.config.Deliverer,
	} {
		f, err := start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		key := sfnclock.Key{Part: "m#none", Sort: "state"}
		if got, err := f(t.Context(), sfnclock.Input{Key: key, At: "2026-03-14T12:00:00Z"}); err != nil || got != (sfnclock.Answer{}) {
			t.Errorf("%s of a message that is gone = %+v, %v, want the end", name, got, err)
		}
		_, err = f(t.Context(), sfnclock.Input{Key: key, At: "never"})
		if _, ok := err.(*sfnclock.InvalidInput); !ok { //nolint:errorlint // Lambda looks at the type itself
			t.Errorf("%s of no time = %T %v", name, err, err)
		}
	}
}

// TestWhatIsNoInputFailsByItsName: by that name the definitions know what another try cannot mend.
func TestWhatIsNoInputFailsByItsName(t *testing.T) {
	t.Parallel()
	s := deploy(t)
	for name, start := range map[string]func(context.Context) (awshub.Execution, error){
		"fire": s.config.Firer, "deliver": s.config.Deliverer,
	} {
		f, err := start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		function := lambda.NewHandler(f)
		for _, in := range []string{
			`"x"`, `5`, `null`, `[]`, `{}`, `{"key":5}`, `{"key":"m#1"}`, `{"key":{"part":5,"sort":"state"},"at":"2026-03-14T12:00:00Z"}`,
			`{"key":{"part":"m#1","sort":["state"]},"at":"2026-03-14T12:00:00Z"}`, `{"key":{"part":"m#1","sort":"state"},"at":5}`,
			`{"key":{"part":"m#1","sort":"state"},"at":null}`,
		} {
			out, err := function.Invoke(t.Context(), []byte(in))
			if _, ok := err.(*sfnclock.InvalidInput); !ok { //nolint:errorlint // Lambda looks at the type itself
				t.Errorf("%s of %s = %s, %T %v, want InvalidInput", name, in, out, err, err)
			}
		}
	}
}

// TestAnEarlyExecutionIsNotCalledAgainAtOnce: where the clock of Step Functions runs ahead of ours, what we still wait for
// is past for it, and it would ask again and again.
func TestAnEarlyExecutionIsNotCalledAgainAtOnce(t *testing.T) {
	t.Parallel()
	c := raise(t, time.Hour)
	fire, err := c.config.Firer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.until("a call comes within the last second before a deadline", func() bool {
		now := time.Now()
		deadline := now.Truncate(time.Second).Add(time.Second - time.Millisecond) // over when the second is
		if left := deadline.Sub(now); left < 300*time.Millisecond || left > 900*time.Millisecond {
			return false
		}
		key, _ := hub.StateKey(c.ask(rand.Text(), deadline))
		before := time.Now()
		got, err := fire(t.Context(), sfnclock.Input{Key: sfnclock.Key(key), At: sfnclock.Timestamp(deadline)})
		if err != nil {
			t.Fatal(err)
		}
		if got.Again == "" {
			return false // too late: it has expired
		}
		again, err := time.Parse(time.RFC3339, got.Again)
		if err != nil || again.Sub(before) < time.Second {
			t.Errorf("called %s early, it wants to be called again in %s: %v", deadline.Sub(before), again.Sub(before), err)
		}
		return true
	})
}

// TestTheEnvironment is not parallel, since it changes it.
func TestTheEnvironment(t *testing.T) {
	want := awshub.Config{
		Table: "table", BaseURL: "https://hub.example", Key: "key", Settings: `{"grace":"2s"}`, Stack: "Mash",
		Queues:        "https://sqs.example/1/Mash-",
		ExpiryMachine: "expiry", CallbackMachine: "callback", AllowCallback: []string{"127.0.0.1:1", "localhost:2"},
	}
	for name, value := range map[string]string{
		"MASH_TABLE": want.Table, "MASH_BASE_URL": want.BaseURL, "MASH_KMS_KEY": want.Key, "MASH_SETTINGS": want.Settings,
		"MASH_STACK": want.Stack, "MASH_QUEUES": want.Queues,
		"MASH_EXPIRY_MACHINE": want.ExpiryMachine, "MASH_CALLBACK_MACHINE": want.CallbackMachine,
		"MASH_ALLOW_CALLBACK": "127.0.0.1:1,localhost:2", "AWS_REGION": "eu-central-1",
	} {
		t.Setenv(name, value)
	}
	got := awshub.FromEnv()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(awshub.Config{}, "AWS", "Log")); diff != "" {
		t.Errorf("FromEnv (-want +got)\n%s", diff)
	}
	t.Setenv("MASH_SETTINGS", `{"graze":"2s"}`)
	_, err := awshub.FromEnv().Endpoint(t.Context(), endpoint.Healthz)
	if err == nil || !strings.Contains(err.Error(), "MASH_SETTINGS") || !strings.Contains(err.Error(), "graze") {
		t.Errorf("with settings that cannot be: %v", err)
	}
	t.Setenv("MASH_ALLOW_CALLBACK", "")
	if got := awshub.FromEnv().AllowCallback; len(got) > 0 {
		t.Errorf("nothing allows %q", got)
	}
}

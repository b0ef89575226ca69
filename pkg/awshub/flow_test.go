package awshub_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/signature"
	"github.com/mash-hub/mash/pkg/sqsbell"
)

var confirm = doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice"}}

func TestAnAskFromSubmitToAck(t *testing.T) {
	t.Parallel()
	s := deploy(t)
	bot, alice := s.bot(), s.alice()
	id := s.must(s.function(endpoint.Submit), "POST", "/v1/messages", bot, ask("k", confirm, time.Time{}), http.StatusAccepted)["id"]

	var waiting sync.WaitGroup
	pull, began := s.function(endpoint.Pull), time.Now()
	waiting.Go(func() {
		r := s.send(pull, "GET", messagePath(id, "?wait=25"), bot, nil)
		if got := status(r.doc(t)); got != "answered" {
			t.Errorf("the pull that waits = %d %s, want answered", r.status, r.body)
		}
	})
	s.must(s.function(endpoint.Resolve), "POST", messagePath(id, "/resolve"), alice,
		doc{"resolution": "answered", "value": "approve"}, http.StatusOK)
	waiting.Wait()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the answer reached who waits after %s", took)
	}

	got := s.must(pull, "GET", messagePath(id, ""), bot, nil, http.StatusOK)
	response, _ := got["response"].(map[string]any)
	ack := doc{"resolution_id": response["resolution_id"]}
	s.must(s.function(endpoint.Ack), "POST", messagePath(id, "/ack"), bot, ack, http.StatusOK)
}

func TestAFunctionServesItsOwnEndpointAndNoOther(t *testing.T) {
	t.Parallel()
	s := deploy(t)
	bot := s.bot()
	for _, e := range endpoint.All() {
		f := s.function(e.Name)
		if r := s.send(f, e.Method, fill(e), bot, nil); r.status == http.StatusMethodNotAllowed || isNowhere(r) {
			t.Errorf("the function of %s answers %d %s to %s", e.Name, r.status, r.body, e.Pattern())
		}
		for _, other := range endpoint.All() {
			if other.Name == e.Name || other.Method == e.Method && other.Path == e.Path {
				continue
			}
			if r := s.send(f, other.Method, fill(other), bot, nil); !isNowhere(r) {
				t.Errorf("the function of %s answers %d %s to %s", e.Name, r.status, r.body, other.Pattern())
			}
		}
	}
}

func fill(e endpoint.Endpoint) string {
	if strings.Contains(e.Path, "{") {
		return e.Fill("msg_0")
	}
	return e.Path
}

// isNowhere says whether an answer is that of a path at which there is nothing.
func isNowhere(r reply) bool {
	return r.status == http.StatusNotFound && strings.Contains(r.body, "nothing at this path")
}

// TestAnIDWithASlashIsOneSegment sends paths as an HTTP API does, which has decoded %2F.
func TestAnIDWithASlashIsOneSegment(t *testing.T) {
	t.Parallel()
	s := deploy(t)
	alice := s.alice()
	for _, id := range []string{"deploybot/dev-team", "a%2Fb", "a b#c", "plain", "x/rotate"} {
		s.must(s.function(endpoint.AgentAdd), "POST", "/v1/agents", alice, doc{"id": id}, http.StatusCreated)
		rotate := endpoint.Of(endpoint.AgentRotate).Fill(id)
		if got := s.must(s.function(endpoint.AgentRotate), "POST", rotate, alice, nil, http.StatusCreated)["id"]; got != id {
			t.Errorf("POST %s rotated %v, want %q", rotate, got, id)
		}
	}
}

func TestPagesAndWhatIsNowhere(t *testing.T) {
	t.Parallel()
	s := deploy(t)
	h, err := s.config.Inbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]int{
		"/": http.StatusSeeOther, "/inbox": http.StatusUnauthorized, "/signin": http.StatusOK, "/nowhere": http.StatusNotFound,
		"/v1/messages": http.StatusMethodNotAllowed, "/v1/nowhere": http.StatusNotFound, "/v1/me": http.StatusNotFound,
		"/v1/agents/a/rotate": http.StatusMethodNotAllowed, "/v1/agents/a/b/rotate": http.StatusMethodNotAllowed,
		"/v1/agents/a/b": http.StatusMethodNotAllowed, "/v1/agents/": http.StatusNotFound, "/.well-known": http.StatusNotFound,
		"/in": http.StatusNotFound, "/static": http.StatusNotFound, "/v1//messages": http.StatusNotFound, "//": http.StatusNotFound,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		if w.Code != want {
			t.Errorf("GET %s = %d, want %d", target, w.Code, want)
		}
	}
}

// receiver is an agent's callback. It answers 503 as often as it is told to, then 200.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	fail int
	got  []string // the MA2H-Signature of each attempt
	body []byte
}

func newReceiver(t *testing.T, fail int) *receiver {
	r := &receiver{fail: fail}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got, r.body = append(r.got, req.Header.Get("MA2H-Signature")), body
	if len(r.got) <= r.fail {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (r *receiver) attempts() (signatures []string, lastBody []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got), r.body
}

func (s *stack) sweeper() func(context.Context) (awshub.Swept, error) {
	s.t.Helper()
	sweep, err := s.config.Listening(sqsbell.Open).Sweeper(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return sweep
}

// sweeps runs the sweep until ready says so, as the schedule would.
func (s *stack) sweeps(ready func() bool) {
	s.t.Helper()
	sweep := s.sweeper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ready(); <-tick.C {
		if time.Now().After(end) {
			s.t.Fatalf("not after %s of sweeps", patience)
		}
		if swept, err := sweep(s.t.Context()); err != nil || swept.Failed > 0 || swept.Left {
			s.t.Fatalf("sweep = %+v, %v", swept, err)
		}
	}
}

func TestTheSweepPushesAndTriesAgain(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, 1)
	s := deploy(t, strings.TrimPrefix(r.URL, "http://"))
	made, err := s.hub.AddAgent(t.Context(), s.owner, "bot")
	if err != nil {
		t.Fatal(err)
	}
	request := doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice"}, "callback": doc{
		"mode": "push", "url": r.URL + "/cb", "auth": doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef},
	}}
	id := s.must(s.function(endpoint.Submit), "POST", "/v1/messages", made.Token, ask("k", request, time.Time{}), http.StatusAccepted)["id"]
	s.must(s.function(endpoint.Resolve), "POST", messagePath(id, "/resolve"), s.alice(),
		doc{"resolution": "answered", "value": "approve"}, http.StatusOK)
	if got, _ := r.attempts(); len(got) != 0 {
		t.Error("the answer to the resolve waited for a push")
	}
	read, alice := s.function(endpoint.Read), s.alice()
	s.sweeps(func() bool {
		return s.must(read, "GET", "/v1/waiting/"+id.(string), alice, nil, http.StatusOK)["delivery"] != nil
	})
	got, body := r.attempts()
	if len(got) != 2 {
		t.Fatalf("%d attempts, want 2", len(got))
	}
	signed, err := signature.Response(body, r.URL+"/cb")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := signed.Verify(got[1], time.Now(), signature.Window, signature.HMAC(made.PushSecret)); err != nil {
		t.Errorf("signature: %v", err)
	}
}

func TestTheSweepExpires(t *testing.T) {
	t.Parallel()
	s := deploy(t)
	request := doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice"}, "default_on_expire": "deny"}
	id := s.must(s.function(endpoint.Submit), "POST", "/v1/messages", s.bot(),
		ask("k", request, time.Now().Add(700*time.Millisecond)), http.StatusAccepted)["id"]
	key, ok := hub.StateKey(id.(string))
	if !ok {
		t.Fatalf("no key of %v", id)
	}
	s.sweeps(func() bool { // by the record itself, since reading would settle it
		recs, err := s.hub.Store.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		var state hub.State
		if err := hub.Decode(recs[0], &state); err != nil {
			t.Fatal(err)
		}
		return state.Status == "expired"
	})
}

func TestASweepBeginsNothingThatItCannotEnd(t *testing.T) {
	t.Parallel()
	s := deploy(t)
	s.must(s.function(endpoint.Submit), "POST", "/v1/messages", s.bot(),
		ask("k", confirm, time.Now().Add(500*time.Millisecond)), http.StatusAccepted)
	sweep := s.sweeper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := sweep(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got.Left {
			if diff := cmp.Diff(awshub.Swept{Left: true}, got); diff != "" {
				t.Errorf("sweep with 10 s left (-want +got)\n%s", diff)
			}
			return
		}
		<-tick.C
	}
}

func TestABellTellsAtAWideningIntervalUntilItIsStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rung, stop := awshub.Bell{}.Listen(t.Context(), "m#1")
		began := time.Now()
		var at []time.Duration
		for range 7 {
			<-rung
			at = append(at, time.Since(began))
		}
		var want []time.Duration
		for _, ms := range []int{100, 300, 700, 1500, 3100, 5100, 7100} {
			want = append(want, time.Duration(ms)*time.Millisecond)
		}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("told at (-want +got)\n%s", diff)
		}
		stop()
		select {
		case <-rung:
			t.Error("told after the end")
		case <-time.After(time.Minute):
		}
	})
}

func TestWhatIsMissingIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	_, err := awshub.Config{BaseURL: "hub.example/"}.Endpoint(t.Context(), endpoint.Healthz)
	if err == nil {
		t.Fatal("an empty Config opens")
	}
	for _, name := range []string{"MASH_TABLE", "MASH_KMS_KEY", "AWS_REGION", "MASH_BASE_URL"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}

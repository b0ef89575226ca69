package localhub_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/signature"
)

// receiver is an agent's callback on loopback. Each path answers by its own script, and by its last entry ever after.
type receiver struct {
	*httptest.Server
	script map[string][]int // by path; 0 breaks the connection

	mu  sync.Mutex
	got map[string][]received
}

// received is one attempt as it came in.
type received struct {
	signature string
	body      []byte
	at        time.Time
}

func newReceiver(t *testing.T, script map[string][]int) *receiver {
	t.Helper()
	r := &receiver{script: script, got: map[string][]received{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	attempts := append(r.got[req.URL.Path], received{req.Header.Get("MA2H-Signature"), body, time.Now()})
	r.got[req.URL.Path] = attempts
	r.mu.Unlock()
	status := http.StatusOK
	if script := r.script[req.URL.Path]; len(script) > 0 {
		status = script[min(len(attempts), len(script))-1]
	}
	if status == 0 {
		panic(http.ErrAbortHandler) // the connection breaks without an answer
	}
	if status >= 300 && status < 400 {
		w.Header().Set("Location", r.URL+"/elsewhere")
	}
	w.WriteHeader(status)
}

// attempts returns what came in at a path so far.
func (r *receiver) attempts(path string) []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received{}, r.got[path]...)
}

func (r *receiver) address() string { return strings.TrimPrefix(r.URL, "http://") }

// pushedTo is an ask whose Response goes to a path of the receiver.
func (r *receiver) pushedTo(path string) doc {
	return doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice"}, "callback": doc{
		"mode": "push", "url": r.URL + path, "auth": doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef},
	}}
}

// quick tries again after milliseconds.
func quick(attempts int) func(*hub.Settings) {
	return func(s *hub.Settings) {
		s.Retry = hub.RetryPolicy{
			MaxAttempts: attempts, First: 2 * time.Millisecond, Longest: 20 * time.Millisecond, MaxDuration: time.Hour,
		}
	}
}

// answered submits an ask, has alice answer it, and returns its id.
func (s *server) answered(bot, alice, key string, request doc) any {
	s.t.Helper()
	id := s.send("POST", "/v1/messages", bot, ask(key, request, time.Time{}), http.StatusAccepted)["id"]
	s.send("POST", messagePath(id, "/resolve"), alice, doc{"resolution": "answered", "value": "deny"}, http.StatusOK)
	return id
}

// reading is the message as alice sees it, which stamps nothing.
func (s *server) reading(alice string, id any) doc {
	s.t.Helper()
	return s.send("GET", "/v1/waiting/"+id.(string), alice, nil, http.StatusOK)
}

// tried returns the statuses of the attempts that the hub has noted.
func (s *server) tried(alice string, id any) []any {
	s.t.Helper()
	list, _ := s.reading(alice, id)["attempts"].([]any)
	statuses := []any{}
	for _, a := range list {
		a := a.(map[string]any)
		if a["failure"] != nil {
			statuses = append(statuses, a["failure"])
		} else {
			statuses = append(statuses, a["status"])
		}
	}
	return statuses
}

func TestB78_RetriesServerErrorsAndBrokenConnections(t *testing.T) {
	script := []int{503, 500, 0, 502, 0, 599, 200}
	r := newReceiver(t, map[string][]int{"/SQLite": script, "/DynamoDB": script})
	onStores(t, quick(8), []string{r.address()}, func(s *server) {
		_, store, _ := strings.Cut(s.t.Name(), "/")
		path := "/" + store
		bot, alice := s.agent("bot"), s.person("alice")
		id := s.answered(bot.Token, alice, "k", r.pushedTo(path))
		s.until("the push is taken", func() bool { return s.reading(alice, id)["delivery"] != nil })
		same(s.t, "what was tried", s.tried(alice, id), []any{503., 500., "network", 502., "network", 599., 200.})
		same(s.t, "track", s.reading(alice, id).at("delivery", "state"), any("delivered-to-agent"))
		verifyAll(s.t, r, path, bot.PushSecret)
		same(s.t, "the pull", s.send("GET", messagePath(id, ""), bot.Token, nil, http.StatusOK).at("response"),
			any(map[string]any(reply{body: r.attempts(path)[0].body}.doc(s.t))))
	})
}

// verifyAll holds every attempt to its signature: the same bytes, a nonce of its own.
func verifyAll(t *testing.T, r *receiver, path, secret string) {
	t.Helper()
	nonces := map[string]bool{}
	attempts := r.attempts(path)
	for _, a := range attempts {
		same(t, "the body of an attempt", string(a.body), string(attempts[0].body))
		signed, err := signature.Response(a.body, r.URL+path)
		if err != nil {
			t.Fatal(err)
		}
		h, err := signed.Verify(a.signature, a.at, signature.Window, signature.HMAC(secret))
		if err != nil {
			t.Errorf("signature %s: %v", a.signature, err)
		}
		if nonces[h.Nonce] {
			t.Errorf("the nonce %s comes twice", h.Nonce)
		}
		nonces[h.Nonce] = true
	}
}

func TestB78_NeverRetriesWhatIsRefused(t *testing.T) {
	refusals := []int{400, 401, 404, 408, 410, 422, 429, 301, 302, 307, 304}
	script := map[string][]int{}
	for _, status := range refusals {
		script["/"+strconv.Itoa(status)] = []int{status}
	}
	r := newReceiver(t, script)
	onStores(t, quick(8), []string{r.address()}, func(s *server) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, status := range refusals {
			path := "/" + strconv.Itoa(status)
			id := s.answered(bot.Token, alice, path, r.pushedTo(path))
			s.until("an attempt is noted", func() bool { return len(s.tried(alice, id)) > 0 })
			// Nothing is due any more: firing it by hand makes no attempt either, and waits for the end of retention.
			key, _ := hub.StateKey(id.(string))
			again, err := s.hub.Fire(s.t.Context(), key)
			if err != nil || time.Until(again) < time.Hour {
				s.t.Errorf("after a %d: Fire = %s, %v, want nothing for days", status, again, err)
			}
			same(s.t, "what was tried", s.tried(alice, id), []any{float64(status)})
			same(s.t, "track", s.reading(alice, id)["delivery"], any(nil)) // only a 2xx is a delivery
			got := s.send("GET", messagePath(id, ""), bot.Token, nil, http.StatusOK)
			same(s.t, "the pull", []any{got["status"], got.at("delivery", "state")}, []any{"answered", "delivered-to-agent"})
		}
		same(s.t, "attempts where a redirect pointed", len(r.attempts("/elsewhere")), 0)
	})
}

func TestB78_GivesUpAfterTheAdvertisedAttempts(t *testing.T) {
	r := newReceiver(t, map[string][]int{"/cb": {500}})
	onStores(t, quick(5), []string{r.address()}, func(s *server) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := s.answered(bot.Token, alice, "k", r.pushedTo("/cb"))
		s.until("all attempts are made", func() bool { return len(s.tried(alice, id)) == 5 })
		key, _ := hub.StateKey(id.(string))
		if again, err := s.hub.Fire(s.t.Context(), key); err != nil || time.Until(again) < time.Hour {
			s.t.Errorf("after the last attempt: Fire = %s, %v, want nothing for days", again, err)
		}
		same(s.t, "how often it was tried", len(s.tried(alice, id)), 5)
		// The Response is never lost: it can still be pulled.
		got := s.send("GET", messagePath(id, ""), bot.Token, nil, http.StatusOK)
		same(s.t, "the pull", []any{got["status"], got.at("delivery", "state")}, []any{"answered", "delivered-to-agent"})
		capability := s.send("GET", "/.well-known/ma2h", "", nil, http.StatusOK)
		same(s.t, "attempts advertised", capability.at("callback_retry", "max_attempts"), any(5.))
	})
}

func TestB78_TheDefaultPolicyMakesAtLeastFiveAttempts(t *testing.T) {
	onStores(t, func(*hub.Settings) {}, nil, func(s *server) {
		capability := s.send("GET", "/.well-known/ma2h", "", nil, http.StatusOK)
		if n, _ := capability.at("callback_retry", "max_attempts").(float64); n < 5 {
			s.t.Errorf("max_attempts = %v, want at least 5", n)
		}
		now := time.Now()
		last := time.Duration(0)
		for attempt := 1; attempt <= 4; attempt++ {
			next, ok := s.hub.Settings.Retry.Next(attempt, now, now, 0)
			if wait := next.Sub(now); !ok || wait <= last {
				s.t.Errorf("after attempt %d: %s, %t; want longer than %s and another", attempt, wait, ok, last)
			} else {
				last = wait
			}
		}
	})
}

func TestB78_WhatCanNeverBePushedIsRefusedAtSubmit(t *testing.T) {
	onStores(t, func(*hub.Settings) {}, []string{"127.0.0.1:9"}, func(s *server) {
		bot := s.agent("bot")
		hmac := doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef}
		for what, callback := range map[string]doc{
			"plain http":        {"url": "http://agent.example/cb", "auth": hmac},
			"loopback":          {"url": "https://127.0.0.1/cb", "auth": hmac},
			"metadata":          {"url": "https://169.254.169.254/latest", "auth": hmac},
			"another port":      {"url": "http://127.0.0.1:10/cb", "auth": hmac},
			"a user":            {"url": "https://u:p@agent.example/cb", "auth": hmac},
			"no url":            {"url": "agent", "auth": hmac},
			"bearer":            {"url": "https://agent.example/cb", "auth": doc{"scheme": "bearer", "token_ref": "env:T"}},
			"apikey":            {"url": "https://agent.example/cb", "auth": doc{"scheme": "apikey", "token_ref": "env:T"}},
			"an unknown secret": {"url": "https://agent.example/cb", "auth": doc{"scheme": "hmac", "secret_ref": "env:OTHER"}},
			"no auth":           {"url": "https://agent.example/cb"},
		} {
			got := s.send("POST", "/v1/messages", bot.Token, ask(what, doc{"mode": "confirm", "callback": callback}, time.Time{}),
				http.StatusUnprocessableEntity)
			field, _ := got.at("error", "field").(string)
			if got.at("error", "code") != "invalid_field" || !strings.HasPrefix(field, "/request/callback/") {
				s.t.Errorf("%s = %v, want invalid_field below /request/callback", what, got)
			}
		}
		allowed := doc{"mode": "confirm", "callback": doc{"url": "http://127.0.0.1:9/cb", "auth": hmac}}
		s.send("POST", "/v1/messages", bot.Token, ask("allowed", allowed, time.Time{}), http.StatusAccepted)
	})
}

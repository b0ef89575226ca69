package conform_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mash-hub/mash/pkg/conform"
)

// saboteur is a proxy before a hub that breaks what it does in one way.
type saboteur struct {
	ask    func(s *saboteur, r *http.Request)                // changes what is asked
	answer func(s *saboteur, a *wire)                        // changes what is answered
	before func(w http.ResponseWriter, r *http.Request) bool // answers in the hub's place

	mu      sync.Mutex
	memory  map[string]any
	session map[string]string // the last that was registered, by token
}

// wire is an answer on its way.
type wire struct {
	*http.Response
	path  string
	query url.Values
	asked []byte // the body of the request
	body  map[string]any
}

// startProxy serves before a hub.
func (s *saboteur) startProxy(t *testing.T, hub string) string {
	t.Helper()
	target, err := url.Parse(hub)
	if err != nil {
		t.Fatal(err)
	}
	s.memory, s.session = map[string]any{}, map[string]string{}
	pass := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if s.ask != nil && strings.HasPrefix(r.In.URL.Path, "/v1/") {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.ask(s, r.Out)
			}
		},
		ModifyResponse: s.modify,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		r = r.WithContext(withBody(r.Context(), body))
		if s.before == nil || !s.before(w, r) {
			pass.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func (s *saboteur) modify(r *http.Response) error {
	if s.answer == nil || strings.HasPrefix(r.Request.URL.Path, "/_conformance") && !strings.HasSuffix(r.Request.URL.Path, "hold-bound") {
		return nil
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	a := &wire{Response: r, path: r.Request.URL.Path, query: r.Request.URL.Query(), asked: bodyOf(r.Request.Context())}
	if json.Unmarshal(raw, &a.body) == nil && a.body != nil {
		s.mu.Lock()
		s.answer(s, a)
		s.mu.Unlock()
		if raw, err = json.Marshal(a.body); err != nil {
			return err
		}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	r.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	return nil
}

// is says whether the answer is one to this method and path, with this status.
func (a *wire) is(method, path string, status int) bool {
	matched, _ := regexp.MatchString("^"+path+"$", a.path)
	return matched && a.Request.Method == method && a.StatusCode == status
}

// entries are the elements of a drain, or none.
func (a *wire) entries() []any {
	list, _ := a.body["messages"].([]any)
	return list
}

// inner is a member that is an object.
func inner(o any, names ...string) map[string]any {
	m, _ := o.(map[string]any)
	for _, name := range names {
		m, _ = m[name].(map[string]any)
	}
	return m
}

const (
	aMessage = "/v1/messages/[^/]+"
	aSession = "/v1/sessions/[^/]+"
)

// sabotages are ways to break a hub, each with a clause that must notice.
func sabotages() map[string]struct {
	clause string
	by     *saboteur
} {
	type broken = struct {
		clause string
		by     *saboteur
	}
	answers := func(clause string, f func(s *saboteur, a *wire)) broken { return broken{clause, &saboteur{answer: f}} }
	return map[string]broken{
		"a redelivery under the signature of before": answers("dp-007.1", func(s *saboteur, a *wire) {
			for i, e := range a.entries() {
				id, _ := inner(e, "directive")["id"].(string)
				if was, ok := s.memory[id]; ok {
					a.entries()[i] = was
				}
				s.memory[id] = e
			}
		}),
		"acks that the hub forgets": {"dp-007.3", &saboteur{before: func(w http.ResponseWriter, r *http.Request) bool {
			acks := r.URL.Path == "/v1/inbox/ack"
			if acks {
				_, _ = io.WriteString(w, `{"acked":1,"acks":[]}`)
			}
			return acks
		}}},
		"an ack of another's id that says so": answers("dp-007.4", func(_ *saboteur, a *wire) {
			if a.is("POST", "/v1/inbox/ack", 200) && !strings.Contains(string(a.asked), "dir_00") && a.body["acked"] == 0.0 {
				a.body["foreign"] = true
			}
		}),
		"directives in another order": answers("dp-007.7", func(_ *saboteur, a *wire) {
			if list := a.entries(); len(list) > 1 {
				list[0], list[1] = list[1], list[0]
			}
		}),
		"a cancel by another agent": answers("dp-002.1", func(_ *saboteur, a *wire) {
			if a.is("POST", aMessage+"/cancel", 404) {
				a.StatusCode, a.body = 200, map[string]any{"id": "msg_1", "status": "cancelled"}
			}
		}),
		"an ack of an open message": answers("dp-010.2", func(_ *saboteur, a *wire) {
			if a.is("POST", aMessage+"/ack", 409) {
				a.StatusCode = 200
			}
		}),
		"presence that never ends": answers("dp-010.5", func(_ *saboteur, a *wire) {
			if strings.HasSuffix(a.path, "/presence") && a.body["state"] == "offline" {
				a.body["state"] = "online"
			}
		}),
		"a lease that lasts a second longer": {"dp-019.5b", &saboteur{ask: func(_ *saboteur, r *http.Request) {
			if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v1/sessions/") {
				shift(r, -1000)
			}
		}}},
		"a lease that is a millisecond short": {"dp-019.5b", &saboteur{ask: func(_ *saboteur, r *http.Request) {
			if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v1/sessions/") {
				shift(r, 2)
			}
		}}},
		"a drain without a session that renews one":   {"dp-019.4b", &saboteur{ask: lastSession, answer: remember}},
		"a drain without a session that is given one": {"dp-020.3", &saboteur{ask: lastSession, answer: remember}},
		"a list beyond its account": answers("dp-019.9d", func(s *saboteur, a *wire) {
			list, ok := a.body["sessions"].([]any)
			if other, kept := s.memory["session"]; ok && kept {
				a.body["sessions"] = append(list, other)
			} else if ok && len(list) > 0 {
				s.memory["session"] = list[0]
			}
		}),
		"presence for everybody": answers("dp-010.6a", func(_ *saboteur, a *wire) {
			if strings.HasSuffix(a.path, "/presence") && a.StatusCode == 403 {
				a.StatusCode, a.body = 200, map[string]any{"state": "online"}
			}
		}),
		"closed_by_operator: false": answers("dp-019.7b", func(_ *saboteur, a *wire) {
			if session := inner(a.body, "session"); session != nil && session["closed_by_operator"] == nil {
				session["closed_by_operator"] = false
			}
		}),
		"a stop that reads as gone": answers("dp-019.7b", func(_ *saboteur, a *wire) {
			if e := inner(a.body, "error"); e["code"] == "session_closed_by_operator" {
				e["code"] = "gone"
			}
		}),
		"a stop that a new session gets by": answers("dp-019.7d", func(_ *saboteur, a *wire) {
			if a.is("POST", "/v1/sessions", 403) {
				a.StatusCode = 201
			}
		}),
		"a list that says account": answers("dp-019.9b", func(_ *saboteur, a *wire) {
			if a.body["scope"] != nil {
				a.body["scope"] = "account"
			}
		}),
		"another's session told from none": answers("dp-020.1", func(_ *saboteur, a *wire) {
			if e := inner(a.body, "error"); a.StatusCode == 404 && e != nil && !strings.Contains(a.query.Get("session"), "sess_00") {
				e["message"] = "That session is another agent's."
			}
		}),
		"a state that is delivered": answers("dp-020.9", func(_ *saboteur, a *wire) {
			for _, e := range a.entries() {
				if m := inner(e, "message"); m != nil {
					m["state"] = map[string]any{"n": 1}
				}
			}
		}),
		"a signature over something else": answers("dp-020.8", func(_ *saboteur, a *wire) {
			for _, e := range a.entries() {
				if m := inner(e, "message"); m != nil {
					m["from"] = "agent:a"
				}
			}
		}),
		"a webhook that is never called": {"dp-020.4", &saboteur{before: func(w http.ResponseWriter, r *http.Request) bool {
			set := r.URL.Path == "/v1/webhooks"
			if set {
				w.WriteHeader(http.StatusNoContent)
			}
			return set
		}}},
		"an ack that moves no track": answers("dp-020.11", func(_ *saboteur, a *wire) {
			if m := inner(a.body, "mailbox"); m["state"] == "acknowledged" {
				a.body["mailbox"] = map[string]any{"state": "delivered", "delivered_at": m["delivered_at"]}
			}
		}),
		"a hold longer than the freshness window": answers("dp-021.4", func(_ *saboteur, a *wire) {
			if in := inner(a.body, "inbound"); in != nil {
				in["stream_url"], in["stream_max_hold_seconds"] = "https://hub.example/v1/inbox/stream", 100_000
			}
		}),
		"a push that delivers": answers("dp-021.5a", func(_ *saboteur, a *wire) {
			if m := inner(a.body, "mailbox"); m["state"] == "queued" {
				m["state"], m["delivered_at"], a.body["status"] = "delivered", "2026-01-01T00:00:00Z", "delivered"
			}
		}),
		"a pushed entry whose prior is delivered": answers("dp-021.5b", func(_ *saboteur, a *wire) {
			if m := inner(a.body, "mailbox"); m["prior"] != nil {
				m["prior"], m["delivered_at"] = "delivered", "2026-01-01T00:00:00Z"
			}
		}),
		"a hold up to the end of the lease": answers("dp-021.3", func(_ *saboteur, a *wire) {
			if a.body["ms"] != nil {
				a.body["ms"] = 5000
			}
		}),
		"bounced mail that reads as delivered": answers("dp-022.1", func(_ *saboteur, a *wire) {
			if m := inner(a.body, "mailbox"); m["state"] == "bounced" && m["prior"] == "delivered" {
				a.body["mailbox"] = map[string]any{"state": "delivered", "delivered_at": m["delivered_at"]}
			}
		}),
		"a prior that is always queued": answers("dp-022.2", func(_ *saboteur, a *wire) {
			if m := inner(a.body, "mailbox"); m["prior"] != nil {
				m["prior"] = "queued"
				delete(m, "delivered_at")
			}
		}),
		"a bounced ask that stays open": answers("dp-022.5a", func(_ *saboteur, a *wire) {
			if a.body["status"] == "cancelled" {
				a.body["status"] = "open"
				delete(a.body, "response")
			}
		}),
		"no receipts": answers("dp-022.6", func(_ *saboteur, a *wire) {
			kept := []any{}
			for _, e := range a.entries() {
				if inner(e, "receipt") == nil {
					kept = append(kept, e)
				}
			}
			if a.body["messages"] != nil {
				a.body["messages"] = kept
			}
		}),
		"a delivered track that expires": answers("dp-022.8", func(_ *saboteur, a *wire) {
			if m := inner(a.body, "mailbox"); a.body["status"] == "expired" && m != nil {
				a.body["mailbox"] = map[string]any{"state": "expired"}
			}
		}),
		"what nobody drained as delivered": answers("dp-022.9", func(_ *saboteur, a *wire) {
			if m := inner(a.body, "mailbox"); m["state"] == "queued" {
				m["state"], m["delivered_at"], a.body["status"] = "delivered", "2026-01-01T00:00:00Z", "delivered"
			}
		}),
		"a block that says it is one": answers("dp-023.3", func(_ *saboteur, a *wire) {
			if e := inner(a.body, "error"); e["code"] == "unknown_destination" && !strings.Contains(string(a.asked), "nobody-of-that-name") {
				e["message"] = "You are not on the allowlist."
			}
		}),
		"a destination that leaks": answers("dp-023.4", func(_ *saboteur, a *wire) {
			if inner(a.body, "destination") != nil {
				a.body["destination"] = map[string]any{"state": "online", "last_seen": "2026-01-01T00:00:00Z"}
			}
		}),
		"mail without the opt-in": answers("dp-023.6", func(_ *saboteur, a *wire) {
			if a.is("POST", "/v1/messages", 403) {
				a.StatusCode, a.body = 202, map[string]any{"id": "msg_1", "status": "queued", "poll_url": "https://hub.example/"}
			}
		}),
		"a notify that is delivered at once": answers("dp-023.7", func(_ *saboteur, a *wire) {
			if a.body["status"] == "queued" {
				a.body["status"] = "delivered"
			}
		}),
		"an open ack without a destination": answers("dp-023.8", func(_ *saboteur, a *wire) {
			if a.body["status"] == "open" {
				delete(a.body, "destination")
			}
		}),
		"a replay that is another message": {"dp-023.10a", &saboteur{ask: func(s *saboteur, r *http.Request) {
			if r.Method == http.MethodPost && r.URL.Path == "/v1/messages" {
				count, _ := s.memory["n"].(int)
				s.memory["n"] = count + 1
				changed := strings.Replace(string(bodyOf(r.Context())), `"key_`, `"key_`+strconv.Itoa(count), 1)
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(changed)), int64(len(changed))
			}
		}}},
		"a person who answers for an agent": answers("dp-024.2", func(_ *saboteur, a *wire) {
			if a.is("POST", aMessage+"/resolve", 403) {
				a.StatusCode = 200
			}
		}),
		"an actor without its session": answers("dp-024.4", func(_ *saboteur, a *wire) {
			if d := inner(a.body, "response", "response"); d != nil {
				d["actor"], _, _ = strings.Cut(d["actor"].(string), "#")
			}
		}),
		"a second answer that wins": answers("dp-024.5b", func(_ *saboteur, a *wire) {
			if a.is("POST", aMessage+"/resolve", 409) {
				a.StatusCode = 200
			}
		}),
		"a value twice": answers("dp-026.1", func(_ *saboteur, a *wire) {
			if a.is("POST", "/v1/messages", 422) {
				a.StatusCode, a.body = 202, map[string]any{"id": "msg_1", "status": "open", "poll_url": "https://hub.example/"}
			}
		}),
		"a schema that is not named": answers("dp-027.1", func(_ *saboteur, a *wire) {
			if e := inner(a.body, "error"); e != nil {
				e["message"], e["field"] = "No.", nil
				delete(e, "field")
			}
		}),
		"own words that are not marked": answers("dp-028.2", func(_ *saboteur, a *wire) {
			if d := inner(a.body, "response", "response"); d != nil {
				delete(d, "edited")
			}
		}),
		"permissions stripped below 0.6": answers("dp-029.4", func(_ *saboteur, a *wire) {
			if r := inner(a.body, "request"); r != nil {
				delete(r, "permissions")
			}
		}),
	}
}

// shift moves the clock of a request.
func shift(r *http.Request, ms int64) {
	at, err := strconv.ParseInt(r.Header.Get("X-Conformance-Now"), 10, 64)
	if err == nil {
		r.Header.Set("X-Conformance-Now", strconv.FormatInt(at+ms, 10))
	}
}

// remember keeps which session somebody has registered last.
func remember(s *saboteur, a *wire) {
	if id, ok := inner(a.body, "session")["id"].(string); ok && a.Request.Method == http.MethodPost {
		s.session[a.Request.Header.Get("Authorization")] = id
	}
}

// lastSession presents a session where a drain presents none.
func lastSession(s *saboteur, r *http.Request) {
	id := s.session[r.Header.Get("Authorization")]
	if r.URL.Path == "/v1/inbox" && !r.URL.Query().Has("session") && id != "" {
		r.URL.RawQuery = "session=" + id
	}
}

func TestEachSabotageIsNoticedByItsClause(t *testing.T) {
	t.Parallel()
	s, _ := start(t, true)
	for what, c := range sabotages() {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			only := conform.Options{Only: regexp.MustCompile("^" + regexp.QuoteMeta(c.clause) + " ")}
			through := func(by *saboteur) conform.Result {
				results, err := conform.Run(t.Context(), &conform.Virtual{URL: by.startProxy(t, s.URL)}, only)
				if err != nil || len(results) != 1 {
					t.Fatalf("Run(%s) = %v, %v, want one result", c.clause, results, err)
				}
				return results[0]
			}
			if r := through(c.by); r.Verdict != conform.Failed || r.Want == "" || r.Came == "" {
				t.Errorf("%s = %+v, want a failure that says what was wanted", c.clause, r)
			} else {
				t.Log(r.Clause, r.Want)
			}
			if r := through(&saboteur{answer: func(*saboteur, *wire) {}}); r.Verdict != conform.Passed {
				t.Errorf("without it %s = %+v, want it to pass", c.clause, r)
			}
		})
	}
}

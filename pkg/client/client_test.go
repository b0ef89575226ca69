package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// hub is a hub in this process: it answers through a transport instead of a network, so that time in a bubble is virtual.
type hub struct {
	mu      sync.Mutex
	seen    []seen
	answers []answer // one a request; the last one stays
}

type seen struct {
	method, uri, body, auth string
	at                      time.Time
}

// answer is what comes back: a status with a body, or an error of the network.
type answer struct {
	status int
	body   string
	header http.Header
	err    error
	hold   time.Duration
}

func (h *hub) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	h.mu.Lock()
	h.seen = append(h.seen, seen{r.Method, r.URL.RequestURI(), body, r.Header.Get("Authorization"), time.Now()})
	a := h.answers[min(len(h.seen), len(h.answers))-1]
	h.mu.Unlock()
	if a.hold > 0 {
		select {
		case <-time.After(a.hold):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	rec := httptest.NewRecorder()
	for name, values := range a.header {
		rec.Header()[name] = values
	}
	rec.WriteHeader(a.status)
	_, _ = rec.WriteString(a.body)
	return rec.Result(), nil
}

func (h *hub) client() *client.Client {
	c := client.New("https://hub.example/", "mash_token")
	c.HTTP = &http.Client{Transport: h}
	c.Agent.ID = "ci/build"
	return c
}

const (
	openBody     = `{"id":"msg_1","status":"open","type":"ask","title":"t"}`
	answeredBody = `{"id":"msg_1","status":"answered","type":"ask","title":"t","response":{"ma2h_version":"0.6","in_reply_to":"msg_1","resolution_id":"res_1","agent":{"id":"ci/build","run_id":"r"},"resolution":"answered","response":{"value":"approve","actor":"human:ada","resolved_at":"2026-03-01T10:00:00Z"}}}`
	ackBody      = `{"id":"msg_1","status":"open","poll_url":"https://hub.example/v1/messages/msg_1"}`
)

func refusal(status int, code string) answer {
	return answer{status: status, body: `{"error":{"code":"` + code + `","message":"No."}}`}
}

func withRetryAfter(a answer, s string) answer {
	a.header = http.Header{"Retry-After": {s}}
	return a
}

var errReset = errors.New("connection reset by peer")

func confirm() ma2h.Message {
	return ma2h.Message{
		Title: "Deploy?", Request: &ma2h.Request{Mode: ma2h.ModeConfirm, AllowedResolvers: []string{"human:ada"}},
	}
}

func TestASubmitIsCompletedAndSentOnce(t *testing.T) {
	t.Parallel()
	h := &hub{answers: []answer{{status: 202, body: ackBody, header: http.Header{"Mash-Warning": {"inexact_number"}}}}}
	ack, err := h.client().Ask(t.Context(), confirm())
	if err != nil || ack.ID != "msg_1" || ack.Status != ma2h.StatusOpen || !slices.Equal(ack.Warnings, []string{"inexact_number"}) {
		t.Fatalf("Ask = %+v, %v", ack, err)
	}
	if len(h.seen) != 1 || h.seen[0].method != "POST" || h.seen[0].uri != "/v1/messages" || h.seen[0].auth != "Bearer mash_token" {
		t.Fatalf("the hub saw %+v", h.seen)
	}
	if e, refused := ma2h.ReadMessage([]byte(h.seen[0].body)); refused != nil {
		t.Errorf("the envelope is refused: %v: %s", refused, h.seen[0].body)
	} else if m := e.Message; m.Type != ma2h.TypeAsk || m.Agent.ID != "ci/build" || m.IdempotencyKey == nil || m.Agent.RunID == "" {
		t.Errorf("the envelope is %s", h.seen[0].body)
	}
}

func TestALostAnswerIsAskedForAgainWithTheSameBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hub{answers: []answer{
			{err: errReset}, refusal(503, "unavailable"), {status: 502, body: "<html>bad gateway</html>"}, refusal(500, "internal_error"),
			{hold: time.Hour}, {status: 202, body: ackBody},
		}}
		c := h.client()
		c.Patience = 5 * time.Minute
		if ack, err := c.Task(t.Context(), ma2h.Message{Title: "t", Action: &ma2h.Action{Instructions: "i", AllowedResolvers: []string{}}}); err != nil || ack.ID != "msg_1" {
			t.Fatalf("Task = %+v, %v", ack, err)
		}
		if len(h.seen) != 6 {
			t.Fatalf("the hub saw %d tries, want 6", len(h.seen))
		}
		for _, s := range h.seen[1:] {
			if s.body != h.seen[0].body {
				t.Errorf("a later try sent %s, the first %s", s.body, h.seen[0].body)
			}
		}
	})
}

func TestAPreparedEnvelopeIsTheSameInAnotherProcess(t *testing.T) {
	t.Parallel()
	h := &hub{answers: []answer{{status: 202, body: ackBody}}}
	m := confirm()
	m.Type = ma2h.TypeAsk
	envelope, err := h.client().Prepare(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := h.client().Send(t.Context(), envelope); err != nil {
			t.Fatal(err)
		}
	}
	if h.seen[0].body != string(envelope) || h.seen[1].body != string(envelope) {
		t.Errorf("the hub saw %+v, want twice %s", h.seen, envelope)
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"7":                             7 * time.Second,
		"Sat, 01 Jan 2000 00:00:20 GMT": 20 * time.Second, // a bubble begins at midnight of 2000
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &hub{answers: []answer{withRetryAfter(refusal(429, "rate_limited"), header), {status: 202, body: ackBody}}}
			if _, err := h.client().Ask(t.Context(), confirm()); err != nil {
				t.Fatal(err)
			}
			if got := h.seen[1].at.Sub(h.seen[0].at); got != want {
				t.Errorf("Retry-After %s: waited %v, want %v", header, got, want)
			}
		})
	}
}

func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		h := &hub{answers: []answer{withRetryAfter(refusal(429, "rate_limited"), "40")}}
		_, err := h.client().Ask(t.Context(), confirm())
		if e := ma2h.AsError(err); e == nil || e.Code != ma2h.CodeRateLimited || e.RetryAfter != 40*time.Second {
			t.Errorf("Ask = %v, want rate_limited and its Retry-After", err)
		}
		if got := time.Since(began); got > client.DefaultPatience {
			t.Errorf("Ask took %v, want at most %v", got, client.DefaultPatience)
		}
		c := h.client()
		c.Patience = -1
		h.seen = nil
		if _, err := c.Ask(t.Context(), confirm()); err == nil || len(h.seen) != 1 {
			t.Errorf("Ask without patience = %v after %d tries, want an error after 1", err, len(h.seen))
		}
	})
}

func TestWhatTheHubRefusesIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, a := range []answer{
		refusal(400, "validation_error"), refusal(401, "unauthenticated"), refusal(403, "agent_id_mismatch"),
		refusal(409, "idempotency_conflict"), refusal(413, "too_large"), refusal(422, "invalid_field"), refusal(501, "not_implemented"),
	} {
		h := &hub{answers: []answer{a}}
		_, err := h.client().Ask(t.Context(), confirm())
		if e := ma2h.AsError(err); e == nil || e.Status() != a.status || e.Message != "No." || len(h.seen) != 1 {
			t.Errorf("Ask answered %d = %v after %d tries, want the refusal after 1", a.status, err, len(h.seen))
		}
	}
}

func TestAnErrorIsReadWhole(t *testing.T) {
	t.Parallel()
	h := &hub{answers: []answer{{status: 409, body: `{"error":{"code":"already_terminal","message":"Too late.","field":"/x"},"id":"msg_1","status":"answered","resolution":"answered"}`}}}
	_, err := h.client().Cancel(t.Context(), "msg_1")
	want := &ma2h.Error{Code: ma2h.CodeAlreadyTerminal, Message: "Too late.", Field: "/x", HTTPStatus: 409, ID: "msg_1",
		Terminal: &ma2h.Terminal{ID: "msg_1", Status: ma2h.StatusAnswered, Resolution: ma2h.StatusAnswered}}
	if diff := cmp.Diff(want, ma2h.AsError(err)); diff != "" {
		t.Errorf("Cancel (-want +got):\n%s", diff)
	}
}

func TestAnUnknownCodeIsReadAsTheOneItRefines(t *testing.T) {
	t.Parallel()
	submit := func(c *client.Client) error { _, err := c.Ask(context.Background(), confirm()); return err }
	ack := func(c *client.Client) error {
		_, err := c.Ack(context.Background(), "msg_1", ma2h.AckRequest{})
		return err
	}
	pull := func(c *client.Client) error { _, err := c.Pull(context.Background(), "msg_1"); return err }
	for _, tc := range []struct {
		status int
		call   func(*client.Client) error
		want   ma2h.Code
	}{
		{400, submit, ma2h.CodeValidationError}, {401, submit, ma2h.CodeUnauthenticated}, {403, submit, ma2h.CodeNotAuthorized},
		{404, pull, ma2h.CodeNotFound}, {409, submit, ma2h.CodeIdempotencyConflict}, {409, ack, ma2h.CodeNotAcknowledgeable},
		{410, submit, ma2h.CodeDestinationGone}, {410, pull, ma2h.CodeGone}, {422, submit, ma2h.CodeInvalidField},
		{429, submit, ma2h.CodeRateLimited}, {418, submit, ma2h.CodeValidationError}, {500, submit, ma2h.CodeInternalError},
		{503, submit, ma2h.CodeUnavailable}, {599, submit, ma2h.CodeInternalError}, {304, pull, ma2h.CodeValidationError},
	} {
		for _, body := range []string{`{"error":{"code":"something_new","message":"No."}}`, `<html>`, ``, `null`, `{"error":"x"}`} {
			h := &hub{answers: []answer{{status: tc.status, body: body}}}
			c := h.client()
			c.Patience = -1
			if e := ma2h.AsError(tc.call(c)); e == nil || e.Code != tc.want || e.Status() != tc.status || e.Message == "" {
				t.Errorf("%d %s reads as %v, want %s", tc.status, body, e, tc.want)
			}
		}
	}
	h := &hub{answers: []answer{refusal(403, "session_closed_by_operator")}}
	if e := ma2h.AsError(submit(h.client())); e.Code != ma2h.CodeSessionClosedByOperator || e.Status() != 403 {
		t.Errorf("a known code with another status reads as %v %d", e, e.Status())
	}
}

func TestWhatIsNoHubIsSaidToBeNone(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		answer answer
		path   string
		want   string
	}{
		{answer{status: 404, body: "404 page not found"}, "", "https://hub.example does not answer like a hub (404 Not Found); check the hub's URL."},
		{answer{status: 200, body: "<html>"}, "/inbox", "https://hub.example/inbox does not answer like a hub (200 OK); check the hub's URL, and leave out its path."},
		{answer{status: 502, body: "<html>"}, "", "The hub answered 502 Bad Gateway."},
		{refusal(404, "not_found"), "", "No."},
	} {
		h := &hub{answers: []answer{tc.answer}}
		c := h.client()
		c.URL, c.Patience = "https://hub.example"+tc.path, -1
		if _, err := c.Pull(t.Context(), "msg_1"); ma2h.AsError(err) == nil || ma2h.AsError(err).Message != tc.want {
			t.Errorf("Pull answered %d %s = %v, want %s", tc.answer.status, tc.answer.body, err, tc.want)
		}
	}
}

func TestWaitLivesThroughWhatPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hub{answers: []answer{
			{status: 200, body: openBody, hold: 50 * time.Second},
			{err: errReset}, {err: errReset}, withRetryAfter(refusal(503, "unavailable"), "600"), withRetryAfter(refusal(429, "rate_limited"), "30"),
			{status: 502, body: "<html>"}, {hold: 24 * time.Hour},
			{status: 200, body: openBody, hold: 50 * time.Second},
			{status: 200, body: answeredBody, hold: 20 * time.Second},
		}}
		r, err := h.client().Wait(t.Context(), "msg_1")
		if value, ok := client.Choice(r); err != nil || !ok || value != "approve" || r.Response.Actor != "human:ada" {
			t.Fatalf("Wait = %+v, %v", r, err)
		}
		if len(h.seen) != 9 || h.seen[0].uri != "/v1/messages/msg_1?wait=50" {
			t.Errorf("the hub saw %d pulls, the first of %s", len(h.seen), h.seen[0].uri)
		}
	})
}

func TestWaitDoesNotHammerAHubThatDoesNotHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		h := &hub{answers: []answer{{status: 200, body: openBody}}}
		if _, err := h.client().Wait(ctx, "msg_1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait = %v, want %v", err, context.DeadlineExceeded)
		}
		if len(h.seen) > 31 {
			t.Errorf("the hub saw %d pulls in a minute", len(h.seen))
		}
	})
}

func TestWaitEndsWithItsContextWhileTheHubIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		h := &hub{answers: []answer{{err: errReset}}}
		if _, err := h.client().Wait(ctx, "msg_1"); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errReset) {
			t.Errorf("Wait = %v, want %v and the last cause", err, context.DeadlineExceeded)
		}
	})
}

func TestWaitEndsWhenThereIsNothingToWaitFor(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":{"code":"not_found","message":"No."}}`:                  "not_found",
		`{"id":"msg_1","status":"delivered","type":"notify","title":"t"}`: "notify",
		`{"id":"msg_1","status":"cancelled","type":"ask","title":"t"}`:    "cancelled",
		`[]`: "cannot be read",
	} {
		status := 200
		if strings.Contains(body, "error") {
			status = 404
		}
		h := &hub{answers: []answer{{status: status, body: body}}}
		if r, err := h.client().Wait(t.Context(), "msg_1"); err == nil || !strings.Contains(err.Error(), want) || len(h.seen) != 1 {
			t.Errorf("Wait answered %s = %v, %v after %d pulls, want an error with %q after 1", body, r, err, len(h.seen), want)
		}
	}
}

func TestAResolveIsNotRepeatedUnlessItHadNoEffect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, a := range []answer{{err: errReset}, refusal(500, "internal_error")} {
			h := &hub{answers: []answer{a}}
			if _, err := h.client().Resolve(t.Context(), "msg_1", ma2h.Resolve{Resolution: ma2h.StatusDeclined}); err == nil || len(h.seen) != 1 {
				t.Errorf("Resolve = %v after %d tries, want an error after 1", err, len(h.seen))
			}
		}
		h := &hub{answers: []answer{refusal(429, "rate_limited"), {status: 200, body: `{"id":"msg_1","status":"declined","resolution_id":"res_1"}`}}}
		got, err := h.client().Resolve(t.Context(), "msg_1", ma2h.Resolve{Resolution: ma2h.StatusDeclined})
		if err != nil || got.ResolutionID != "res_1" || h.seen[1].body != `{"resolution":"declined"}` {
			t.Errorf("Resolve = %+v, %v; the hub saw %+v", got, err, h.seen)
		}
	})
}

func TestB80_IdsArePercentEncoded(t *testing.T) {
	t.Parallel()
	h := &hub{answers: []answer{{status: 204}}}
	c := h.client()
	for id, want := range map[string]string{
		"deploybot/dev-team": "/v1/agents/deploybot%2Fdev-team",
		"a#b?c%2F d":         "/v1/agents/a%23b%3Fc%252F%20d",
		"..":                 "/v1/agents/%2E%2E",
	} {
		h.seen = nil
		if err := c.RevokeAgent(t.Context(), id); err != nil || h.seen[0].uri != want || h.seen[0].method != "DELETE" {
			t.Errorf("RevokeAgent(%q) = %v and asked for %s, want %s", id, err, h.seen[0].uri, want)
		}
	}
}

func TestTheAgentIDIsAskedForOnce(t *testing.T) {
	t.Parallel()
	h := &hub{answers: []answer{
		{status: 200, body: `{"actor":"agent:ops","agent_id":"ops","owner":"human:ada"}`}, {status: 202, body: ackBody},
	}}
	c := h.client()
	c.Agent.ID = ""
	for range 2 {
		if _, err := c.Notify(t.Context(), ma2h.Message{Title: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.seen) != 3 || h.seen[0].uri != "/v1/me" || !strings.Contains(h.seen[2].body, `"id":"ops"`) {
		t.Errorf("the hub saw %+v", h.seen)
	}
	h = &hub{answers: []answer{{status: 200, body: `{"actor":"human:ada","owner":"human:ada"}`}}}
	c = h.client()
	c.Agent.ID = ""
	if _, err := c.Notify(t.Context(), ma2h.Message{Title: "t"}); ma2h.AsError(err) == nil || ma2h.AsError(err).Code != ma2h.CodeNotAuthorized {
		t.Errorf("Notify with a person's token = %v, want not_authorized", err)
	}
}

func TestTheOwnerMayResolveUnlessOthersAreNamed(t *testing.T) {
	t.Parallel()
	const me = `{"actor":"agent:ci/build","agent_id":"ci/build","owner":"human:ada"}`
	request := func(who []string) ma2h.Message {
		return ma2h.Message{Type: ma2h.TypeAsk, Title: "t", Request: &ma2h.Request{Mode: ma2h.ModeConfirm, AllowedResolvers: who}}
	}
	toAgent := request(nil)
	toAgent.To = "agent:ops"
	task := ma2h.Message{Type: ma2h.TypeTask, Title: "t", Action: &ma2h.Action{Instructions: "i"}}
	for name, c := range map[string]struct {
		m      ma2h.Message
		me     answer
		want   []string
		asked  int // how often the hub was asked whose the token is, by two messages
		listed bool
	}{
		"an ask":                     {m: request(nil), me: answer{status: 200, body: me}, want: []string{"human:ada"}, asked: 1, listed: true},
		"a task":                     {m: task, me: answer{status: 200, body: me}, want: []string{"human:ada"}, asked: 1, listed: true},
		"nobody on purpose":          {m: request([]string{}), want: []string{}, listed: true},
		"somebody else":              {m: request([]string{"human:bob"}), want: []string{"human:bob"}, listed: true},
		"to an agent":                {m: toAgent},
		"a notify":                   {m: ma2h.Message{Type: ma2h.TypeNotify, Title: "t"}},
		"a hub that does not say it": {m: request(nil), me: refusal(404, "not_found"), asked: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hub{answers: []answer{c.me}}
			agent := h.client()
			for range 2 {
				envelope, err := agent.Prepare(t.Context(), c.m)
				if err != nil {
					t.Fatal(err)
				}
				var got ma2h.Message
				if err := json.Unmarshal(envelope, &got); err != nil {
					t.Fatal(err)
				}
				who, listed := got.AllowedResolvers()
				if diff := cmp.Diff(c.want, who); diff != "" || listed != c.listed {
					t.Errorf("listed: %t; who may resolve (-want +got):\n%s", listed, diff)
				}
			}
			if len(h.seen) != c.asked {
				t.Errorf("the hub saw %+v, want %d calls", h.seen, c.asked)
			}
		})
	}
	m := request(nil)
	if _, err := (&hub{answers: []answer{{status: 200, body: me}}}).client().Prepare(t.Context(), m); err != nil || m.Request.AllowedResolvers != nil {
		t.Errorf("Prepare changed what it was given to %+v, %v", m.Request, err)
	}
	if _, err := (&hub{answers: []answer{refusal(401, "unauthenticated")}}).client().Prepare(t.Context(), m); ma2h.AsError(err) == nil {
		t.Errorf("Prepare with a bad token = %v, want its refusal", err)
	}
}

func TestAnAddressedMessageThatWentToPeopleIsAnError(t *testing.T) {
	t.Parallel()
	m := confirm()
	m.To = "agent:ops"
	h := &hub{answers: []answer{{status: 202, body: ackBody}, {status: 200, body: `{"id":"msg_1","status":"cancelled"}`}}}
	ack, err := h.client().Ask(t.Context(), m)
	if !errors.Is(err, client.ErrMisrouted) || ack == nil || len(h.seen) != 2 || h.seen[1].uri != "/v1/messages/msg_1/cancel" {
		t.Errorf("Ask = %+v, %v; the hub saw %+v; want %v and a cancel", ack, err, h.seen, client.ErrMisrouted)
	}
	h = &hub{answers: []answer{{status: 202, body: `{"id":"msg_1","status":"open","destination":{"state":"unknown"}}`}}}
	if _, err := h.client().Ask(t.Context(), m); err != nil {
		t.Errorf("Ask with a destination in its ack = %v, want nil", err)
	}
}

func TestDiscoverSendsNoCredential(t *testing.T) {
	t.Parallel()
	h := &hub{answers: []answer{{status: 200, body: `{"ma2h_version":"0.6","retention_days":30,"later":{"x":1},"ack":{"enabled":true}}`}}}
	got, err := h.client().Discover(t.Context())
	if err != nil || got.Version != "0.6" || got.RetentionDays != 30 || !got.Ack.Enabled || got.Sessions.Enabled || !strings.Contains(string(got.Raw), "later") {
		t.Errorf("Discover = %+v, %v", got, err)
	}
	if h.seen[0].auth != "" || h.seen[0].uri != "/.well-known/ma2h" {
		t.Errorf("the hub saw %+v", h.seen)
	}
}

func TestPeoplesCalls(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, tc := range []struct {
		answer     answer
		call       func(*client.Client) (any, error)
		want, seen string
	}{
		{answer{status: 200, body: `{"waiting":[{"id":"msg_1","type":"ask","title":"t","agent_id":"a","run_id":"r","status":"open","accepted_at":"2026-03-01T10:00:00Z","resolvers":["human:ada"],"may_resolve":true}]}`},
			func(c *client.Client) (any, error) { return c.Waiting(ctx) }, `"may_resolve":true`, "GET /v1/waiting "},
		{answer{status: 200, body: `{"id":"msg_1","type":"ask","title":"t","agent_id":"a","message":{"ma2h_version":"0.6","type":"ask","title":"t","body":"b"},"attempts":[{"at":"2026-03-01T10:00:00Z","failure":"network"}]}`},
			func(c *client.Client) (any, error) { return c.Read(ctx, "msg_1") }, `"body":"b"`, "GET /v1/waiting/msg_1 "},
		{answer{status: 200, body: `{"agents":[{"id":"a/b","created_at":"2026-03-01T10:00:00Z","credentials":2,"secret_refs":["s"]}]}`},
			func(c *client.Client) (any, error) { return c.ListAgents(ctx) }, `"credentials":2`, "GET /v1/agents "},
		{answer{status: 201, body: `{"id":"a/b","token":"tok","push_secret":"sec","secret_ref":"ref"}`},
			func(c *client.Client) (any, error) { return c.AddAgent(ctx, "a/b") }, `"push_secret":"sec"`, `POST /v1/agents {"id":"a/b"}`},
		{answer{status: 201, body: `{"id":"a/b","token":"tok2"}`},
			func(c *client.Client) (any, error) { return c.RotateAgent(ctx, "a/b") }, `"tok2"`, "POST /v1/agents/a%2Fb/rotate "},
		{answer{status: 204},
			func(c *client.Client) (any, error) { return nil, c.SetDefaultResolvers(ctx, []string{"human:ada"}) }, "null", `PUT /v1/settings {"default_resolvers":["human:ada"]}`},
		{answer{status: 201, body: `{"url":"https://hub.example/in/x"}`},
			func(c *client.Client) (any, error) { return c.Link(ctx) }, "https://hub.example/in/x", "POST /v1/links "},
	} {
		h := &hub{answers: []answer{tc.answer}}
		v, err := tc.call(h.client())
		got, _ := json.Marshal(v)
		saw := h.seen[0].method + " " + h.seen[0].uri + " " + h.seen[0].body
		if err != nil || !strings.Contains(string(got), tc.want) || saw != tc.seen {
			t.Errorf("%s returned %s, %v; want %s in the answer to %s", saw, got, err, tc.want, tc.seen)
		}
	}
}

func TestCredentialsAreNotMadeTwice(t *testing.T) {
	t.Parallel()
	h := &hub{answers: []answer{{err: errReset}}}
	_, err := h.client().AddAgent(t.Context(), "a")
	_, err2 := h.client().RotateAgent(t.Context(), "a")
	if err == nil || err2 == nil || len(h.seen) != 2 {
		t.Errorf("AddAgent = %v, RotateAgent = %v after %d tries, want errors after 1 each", err, err2, len(h.seen))
	}
}

func TestAnswersAreReadByMode(t *testing.T) {
	t.Parallel()
	response := func(resolution ma2h.Status, value string) *ma2h.Response {
		return &ma2h.Response{Resolution: resolution, Response: &ma2h.Detail{Value: []byte(value)}}
	}
	for _, tc := range []struct {
		r    *ma2h.Response
		want string
		ok   bool
	}{
		{response(ma2h.StatusAnswered, `"approve"`), "approve", true},
		{response(ma2h.StatusAnswered, `{"n":1}`), "", false},
		{response(ma2h.StatusExpired, `"approve"`), "", false}, // a default is no answer: look at it on purpose
		{response(ma2h.StatusDeclined, ``), "", false},
		{&ma2h.Response{Resolution: ma2h.StatusAnswered}, "", false},
		{nil, "", false},
	} {
		if got, ok := client.Choice(tc.r); got != tc.want || ok != tc.ok {
			t.Errorf("Choice(%+v) = %q, %t, want %q, %t", tc.r, got, ok, tc.want, tc.ok)
		}
	}
	var in struct{ N int }
	if err := client.Input(response(ma2h.StatusAnswered, `{"N":3}`), &in); err != nil || in.N != 3 {
		t.Errorf("Input = %+v, %v, want 3", in, err)
	}
	if err := client.Input(response(ma2h.StatusExpired, `{"N":3}`), &in); err == nil {
		t.Error("Input of an expired ask succeeded, want an error")
	}
}

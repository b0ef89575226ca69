package controlapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/controlapi"
	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/recordtest"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// here is a client of its own: closing any test server ends the idle connections of the usual one, also those that another
// test is just about to use.
var here = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// noon is when the virtual day of every test begins.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// signingKey signs every push of a tenant.
const signingKey = "the signing key of a tenant of the tests"

// engine is a kind of store that tenants stand on.
type engine struct {
	name  string
	open  func(t *testing.T) record.Store
	grace time.Duration // hub.Settings.Grace, as on AWS: no answer may depend on when a record is due
}

// engines returns the stores that every behaviour is tested on; DynamoDB where there is an emulator (see dynamotest).
func engines(t *testing.T) []engine {
	t.Helper()
	all := []engine{{name: "SQLite", open: openSQLite}}
	if dynamotest.Wanted(t) {
		all = append(all, engine{
			name: "DynamoDB", open: func(t *testing.T) record.Store { return dynamotest.Store(t) }, grace: 2 * time.Minute,
		})
	}
	return all
}

func openSQLite(t *testing.T) record.Store {
	t.Helper()
	s, err := sqlitestore.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// onStores runs a test in a tenant of its own on every store.
func onStores(t *testing.T, test func(t *testing.T, s *suite)) {
	t.Helper()
	onStoresWith(t, doc{}, test)
}

// onStoresWith is onStores with a configuration of the tenant.
func onStoresWith(t *testing.T, config doc, test func(t *testing.T, s *suite)) {
	t.Helper()
	t.Parallel()
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			test(t, newSuite(t, e, config))
		})
	}
}

// suite is one tenant as its agents and people see it: through HTTP, at a time that the test decides.
type suite struct {
	t      *testing.T
	url    string
	tenant string
	now    time.Time // zero for the real clock
	store  *watched
	keys   atomic.Int64
	nonces sync.Map // of all that was delivered
}

func newSuite(t *testing.T, e engine, config doc) *suite {
	t.Helper()
	s := &suite{t: t, now: noon, store: &watched{Store: e.open(t)}}
	newStore := func() (record.Store, error) { return s.store, nil }
	server := httptest.NewServer(localhub.Web{
		BaseURL: "https://hub.example", NewStore: newStore, Grace: e.grace, Log: slog.New(slog.DiscardHandler),
	}.Handler())
	t.Cleanup(server.Close)
	s.url = server.URL
	whole := doc{"signing_key": signingKey}
	for name, v := range config {
		whole[name] = v
	}
	made := s.send(request{method: "POST", path: "/_conformance/tenants", body: whole}).is(http.StatusCreated)
	s.tenant = made.str("/tenant")
	return s
}

// run runs a subtest on the same tenant, to whose name everything in it is reported.
func (s *suite) run(name string, test func()) {
	outer := s.t
	outer.Run(name, func(t *testing.T) {
		s.t = t
		defer func() { s.t = outer }()
		test()
	})
}

// later moves the clock of the requests to come.
func (s *suite) later(d time.Duration) { s.now = s.now.Add(d) }

// stamp writes a time as the hub does.
func stamp(t time.Time) string { return ma2h.FormatTime(t) }

// key returns an idempotency key that nobody has used.
func (s *suite) key() string {
	return strings.ReplaceAll(s.t.Name(), "#", "") + " " + strconv.FormatInt(s.keys.Add(1), 10)
}

// caller is an agent or a person with a token.
type caller struct {
	s     *suite
	id    string // without agent: or human:
	actor string
	token string
}

func (s *suite) agent(id string) *caller  { return s.principal("agent:", id) }
func (s *suite) person(id string) *caller { return s.principal("human:", id) }

func (s *suite) principal(prefix, id string) *caller {
	s.t.Helper()
	made := s.control("POST", "tokens", doc{"principal": prefix + id}).is(http.StatusCreated)
	return &caller{s: s, id: id, actor: prefix + id, token: made.str("/token")}
}

// owns puts agents into a person's account.
func (s *suite) owns(person string, agents ...string) {
	s.t.Helper()
	for _, a := range agents {
		s.control("POST", "owners", doc{"agent": a, "owner": "human:" + person}).is(http.StatusNoContent)
	}
}

// control makes a call of the control API.
func (s *suite) control(method, call string, body any) *answer {
	s.t.Helper()
	return s.send(request{method: method, path: "/_conformance/" + call, body: body})
}

// settle runs what is due.
func (s *suite) settle(what doc) {
	s.t.Helper()
	s.control("POST", "settle", what).is(http.StatusNoContent)
}

// outcome returns what is stored of a message's end.
func (s *suite) outcome(id string) *answer {
	s.t.Helper()
	return s.control("GET", "outcomes?id="+id, nil).is(http.StatusOK)
}

// push is a callback that was captured instead of sent.
type push struct {
	Message string
	Attempt int
	URL     string
	Headers map[string]string
	Body    string
}

// pushes returns the callbacks captured since the last look.
func (s *suite) pushes() []push {
	s.t.Helper()
	var taken struct{ Pushes []push }
	a := s.control("GET", "pushes", nil).is(http.StatusOK)
	if err := json.Unmarshal(a.body, &taken); err != nil {
		s.t.Fatalf("%s = %s: %v", a.what, a.body, err)
	}
	return taken.Pushes
}

// request is one HTTP request under the suite's tenant and clock.
type request struct {
	method, path string
	token        string
	header       http.Header
	body         any // nil for none, []byte or string as they are, anything else as JSON
}

func (s *suite) send(r request) *answer {
	s.t.Helper()
	a, err := s.try(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// try is send for goroutines of a test, which may not end it.
func (s *suite) try(r request) (*answer, error) {
	body, err := encode(r.body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(context.Background(), r.method, s.url+r.path, body)
	if err != nil {
		return nil, err
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	if s.tenant != "" {
		req.Header.Set(controlapi.TenantHeader, s.tenant)
		if !s.now.IsZero() {
			req.Header.Set(controlapi.NowHeader, strconv.FormatInt(s.now.UnixMilli(), 10))
		}
	}
	resp, err := here.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &answer{t: s.t, what: r.method + " " + r.path, status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		return nil, fmt.Errorf("%s: %w", a.what, err)
	}
	return a, nil
}

func encode(body any) (io.Reader, error) {
	switch b := body.(type) {
	case nil:
		return nil, nil
	case []byte:
		return strings.NewReader(string(b)), nil
	case string:
		return strings.NewReader(b), nil
	}
	b, err := json.Marshal(body)
	return strings.NewReader(string(b)), err
}

func (c *caller) send(method, path string, body any) *answer {
	c.s.t.Helper()
	return c.s.send(request{method: method, path: path, token: c.token, body: body})
}

// submit sends an envelope as this agent.
func (c *caller) submit(envelope any) *answer {
	c.s.t.Helper()
	if d, ok := envelope.(doc); ok {
		if agent, ok := d["agent"].(doc); ok && agent["id"] == sender {
			agent["id"] = c.id
		}
	}
	a := c.send("POST", "/v1/messages", envelope)
	if a.status == http.StatusAccepted {
		a.shaped(ma2h.KindSubmitAck, ma2h.Newest)
	}
	return a
}

// accepted submits and returns the id.
func (c *caller) accepted(envelope any) string {
	c.s.t.Helper()
	return c.submit(envelope).is(http.StatusAccepted).str("/id")
}

func (c *caller) get(id string) *answer {
	c.s.t.Helper()
	a := c.send("GET", "/v1/messages/"+id, nil)
	if a.status == http.StatusOK {
		a.shaped(ma2h.KindGetMessage, a.str("/ma2h_version"))
	}
	return a
}

func (c *caller) cancel(id string) *answer {
	c.s.t.Helper()
	return c.send("POST", "/v1/messages/"+id+"/cancel", nil)
}

func (c *caller) resolve(id string, body any) *answer {
	c.s.t.Helper()
	return c.send("POST", "/v1/messages/"+id+"/resolve", body)
}

// answers resolves an ask with a value.
func (c *caller) answers(id string, value any) *answer {
	c.s.t.Helper()
	return c.resolve(id, doc{"resolution": "answered", "value": value})
}

// ack acknowledges a Response; nil is an ack without a body.
func (c *caller) ack(id string, body any) *answer {
	c.s.t.Helper()
	a := c.send("POST", "/v1/messages/"+id+"/ack", body)
	if a.status == http.StatusOK {
		a.shaped(ma2h.KindAck, ma2h.Newest)
	}
	return a
}

// read is how a person of the account sees a message.
func (c *caller) read(id string) *answer {
	c.s.t.Helper()
	return c.send("GET", "/v1/waiting/"+id, nil)
}

// waiting returns the ids of what waits for the person's account.
func (c *caller) waiting() []string {
	c.s.t.Helper()
	a := c.send("GET", "/v1/waiting", nil).is(http.StatusOK)
	ids := []string{}
	for _, row := range a.at("/waiting").([]any) {
		ids = append(ids, row.(map[string]any)["id"].(string))
	}
	return ids
}

// watched is the tenant's store. It counts what is committed, and goes wrong when a test says so.
type watched struct {
	record.Store
	commits atomic.Int64
	pick    atomic.Pointer[func([]record.Write) recordtest.Fault]
}

// Commit implements record.Store.
func (w *watched) Commit(ctx context.Context, writes ...record.Write) error {
	w.commits.Add(1)
	if pick := w.pick.Load(); pick != nil {
		return (&recordtest.Faulty{Store: w.Store, Pick: *pick}).Commit(ctx, writes...)
	}
	return w.Store.Commit(ctx, writes...)
}

// fails makes commits go wrong from now on as pick says.
func (w *watched) fails(pick func([]record.Write) recordtest.Fault) { w.pick.Store(&pick) }

// writesNothing fails the test when deed commits anything.
func (s *suite) writesNothing(deed func()) {
	s.t.Helper()
	before := s.store.commits.Load()
	deed()
	if n := s.store.commits.Load() - before; n != 0 {
		s.t.Errorf("%d commits, want none", n)
	}
}

// same compares by cmp.Diff.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not as wanted (-want +got):\n%s", what, diff)
	}
}

package realtime_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// patience is how long a test waits for what must come, on a machine that does much else besides.
const patience = 30 * time.Second

// server is a hub as its agents and people see it: a URL, the owner's token, and a client.
type server struct {
	t      *testing.T
	url    string
	base   string // the path in url, empty at the root of its host
	owner  *caller
	client *http.Client
	racers int  // how many it is fair to let loose at once
	shared bool // with tests before, beside and after this one

	samples map[string]string // what sample agents are really called, where others have the like

	mu     sync.Mutex
	called map[endpoint.Name]int // how often an endpoint did what it is for
}

// caller is an agent or a person with a token.
type caller struct {
	*server
	id     string // of an agent
	actor  string // agent:<id> or human:<id>
	token  string
	secret string // of an agent's pushes
}

// origin is that of the pages, as browsers send it.
func (s *server) origin() string { return strings.TrimSuffix(s.url, s.base) }

// root is the address below which everything of the hub lies.
func (s *server) root() *url.URL {
	s.t.Helper()
	at, err := url.Parse(s.url + "/")
	if err != nil {
		s.t.Fatal(err)
	}
	return at
}

// unique makes a name that nobody has used on any hub.
func unique(name string) string { return name + "-" + ma2h.NewTail()[:10] }

// agent makes an agent of the owner's account, under an id of its own that begins with name.
func (s *server) agent(name string) *caller {
	s.t.Helper()
	return s.agentNamed(unique(name))
}

// agentNamed makes an agent of the owner's account under this id.
func (s *server) agentNamed(id string) *caller {
	s.t.Helper()
	made := s.owner.call(endpoint.AgentAdd, doc{"id": id}).is(http.StatusCreated)
	return &caller{server: s, id: id, actor: "agent:" + id, token: made.str("/token"), secret: made.str("/push_secret")}
}

// sdk is the Go SDK with the caller's token.
func (c *caller) sdk() *client.Client {
	sdk := client.New(c.url, c.token)
	sdk.HTTP = &http.Client{Transport: c.client.Transport}
	return sdk
}

// request is one HTTP request.
type request struct {
	method, path string // the path may be a whole address
	token        string
	header       http.Header
	body         any // nil for none, string as it is, anything else as JSON
}

func (s *server) send(r request) *answer {
	s.t.Helper()
	a, err := s.try(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// try is send for goroutines of a test, which may not end it.
func (s *server) try(r request) (*answer, error) { return s.tryWith(s.client, r) }

func (s *server) tryWith(by *http.Client, r request) (*answer, error) {
	body, isJSON, err := encode(r.body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	if !strings.HasPrefix(r.path, "http") {
		r.path = s.url + r.path
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.path, body)
	if err != nil {
		return nil, err
	}
	if isJSON {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := by.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &answer{t: s.t, what: r.method + " " + r.path, status: resp.StatusCode, header: resp.Header}
	a.body, err = io.ReadAll(resp.Body)
	return a, err
}

func encode(body any) (r io.Reader, isJSON bool, err error) {
	switch b := body.(type) {
	case nil:
		return nil, false, nil
	case string:
		return strings.NewReader(b), true, nil
	}
	b, err := json.Marshal(body)
	return strings.NewReader(string(b)), true, err
}

// call calls an endpoint as the caller, filling the ids into its path.
func (c *caller) call(name endpoint.Name, body any, ids ...string) *answer {
	c.t.Helper()
	return c.callAt(name, endpoint.Of(name).Fill(ids...), body)
}

// readAgent reads one agent, whom the query names.
func (c *caller) readAgent(id string) *answer {
	c.t.Helper()
	return c.callAt(endpoint.AgentRead, endpoint.Of(endpoint.AgentRead).Path+"?id="+url.QueryEscape(id), nil)
}

// callAt calls an endpoint at a path.
func (c *caller) callAt(name endpoint.Name, path string, body any) *answer {
	c.t.Helper()
	a := c.send(request{method: endpoint.Of(name).Method, path: path, token: c.token, body: body})
	if a.status < 400 {
		c.count(name)
	}
	return a
}

// count notes that an endpoint did what it is for.
func (s *server) count(name endpoint.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.called == nil {
		s.called = map[endpoint.Name]int{}
	}
	s.called[name]++
}

func (c *caller) get(path string) *answer {
	c.t.Helper()
	return c.send(request{method: http.MethodGet, path: path, token: c.token})
}

// submit sends an envelope as this agent.
func (c *caller) submit(envelope any) *answer {
	c.t.Helper()
	a := c.call(endpoint.Submit, c.signed(envelope))
	if a.status == http.StatusAccepted {
		a.shaped(ma2h.KindSubmitAck, ma2h.Newest)
	}
	return a
}

// signed puts the agent's id where an envelope leaves it open.
func (c *caller) signed(envelope any) any {
	if d, ok := envelope.(doc); ok {
		if agent, ok := d["agent"].(doc); ok && agent["id"] == sender {
			agent["id"] = c.id
		}
	}
	return envelope
}

// accepted submits and returns the id.
func (c *caller) accepted(envelope any) string {
	c.t.Helper()
	return c.submit(envelope).is(http.StatusAccepted).str("/id")
}

// expiring submits an envelope with a deadline that lies this far ahead. Where so much goes on that it comes too late, it
// takes a later one.
func (c *caller) expiring(span time.Duration, envelope func(edits ...edit) doc, edits ...edit) (id string, deadline time.Time) {
	c.t.Helper()
	for {
		deadline = time.Now().Add(span).Truncate(time.Millisecond)
		a := c.submit(envelope(append([]edit{expires(deadline)}, edits...)...))
		if a.status != http.StatusUnprocessableEntity || a.at("/error/field") != "/expires_at" {
			return a.is(http.StatusAccepted).str("/id"), deadline
		}
		span *= 2
	}
}

// pull reads a message as its submitter; more is a query.
func (c *caller) pull(id, more string) *answer {
	c.t.Helper()
	e := endpoint.Of(endpoint.Pull)
	a := c.send(request{method: e.Method, path: e.Fill(id) + more, token: c.token})
	if a.status == http.StatusOK {
		a.shaped(ma2h.KindGetMessage, a.str("/ma2h_version"))
	}
	return a
}

func (c *caller) cancel(id string) *answer {
	c.t.Helper()
	return c.call(endpoint.Cancel, nil, id)
}

func (c *caller) resolve(id string, body any) *answer {
	c.t.Helper()
	return c.call(endpoint.Resolve, body, id)
}

// answers resolves an ask with a value.
func (c *caller) answers(id string, value any) *answer {
	c.t.Helper()
	return c.resolve(id, doc{"resolution": "answered", "value": value})
}

// ack acknowledges a Response; nil is an ack without a body.
func (c *caller) ack(id string, body any) *answer {
	c.t.Helper()
	a := c.call(endpoint.Ack, body, id)
	if a.status == http.StatusOK {
		a.shaped(ma2h.KindAck, ma2h.Newest)
	}
	return a
}

// read is how the owner sees a message, which stamps nothing.
func (s *server) read(id string) *answer {
	s.t.Helper()
	return s.owner.call(endpoint.Read, nil, id)
}

// waits says whether a message is among what waits for the owner. The list is as the index knows it, and may lag.
func (s *server) waits(id string) bool {
	s.t.Helper()
	list, _ := s.owner.call(endpoint.Waiting, nil).is(http.StatusOK).at("/waiting").([]any)
	for _, row := range list {
		if lookUp(row, "/id") == id {
			return true
		}
	}
	return false
}

// until looks again and again until ready says so, or the patience is over.
func (s *server) until(what string, ready func() bool) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ready(); <-tick.C {
		if time.Now().After(end) {
			s.t.Errorf("%s: not after %s", what, patience)
			return
		}
	}
}

// run runs a subtest on the same hub, to whose name everything in it is reported.
func (s *server) run(name string, test func()) {
	s.t.Helper()
	outer := s.t
	outer.Run(name, func(t *testing.T) {
		s.t = t
		defer func() { s.t = outer }()
		test()
	})
}

package localhub_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/record"
)

// cost is what an operation asks of a store: requests that read, and items written, which on DynamoDB is what is paid for.
type cost struct{ Reads, Written int }

// counted is a Store that counts.
type counted struct {
	record.Store
	mu  sync.Mutex
	sum cost
}

func (c *counted) add(reads, written int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.Reads += reads
	c.sum.Written += written
}

func (c *counted) Get(ctx context.Context, keys ...record.Key) ([]record.Record, error) {
	c.add(1, 0)
	return c.Store.Get(ctx, keys...)
}

func (c *counted) List(ctx context.Context, part, after string, limit int) ([]record.Record, error) {
	c.add(1, 0)
	return c.Store.List(ctx, part, after, limit)
}

func (c *counted) Index(ctx context.Context, place int, name string, after record.Entry, limit int) ([]record.Entry, error) {
	c.add(1, 0)
	return c.Store.Index(ctx, place, name, after, limit)
}

func (c *counted) Due(ctx context.Context, before time.Time, after record.Entry, limit int) ([]record.Entry, error) {
	c.add(1, 0)
	return c.Store.Due(ctx, before, after, limit)
}

func (c *counted) Commit(ctx context.Context, writes ...record.Write) error {
	c.add(0, len(writes))
	return c.Store.Commit(ctx, writes...)
}

// spent returns what deed costs. It happens in a millisecond of its own: what would write the very times that are stored
// already writes nothing.
func (c *counted) spent(deed func()) cost {
	for before := time.Now().UnixMilli(); time.Now().UnixMilli() == before; {
		runtime.Gosched()
	}
	c.mu.Lock()
	c.sum = cost{}
	c.mu.Unlock()
	deed()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum
}

// byHand is a Clockwork that fires nothing.
type byHand struct{}

func (byHand) Arm(context.Context, record.Key, time.Time) {}

// taken is a Pusher whose every attempt is taken.
type taken struct{}

func (taken) Push(context.Context, hub.Push) hub.PushResult {
	return hub.PushResult{Status: http.StatusOK}
}
func (taken) Check(string) error { return nil }

// serveCounted serves a hub on a store that counts. Nothing happens in it but what is asked for.
func serveCounted(t *testing.T, store record.Store, depth int) (*server, *counted) {
	t.Helper()
	c := &counted{Store: store}
	h := hub.New(c, keyring.Ephemeral(), taken{}, &localhub.Bell{}, byHand{}, hub.DefaultSettings())
	h.Settings.InboxDepth = depth
	h.Settings.PairPerMinute = 1 // ten at once, and no other while a test lasts
	web := httptest.NewServer(localhub.Web{Hub: h, BaseURL: "http://hub.example", Log: slog.New(slog.DiscardHandler)}.Handler())
	t.Cleanup(web.Close)
	owner, _, err := h.EnsureOwner(t.Context(), "alice")
	if err != nil {
		t.Fatal(err)
	}
	return &server{t: t, url: web.URL, hub: h, owner: owner, client: newClient(t)}, c
}

// counting runs a test on every store.
func counting(t *testing.T, depth int, test func(s *server, c *counted)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		store, err := localhub.MemoryStore()
		if err != nil {
			t.Fatal(err)
		}
		test(serveCounted(t, store, depth))
	})
	if dynamotest.Wanted(t) {
		t.Run("DynamoDB", func(t *testing.T) {
			t.Parallel()
			test(serveCounted(t, dynamotest.Store(t), depth))
		})
	}
}

func TestBudget_OfEveryOperation(t *testing.T) {
	counting(t, 0, func(s *server, c *counted) {
		bot, helper, alice := s.agent("bot").Token, s.agent("helper").Token, s.person("alice")
		either := doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice", "agent:helper"}}
		pushed := doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice"}, "callback": doc{
			"url": "https://agent.example/cb", "auth": doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef},
		}}
		submit := func(key string, request doc, expires time.Time) any {
			return s.send("POST", "/v1/messages", bot, ask(key, request, expires), http.StatusAccepted)["id"]
		}
		refused := func(body doc, want int) func() { return func() { s.send("POST", "/v1/messages", bot, body, want) } }
		call := func(method string, id any, action, token string, body any, want int) func() {
			return func() { s.send(method, messagePath(id, action), token, body, want) }
		}
		yes := doc{"resolution": "answered", "value": "approve"}
		byAgent, byPerson, cancelled, withPush := submit("1", either, time.Time{}), submit("2", either, time.Time{}),
			submit("3", either, time.Time{}), submit("4", pushed, time.Time{})
		key, _ := hub.StateKey(withPush.(string))
		overdue := submit("5", either, time.Now().Add(time.Hour))

		for _, o := range []struct {
			operation string
			deed      func()
			want      cost
		}{
			{"submit", func() { submit("new", either, time.Time{}) }, cost{1, 2}},
			{"submit again", func() { submit("new", either, time.Time{}) }, cost{1, 0}},
			{"submit another payload", refused(ask("new", pushed, time.Time{}), http.StatusConflict), cost{1, 0}},
			{"submit what is refused", refused(doc{"ma2h_version": "0.6"}, http.StatusBadRequest), cost{1, 0}},
			{"pull what is open", call("GET", byAgent, "", bot, nil, http.StatusOK), cost{1, 0}},
			{"pull with wait, open", call("GET", byAgent, "?wait=0", bot, nil, http.StatusOK), cost{1, 0}},
			{"resolve by an agent", call("POST", byAgent, "/resolve", helper, yes, http.StatusOK), cost{1, 1}},
			{"resolve by a person", call("POST", byPerson, "/resolve", alice, yes, http.StatusOK), cost{1, 2}},
			{"resolve too late", call("POST", byPerson, "/resolve", alice, yes, http.StatusConflict), cost{1, 0}},
			{"cancel", call("POST", cancelled, "/cancel", bot, nil, http.StatusOK), cost{1, 1}},
			{"cancel again", call("POST", cancelled, "/cancel", bot, nil, http.StatusOK), cost{1, 0}},
			{"ack too soon", call("POST", byAgent, "/ack", bot, nil, http.StatusConflict), cost{1, 0}},
			{"pull what has ended", call("GET", byAgent, "", bot, nil, http.StatusOK), cost{1, 1}},
			{"pull it again", call("GET", byAgent, "", bot, nil, http.StatusOK), cost{1, 0}},
			{"pull since, not shown to be had", call("GET", byAgent, "?since=2100-01-01T00:00:00Z", bot, nil, http.StatusOK), cost{1, 0}},
			{"ack", call("POST", byAgent, "/ack", bot, nil, http.StatusOK), cost{1, 1}},
			{"ack again", call("POST", byAgent, "/ack", bot, nil, http.StatusOK), cost{1, 0}},
			{"pull, not modified", call("GET", byAgent, "?since=2100-01-01T00:00:00Z", bot, nil, http.StatusNotModified), cost{1, 0}},
			{"a stranger's pull", call("GET", byAgent, "", helper, nil, http.StatusNotFound), cost{1, 0}},
			{"resolve with a push to come", call("POST", withPush, "/resolve", alice, yes, http.StatusOK), cost{1, 2}},
			// The message, and the agent for its key.
			{"the push", func() { s.fire(key) }, cost{2, 1}},
			{"nothing due", func() { s.fire(key) }, cost{1, 0}},
			// Whoever notices what is overdue settles it, once.
			{"pull what is overdue", func() {
				s.hub.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
				call("GET", overdue, "", bot, nil, http.StatusOK)()
			}, cost{1, 2}},
			{"a person's read", func() { s.reading(alice, withPush) }, cost{1, 0}},
			{"discovery", func() { s.send("GET", "/.well-known/ma2h", "", nil, http.StatusOK) }, cost{0, 0}},
			{"a malformed token", func() { s.send("GET", "/v1/me", "mash_x", nil, http.StatusUnauthorized) }, cost{0, 0}},
		} {
			same(s.t, "the cost of "+o.operation, c.spent(o.deed), o.want)
		}
	})
}

// fire does what is due of a record.
func (s *server) fire(key record.Key) {
	s.t.Helper()
	if _, err := s.hub.Fire(s.t.Context(), key); err != nil {
		s.t.Error(err)
	}
}

// TestBudget_TheDepthIsCountedOnceInAWhile: what bounds an agent's open messages is a query of an index, which must not be
// paid for by each of its submits.
func TestBudget_TheDepthIsCountedOnceInAWhile(t *testing.T) {
	counting(t, 1000, func(s *server, c *counted) {
		bot := s.agent("bot").Token
		submit := func(key string) func() {
			return func() { s.send("POST", "/v1/messages", bot, ask(key, confirm, time.Time{}), http.StatusAccepted) }
		}
		same(s.t, "the cost of the first submit", c.spent(submit("1")), cost{2, 2})
		same(s.t, "the cost of the next", c.spent(submit("2")), cost{1, 2})
		same(s.t, "the cost of a replay", c.spent(submit("1")), cost{1, 0})
	})
}

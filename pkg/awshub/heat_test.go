package awshub_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/dynamostore"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/sfnclock"
)

// crowd is how many agents of one account do the same for a row of the table.
const crowd = 8

// meter adds up what is asked of DynamoDB.
type meter struct {
	mu    sync.Mutex
	asked map[string]int     // requests, by action
	units map[bool]float64   // written, or read
	heat  map[bool]partition // the same, by partition
}

// partition is the units of each partition.
type partition map[string]float64

func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked, m.units, m.heat = map[string]int{}, map[bool]float64{}, map[bool]partition{true: {}, false: {}}
}

func (m *meter) observe(o dynamostore.Operation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[o.Action]++
	if o.Action == "BatchGetItem" && o.Read == 0 { // of which the emulator does not say: each item is below 4 KB
		o.Read, o.Heat = float64(len(o.Parts)), map[string]float64{}
		for _, p := range o.Parts {
			o.Heat[p]++
		}
	}
	m.units[false] += o.Read
	m.units[true] += o.Write
	for p, units := range o.Heat {
		m.heat[o.Write > 0][p] += units
	}
}

// hottest returns the kind of the partition with the most units, and its share of all.
func (m *meter) hottest(written bool) (kind string, share float64) {
	for p, units := range m.heat[written] {
		if s := units / m.units[written]; s > share+1e-9 || math.Abs(s-share) < 1e-9 && kindOf(p) < kind {
			kind, share = kindOf(p), s
		}
	}
	return kind, share
}

// kindOf is what partitions of a kind begin with.
func kindOf(p string) string {
	before, _, _ := strings.Cut(p, "#")
	return before + "#"
}

// TestKeyHeat prints, as Markdown, what the operations of the budget ask of DynamoDB, and where it becomes hot when many
// agents of one account do the same: go test -run TestKeyHeat -v ./pkg/awshub. It fails when an operation takes other
// requests than it should, or when agents share more than they must.
func TestKeyHeat(t *testing.T) {
	t.Parallel()
	receiver := newReceiver(t, 0)
	s := deploy(t, strings.TrimPrefix(receiver.URL, "http://"))
	alice, m := s.alice(), &meter{}
	bots := make([]string, crowd)
	for i := range bots {
		made, err := s.hub.AddAgent(t.Context(), s.owner, fmt.Sprintf("bot%d", i))
		if err != nil {
			t.Fatal(err)
		}
		bots[i] = made.Token
	}
	m.reset()
	s.config.Observe = m.observe
	table := &heatTable{meter: m, t: t}
	table.fill(s, bots, alice, receiver.URL)
	t.Logf("With %d agents of one account, per operation:\n\n%s", crowd, table)
}

// heatTable is the table.
type heatTable struct {
	t     *testing.T
	meter *meter
	rows  strings.Builder
}

// String returns the table as Markdown.
func (h *heatTable) String() string {
	return "| operation | requests | read units | write units | hottest when reading | hottest when writing |\n" +
		"|---|---|---|---|---|---|\n" + h.rows.String()
}

// row does the same once for each agent, and holds it to the requests that one takes.
func (h *heatTable) row(operation string, do func(agent int), want map[string]int) {
	h.t.Helper()
	h.meter.reset()
	for i := range crowd {
		do(i)
	}
	for action := range want {
		want[action] *= crowd
	}
	if diff := cmp.Diff(want, h.meter.asked); diff != "" {
		h.t.Errorf("%s by %d agents (-want +got)\n%s", operation, crowd, diff)
	}
	requests := 0
	for _, n := range h.meter.asked {
		requests += n
	}
	hot := func(written bool) string {
		kind, share := h.meter.hottest(written)
		if kind == "" {
			return "–"
		}
		return fmt.Sprintf("`%s` %.0f %%", kind, 100*share)
	}
	for p, units := range h.meter.heat[true] {
		if kind := kindOf(p); units/h.meter.units[true] > 1.0/crowd+1e-9 && (kind == "m#" || kind == "g#") {
			h.t.Errorf("%s: %.0f %% of what is written goes to %s, though every agent has its own", operation, 100*units/h.meter.units[true], p)
		}
	}
	fmt.Fprintf(&h.rows, "| %s | %g | %g | %g | %s | %s |\n", operation, float64(requests)/crowd,
		h.meter.units[false]/crowd, h.meter.units[true]/crowd, hot(false), hot(true))
}

func (h *heatTable) fill(s *stack, bots []string, alice, receiver string) {
	h.t.Helper()
	callback := doc{"mode": "push", "url": receiver + "/cb", "auth": doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef}}
	first := s.function(endpoint.Submit)                 // which counts what an agent has open, now and then
	s.config.Settings = `{"grace":"2m","inbox_depth":0}` // and from here on never, so that time plays no part
	submit, pull, resolve := s.function(endpoint.Submit), s.function(endpoint.Pull), s.function(endpoint.Resolve)
	cancel, ack := s.function(endpoint.Cancel), s.function(endpoint.Ack)
	deliver, err := s.config.Deliverer(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	ids, created := map[string][]string{}, time.Now().UTC().Format(time.RFC3339)
	submits := func(submit lambda.Handler, key string, request doc) func(int) {
		ids[key] = make([]string, crowd)
		return func(i int) {
			e := ask(key, request, time.Time{})
			e["agent"], e["created_at"] = doc{"id": fmt.Sprintf("bot%d", i), "run_id": "r"}, created
			ids[key][i] = s.must(submit, "POST", "/v1/messages", bots[i], e, http.StatusAccepted)["id"].(string)
		}
	}
	pulls := func(i int) { s.must(pull, "GET", messagePath(ids["k"][i], ""), bots[i], nil, http.StatusOK) }
	resolves := func(key string) func(int) {
		return func(i int) {
			s.must(resolve, "POST", messagePath(ids[key][i], "/resolve"), alice, approve, http.StatusOK)
		}
	}
	acks := func(i int) { s.must(ack, "POST", messagePath(ids["k"][i], "/ack"), bots[i], nil, http.StatusOK) }
	cancels := func(i int) { s.must(cancel, "POST", messagePath(ids["c"][i], "/cancel"), bots[i], nil, http.StatusOK) }
	delivers := func(i int) {
		key, _ := hub.StateKey(ids["p"][i])
		in := sfnclock.Input{Key: sfnclock.Key(key), At: sfnclock.Timestamp(time.Now())}
		if _, err := deliver(h.t.Context(), in); err != nil {
			h.t.Error(err)
		}
	}
	const get, put, transact, query = "BatchGetItem", "PutItem", "TransactWriteItems", "Query"
	pushed := doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice"}, "callback": callback}
	h.row("submit, the first of an agent", submits(first, "k", confirm), map[string]int{get: 1, query: 1, transact: 1})
	h.row("submit", submits(submit, "c", confirm), map[string]int{get: 1, transact: 1})
	h.row("submit again (replay)", submits(submit, "c", confirm), map[string]int{get: 1})
	h.row("pull, open", pulls, map[string]int{get: 1})
	h.row("cancel", cancels, map[string]int{get: 1, put: 1})
	h.row("resolve by a person", resolves("k"), map[string]int{get: 1, transact: 1})
	h.row("pull, the outcome", pulls, map[string]int{get: 1, put: 1})
	h.row("pull, once more", pulls, map[string]int{get: 1})
	h.row("ack", acks, map[string]int{get: 1, put: 1})
	h.row("submit with a callback", submits(submit, "p", pushed), map[string]int{get: 1, transact: 1})
	h.row("resolve by a person, with a callback", resolves("p"), map[string]int{get: 1, transact: 1})
	h.row("push attempt", delivers, map[string]int{get: 2, put: 1})
}

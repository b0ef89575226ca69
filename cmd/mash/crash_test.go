//go:build crash

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// The crash harness kills a hub with SIGKILL while 16 writers submit, resolve and cancel, starts it again on the same
// folder, and holds it to every answer that it had given.

const writers = 16

func crashRounds() int {
	if n, err := strconv.Atoi(os.Getenv("CRASH_ROUNDS")); err == nil && n > 0 {
		return n
	}
	return 40
}

// TestCrash_NothingAcknowledgedIsLost runs the rounds and then waits for every push and expiry that was owed.
func TestCrash_NothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "")
	rounds := crashRounds()
	for range rounds {
		h.round(t)
	}
	h.start(t)
	h.settleObligations(t)
	if len(h.lost) > 0 || len(h.twice) > 0 {
		t.Errorf("lost: %q\nresolved twice: %q", h.lost, h.twice)
	}
	fmt.Printf("%d rounds: %d submits and %d outcomes acknowledged, %d lost, %d resolved twice, %d pushes arrived\n",
		rounds, len(h.acked), len(h.outcomes), len(h.lost), len(h.twice), h.receiver.count())
	if len(h.acked) < 20*rounds || len(h.outcomes) < 5*rounds {
		t.Errorf("the harness did too little to mean anything")
	}
}

// TestCrash_TheHarnessNoticesLoss shows the harness a hub that answers before it commits: it has to report loss.
func TestCrash_TheHarnessNoticesLoss(t *testing.T) {
	h := newHarness(t, "ackbeforecommit")
	for round := 1; round <= 5; round++ {
		h.round(t)
		if n := len(h.lost); n > 0 {
			fmt.Printf("acknowledged before the commit: %d lost, noticed in round %d\n", n, round)
			return
		}
	}
	t.Error("five rounds with a hub that acknowledges before it commits, and nothing was missed")
}

// mortal is a hub that lives many times, on the same records.
type mortal interface {
	owner(t *testing.T) string       // a token of its owner, while it lives
	start(t *testing.T) (url string) // if it does not live yet; it serves when start returns
	kill()                           // in the middle of whatever it does
	stop(t *testing.T)               // as an operator would
}

// harness is a hub over many lives, and everything that its clients were told.
type harness struct {
	mortal
	receiver *receiver
	owner    string
	name     string   // what the ids of its agents begin with
	agents   []string // tokens

	url  string
	file *os.File // the clients' own record, synced before they go on

	mu       sync.Mutex
	acked    map[string]promise
	outcomes map[string]outcome
	fresh    []string // acknowledged since the last check
	lost     []string
	twice    []string
}

// promise is what a submit was promised: which agent may read it, and whether it must expire by itself.
type promise struct {
	agent   int
	expires bool
}

type outcome struct{ status, resolutionID string }

// newHarness is a harness of a hub of this machine, built with these tags.
func newHarness(t *testing.T, tags string) *harness {
	t.Helper()
	r := newReceiver(t)
	return harnessOf(t, newLocal(t, tags, r.address), r, "writer")
}

// harnessOf adds agents to a hub.
func harnessOf(t *testing.T, m mortal, r *receiver, name string) *harness {
	t.Helper()
	h := &harness{mortal: m, receiver: r, name: name, acked: map[string]promise{}, outcomes: map[string]outcome{}}
	var err error
	if h.file, err = os.Create(filepath.Join(t.TempDir(), "acknowledged")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.file.Close() })
	h.start(t)
	h.owner = h.mortal.owner(t)
	for i := range writers {
		var made struct{ Token string }
		if status, err := h.call("POST", "/v1/agents", h.owner, map[string]any{"id": h.agentID(i)}, &made); status != 201 {
			t.Fatalf("add agent: %d %v", status, err)
		}
		h.agents = append(h.agents, made.Token)
	}
	h.stop(t) // in peace, so that what the rounds stand on is there even in a hub that is made to lose
	return h
}

func (h *harness) agentID(i int) string { return fmt.Sprintf("%s-%d", h.name, i) }

// start begins a life of the hub, unless it lives.
func (h *harness) start(t *testing.T) {
	t.Helper()
	h.url = h.mortal.start(t)
}

// round lets the writers work for a moment, kills the hub in the middle, and checks the next life against what they saw.
func (h *harness) round(t *testing.T) {
	t.Helper()
	h.interrupted(t, 300*time.Millisecond, writers, h.write)
	h.check()
	h.kill()
}

// interrupted starts the hub, lets so many work at once, kills it in the middle, after least and up to half a second more, and
// starts it again.
func (h *harness) interrupted(t *testing.T, least time.Duration, workers int, work func(ctx context.Context, i int)) {
	t.Helper()
	h.start(t)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { work(ctx, i) })
	}
	time.Sleep(least + rand.N(500*time.Millisecond))
	h.kill()
	stop()
	wg.Wait()
	h.start(t)
}

// write submits, resolves and cancels until the hub is gone, and notes what was acknowledged.
func (h *harness) write(ctx context.Context, i int) {
	for n := 0; ctx.Err() == nil; n++ {
		expires := n%3 == 0
		var ack struct{ ID string }
		status, err := h.call("POST", "/v1/messages", h.agents[i], h.ask(i, expires), &ack)
		if err != nil || status != http.StatusAccepted {
			return
		}
		h.note(ack.ID, func() { h.acked[ack.ID] = promise{agent: i, expires: expires} })
		if expires {
			continue
		}
		if !h.end(ack.ID, i, n) {
			return
		}
	}
}

// end resolves or cancels a message and notes the outcome; every fifth is left open.
func (h *harness) end(id string, i, n int) bool {
	var done struct {
		Status       string `json:"status"`
		ResolutionID string `json:"resolution_id"`
	}
	var status int
	var err error
	switch n % 5 {
	case 1:
		status, err = h.call("POST", "/v1/messages/"+id+"/cancel", h.agents[i], nil, &done)
	case 2:
		return true
	default:
		status, err = h.call("POST", "/v1/messages/"+id+"/resolve", h.owner,
			map[string]any{"resolution": "answered", "value": "ship"}, &done)
	}
	if err != nil || status != http.StatusOK {
		return false
	}
	h.note(id, func() { h.outcomes[id] = outcome{status: done.Status, resolutionID: done.ResolutionID} })
	return true
}

// note syncs an acknowledgement to disk, as a careful client would, before it counts.
func (h *harness) note(id string, remember func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = fmt.Fprintln(h.file, id)
	_ = h.file.Sync()
	remember()
	h.fresh = append(h.fresh, id)
}

func (h *harness) ask(i int, expires bool) map[string]any {
	key := ma2h.NewTail()
	ask := map[string]any{
		"ma2h_version": "0.6", "type": "ask", "created_at": "2026-01-31T12:00:00Z", "title": "Ship?",
		"agent":           map[string]any{"id": h.agentID(i), "run_id": "r", "runtime": "cli"},
		"idempotency_key": key,
		"request": map[string]any{
			"mode":              "select",
			"options":           []any{map[string]any{"value": "ship", "label": "Ship"}, map[string]any{"value": "hold", "label": "Hold"}},
			"default_on_expire": "hold", "allowed_resolvers": []any{"human:owner"},
			"callback": map[string]any{
				"mode": "push", "url": "http://" + h.receiver.address + "/",
				"auth": map[string]any{"scheme": "hmac", "secret_ref": "env:MASH_PUSH_SECRET"},
			},
		},
	}
	if expires {
		ask["expires_at"] = ma2h.FormatTime(time.Now().Add(time.Duration(500+rand.IntN(2500)) * time.Millisecond))
	}
	return ask
}

// check reads what was acknowledged since the last check, but for what expires by itself: to read that would settle it,
// and hide a sweep that no longer works after a restart. Those are checked once they are settled.
func (h *harness) check() {
	for _, id := range h.fresh {
		if !h.acked[id].expires {
			h.checkOne(id)
		}
	}
	h.fresh = nil
}

func (h *harness) checkOne(id string) {
	var got struct {
		Status   string
		Response struct {
			ResolutionID string `json:"resolution_id"`
		}
	}
	status, err := h.call("GET", "/v1/messages/"+id, h.agents[h.acked[id].agent], nil, &got)
	if err != nil || status != http.StatusOK {
		h.lost = append(h.lost, fmt.Sprintf("%s: %d %v", id, status, err))
		return
	}
	want, ok := h.outcomes[id]
	if h.acked[id].expires {
		want, ok = outcome{status: "expired"}, true
	}
	if !ok {
		return
	}
	if got.Status == "open" {
		h.lost = append(h.lost, id+": the outcome "+want.status)
	} else if got.Status != want.status || want.resolutionID != "" && got.Response.ResolutionID != want.resolutionID {
		h.twice = append(h.twice, fmt.Sprintf("%s: %s, then %s", id, want.status, got.Status))
	}
}

// settleObligations waits until every push that is owed has arrived: one for each outcome, and one for each message that
// expires by itself, which it then checks. Nobody reads those first, so that only the hub's own due work can bring them
// about.
func (h *harness) settleObligations(t *testing.T) {
	t.Helper()
	owed := map[string]bool{}
	for id, p := range h.acked {
		if _, ended := h.outcomes[id]; ended || p.expires {
			owed[id] = true
		}
	}
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		missing := 0
		for id := range owed {
			if len(h.receiver.resolutions(id)) == 0 {
				missing++
			}
		}
		if missing == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("%d of %d pushes never arrived", missing, len(owed))
			break
		}
	}
	for id := range owed {
		got := h.receiver.resolutions(id)
		want := h.outcomes[id].resolutionID
		if len(got) > 1 || want != "" && !got[want] {
			h.twice = append(h.twice, fmt.Sprintf("%s: pushed as %v, told %q", id, got, want))
		}
		if h.acked[id].expires {
			h.checkOne(id)
		}
	}
}

func (h *harness) call(method, path, token string, body, into any) (int, error) {
	var reader io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		reader = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, h.url+path, reader)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := crashClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	if res.StatusCode >= 300 {
		return res.StatusCode, errors.New(string(answer))
	}
	if into == nil {
		return res.StatusCode, nil
	}
	return res.StatusCode, json.Unmarshal(answer, into)
}

var crashClient = &http.Client{Timeout: 10 * time.Second, Transport: crashTransport()}

func crashTransport() *http.Transport {
	t := client.Transport()
	t.MaxIdleConnsPerHost = writers
	return t
}

// receiver is where the hub pushes to; it outlives the hub and takes everything.
type receiver struct {
	address string

	mu  sync.Mutex
	got map[string]map[string]bool // message -> resolution ids
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{address: l.Addr().String(), got: map[string]map[string]bool{}}
	server := &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var push struct {
		InReplyTo    string `json:"in_reply_to"`
		ResolutionID string `json:"resolution_id"`
	}
	if json.NewDecoder(req.Body).Decode(&push) != nil || req.Header.Get("MA2H-Signature") == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.got[push.InReplyTo] == nil {
		r.got[push.InReplyTo] = map[string]bool{}
	}
	r.got[push.InReplyTo][push.ResolutionID] = true
}

func (r *receiver) resolutions(id string) map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got[id]
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got)
}

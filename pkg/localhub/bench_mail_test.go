//go:build bench

package localhub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// mailSenders is how many send at once.
const mailSenders = 16

// TestBench_MailAgainstTheFloorOfItsStore measures messages on their whole way, sent by 16 senders, drained 32 at a time and
// acknowledged, over 1, 16 and 64 lanes with a reader each, on the hub and on the floor: the same server and store with the
// reads and the very Commits of it, and no protocol work. The hub signs every entry.
func TestBench_MailAgainstTheFloorOfItsStore(t *testing.T) {
	floor, server := startBench(t, "mail-floor"), startBench(t, "mail-hub")
	fmt.Printf("%8s %16s %16s %8s\n", "lanes", "floor entries/s", "hub entries/s", "hub")
	const rounds = 3
	for _, lanes := range []int{1, 16, 64} {
		var ratios []float64
		var f, h loadResult
		for range rounds {
			f, h = mailLoad(t, floor, lanes), mailLoad(t, server, lanes)
			ratios = append(ratios, h.PerSecond/f.PerSecond)
		}
		slices.Sort(ratios)
		median := ratios[len(ratios)/2]
		fmt.Printf("%8d %16.0f %16.0f %7.0f%%\n", lanes, f.PerSecond, h.PerSecond, 100*median)
		if median < 0.5 {
			t.Errorf("over %d lanes the hub makes %.0f %% of the floor, want at least 50", lanes, 100*median)
		}
	}
}

// TestBench_OneSessionTakesWhatManyDo compares 64 senders to one session with 64 senders to a session each: what they have in
// common, the session, is only read by them.
func TestBench_OneSessionTakesWhatManyDo(t *testing.T) {
	server := startBench(t, "mail-hub")
	var ratios []float64
	var one, many loadResult
	for range 3 {
		output(t, server, &one, "mail-send", "BENCH_LANES=1")
		output(t, server, &many, "mail-send", "BENCH_LANES=64")
		ratios = append(ratios, one.PerSecond/many.PerSecond)
	}
	slices.Sort(ratios)
	fmt.Printf("64 senders: to one session %.0f entries/s, to 64 sessions %.0f, %.0f %%\n", one.PerSecond, many.PerSecond, 100*ratios[1])
	if ratios[1] < 0.8 {
		t.Errorf("one session takes %.0f %% of what 64 take, want at least 80", 100*ratios[1])
	}
}

func mailLoad(t *testing.T, s *benchServer, lanes int) loadResult {
	t.Helper()
	var r loadResult
	output(t, s, &r, "mail-load", "BENCH_LANES="+strconv.Itoa(lanes))
	return r
}

// lane is one that messages are sent to, and who reads it.
type lane struct{ Agent, Token, Session string }

// mailRole is what a client needs to know of who sends and reads.
type mailRole struct {
	Sender string // token
	Lanes  []lane
}

// benchMailHub serves a hub with 64 agents that have a session each, and one that writes to them.
func benchMailHub() {
	none, ctx := 0, context.Background()
	s, err := localhub.Open(ctx, localhub.Config{
		Folder: localhub.Folder(os.Getenv("BENCH_FOLDER")), Listen: "127.0.0.1:0", Owner: "owner", Rate: &none, Depth: &none,
	})
	die(err)
	s.Hub.Settings.PairPerMinute = 0
	die(s.Hub.SetInterAgent(ctx, s.Owner, true))
	sender, err := s.Hub.AddAgent(ctx, s.Owner, "bench")
	die(err)
	role := mailRole{Sender: sender.Token}
	for i := range 64 {
		role.Lanes = append(role.Lanes, benchLane(ctx, s.Hub, s.Owner, fmt.Sprintf("reader-%d", i)))
	}
	text, err := json.Marshal(role)
	die(err)
	serveBench(s, string(text))
}

// benchLane adds an agent and registers a session of it.
func benchLane(ctx context.Context, h *hub.Hub, owner *hub.Caller, id string) lane {
	made, err := h.AddAgent(ctx, owner, id)
	die(err)
	session, err := h.Register(ctx, benchCaller(h, owner, id), &ma2h.Register{})
	die(err)
	return lane{Agent: id, Token: made.Token, Session: session.Session.ID}
}

// benchCaller is an agent of the owner's account, taken as already authenticated.
func benchCaller(h *hub.Hub, owner *hub.Caller, id string) *hub.Caller {
	account := owner.Account.Ref
	return &hub.Caller{Account: owner.Account, Agent: &hub.Agent{Ref: h.AgentRef(account, id), ID: id, Account: account}}
}

// benchMail is the body of one message.
func benchMail(to lane) []byte {
	return fmt.Appendf(nil, `{"ma2h_version":"0.6","type":"notify","created_at":"2026-01-31T12:00:00Z",`+
		`"agent":{"id":"bench","run_id":"run_1","runtime":"cli"},"to":"agent:%s#%s","title":"Build 4127 is green",`+
		`"body":"All checks are green. The migration adds one column and takes no lock.","priority":"normal",`+
		`"idempotency_key":%q}`, to.Agent, to.Session, ma2h.NewTail())
}

// mailClient is the client process.
type mailClient struct {
	mailRole
	http  *http.Client
	lanes int
	acked atomic.Int64
}

func newMailClient(connections int) *mailClient {
	c := &mailClient{http: benchClient(connections)}
	die(json.Unmarshal([]byte(os.Getenv("BENCH_AGENT")), &c.mailRole))
	var err error
	c.lanes, err = strconv.Atoi(os.Getenv("BENCH_LANES"))
	die(err)
	return c
}

// send sends with so many senders for a while, to one lane after the other, and returns how many were sent.
func (c *mailClient) send(senders int, long time.Duration) int {
	var sent atomic.Int64
	var all sync.WaitGroup
	for i := range senders {
		all.Go(func() {
			for n, began := i, time.Now(); time.Since(began) < long; n++ {
				post(c.http, "/v1/messages", c.Sender, benchMail(c.Lanes[n%c.lanes]), http.StatusAccepted)
				sent.Add(1)
			}
		})
	}
	all.Wait()
	return int(sent.Load())
}

// read drains a lane and acknowledges what came, until there is an end to it.
func (c *mailClient) read(of lane, over func() bool) {
	for !over() {
		c.acked.Add(int64(len(c.drain(of, "0.2"))))
	}
}

// benchMailLoad has messages sent, drained and acknowledged, and prints how many a second went the whole way.
func benchMailLoad() {
	c := newMailClient(mailSenders + 64)
	var total atomic.Int64
	total.Store(-1)
	began := time.Now()
	var reading sync.WaitGroup
	for _, l := range c.Lanes[:c.lanes] {
		reading.Go(func() { c.read(l, func() bool { return c.acked.Load() == total.Load() }) })
	}
	total.Store(int64(c.send(mailSenders, 4*time.Second)))
	reading.Wait()
	die(json.NewEncoder(os.Stdout).Encode(loadResult{PerSecond: float64(total.Load()) / time.Since(began).Seconds()}))
}

// benchMailSend only sends, with 64 senders.
func benchMailSend() {
	const senders, long = 64, 4 * time.Second
	c := newMailClient(senders)
	die(json.NewEncoder(os.Stdout).Encode(loadResult{PerSecond: float64(c.send(senders, long)) / long.Seconds()}))
}

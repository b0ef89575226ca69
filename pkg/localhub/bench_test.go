//go:build bench

package localhub_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// The benchmark's processes are this test binary again, told by BENCH_ROLE which one to be: a client is never in the
// process that it measures.
func TestMain(m *testing.M) {
	switch os.Getenv("BENCH_ROLE") {
	case "hub":
		benchHub()
	case "floor":
		benchFloor()
	case "load":
		benchLoad()
	case "mail-hub":
		benchMailHub()
	case "mail-floor":
		benchMailFloor()
	case "mail-load":
		benchMailLoad()
	case "mail-send":
		benchMailSend()
	case "mail-fifty":
		benchMailFifty()
	case "mail-wake":
		benchMailWake()
	case "oracle-hub":
		benchOracleHub()
	case "oracle":
		benchOracle()
	case "mail-wait":
		benchMailWait()
	case "wake":
		benchWake()
	case "live":
		benchLive()
	default:
		os.Exit(m.Run())
	}
}

// TestBench_TheHubAgainstTheFloorOfItsStore measures submits at 1, 16 and 64 clients on the hub and on the floor: the
// same server and store with the one read and the very Commit of an ask, and no protocol work. Rounds alternate, so that
// a noisy machine disturbs both alike; ratios are of neighbours.
func TestBench_TheHubAgainstTheFloorOfItsStore(t *testing.T) {
	floor, hubServer := startBench(t, "floor"), startBench(t, "hub")
	const rounds = 3
	fmt.Printf("%8s %14s %14s %8s %22s %22s\n", "clients", "floor req/s", "hub req/s", "hub", "floor p50/p99 ms", "hub p50/p99 ms")
	for _, clients := range []int{1, 16, 64} {
		var ratios []float64
		var f, h loadResult
		for range rounds {
			f, h = load(t, floor, clients), load(t, hubServer, clients)
			ratios = append(ratios, h.PerSecond/f.PerSecond)
		}
		slices.Sort(ratios)
		median := ratios[len(ratios)/2]
		fmt.Printf("%8d %14.0f %14.0f %7.0f%% %15.2f / %4.1f %15.2f / %4.1f\n",
			clients, f.PerSecond, h.PerSecond, 100*median, f.P50, f.P99, h.P50, h.P99)
		if clients == 64 && median < 0.4 {
			t.Errorf("at 64 clients the hub makes %.0f %% of the floor, want at least 40", 100*median)
		}
	}
	fmt.Printf("server CPU a request: floor %.0f µs, hub %.0f µs\n", floor.cpuPerRequest(), hubServer.cpuPerRequest())
}

// TestBench_AnAnswerWakesItsAgent measures from the sending of an answer until the waiting pull has returned with it. That
// is two requests with a Commit each, one after the other: the answer's, and that of its delivery. So the limit is two
// requests of the floor, as it is on this machine at this hour, and the hub may take two and a half times as long.
func TestBench_AnAnswerWakesItsAgent(t *testing.T) {
	floor, server := startBench(t, "floor"), startBench(t, "hub")
	var w loadResult
	before := load(t, floor, 1)
	output(t, server, &w, "wake")
	limit := before.P50 + load(t, floor, 1).P50
	fmt.Printf("answer to waiting agent: p50 %.2f ms, p99 %.2f ms; two requests of the floor: %.2f ms\n", w.P50, w.P99, limit)
	if w.P50 >= 2.5*limit {
		t.Errorf("an answer reaches the waiting agent in %.2f ms at the median, want under 2.5 times the %.2f of the floor", w.P50, limit)
	}
	if w.P50 >= 5 {
		t.Errorf("an answer reaches the waiting agent in %.2f ms at the median, want under 5", w.P50)
	}
}

// benchServer is a server in a process of its own.
type benchServer struct {
	cmd                *exec.Cmd
	url, agent, person string
	requests           int
}

// startBench starts a server process and reads its address and tokens from its first line.
func startBench(t *testing.T, role string) *benchServer {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BENCH_ROLE="+role, "BENCH_FOLDER="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the %s did not start: %v", role, err)
	}
	fields := strings.Fields(line)
	return &benchServer{cmd: cmd, url: fields[0], agent: fields[1], person: fields[2]}
}

// cpuPerRequest is what the server process has used of the processor, in µs a request.
func (s *benchServer) cpuPerRequest() float64 {
	if s.requests == 0 {
		return 0
	}
	return float64(s.cpu().Microseconds()) / float64(s.requests)
}

// cpu is what the server process has used of the processor.
func (s *benchServer) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // a clock tick
}

type loadResult struct {
	PerSecond, P50, P99 float64
	Requests            int
}

func load(t *testing.T, s *benchServer, clients int) loadResult {
	t.Helper()
	var r loadResult
	output(t, s, &r, "load", "BENCH_CLIENTS="+strconv.Itoa(clients))
	s.requests += r.Requests
	return r
}

// output runs a client process and decodes what it prints.
func output(t *testing.T, s *benchServer, into any, role string, env ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "BENCH_ROLE="+role, "BENCH_URL="+s.url,
		"BENCH_AGENT="+s.agent, "BENCH_PERSON="+s.person), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", role, err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%s printed %q: %v", role, out, err)
	}
}

// benchHub serves a hub without limits and prints its address, an agent's token and the owner's.
func benchHub() {
	none := 0
	s, err := localhub.Open(context.Background(), localhub.Config{
		Folder: localhub.Folder(os.Getenv("BENCH_FOLDER")), Listen: "127.0.0.1:0", Owner: "owner",
		Rate: &none, Depth: &none, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	die(err)
	made, err := s.Hub.AddAgent(context.Background(), s.Owner, "bench")
	die(err)
	serveBench(s, made.Token)
}

// serveBench prints the hub's address, what a client needs of agents, and a token of the owner, and serves.
func serveBench(s *localhub.Server, agents string) {
	person, err := s.Hub.NewLogin(context.Background(), s.Owner, hub.LoginToken, 0)
	die(err)
	fmt.Println(s.URL, agents, person)
	tidy := make(chan os.Signal, 1)
	signal.Notify(tidy, syscall.SIGUSR1)
	go func() {
		for range tidy {
			debug.FreeOSMemory()
		}
	}()
	stop := profile()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	die(s.Run(ctx))
	stop()
}

// profile writes a CPU profile of the hub to the file that BENCH_PROFILE names, if it names one.
func profile() func() {
	name := os.Getenv("BENCH_PROFILE")
	if name == "" {
		return func() {}
	}
	f, err := os.Create(name)
	die(err)
	die(pprof.StartCPUProfile(f))
	return pprof.StopCPUProfile
}

// benchFloor serves what no hub on this store can be faster than.
func benchFloor() {
	store, err := sqlitestore.Open(os.Getenv("BENCH_FOLDER") + "/floor.db")
	die(err)
	agent := hub.AgentKey("floor")
	die(store.Commit(context.Background(), record.Put(record.Record{Key: agent, Kind: hub.KindAgent, Body: make([]byte, 400)}, "")))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	die(err)
	go func() {
		ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer cancel()
		<-ctx.Done()
		os.Exit(0)
	}()
	fmt.Println("http://"+listener.Addr().String(), "token", "token")
	die(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		die(err)
		tail := ma2h.NewTail()
		content := record.Key{Part: "m#" + tail, Sort: "content"}
		state := record.Key{Part: "m#" + tail, Sort: "state"}
		_, err = store.Get(r.Context(), agent, hub.AccountKey("floor"), state)
		die(err)
		now := time.Now()
		order := fmt.Sprintf("%019d", now.UnixMicro())
		die(store.Commit(r.Context(),
			record.Put(record.Record{Key: content, Kind: hub.KindContent, Body: body}, ""),
			record.Put(record.Record{
				Key: state, Kind: hub.KindState, Body: make([]byte, 600), Due: now.Add(time.Hour),
				Tags: [2]record.Tag{{Name: "open#floor", Order: order}, {Name: "open#agent", Order: order}},
			}, "")))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprintf(w, `{"id":"msg_%s","status":"open","poll_url":"http://127.0.0.1:7420/v1/messages/msg_%s"}`, tail, tail)
	})))
}

// benchAsk is the body of one ask.
func benchAsk(key string) []byte {
	return fmt.Appendf(nil, `{"ma2h_version":"0.6","type":"ask","created_at":"2026-01-31T12:00:00Z",`+
		`"agent":{"id":"bench","run_id":"run_1","runtime":"cli"},"title":"Ship build 4127 to production?",`+
		`"body":"All checks are green. The migration adds one column and takes no lock.","priority":"normal",`+
		`"state":{"sealed":"v1.9f2c8d4e6a7b5c3d1e0f"},"idempotency_key":%q,"expires_at":"2099-01-01T00:00:00Z",`+
		`"request":{"mode":"select","options":[{"value":"ship","label":"Ship it"},{"value":"hold","label":"Hold"}],`+
		`"default_on_expire":"hold","allowed_resolvers":["human:owner"]}}`, key)
}

// benchClient is an HTTP client that keeps as many connections as it has callers.
func benchClient(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}}
}

func post(c *http.Client, path, token string, body []byte, want int) []byte {
	req, err := http.NewRequest(http.MethodPost, os.Getenv("BENCH_URL")+path, bytes.NewReader(body))
	die(err)
	req.Header.Set("Authorization", "Bearer "+token)
	return do(c, req, want)
}

func do(c *http.Client, req *http.Request, want int) []byte {
	res, err := c.Do(req)
	die(err)
	answer, err := io.ReadAll(res.Body)
	die(err)
	die(res.Body.Close())
	if res.StatusCode != want {
		die(fmt.Errorf("%s %s: %s: %s", req.Method, req.URL, res.Status, answer))
	}
	return answer
}

// benchLoad submits asks with as many clients as told for a while, and prints how fast that went.
func benchLoad() {
	clients, err := strconv.Atoi(os.Getenv("BENCH_CLIENTS"))
	die(err)
	client, token := benchClient(clients), os.Getenv("BENCH_AGENT")
	const warmup, measured = time.Second, 4 * time.Second
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	var total atomic.Int64
	begin := time.Now()
	for range clients {
		wg.Go(func() {
			var mine []time.Duration
			for time.Since(begin) < warmup+measured {
				at := time.Now()
				post(client, "/v1/messages", token, benchAsk(ma2h.NewTail()), http.StatusAccepted)
				total.Add(1)
				if at.Sub(begin) >= warmup {
					mine = append(mine, time.Since(at))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	wg.Wait()
	r := summarise(all)
	r.PerSecond, r.Requests = float64(len(all))/measured.Seconds(), int(total.Load())
	die(json.NewEncoder(os.Stdout).Encode(r))
}

// benchWake answers asks one by one while their agent waits, and prints how long it took to hear.
func benchWake() {
	client, agent, person := benchClient(4), os.Getenv("BENCH_AGENT"), os.Getenv("BENCH_PERSON")
	var all []time.Duration
	for range 300 {
		var ack struct{ ID string }
		die(json.Unmarshal(post(client, "/v1/messages", agent, benchAsk(ma2h.NewTail()), http.StatusAccepted), &ack))
		heard := make(chan time.Time)
		go func() {
			req, err := http.NewRequest(http.MethodGet, os.Getenv("BENCH_URL")+"/v1/messages/"+ack.ID+"?wait=30", nil)
			die(err)
			req.Header.Set("Authorization", "Bearer "+agent)
			do(client, req, http.StatusOK)
			heard <- time.Now()
		}()
		time.Sleep(3 * time.Millisecond) // so that the agent waits already
		answered := time.Now()
		post(client, "/v1/messages/"+ack.ID+"/resolve", person, []byte(`{"resolution":"answered","value":"ship"}`), http.StatusOK)
		all = append(all, (<-heard).Sub(answered))
	}
	die(json.NewEncoder(os.Stdout).Encode(summarise(all)))
}

func summarise(all []time.Duration) loadResult {
	slices.Sort(all)
	ms := func(q float64) float64 { return float64(all[int(q*float64(len(all)-1))].Microseconds()) / 1000 }
	return loadResult{P50: ms(0.5), P99: ms(0.99)}
}

// die ends a helper process that cannot go on.
func die(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
}

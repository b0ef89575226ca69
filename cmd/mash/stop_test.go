package main

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slowReceiver takes callbacks, says so, and answers when it is let.
type slowReceiver struct {
	address string
	came    chan struct{}
	let     chan struct{}
}

func newSlowReceiver(t *testing.T) *slowReceiver {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &slowReceiver{address: l.Addr().String(), came: make(chan struct{}, 100), let: make(chan struct{})}
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		r.came <- struct{}{}
		select {
		case <-r.let:
		case <-req.Context().Done():
		}
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return r
}

// owed has an agent ask with a callback to the receiver, and the owner answer, and returns once the receiver has been called.
func (h *hubProcess) owed(r *slowReceiver, agent, token string) (id string) {
	h.t.Helper()
	ask := question(agent, "owed-0123456789012345678901234")
	ask["request"].(map[string]any)["callback"] = map[string]any{
		"mode": "push", "url": "http://" + r.address + "/cb",
		"auth": map[string]any{"scheme": "hmac", "secret_ref": "env:MASH_PUSH_SECRET"},
	}
	id = h.asked(token, ask)
	if status, err := h.call("POST", "/v1/messages/"+id+"/resolve", h.owner, map[string]any{"resolution": "answered", "value": "approve"}, nil); status != http.StatusOK {
		h.t.Fatalf("resolve: %d %v", status, err)
	}
	select {
	case <-r.came:
	case <-time.After(patience):
		h.t.Fatal("the callback never came")
	}
	return id
}

func (h *hubProcess) asked(token string, ask map[string]any) (id string) {
	h.t.Helper()
	var ack struct{ ID string }
	if status, err := h.call("POST", "/v1/messages", token, ask, &ack); status != http.StatusAccepted {
		h.t.Fatalf("submit: %d %v", status, err)
	}
	return ack.ID
}

// pulled is what a pull that waits came to.
type pulled struct {
	status int
	answer struct{ Status string }
	err    error
}

// waiting pulls in the background, and returns once the hub has the request.
func (h *hubProcess) waiting(id, token string) <-chan pulled {
	h.t.Helper()
	done := make(chan pulled, 1)
	go func() {
		var p pulled
		p.status, p.err = h.call("GET", "/v1/messages/"+id+"?wait=30", token, nil, &p.answer)
		done <- p
	}()
	h.until("mash_http_requests_in_flight 2") // the pull, and whoever asks
	return done
}

// until asks for the metrics until they say so.
func (h *hubProcess) until(says string) {
	h.t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(h.metrics(), says); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("the metrics never say %s", says)
		}
	}
}

func TestStop_LetsWhatIsUnderWayEnd(t *testing.T) {
	t.Parallel()
	r := newSlowReceiver(t)
	folder := filepath.Join(t.TempDir(), "data")
	h := startHub(t, folder, "--allow-callback", r.address, "--drain", "500ms")
	token, _ := h.newAgent("bot")
	open := h.asked(token, question("bot", "open-0123456789012345678901234"))
	pull := h.waiting(open, token)
	owed := h.owed(r, "bot", token)

	began := time.Now()
	h.signal(syscall.SIGTERM)
	var said struct{ Status, Reason string }
	for said.Reason == "" { // it serves on for a moment, and says that it will not
		if _, err := h.call("GET", "/readyz", "", nil, &said); err != nil {
			t.Fatalf("readyz: %v", err)
		}
	}
	if said.Reason != "stopping" || said.Status != "unready" {
		t.Errorf("readyz = %+v, want unready and stopping", said)
	}
	if status, err := h.call("GET", "/healthz", "", nil, nil); err != nil || status != http.StatusOK {
		t.Errorf("healthz = %d, %v: the process is well", status, err)
	}
	p := <-pull
	if p.err != nil || p.status != http.StatusOK || p.answer.Status != "open" {
		t.Errorf("the pull that waited = %d %+v, %v, want 200 and open", p.status, p.answer, p.err)
	}
	if _, err := net.DialTimeout("tcp", strings.TrimPrefix(h.url, "http://"), time.Second); err == nil {
		time.Sleep(100 * time.Millisecond) // the listener closes right after
		if _, err := net.DialTimeout("tcp", strings.TrimPrefix(h.url, "http://"), time.Second); err == nil {
			t.Error("it still takes connections")
		}
	}
	close(r.let)
	if state := h.end(); !state.Success() {
		t.Errorf("it ended with %v: %s", state, &h.stderr)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v to stop", took)
	}
	if h.stderr.Len() > 0 {
		t.Errorf("it complained: %s", &h.stderr)
	}
	again := startHub(t, folder)
	var got struct {
		Status   string
		Delivery struct{ State string }
	}
	if _, err := again.call("GET", "/v1/messages/"+owed, token, nil, &got); err != nil || got.Status != "answered" || got.Delivery.State != "delivered-to-agent" {
		t.Errorf("after a restart the message that was being pushed is %+v, %v, want delivered", got, err)
	}
	if n := len(r.came); n > 0 {
		t.Errorf("the receiver was called %d times more", n)
	}
	again.stop()
}

func TestStop_HasABoundAndWhatWasCutOffIsDoneAfterwards(t *testing.T) {
	t.Parallel()
	r := newSlowReceiver(t)
	folder := filepath.Join(t.TempDir(), "data")
	h := startHub(t, folder, "--allow-callback", r.address)
	token, _ := h.newAgent("bot")
	h.owed(r, "bot", token) // and never answers
	began := time.Now()
	h.signal(syscall.SIGINT)
	if state := h.end(); !state.Success() {
		t.Errorf("it ended with %v: %s", state, &h.stderr)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v to stop", took)
	}
	startHub(t, folder, "--allow-callback", r.address)
	select {
	case <-r.came:
	case <-time.After(patience):
		t.Error("what was cut off is not tried again")
	}
}

func TestStop_ASecondSignalForcesIt(t *testing.T) {
	t.Parallel()
	h := startHub(t, filepath.Join(t.TempDir(), "data"), "--drain", "1m")
	h.signal(syscall.SIGTERM)
	var said struct{ Reason string }
	for said.Reason == "" {
		if _, err := h.call("GET", "/readyz", "", nil, &said); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	h.signal(syscall.SIGTERM)
	state := h.end()
	if status, ok := state.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || time.Since(began) > 5*time.Second {
		t.Errorf("it ended after %v with %v, want it killed by the second signal", time.Since(began), state)
	}
}

func TestServe_AnAddressThatCannotBeHadIsSaidAndNoOtherTaken(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := t.TempDir()
	const foreign = "192.0.2.1:7421" // which is for documentation, so nobody's
	for _, c := range []struct {
		args      []string
		want, end string
	}{
		{[]string{"--listen", l.Addr().String()}, "Cannot listen on " + l.Addr().String(), "stop what holds it, or choose another with --listen."},
		{[]string{"--listen", "127.0.0.1:0", "--metrics", l.Addr().String()},
			"Cannot listen on " + l.Addr().String(), "stop what holds it, or choose another with --metrics."},
		{[]string{"--listen", "127.0.0.1:0", "--metrics", foreign},
			"Cannot listen on " + foreign, "this machine does not have that address; give one that it has to --metrics."},
	} {
		p := spawn(t, append([]string{"serve", "--data", filepath.Join(dir, "data")}, c.args...)...)
		state, said := p.end(), strings.TrimSpace(p.stderr.String())
		if state.ExitCode() != exitError || !strings.Contains(said, c.want) || !strings.HasSuffix(said, c.end) {
			t.Errorf("serve %q = %v: %s", c.args, state, &p.stderr)
		}
		if p.stdout.Len() > 0 {
			t.Errorf("serve %q says that it serves: %s", c.args, &p.stdout)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// house is a hub in this process whose agents asker and helper may write to each other.
type house struct {
	t             *testing.T
	url           string
	owner         *client.Client
	asker, helper *client.Client
}

func newHouse(t *testing.T, change ...func(*hub.Settings)) *house {
	t.Helper()
	folder := localhub.Folder(filepath.Join(t.TempDir(), "data"))
	s, err := localhub.Open(t.Context(), localhub.Config{Folder: folder, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(&s.Hub.Settings)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	token, err := folder.OwnerToken()
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, url: s.URL, owner: client.New(s.URL, token)}
	if err := h.owner.AllowMail(ctx); err != nil {
		t.Fatal(err)
	}
	h.asker, h.helper = h.agent("asker"), h.agent("helper")
	return h
}

func (h *house) agent(id string) *client.Client {
	h.t.Helper()
	made, err := h.owner.AddAgent(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return client.New(h.url, made.Token)
}

// session is a session of the asker.
func (h *house) session() *client.Mailbox {
	h.t.Helper()
	s, err := h.asker.Register(h.t.Context(), client.Registration{})
	if err != nil {
		h.t.Fatal(err)
	}
	return &client.Mailbox{Client: h.asker, Session: s.ID}
}

// ask is an ask for the helper under a session of the asker.
func (h *house) ask(b *client.Mailbox) string {
	h.t.Helper()
	sent, err := h.asker.Ask(h.t.Context(), ma2h.Message{
		Agent: ma2h.Agent{Session: b.Session}, To: "agent:helper", Title: "May I?", Request: &ma2h.Request{Mode: ma2h.ModeConfirm},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return sent.ID
}

// heard is what a listener said. It is safe for concurrent use.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
	told chan struct{} // gets a value at each writing, if there is room
}

func newHeard() *heard { return &heard{told: make(chan struct{}, 1)} }

// Write keeps what is written.
func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case h.told <- struct{}{}:
	default:
	}
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// says waits until a text was written so many times.
func (h *heard) says(t *testing.T, text string, times int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for strings.Count(h.String(), text) < times {
		select {
		case <-h.told:
		case <-ctx.Done():
			t.Fatalf("it says %q, want %q %d times", h, text, times)
		}
	}
}

// listens runs mash listen as an agent at a URL until the test or stop ends it, which returns its exit code.
func listens(t *testing.T, at, token string, args ...string) (stdout, stderr *heard, stop func() int) {
	t.Helper()
	env := map[string]string{"MASH_URL": at, "MASH_TOKEN": token}
	stdout, stderr = newHeard(), newHeard()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"mash", "listen"}, args...), nil, stdout, stderr, func(name string) string { return env[name] })
	}()
	stop = sync.OnceValue(func() int { cancel(); return <-code })
	t.Cleanup(func() { stop() })
	return stdout, stderr, stop
}

func TestListen_HandsOnAsksOfWhomItIsAllowed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	mine := h.session()
	id := h.ask(mine)
	stdout, stderr, stop := listens(t, h.url, h.helper.Token, "--once")
	stderr.says(t, "nobody allowed its asks. Start with --allow asker", 1)
	if code := stop(); code != exitOK || stdout.String() != "" {
		t.Errorf("listen = %d, %q, want it to print nothing", code, stdout)
	}
	for i, allow := range []string{"asker", "agent:asker", everyAgent} {
		again := h.ask(mine)
		stdout, _, stop := listens(t, h.url, h.helper.Token, "--allow", "somebody", "--allow", allow)
		stdout.says(t, `"kind":"message","id":"`+again+`"`, 1)
		stdout.says(t, `"from":"agent:asker#`+mine.Session+`"`, 1)
		if code := stop(); code != exitOK {
			t.Errorf("%d: listen = %d", i, code)
		}
		if read, err := h.asker.Pull(t.Context(), again); err != nil || read.Status != ma2h.StatusOpen {
			t.Errorf("Pull = %+v, %v, want an ask that is open", read, err)
		}
	}
	if read, err := h.asker.Pull(t.Context(), id); err != nil || read.Status != ma2h.StatusOpen {
		t.Errorf("what was left alone = %+v, %v, want it to wait for who may", read, err)
	}
}

func TestListen_HandsOnAnswersAndWhatIsTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	stdout, _, stop := listens(t, h.url, h.helper.Token)
	if _, err := h.asker.Notify(t.Context(), ma2h.Message{To: "agent:helper", Title: "It is done"}); err != nil {
		t.Fatal(err)
	}
	stdout.says(t, `"title":"It is done"`, 1)
	list, err := h.helper.Sessions(t.Context())
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].Kind != "listen" {
		t.Fatalf("Sessions = %+v, %v", list, err)
	}
	sent, err := h.helper.Ask(t.Context(), ma2h.Message{
		Agent: ma2h.Agent{Session: list.Sessions[0].ID}, Title: "?", Request: &ma2h.Request{Mode: ma2h.ModeConfirm},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.owner.Resolve(t.Context(), sent.ID, ma2h.Resolve{Resolution: ma2h.StatusDeclined}); err != nil {
		t.Fatal(err)
	}
	stdout.says(t, `"kind":"response"`, 1)
	if code := stop(); code != exitOK {
		t.Errorf("listen = %d", code)
	}
	if read, err := h.helper.Pull(t.Context(), sent.ID); err != nil || read.Delivery.State != ma2h.TrackAcknowledged {
		t.Errorf("Pull = %+v, %v, want an answer that is acknowledged", read, err)
	}
}

func TestListen_RegistersAgainAfterItsSessionEnded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	stdout, stderr, stop := listens(t, h.url, h.helper.Token)
	stderr.says(t, "listens under", 1)
	list, err := h.helper.Sessions(t.Context())
	if err != nil || len(list.Sessions) != 1 {
		t.Fatalf("Sessions = %+v, %v", list, err)
	}
	if _, err := h.helper.CloseSession(t.Context(), list.Sessions[0].ID); err != nil {
		t.Fatal(err)
	}
	stderr.says(t, "has ended; a new one begins.", 1)
	stderr.says(t, "listens under", 2)
	if _, err := h.owner.Direct(t.Context(), ma2h.Directive{To: "agent:helper", Title: "Go on"}); err != nil {
		t.Fatal(err)
	}
	stdout.says(t, `"title":"Go on"`, 1)
	if code := stop(); code != exitOK {
		t.Errorf("listen = %d", code)
	}
}

func TestListen_EndsWhenAPersonStopsIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, stderr, stop := listens(t, h.url, h.helper.Token)
	stderr.says(t, "listens under", 1)
	if err := h.owner.StopAgent(t.Context(), "helper", ""); err != nil {
		t.Fatal(err)
	}
	stderr.says(t, "mash: A person has stopped this agent", 1)
	if code := stop(); code != exitError {
		t.Errorf("listen = %d, want %d", code, exitError)
	}
}

// flaky is a proxy before a hub that answers 503 while it is down, and loses answers of acks.
type flaky struct {
	down     atomic.Bool
	loseAcks atomic.Int32
}

func (f *flaky) before(t *testing.T, hub string) string {
	t.Helper()
	target, err := url.Parse(hub)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.down.Load() || r.URL.Path == "/v1/inbox/ack" && f.loseAcks.Add(-1) >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestListen_LivesThroughAHubThatIsAway(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	f := &flaky{}
	f.down.Store(true)
	stdout, stderr, stop := listens(t, f.before(t, h.url), h.helper.Token)
	stderr.says(t, "It is tried again.", 1)
	f.loseAcks.Store(2)
	f.down.Store(false)
	stderr.says(t, "The hub answers again.", 1)
	sent, err := h.owner.Direct(t.Context(), ma2h.Directive{To: "agent:helper", Title: "Go on"})
	if err != nil {
		t.Fatal(err)
	}
	stdout.says(t, `"title":"Go on"`, 1)
	stderr.says(t, "The hub answers again.", 2) // after the acks that were lost
	if code := stop(); code != exitOK {
		t.Errorf("listen = %d", code)
	}
	if d, err := h.owner.ReadDirective(t.Context(), sent.ID); err != nil || d.Mailbox.State != ma2h.TrackAcknowledged {
		t.Errorf("ReadDirective = %+v, %v, want it acknowledged", d, err)
	}
	if n := strings.Count(stdout.String(), "Go on"); n != 1 {
		t.Errorf("it was printed %d times", n)
	}
}

// A hub that forgets each session at once is not asked for the next without a pause.
func TestListen_BeginsNoSessionRightAfterAnother(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	target, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	pass, begun := httputil.NewSingleHostReverseProxy(target), make(chan time.Time, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/inbox":
			w.WriteHeader(http.StatusGone)
			_, _ = w.Write([]byte(`{"error":{"code":"gone","message":"The session has ended."}}`))
			return
		case "/v1/sessions":
			begun <- time.Now()
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	_, _, stop := listens(t, server.URL, h.helper.Token)
	first := <-begun
	if second := <-begun; second.Sub(first) < leastLife-100*time.Millisecond {
		t.Errorf("a second session begins %s after the first", second.Sub(first))
	}
	stop()
}

func TestListen_ItsSessionLivesWhileACommandRuns(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(s *hub.Settings) { s.MinTTL = time.Second })
	done := filepath.Join(t.TempDir(), "done")
	_, stderr, stop := listens(t, h.url, h.helper.Token, "--ttl", "2s", "--exec", "while [ ! -e "+done+" ]; do sleep 0.05; done; echo ok")
	stderr.says(t, "listens under", 1)
	sent, err := h.owner.Direct(t.Context(), ma2h.Directive{To: "agent:helper", Title: "Take your time"})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for time.Since(began) < 3*time.Second { // longer than the lease
		time.Sleep(50 * time.Millisecond)
		list, err := h.helper.Sessions(t.Context())
		if err != nil || len(list.Sessions) != 1 || list.Sessions[0].State != ma2h.SessionActive {
			t.Fatalf("Sessions = %+v, %v, want one that lives", list, err)
		}
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		d, err := h.owner.ReadDirective(t.Context(), sent.ID)
		if err == nil && d.Mailbox.State == ma2h.TrackAcknowledged && d.Mailbox.Ack.Note == "ok" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("ReadDirective = %+v, %v, want it acknowledged", d, err)
		}
	}
	if code := stop(); code != exitOK || strings.Contains(stderr.String(), "has ended") {
		t.Errorf("listen = %d, %s", code, stderr)
	}
}

func TestListen_ACommandsFirstLineIsTheNote(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"": "", "one\ntwo\n": "one", "no end": "no end", "\n\n": "", "tab\tand \x1b[2J bell\n": "tab\tand \uFFFD[2J bell",
		strings.Repeat("ä", 900): strings.Repeat("ä", 500), "half \xff\n": "half",
	} {
		f := &firstLine{}
		for _, b := range []byte(written) {
			if n, err := f.Write([]byte{b}); n != 1 || err != nil {
				t.Fatalf("Write = %d, %v", n, err)
			}
		}
		if got := f.note(); got != want {
			t.Errorf("the note of %q = %q, want %q", written, got, want)
		}
	}
}

package realtime_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// receiver is the callbacks of all agents of these tests, on the one address that a deployed hub may push to. Each path
// answers by its own script, and by its last entry ever after.
type receiver struct {
	address string

	mu     sync.Mutex
	script map[string][]int        // by path; 0 breaks the connection
	hand   map[string]http.Handler // by path; instead of a script
	got    map[string][]*received
}

// received is one attempt as it came in.
type received struct {
	method string
	header http.Header
	body   []byte
	at     time.Time
}

// theReceiver listens as long as the process lives, since on a deployed hub a push may come after its test.
var theReceiver = sync.OnceValues(func() (*receiver, error) {
	address := "127.0.0.1:0"
	if os.Getenv(stackFile) != "" {
		s, err := readStack()
		if err != nil {
			return nil, err
		}
		address = s.Callback
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	r := &receiver{
		address: listener.Addr().String(), script: map[string][]int{}, hand: map[string]http.Handler{},
		got: map[string][]*received{},
	}
	go func() { _ = http.Serve(listener, r) }()
	return r, nil
})

func callbacks(t *testing.T) *receiver {
	t.Helper()
	r, err := theReceiver()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	path := req.URL.Path
	r.mu.Lock()
	r.got[path] = append(r.got[path], &received{req.Method, req.Header.Clone(), body, time.Now()})
	status := http.StatusOK
	if script := r.script[path]; len(script) > 0 {
		status = script[min(len(r.got[path]), len(script))-1]
	}
	by := r.hand[path]
	r.mu.Unlock()
	if by != nil {
		req.Body = io.NopCloser(bytes.NewReader(body))
		by.ServeHTTP(w, req)
		return
	}
	if status == 0 {
		panic(http.ErrAbortHandler) // the connection breaks without an answer
	}
	if status >= 300 && status < 400 {
		w.Header().Set("Location", "http://"+r.address+path+"/elsewhere")
	}
	w.WriteHeader(status)
}

// inbound is one path of the receiver, and what came there.
type inbound struct {
	*receiver
	path string
}

// callback makes a path that answers by a script; without one it takes everything.
func (s *server) callback(script ...int) *inbound {
	s.t.Helper()
	in := &inbound{receiver: callbacks(s.t), path: "/" + unique("cb")}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.script[in.path] = script
	return in
}

// handle lets a handler answer at the path.
func (in *inbound) handle(by http.Handler) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.hand[in.path] = by
}

func (in *inbound) url() string { return "http://" + in.address + in.path }

// pushed wants the Response of an ask pushed here.
func (in *inbound) pushed() edit {
	return set("/request/callback", doc{
		"mode": "push", "url": in.url(), "auth": doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef},
	})
}

// attempts returns what came so far.
func (in *inbound) attempts() []*received { return in.attemptsAt(in.path) }

func (r *receiver) attemptsAt(path string) []*received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*received{}, r.got[path]...)
}

// verified holds what came to its signatures, each with a nonce of its own over the same bytes, and returns the Response.
func (in *inbound) verified(t *testing.T, secret string) *ma2h.Response {
	t.Helper()
	verifier := &client.Verifier{Secrets: []string{secret}, URL: in.url()}
	var response *ma2h.Response
	attempts := in.attempts()
	for i, a := range attempts {
		same(t, "the body of an attempt", string(a.body), string(attempts[0].body))
		r, err := verifier.Verify(a.request())
		if err != nil {
			t.Errorf("attempt %d does not verify: %v", i+1, err)
		}
		response = r
	}
	if response == nil {
		t.Fatal("nothing was pushed")
	}
	return response
}

// request is what came, as a handler gets it.
func (r *received) request() *http.Request {
	return &http.Request{Method: r.method, Header: r.header, Body: io.NopCloser(bytes.NewReader(r.body))}
}

package hubtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

// Network is what a Pusher finds around it.
type Network struct {
	Allow    string        // HOST:PORT that it may call although it is special, and over plain HTTP; empty for none
	Resolver *net.Resolver // what names mean; nil for the system's
}

// Pusher holds a Pusher to its contract. Call it from a test that is not parallel and that no request precedes: it changes
// the environment, which net/http reads only once.
func Pusher(t *testing.T, newPusher func(t *testing.T, n Network) hub.Pusher) {
	p := pusherSuite{newPusher}
	t.Run("no proxy is used", p.noProxy) // first, see above
	for name, test := range map[string]func(*testing.T){
		"an attempt is one POST of the very bytes":                    p.onePost,
		"every status is reported, and only a 2xx is delivered":       p.statuses,
		"a redirect is an answer and not followed":                    p.redirects,
		"whoever does not answer fails in a way of their own":         p.silence,
		"a name that is not known fails by DNS":                       p.unknownName,
		"a special-purpose address is refused at once":                p.specialAddresses,
		"a name of a special-purpose address is guarded when dialled": p.specialNames,
		"a name that leads to this machine reaches nobody":            p.rebinding,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

type pusherSuite struct {
	newPusher func(*testing.T, Network) hub.Pusher
}

// receiver starts a receiver, and returns a Pusher that may call it and its URL.
func (s pusherSuite) receiver(t *testing.T, handler http.HandlerFunc) (hub.Pusher, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return s.newPusher(t, Network{Allow: server.Listener.Addr().String()}), server.URL
}

func (s pusherSuite) noProxy(t *testing.T) {
	var proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	// By name: whatever the environment says, net/http uses no proxy for 127.0.0.1.
	p := s.newPusher(t, Network{Allow: "callback.example:80", Resolver: ResolverTo("127.0.0.1")})
	push(t, p, "http://callback.example/")
	push(t, p, "https://callback.example/")
	if n := proxied.Load(); n > 0 {
		t.Errorf("%d attempts went through the proxy of the environment", n)
	}
}

func (s pusherSuite) onePost(t *testing.T) {
	body := `{"in_reply_to":"msg_1",  "x":1e21}`
	got := make(chan string, 10)
	p, url := s.receiver(t, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		h := r.Header
		got <- fmt.Sprintln(r.Method, r.URL, h["Ma2h-Signature"], h["Content-Type"], h["X-Api-Key"], string(b), err)
		w.WriteHeader(http.StatusNoContent)
	})
	result := p.Push(t.Context(), hub.Push{MessageID: "msg_1", Attempt: 1, URL: url + "/hook?a=b", Body: []byte(body),
		Headers: map[string]string{"MA2H-Signature": "t=1", "Content-Type": "application/json", "X-API-Key": "k"}})
	if want := (hub.PushResult{Status: 204}); result != want {
		t.Errorf("Push = %+v, want %+v", result, want)
	}
	close(got)
	want := "POST /hook?a=b [t=1] [application/json] [k] " + body + " <nil>\n"
	if first := <-got; first != want {
		t.Errorf("the receiver got %s, want %s", first, want)
	}
	for more := range got {
		t.Errorf("the receiver got another: %s", more)
	}
}

func (s pusherSuite) statuses(t *testing.T) {
	var status atomic.Int32
	p, url := s.receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if status.Load() >= 400 {
			w.Header().Set("Retry-After", "7")
		}
		w.WriteHeader(int(status.Load()))
	})
	for _, want := range []int{200, 201, 202, 204, 299, 300, 304, 400, 401, 404, 409, 410, 429, 500, 501, 502, 503, 504, 599} {
		status.Store(int32(want))
		got := push(t, p, url)
		if got.Status != want || got.Failure != "" || got.Delivered() != (want < 300) {
			t.Errorf("Push answered %d = %+v, delivered: %t", want, got, got.Delivered())
		}
		if asked := got.RetryAfter; want >= 400 && asked != 7*time.Second || want < 400 && asked != 0 {
			t.Errorf("Push answered %d: asked to wait for %v", want, asked)
		}
	}
}

func (s pusherSuite) redirects(t *testing.T) {
	var followed atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{elsewhere.URL, "/again"} { // to where it may not go, and to where it may
			var calls atomic.Int32
			p, url := s.receiver(t, func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				http.Redirect(w, r, to, status)
			})
			got := push(t, p, url)
			if got.Status != status || got.Delivered() || calls.Load() != 1 || followed.Load() > 0 {
				t.Errorf("Push redirected by %d to %s = %+v after %d calls, want that status after 1", status, to, got, calls.Load())
			}
		}
	}
}

// silence is about whom no answer comes from, and why.
func (s pusherSuite) silence(t *testing.T) {
	var calls atomic.Int32
	p, url := s.receiver(t, func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		panic(http.ErrAbortHandler) // which cuts the connection
	})
	if got, want := push(t, p, url), (hub.PushResult{Failure: hub.FailureReset}); got != want || calls.Load() != 1 {
		t.Errorf("Push cut off = %+v after %d calls, want %+v after 1", got, calls.Load(), want)
	}
	p, url = s.receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is a gone client noticed
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, want := p.Push(ctx, hub.Push{URL: url}), (hub.PushResult{Failure: hub.FailureTimeout}); got != want {
		t.Errorf("Push until the context ended = %+v, want %+v", got, want)
	}
	nobody := httptest.NewServer(nil)
	nobody.Close()
	p = s.newPusher(t, Network{Allow: nobody.Listener.Addr().String()})
	if got, want := push(t, p, nobody.URL), (hub.PushResult{Failure: hub.FailureConnect}); got != want {
		t.Errorf("Push to nobody = %+v, want %+v", got, want)
	}
}

func (s pusherSuite) unknownName(t *testing.T) {
	p := s.newPusher(t, Network{Resolver: ResolverTo()})
	if got, want := push(t, p, "https://callback.example/"), (hub.PushResult{Failure: hub.FailureDNS}); got != want {
		t.Errorf("Push = %+v, want %+v", got, want)
	}
}

func (s pusherSuite) specialAddresses(t *testing.T) {
	p := s.newPusher(t, Network{})
	for _, addr := range special() {
		if err := p.Check(urlTo(addr)); err == nil || !strings.HasSuffix(err.Error(), ".") {
			t.Errorf("Check(%s) = %v, want a sentence", urlTo(addr), err)
		}
		if got, want := push(t, p, urlTo(addr)), (hub.PushResult{Failure: hub.FailureRefused}); got != want || got.Retryable() {
			t.Errorf("Push(%s) = %+v, retryable: %t, want %+v for good", urlTo(addr), got, got.Retryable(), want)
		}
	}
	for _, addr := range public() {
		if err := p.Check(urlTo(addr)); err != nil {
			t.Errorf("Check(%s) = %v, want nil", urlTo(addr), err)
		}
	}
}

// specialNames also holds that such a push may be made again: the next look at DNS may find something else.
func (s pusherSuite) specialNames(t *testing.T) {
	for _, addr := range special() {
		if addr == mapped {
			continue
		}
		p := s.newPusher(t, Network{Resolver: ResolverTo(addr)})
		if err := p.Check("https://callback.example/"); err != nil {
			t.Errorf("Check of a name = %v, want nil", err)
		}
		got := push(t, p, "https://callback.example/")
		if want := (hub.PushResult{Failure: hub.FailureGuarded}); got != want || !got.Retryable() {
			t.Errorf("Push to a name of %s = %+v, retryable: %t, want %+v for now", addr, got, got.Retryable(), want)
		}
	}
}

func (s pusherSuite) rebinding(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan struct{})
	go func() {
		defer close(called)
		if conn, err := listener.Accept(); err == nil {
			t.Error("somebody on this machine was called")
			conn.Close() //nolint:errcheck // the test has failed
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	p := s.newPusher(t, Network{Resolver: ResolverTo("127.0.0.1", "::1")})
	if got := push(t, p, "https://callback.example:"+port+"/"); got.Failure != hub.FailureGuarded {
		t.Errorf("Push = %+v, want %s", got, hub.FailureGuarded)
	}
	listener.Close() //nolint:errcheck // it ends Accept
	<-called
}

// push makes an attempt that has patience and no more.
func push(t *testing.T, p hub.Pusher, url string) hub.PushResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return p.Push(ctx, hub.Push{MessageID: "msg_1", Attempt: 1, URL: url, Body: []byte("{}")})
}

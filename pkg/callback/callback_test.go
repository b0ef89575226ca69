package callback_test

import (
	"context"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/hub"
)

// allowing returns a Pusher that may call the server, and the server's URL.
func allowing(t *testing.T, handler http.HandlerFunc) (*callback.Pusher, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return newPusher(t, callback.Config{Allow: []string{hostOf(t, server.URL)}}), server.URL
}

func newPusher(t *testing.T, c callback.Config) *callback.Pusher {
	t.Helper()
	p, err := callback.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hostOf(t *testing.T, rawURL string) string {
	t.Helper()
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

func push(t *testing.T, p *callback.Pusher, url string) hub.PushResult {
	t.Helper()
	return p.Push(t.Context(), hub.Push{URL: url, Body: []byte("{}")})
}

func TestAnAttemptIsOnePostOfTheVeryBytes(t *testing.T) {
	t.Parallel()
	body := []byte(`{"in_reply_to":"msg_1",  "x":1e21}`)
	var calls atomic.Int32
	p, url := allowing(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		got, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || string(got) != string(body) || r.URL.Path != "/hook" {
			t.Errorf("got %s %s %s, want POST /hook %s", r.Method, r.URL, got, body)
		}
		if h := r.Header; h.Get("MA2H-Signature") != "t=1" || h.Get("Content-Type") != "application/json" {
			t.Errorf("headers = %v", h)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	got := p.Push(t.Context(), hub.Push{URL: url + "/hook", Body: body,
		Headers: map[string]string{"MA2H-Signature": "t=1", "Content-Type": "application/json"}})
	if diff := cmp.Diff(hub.PushResult{Status: 204}, got); diff != "" || calls.Load() != 1 {
		t.Errorf("Push after %d calls (-want +got):\n%s", calls.Load(), diff)
	}
}

func TestB79_ARedirectIsAnAnswerAndNotFollowed(t *testing.T) {
	t.Parallel()
	var followed atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		p, url := allowing(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, status)
		})
		got := push(t, p, url)
		if got.Status != status || got.Retryable() || got.Delivered() || followed.Load() {
			t.Errorf("Push to a redirect = %+v, followed: %t, want status %d and no more", got, followed.Load(), status)
		}
	}
}

func TestTheStatusIsReportedWithRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"":                              0,
		"7":                             7 * time.Second,
		"soon":                          0,
		"Sun, 01 Mar 2026 10:01:30 GMT": 90 * time.Second,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(http.StatusServiceUnavailable)
		}))
		p := newPusher(t, callback.Config{Allow: []string{hostOf(t, server.URL)}, Now: func() time.Time { return now }})
		if diff := cmp.Diff(hub.PushResult{Status: 503, RetryAfter: want}, push(t, p, server.URL)); diff != "" {
			t.Errorf("Retry-After %q (-want +got):\n%s", header, diff)
		}
		server.Close()
	}
}

func TestASlowReceiverIsANetworkFailure(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is a gone client noticed
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	p := newPusher(t, callback.Config{Allow: []string{hostOf(t, server.URL)}, Timeout: 30 * time.Millisecond})
	if got := push(t, p, server.URL); got != (hub.PushResult{Failure: hub.FailureNetwork}) {
		t.Errorf("Push = %+v, want %s", got, hub.FailureNetwork)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := p.Push(ctx, hub.Push{URL: server.URL}); got != (hub.PushResult{Failure: hub.FailureNetwork}) {
		t.Errorf("Push under a context that has ended = %+v, want %s", got, hub.FailureNetwork)
	}
}

func TestAHugeAnswerIsDropped(t *testing.T) {
	t.Parallel()
	written := make(chan int, 1)
	p, url := allowing(t, func(w http.ResponseWriter, r *http.Request) {
		n, chunk := 0, make([]byte, 64<<10)
		for r.Context().Err() == nil && n < 1<<30 {
			m, err := w.Write(chunk)
			if n += m; err != nil {
				break
			}
		}
		written <- n
	})
	if got := push(t, p, url); got != (hub.PushResult{Status: 200}) {
		t.Errorf("Push = %+v, want 200", got)
	}
	if n := <-written; n >= 1<<30 {
		t.Errorf("the receiver could send %d bytes", n)
	}
}

func TestAHugeHeaderIsANetworkFailure(t *testing.T) {
	t.Parallel()
	p, url := allowing(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", 100<<10))
	})
	if got := push(t, p, url); got.Failure != hub.FailureNetwork {
		t.Errorf("Push = %+v, want %s", got, hub.FailureNetwork)
	}
}

func TestAResetOrAbsentReceiverIsANetworkFailure(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	p, url := allowing(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.Close()
	})
	if got := push(t, p, url); got != (hub.PushResult{Failure: hub.FailureNetwork}) || calls.Load() != 1 {
		t.Errorf("Push = %+v after %d calls, want %s after 1", got, calls.Load(), hub.FailureNetwork)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	listener.Close()
	p = newPusher(t, callback.Config{Allow: []string{addr}})
	if got := push(t, p, "http://"+addr); got != (hub.PushResult{Failure: hub.FailureNetwork}) {
		t.Errorf("Push to nobody = %+v, want %s", got, hub.FailureNetwork)
	}
}

// TestNoProxyIsUsed is not parallel, for it changes the environment.
func TestNoProxyIsUsed(t *testing.T) {
	var proxied atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Store(true) }))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	p := newPusher(t, callback.Config{Allow: []string{"callback.example:80"}, Resolver: resolverTo(t, "127.0.0.1"), Timeout: time.Second})
	push(t, p, "http://callback.example/")
	push(t, p, "https://callback.example/")
	if proxied.Load() {
		t.Error("a push went through the proxy of the environment")
	}
}

func TestAHeaderThatWouldBecomeTwoIsRefused(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	p, url := allowing(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	for name, value := range map[string]string{
		"X-API-Key":     "a\r\nX-Other: b",
		"Authorization": "Bearer a\nb",
		"X-Nul":         "a\x00b",
		"X-Del":         "a\x7f",
		"X Y":           "a",
		"X:Y":           "a",
		"X\r\nY":        "a",
		"":              "a",
	} {
		got := p.Push(t.Context(), hub.Push{URL: url, Headers: map[string]string{name: value}})
		if got != (hub.PushResult{Failure: hub.FailureRefused}) {
			t.Errorf("Push with %q: %q = %+v, want %s", name, value, got, hub.FailureRefused)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("%d calls were made", n)
	}
}

func TestHTTPSIsVerified(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // a failed handshake is what one case wants
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	host := hostOf(t, server.URL)
	for roots, want := range map[*x509.CertPool]hub.PushResult{
		roots: {Status: 200},
		nil:   {Failure: hub.FailureNetwork},
	} {
		p := newPusher(t, callback.Config{Allow: []string{host}, RootCAs: roots})
		if got := push(t, p, server.URL); got != want {
			t.Errorf("Push with roots %v = %+v, want %+v", roots != nil, got, want)
		}
	}
}

func TestTheAllowedAreAllowedLiterally(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(hostOf(t, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	p := newPusher(t, callback.Config{Allow: []string{"127.0.0.1:" + port, "LocalHost:" + port}})
	for url, want := range map[string]hub.PushResult{
		"http://127.0.0.1:" + port + "/a?b":     {Status: 200},
		"http://localhost:" + port:              {Status: 200},
		"HTTP://LOCALHOST:" + port:              {Status: 200},
		"http://127.0.0.1.:" + port:             {Failure: hub.FailureRefused},
		"http://127.0.0.2:" + port:              {Failure: hub.FailureRefused},
		"http://[::ffff:127.0.0.1]:" + port:     {Failure: hub.FailureRefused},
		"http://[::1]:" + port:                  {Failure: hub.FailureRefused},
		"http://127.1:" + port:                  {Failure: hub.FailureRefused},
		"http://127.0.0.1:0" + port:             {Failure: hub.FailureRefused},
		"http://127.0.0.1:" + strconv.Itoa(n+1): {Failure: hub.FailureRefused},
		"http://127.0.0.1":                      {Failure: hub.FailureRefused},
		"http://a@127.0.0.1:" + port:            {Failure: hub.FailureRefused},
		"ftp://127.0.0.1:" + port:               {Failure: hub.FailureRefused},
	} {
		if got := push(t, p, url); got != want {
			t.Errorf("Push to %s = %+v, want %+v", url, got, want)
		}
	}
	for _, entry := range []string{"", "localhost", "http://localhost:1", ":80", "localhost:", "localhost:x", "localhost:0", "localhost:99999"} {
		if _, err := callback.New(callback.Config{Allow: []string{entry}}); err == nil {
			t.Errorf("New allowing %q succeeded, want an error", entry)
		}
	}
}

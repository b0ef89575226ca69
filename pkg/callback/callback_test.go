package callback_test

import (
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

func TestRetryAfterIsReadByTheClock(t *testing.T) {
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

func TestASlowReceiverIsATimeout(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is a gone client noticed
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	p := newPusher(t, callback.Config{Allow: []string{hostOf(t, server.URL)}, Timeout: 30 * time.Millisecond})
	if got := push(t, p, server.URL); got != (hub.PushResult{Failure: hub.FailureTimeout}) {
		t.Errorf("Push = %+v, want %s", got, hub.FailureTimeout)
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

func TestAHugeHeaderIsTooLong(t *testing.T) {
	t.Parallel()
	p, url := allowing(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", 100<<10))
	})
	if got := push(t, p, url); got.Failure != hub.FailureTooLong {
		t.Errorf("Push = %+v, want %s", got, hub.FailureTooLong)
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
		nil:   {Failure: hub.FailureTLS},
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

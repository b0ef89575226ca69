// Package callback delivers Responses to agents' callbacks over HTTPS, and only to where a hub may go: it follows no
// redirect, uses no proxy, and checks each address as it is dialled, so that no name can lead it into a private network
// (spec §8.3, §9.4). By the same way it looks whether a host is an agent's own.
package callback

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// The limits of an attempt.
const (
	DefaultTimeout = 10 * time.Second // of a whole attempt
	dialTimeout    = 5 * time.Second  // of all addresses of a name together
	tlsTimeout     = 5 * time.Second
	idleTimeout    = 30 * time.Second // how long a connection, and with it the address it was made to, is kept
	drainTimeout   = time.Second      // how long the body of an answer is read, for the connection's sake
	maxAnswer      = 64 << 10         // bytes of an answer's body that are read before it is dropped
	maxHeader      = 16 << 10         // bytes of an answer's header
	maxConnections = 16               // to one host at once
)

// Config is what a Pusher may be told. Its zero value is right for production.
type Config struct {
	// Allow lists destinations, each exactly HOST:PORT as the URL has it, to which plain HTTP and special-purpose
	// addresses are allowed: for development, or for a receiver beside the hub.
	Allow []string

	RootCAs  *x509.CertPool   // nil means the system's
	Resolver *net.Resolver    // nil means the system's
	Timeout  time.Duration    // of a whole attempt; zero means DefaultTimeout
	Now      func() time.Time // nil means time.Now
}

// Pusher implements hub.Pusher and hub.Prover. Make one with New. It is safe for concurrent use and keeps connections
// between attempts.
type Pusher struct {
	allow    map[string]bool
	rules    []urlRule
	guard    *dialer
	guarded  *http.Client // over guard
	open     *http.Client // for what is allowed by name
	resolver *net.Resolver
	now      func() time.Time
}

var (
	_ hub.Pusher = (*Pusher)(nil)
	_ hub.Prover = (*Pusher)(nil)
)

// New returns a Pusher. The error names an entry of Allow that is not HOST:PORT.
func New(c Config) (*Pusher, error) {
	p := &Pusher{allow: map[string]bool{}, rules: urlRules(), resolver: c.Resolver, now: c.Now}
	for _, entry := range c.Allow {
		host, port, err := net.SplitHostPort(entry)
		if err != nil || host == "" || !isPort(port) {
			return nil, fmt.Errorf("allow callback to %q: write HOST:PORT", entry)
		}
		p.allow[destination(host, port)] = true
	}
	if p.now == nil {
		p.now = time.Now
	}
	if p.resolver == nil {
		p.resolver = net.DefaultResolver
	}
	connect := (&net.Dialer{}).DialContext
	p.guard = &dialer{resolver: p.resolver, rules: addressRules(), connect: connect}
	p.guarded = newClient(c, p.guard)
	p.open = newClient(c, &dialer{resolver: p.resolver, connect: connect})
	return p, nil
}

func newClient(c Config, d *dialer) *http.Client {
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	return &http.Client{
		Timeout: timeout,
		// A redirect is an answer like any other: nobody has checked where it leads.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  nil, // and none from the environment either
			DialContext:            d.dial,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.RootCAs},
			TLSHandshakeTimeout:    tlsTimeout,
			IdleConnTimeout:        idleTimeout,
			MaxIdleConns:           100,
			MaxIdleConnsPerHost:    2,
			MaxConnsPerHost:        maxConnections,
			MaxResponseHeaderBytes: maxHeader,
			DisableCompression:     true,
			ForceAttemptHTTP2:      true,
		},
	}
}

// Push makes one attempt: one POST. Whatever answers, a redirect included, is reported by its status, even where the rest
// of the answer does not come; hub.FailureRefused says that the URL or a header is not allowed, hub.FailureGuarded that
// the name led to an address that is not, and the other failures what went wrong on the way.
func (p *Pusher) Push(ctx context.Context, push hub.Push) hub.PushResult {
	client, err := p.clientFor(push.URL)
	if err != nil {
		return hub.PushResult{Failure: hub.FailureRefused}
	}
	req, err := newRequest(ctx, push)
	if err != nil {
		return hub.PushResult{Failure: hub.FailureRefused}
	}
	resp, err := client.Do(req)
	if err != nil {
		return hub.PushResult{Failure: failureOf(err)}
	}
	defer resp.Body.Close()
	drain(resp.Body)
	return hub.PushResult{Status: resp.StatusCode, RetryAfter: ma2h.RetryAfter(resp.Header.Get("Retry-After"), p.now())}
}

// drain reads a short body, so that its connection can serve again, and drops any other: the status has said it all.
func drain(body io.ReadCloser) {
	enough := time.AfterFunc(drainTimeout, func() { _ = body.Close() })
	defer enough.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, maxAnswer))
}

func newRequest(ctx context.Context, push hub.Push) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, push.URL, bytes.NewReader(push.Body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "mash")
	for name, value := range push.Headers {
		if !isHeader(name, value) {
			return nil, errors.New("a header that would not stay one")
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

func destination(host, port string) string { return net.JoinHostPort(strings.ToLower(host), port) }

// isHeader says whether a header stays one: its name is letters, digits and hyphens, and nothing in its value ends the line.
func isHeader(name, value string) bool {
	for i := range len(name) {
		if c := name[i]; !isHostByte(c) || c == '.' {
			return false
		}
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return name != ""
}

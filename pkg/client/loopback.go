package client

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// Transport returns a fresh copy of http.DefaultTransport that reaches this machine under every name that is localhost or
// ends in .localhost, whatever the system's resolver says (RFC 6761 §6.3), and never by a proxy. So it finds a hub that an
// emulated cloud serves at http://<id>.execute-api.localhost:4566. Where Client.HTTP is nil, calls to such names go by it,
// and all others by http.DefaultClient.
func Transport() *http.Transport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment}
	if usual, ok := http.DefaultTransport.(*http.Transport); ok { // else a program has put something of its own there
		t = usual.Clone()
	}
	t.Proxy = proxyUnlessLocal(t.Proxy)
	if t.DialContext == nil {
		t.DialContext = (&net.Dialer{}).DialContext
	}
	t.DialContext = dialLoopback(t.DialContext)
	return t
}

// localHTTP is what calls to this machine go by. It is one for all, so that connections are kept.
var localHTTP = sync.OnceValue(func() *http.Client { return &http.Client{Transport: Transport()} })

// httpFor returns what a call to a host goes by.
func (c *Client) httpFor(host string) *http.Client {
	switch {
	case c.HTTP != nil:
		return c.HTTP
	case isLocalhost(host):
		return localHTTP()
	}
	return http.DefaultClient
}

func proxyUnlessLocal(usual func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		if usual == nil || isLocalhost(r.URL.Hostname()) {
			return nil, nil
		}
		return usual(r)
	}
}

type dial func(ctx context.Context, network, address string) (net.Conn, error)

// dialLoopback dials IPv4 loopback and then IPv6 for names of this machine, and leaves the rest to next.
func dialLoopback(next dial) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil || !isLocalhost(host) {
			return next(ctx, network, address)
		}
		conn, err := next(ctx, network, net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			return conn, nil
		}
		if six, err := next(ctx, network, net.JoinHostPort("::1", port)); err == nil {
			return six, nil
		}
		return nil, err
	}
}

func isLocalhost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

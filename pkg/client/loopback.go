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
// emulated cloud serves at http://<id>.execute-api.localhost:4566. Calls use it where Client.HTTP is nil.
func Transport() *http.Transport {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // a program has put something of its own there
		return &http.Transport{Proxy: proxyOf, DialContext: dialLoopback((&net.Dialer{}).DialContext)}
	}
	t = t.Clone()
	t.Proxy = proxyOf
	t.DialContext = dialLoopback(t.DialContext)
	return t
}

// defaultHTTP is what calls go by unless a Client says otherwise. It is one for all, so that connections are kept.
var defaultHTTP = sync.OnceValue(func() *http.Client { return &http.Client{Transport: Transport()} })

func proxyOf(r *http.Request) (*url.URL, error) {
	if isLocalhost(r.URL.Hostname()) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
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

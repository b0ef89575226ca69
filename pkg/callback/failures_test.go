package callback_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/callback"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/hub/hubtest"
)

// raw is a receiver that speaks by hand, once a connection, after it has read the request.
func raw(t *testing.T, config *tls.Config, speak func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	ctx := t.Context()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				context.AfterFunc(ctx, func() { _ = conn.Close() })
				spoken := conn
				if config != nil {
					spoken = tls.Server(conn, config)
				}
				request, err := http.ReadRequest(bufio.NewReader(spoken))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, request.Body)
				speak(spoken)
			}()
		}
	}()
	return listener.Addr().String()
}

// answers answers with a text and ends the connection.
func answers(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

// holds answers with a text and then says nothing more, but keeps the connection.
func holds(text string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, text)
		_, _ = io.Copy(io.Discard, c)
	}
}

// resets breaks the connection in the rudest way.
func resets(text string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, text)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
}

// floods writes the same again and again until nobody takes it.
func floods(begin, text string) func(net.Conn) {
	return func(c net.Conn) {
		_, err := io.WriteString(c, begin)
		for err == nil {
			_, err = io.WriteString(c, text)
		}
	}
}

// TestB78_EveryWayToFailHasItsCode: an answer counts by its status as soon as that is here, whatever becomes of the rest.
func TestB78_EveryWayToFailHasItsCode(t *testing.T) {
	t.Parallel()
	failed := func(f hub.Failure) hub.PushResult { return hub.PushResult{Failure: f} }
	status := func(n int) hub.PushResult { return hub.PushResult{Status: n} }
	for what, c := range map[string]struct {
		speak func(net.Conn)
		want  hub.PushResult
		again bool
	}{
		"says nothing":              {holds(""), failed(hub.FailureTimeout), true},
		"begins a header":           {holds("HTTP/1.1 200 OK\r\nA: "), failed(hub.FailureTimeout), true},
		"hangs up":                  {answers(""), failed(hub.FailureReset), true},
		"resets":                    {resets(""), failed(hub.FailureReset), true},
		"hangs up amid the header":  {answers("HTTP/1.1 200 OK\r\nContent-Le"), failed(hub.FailureMalformed), true},
		"resets amid the header":    {resets("HTTP/1.1 2"), failed(hub.FailureMalformed), true},
		"a header of no end":        {floods("HTTP/1.1 200 OK\r\n", "X-Y: "+strings.Repeat("z", 1000)+"\r\n"), failed(hub.FailureTooLong), true},
		"no HTTP":                   {answers("220 mail.example ESMTP\r\n"), failed(hub.FailureMalformed), true},
		"a status that is none":     {answers("HTTP/1.1 2oo OK\r\n\r\n"), failed(hub.FailureMalformed), true},
		"a slow body":               {holds("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), status(200), false},
		"half a body":               {answers("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), status(200), false},
		"a body of no end":          {floods("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 1<<16)), status(200), false},
		"a body of no end at a 503": {floods("HTTP/1.1 503 No\r\n\r\n", strings.Repeat("x", 1<<16)), status(503), true},
		"a redirect":                {answers("HTTP/1.1 307 There\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"), status(307), false},
		"404":                       {answers("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), status(404), false},
		"429": {answers("HTTP/1.1 429 No\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"),
			hub.PushResult{Status: 429, RetryAfter: 7 * time.Second}, false},
		"503 for a time": {answers("HTTP/1.1 503 No\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"),
			hub.PushResult{Status: 503, RetryAfter: 7 * time.Second}, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			host := raw(t, nil, c.speak)
			p := newPusher(t, callback.Config{Allow: []string{host}, Timeout: 2 * time.Second})
			got := push(t, p, "http://"+host+"/")
			if got != c.want || got.Retryable() != c.again {
				t.Errorf("Push = %+v, retryable: %t, want %+v, %t", got, got.Retryable(), c.want, c.again)
			}
		})
	}
}

// TestB78_ASlowBodyHoldsNobodyUp: what is delivered is delivered, and its worker goes on.
func TestB78_ASlowBodyHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	host := raw(t, nil, holds("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))
	p := newPusher(t, callback.Config{Allow: []string{host}, Timeout: time.Hour})
	if got := push(t, p, "http://"+host+"/"); got != (hub.PushResult{Status: 200}) {
		t.Errorf("Push = %+v, want 200", got)
	}
}

func TestB78_CertificatesThatAreNotGood(t *testing.T) {
	t.Parallel()
	a, later, before := theAuthority(), time.Now().Add(time.Hour), time.Now().Add(-time.Minute)
	for what, c := range map[string]struct {
		config *tls.Config
		want   hub.PushResult
	}{
		"good":              {&tls.Config{Certificates: []tls.Certificate{a.issue(t, later, "callback.example")}}, hub.PushResult{Status: 200}},
		"of another name":   {&tls.Config{Certificates: []tls.Certificate{a.issue(t, later, "other.example")}}, hub.PushResult{Failure: hub.FailureTLS}},
		"expired":           {&tls.Config{Certificates: []tls.Certificate{a.issue(t, before, "callback.example")}}, hub.PushResult{Failure: hub.FailureTLS}},
		"no TLS that we do": {&tls.Config{Certificates: []tls.Certificate{a.issue(t, later, "callback.example")}, MaxVersion: tls.VersionTLS11}, hub.PushResult{Failure: hub.FailureTLS}},
		"no TLS at all":     {nil, hub.PushResult{Failure: hub.FailureReset}},
	} {
		host := raw(t, c.config, answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
		p := newPusher(t, callback.Config{Resolver: hubtest.ResolverTo(public), RootCAs: a.pool})
		p.Below(func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, host)
		})
		if got := push(t, p, honestURL); got != c.want {
			t.Errorf("Push to a receiver whose certificate is %s = %+v, want %+v", what, got, c.want)
		}
	}
	untrusted := raw(t, &tls.Config{Certificates: []tls.Certificate{a.issue(t, later, "callback.example")}}, answers(""))
	p := newPusher(t, callback.Config{Resolver: hubtest.ResolverTo(public)})
	p.Below(func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, untrusted)
	})
	if got := push(t, p, honestURL); got != (hub.PushResult{Failure: hub.FailureTLS}) {
		t.Errorf("Push to a receiver whose authority is unknown = %+v, want %s", got, hub.FailureTLS)
	}
}

// TestNoFailureSaysWhere: what is kept of an attempt names neither addresses nor names.
func TestNoFailureSaysWhere(t *testing.T) {
	t.Parallel()
	p := newPusher(t, callback.Config{Resolver: hubtest.ResolverTo("10.9.8.7")})
	if got := fmt.Sprint(push(t, p, honestURL)); strings.Contains(got, "10.9") || strings.Contains(got, "callback") {
		t.Errorf("Push = %s, want a code", got)
	}
}

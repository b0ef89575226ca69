package client_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/client"
)

func TestNamesUnderLocalhostAreThisMachine(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // nobody is there, and nobody is asked
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"actor":"human:%s"}`, r.Host)
	}))
	t.Cleanup(hub.Close)
	at, err := url.Parse(hub.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"localhost", "d72400df.execute-api.localhost", "Hub.LOCALHOST", "hub.localhost."} {
		host := net.JoinHostPort(name, at.Port())
		c := client.New("http://"+host, "token")
		c.Patience = -1
		me, err := c.Me(t.Context())
		if err != nil || me.Actor != "human:"+host {
			t.Errorf("Me at %s = %+v, %v; want the hub on this machine, asked for under its name", host, me, err)
		}
	}
}

func TestTransportIsThatOfTheProgram(t *testing.T) {
	usual := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = usual })
	proxy := &url.URL{Scheme: "http", Host: "proxy.example"}
	http.DefaultTransport = &http.Transport{Proxy: http.ProxyURL(proxy)} // and no dialer

	transport := client.Transport()
	for host, want := range map[string]*url.URL{"hub.example": proxy, "hub.localhost": nil} {
		got, err := transport.Proxy(&http.Request{URL: &url.URL{Scheme: "https", Host: host}})
		if err != nil || got != want {
			t.Errorf("the proxy for %s is %v, %v, want %v", host, got, err, want)
		}
	}
	hub := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(hub.Close)
	conn, err := transport.DialContext(t.Context(), "tcp", hub.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

func TestOtherHostsAreReachedByTheDefaultClient(t *testing.T) {
	usual := http.DefaultClient
	t.Cleanup(func() { http.DefaultClient = usual })
	http.DefaultClient = &http.Client{Transport: answering(`{"actor":"human:ada"}`)}
	me, err := client.New("https://hub.example", "token").Me(t.Context())
	if err != nil || me.Actor != "human:ada" {
		t.Errorf("Me = %+v, %v, want what the program's client answers", me, err)
	}
}

// answering is a RoundTripper that answers everything with a body.
type answering string

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

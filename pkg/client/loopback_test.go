package client_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
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

package httpapi_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

func TestABodyThatStopsHalfwayIsAnsweredWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	store, err := sqlitestore.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	h := hub.New(store, keyring.Ephemeral(), nil, nil, nil, hub.DefaultSettings())
	api := &httpapi.Server{
		Hub: func(*http.Request) (*hub.Hub, error) { return h, nil }, Log: slog.New(slog.DiscardHandler),
		BodyTimeout: 50 * time.Millisecond,
	}
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	token := hub.NewToken(hub.AgentTokenPrefix, ma2h.NewTail()[:hub.AccountRefLength], ma2h.NewTail())
	fmt.Fprintf(conn, "POST /v1/messages HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{", token)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("half a body = %v, want an answer", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest || !resp.Close {
		t.Errorf("half a body = %d, close %t, want 400 and the end of the connection", resp.StatusCode, resp.Close)
	}
}

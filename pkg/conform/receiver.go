package conform

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// push is one attempt of the hub to deliver a Response to a callback.
type push struct {
	url       string
	signature string
	body      []byte
}

// receiver is where the callbacks of an agent go.
type receiver struct {
	url   string
	fetch func(context.Context) ([]push, error) // what came since it was last asked
}

// listener receives the callbacks of a hub in real time, for all trials.
type listener struct {
	server http.Server
	base   string

	mu   sync.Mutex
	came map[string][]push // by path
}

// listen serves at an address that the hub may push to.
func listen(ctx context.Context, address string) (*listener, error) {
	at, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	l := &listener{base: "http://" + at.Addr().String(), came: map[string][]push{}}
	l.server.Handler = l
	go func() { _ = l.server.Serve(at) }()
	return l, nil
}

// ServeHTTP keeps a push.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.came[r.URL.Path] = append(l.came[r.URL.Path], push{l.base + r.URL.Path, r.Header.Get("MA2H-Signature"), body})
}

// take returns what came to a path, and forgets it.
func (l *listener) take(path string) []push {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.came[path]
	delete(l.came, path)
	return all
}

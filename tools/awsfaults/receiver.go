package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// receiver is the callbacks of all messages, a path for each, on the one address that the hub may push to.
type receiver struct {
	server *http.Server

	mu   sync.Mutex
	told map[string]order
	got  map[string][]arrival
}

// order is how a path answers: so many refusals first.
type order struct {
	refuse int
	later  time.Duration
}

// arrival is a push as it came in.
type arrival struct {
	MessageID    string `json:"in_reply_to"`
	ResolutionID string `json:"resolution_id"`

	signature string
	taken     bool
}

func listen(ctx context.Context, address string) (*receiver, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen where the hub may push: %w", err)
	}
	r := &receiver{told: map[string]order{}, got: map[string][]arrival{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: patience}
	go func() { _ = r.server.Serve(l) }()
	return r, nil
}

func (r *receiver) expect(path string, refuse int, later time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told[path] = order{refuse, later}
}

// ServeHTTP takes a push, or refuses it as it was told to.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	a := arrival{signature: request.Header.Get("MA2H-Signature")}
	err := json.NewDecoder(request.Body).Decode(&a)
	r.mu.Lock()
	defer r.mu.Unlock()
	path := request.URL.Path
	o, known := r.told[path]
	switch {
	case err != nil || !known:
		w.WriteHeader(http.StatusBadRequest)
	case len(r.got[path]) < o.refuse:
		w.Header().Set("Retry-After", strconv.Itoa(int(o.later.Seconds())))
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		a.taken = true
		w.WriteHeader(http.StatusNoContent)
	}
	r.got[path] = append(r.got[path], a)
}

// arrivals returns what came for a message so far.
func (r *receiver) arrivals(m *message) []arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]arrival{}, r.got[m.path]...)
}

// check holds what came for a message to what must have come: as many refused attempts as were asked for and one that was
// taken, all of one outcome, each signed for itself.
func (r *receiver) check(m *message, resolution string) error {
	got := r.arrivals(m)
	if len(got) != m.refuse+1 || !got[len(got)-1].taken {
		return fmt.Errorf("%s was pushed %d times, want %d: %+v", m.id, len(got), m.refuse+1, got)
	}
	signatures := map[string]bool{"": true}
	for _, a := range got {
		if a.MessageID != m.id || a.ResolutionID != resolution {
			return fmt.Errorf("what was pushed of %s is %s of %s, want %s", m.id, a.ResolutionID, a.MessageID, resolution)
		}
		if signatures[a.signature] {
			return fmt.Errorf("a push of %s has no signature of its own, but %q", m.id, a.signature)
		}
		signatures[a.signature] = true
	}
	return nil
}

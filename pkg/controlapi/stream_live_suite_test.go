package controlapi_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/controlapi"
)

// patience is how long a test waits for what must come, on a machine that does much else besides.
const patience = 30 * time.Second

// listener reads a stream that is held.
type listener struct {
	m      *mouth
	events chan event // closed at the end of the stream
	said   string     // the last comment, once it has ended
	leave  context.CancelFunc
}

// listens opens a stream in real time, and returns once it is open.
func (m *mouth) listens() *listener {
	m.s.t.Helper()
	m.s.now = time.Time{}
	ctx, leave := context.WithCancel(context.Background())
	m.s.t.Cleanup(leave)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.s.url+m.at("/v1/inbox/stream"), nil)
	if err != nil {
		m.s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+m.token)
	req.Header.Set(controlapi.TenantHeader, m.s.tenant)
	resp, err := here.Do(req) //nolint:bodyclose // by read
	if err != nil {
		m.s.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		m.s.t.Fatalf("a stream = %s, want 200", resp.Status)
	}
	l := &listener{m: m, events: make(chan event, 100), leave: leave}
	go l.read(resp)
	return l
}

func (l *listener) read(resp *http.Response) {
	defer resp.Body.Close()
	defer close(l.events)
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 8<<20)
	var e event
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), ": ") {
			l.said = lines.Text()
		}
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			e.kind = value
		case "id":
			e.id = value
		case "data":
			e.data = value
			l.events <- e
		}
	}
}

// hears returns the next event of the kind, or fails the test.
func (l *listener) hears(what string) event {
	l.m.s.t.Helper()
	select {
	case e, ok := <-l.events:
		if !ok {
			l.m.s.t.Fatalf("%s: the stream has ended", what)
		}
		return e
	case <-time.After(patience):
		l.m.s.t.Fatalf("%s: nothing is pushed within %s", what, patience)
	}
	return event{}
}

// hearsAll holds a stream to the entries with these keys, in this order.
func (l *listener) hearsAll(want ...string) {
	l.m.s.t.Helper()
	for _, key := range want {
		same(l.m.s.t, "what is pushed", l.hears(key).id, key)
	}
}

// ends waits for the end of the stream and returns the keys of what it pushed until then.
func (l *listener) ends() []string {
	l.m.s.t.Helper()
	rest, end := []string{}, time.After(patience)
	for {
		select {
		case e, ok := <-l.events:
			if !ok {
				return rest
			}
			rest = append(rest, e.id)
		case <-end:
			l.m.s.t.Fatalf("the stream has not ended within %s", patience)
		}
	}
}

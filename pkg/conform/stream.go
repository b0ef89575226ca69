package conform

import (
	"bufio"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// stream is an open stream of a session (spec §8.7.2).
type stream struct {
	m     *mouth
	first *answer // its status and header
	since time.Time
	ended chan struct{}
	leave func() // hangs up; the hub may notice only when the hold is over

	mu     sync.Mutex
	events []event
	till   time.Time // when it ended
}

// event is one server-sent event.
type event struct{ kind, id, data string }

// streams is an agent in an account with mail, of a hub that has streams.
func (t *trial) streams(name, other string) (*caller, *caller) {
	t.needs(t.can.Inbound.Stream != "", "a stream")
	return t.fleet(name, other)
}

// opensStream connects, and reads in the background what comes.
func (m *mouth) opensStream() *stream {
	t := m.t
	at, err := url.Parse(t.can.Inbound.Stream)
	if err != nil {
		t.fail("a stream_url (spec §8.0): %v", err)
	}
	at.RawQuery = url.Values{"session": {m.session}}.Encode()
	ctx, leave := context.WithCancel(t.ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		leave()
		t.fail("a stream_url (spec §8.0): %v", err)
	}
	for name, values := range t.home.header() {
		r.Header[name] = values
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+m.token)
	s := &stream{m: m, since: time.Now(), ended: make(chan struct{}), leave: leave}
	resp, err := t.http.Do(r)
	if err != nil {
		leave()
		t.fail("a stream, and got the error: %v", err)
	}
	s.first = &answer{t: t, sent: "GET " + at.String() + " as " + m.actor, status: resp.StatusCode, header: resp.Header}
	t.mu.Lock()
	t.last = s.first
	t.mu.Unlock()
	t.running.Go(func() {
		defer close(s.ended)
		defer leave()
		defer resp.Body.Close()
		s.read(bufio.NewReader(resp.Body))
	})
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	s.first.is(http.StatusOK, "a session's stream (spec §8.7.2)")
	t.hold(kind == "text/event-stream", "text/event-stream, not %s (spec §8.7.2)", kind)
	return s
}

// read takes events until the stream ends.
func (s *stream) read(from *bufio.Reader) {
	var e event
	for {
		line, err := from.ReadString('\n')
		s.mu.Lock()
		switch name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); name {
		case "":
			if e.data != "" && !strings.HasPrefix(line, ":") {
				s.events, e = append(s.events, e), event{}
			}
		case "event":
			e.kind = strings.TrimPrefix(value, " ")
		case "id":
			e.id = strings.TrimPrefix(value, " ")
		case "data":
			e.data += strings.TrimPrefix(value, " ")
		}
		if err != nil {
			s.till = time.Now()
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// gets waits until the stream has pushed an entry, and verifies it.
func (s *stream) gets(key string) *entry {
	var found *entry
	if s.m.t.home.virtual() { // where a stream ends by itself once all is said
		<-s.ended
	}
	s.m.t.soon(func() bool { found = s.found(key); return found != nil }, "%s pushed to %s (spec §8.7.2)", key, s.m.address())
	return found
}

// pushes waits until the stream has pushed an entry, which it verifies, or is over.
func (s *stream) pushes(key string) bool {
	for {
		_, over := s.isOver() // before the look, since what comes last comes before the end
		if s.found(key) != nil {
			return true
		}
		if over {
			return false
		}
		s.m.t.pause(pollPause / 5)
	}
}

// found is the entry among those that were pushed, verified, or nil.
func (s *stream) found(key string) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		var element map[string]json.RawMessage
		if e.id == key && json.Unmarshal([]byte(e.data), &element) == nil {
			return s.m.verified(s.first, element)
		}
	}
	return nil
}

// isOver says whether the stream has ended, and when.
func (s *stream) isOver() (time.Time, bool) {
	select {
	case <-s.ended:
		return s.till, true
	default:
		return time.Time{}, false
	}
}

package controlapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
)

// event is one server-sent event.
type event struct{ kind, id, data string }

// eventsOf reads a stream that has ended. What is no event is a comment, or says how soon to connect again.
func (s *suite) eventsOf(body string) []event {
	s.t.Helper()
	all := []event{}
	for _, block := range strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		var e event
		for _, line := range strings.Split(block, "\n") {
			name, value, _ := strings.Cut(line, ":")
			switch value = strings.TrimPrefix(value, " "); name {
			case "event":
				e.kind = value
			case "id":
				e.id = value
			case "data":
				if e.data != "" {
					s.t.Errorf("an event has two lines of data: %s", block)
				}
				e.data = value
			case "", "retry":
			default:
				s.t.Errorf("a stream has the line %q", line)
			}
		}
		if e != (event{}) {
			all = append(all, e)
		}
	}
	return all
}

// streamed returns what a stream pushes that ends at once, each entry verified.
func (m *mouth) streamed() []*entry {
	m.s.t.Helper()
	a := m.send("GET", m.at("/v1/inbox/stream"), nil).is(http.StatusOK)
	same(m.s.t, "Content-Type", a.header.Get("Content-Type"), "text/event-stream")
	same(m.s.t, "Cache-Control", a.header.Get("Cache-Control"), "no-store")
	entries := []*entry{}
	for _, pushed := range m.s.eventsOf(string(a.body)) {
		var element map[string]json.RawMessage
		if err := json.Unmarshal([]byte(pushed.data), &element); err != nil {
			m.s.t.Fatalf("%s pushes %s: %v", a.what, pushed.data, err)
		}
		e := m.verified(a, element)
		same(m.s.t, "the kind and key of an event", []string{pushed.kind, pushed.id}, []string{e.kind, e.key()})
		entries = append(entries, e)
	}
	return entries
}

// pushes holds a stream to the entries with these keys, in this order, and returns them.
func (m *mouth) pushes(want ...string) []*entry {
	m.s.t.Helper()
	entries := m.streamed()
	same(m.s.t, "what is pushed to "+m.address(), keys(entries), append([]string{}, want...))
	return entries
}

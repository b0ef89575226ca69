package inbox

import (
	"slices"
	"sync"
)

// How many streams are held at a time. A browser opens six connections to a host that speaks HTTP/1.1, and pages need some.
const (
	maxStreams     = 2000
	maxStreamsEach = 4 // of one session
)

// streams counts those that are held. The zero value has none.
type streams struct {
	mu  sync.Mutex
	n   int
	all map[string][]chan struct{} // by session, oldest first
}

// enter returns a channel that is closed when the place is needed by a newer page of the same session, and a function that
// gives it back; or nil when the house is full.
func (s *streams) enter(session string) (place chan struct{}, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n >= maxStreams {
		return nil, nil
	}
	if s.all == nil {
		s.all = map[string][]chan struct{}{}
	}
	if own := s.all[session]; len(own) >= maxStreamsEach {
		s.forget(session, own[0])
		close(own[0])
	}
	place = make(chan struct{})
	s.all[session] = append(s.all[session], place)
	s.n++
	return place, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forget(session, place)
	}
}

// forget takes a place out of the list, unless it is gone already.
func (s *streams) forget(session string, place chan struct{}) {
	own := s.all[session]
	i := slices.Index(own, place)
	if i < 0 {
		return
	}
	s.n--
	if own = slices.Delete(slices.Clone(own), i, i+1); len(own) == 0 {
		delete(s.all, session)
		return
	}
	s.all[session] = own
}

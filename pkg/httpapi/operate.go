package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// readyFor is how long what was found of a hub's readiness is good for.
const readyFor = 2 * time.Second

// readyWithin is how long a hub may take to show that it can do its work.
const readyWithin = 5 * time.Second

// readiness is what was last found.
type readiness struct {
	mu     sync.Mutex
	at     time.Time
	reason string
}

// healthz says that the process answers, and nothing of what it needs.
func (s *Server) healthz(*call) (any, error) { return map[string]string{"status": "ok"}, nil }

// readyz says whether the hub can do its work, and if not why, as a code: stopping, store, commit or keys.
func (s *Server) readyz(c *call) (any, error) {
	reason := s.unready(c.r.Context())
	if reason == "" {
		return map[string]string{"status": "ready"}, nil
	}
	c.status = http.StatusServiceUnavailable
	c.w.Header().Set("Retry-After", "2")
	return map[string]string{"status": "unready", "reason": reason}, nil
}

func (s *Server) unready(ctx context.Context) string {
	select {
	case <-s.Stopping:
		return "stopping"
	case <-s.Draining:
		return "stopping"
	default:
	}
	if s.Ready == nil {
		return ""
	}
	s.readiness.mu.Lock() // whoever comes meanwhile waits for the same answer
	defer s.readiness.mu.Unlock()
	if r := &s.readiness; time.Since(r.at) > readyFor {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
		defer cancel()
		r.reason, r.at = s.Ready(within), time.Now()
	}
	return s.readiness.reason
}

// Package controlapi is the control API of the test build: it lets a suite written by others drive the hub in virtual
// time over HTTP. It asks nobody who they are, so it is served on loopback only and linked into no Lambda.
package controlapi

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// The headers that a request to any path may carry.
const (
	TenantHeader = "X-Conformance-Tenant"
	NowHeader    = "X-Conformance-Now"
)

// Prefix is where the control API lies.
const Prefix = "/_conformance/"

// Server holds the tenants of a process. Each is a hub of its own on a store of its own, and lives as long as the Server.
type Server struct {
	// Ordinary is the hub of requests that name no tenant. It may be nil.
	Ordinary *hub.Hub
	// NewStore and NewKeys make what a tenant stands on.
	NewStore func() (record.Store, error)
	NewKeys  func() hub.Keys
	NewBell  func() hub.Bell
	// BaseURL returns the public address that tenants' links begin with.
	BaseURL func() string
	Log     *slog.Logger
	// Grace is hub.Settings.Grace of tenants.
	Grace time.Duration

	mu      sync.Mutex
	tenants map[string]*tenant
}

// request is what a request under a tenant carries through its context.
type request struct {
	tenant *tenant
	hub    *hub.Hub // the tenant's, at the request's clock
	work   *pending
}

type contextKey struct{}

// Wrap resolves the two headers for everything below next, and lets no answer out before what its request caused is done:
// no background worker touches a tenant.
func (s *Server) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t, now, err := s.resolve(r)
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		if t == nil {
			next.ServeHTTP(w, r)
			return
		}
		q := &request{tenant: t, work: &pending{}}
		q.hub = t.at(now, q.work)
		held := &heldAnswer{to: w, header: http.Header{}, status: http.StatusOK}
		if now.IsZero() {
			held.settle = func() error { return q.work.drain(r.Context(), q.hub) }
		}
		next.ServeHTTP(held, r.WithContext(context.WithValue(r.Context(), contextKey{}, q)))
		if err := q.work.drain(r.Context(), q.hub); err != nil && !held.begun {
			s.writeError(w, r, err)
			return
		}
		_ = held.release() // a client that has gone away is no error of ours
	})
}

// Hub returns the hub that a request is for, and serves as httpapi.Server.Hub.
func (s *Server) Hub(r *http.Request) (*hub.Hub, error) {
	if q, ok := r.Context().Value(contextKey{}).(*request); ok {
		return q.hub, nil
	}
	if s.Ordinary == nil {
		return nil, ma2h.Errorf(ma2h.CodeValidationError, "This process has tenants only; name one in %s.", TenantHeader)
	}
	return s.Ordinary, nil
}

// resolve reads the headers. A nil tenant means the ordinary hub; a zero time, the real clock.
func (s *Server) resolve(r *http.Request) (*tenant, time.Time, error) {
	name, clock := r.Header.Get(TenantHeader), r.Header.Get(NowHeader)
	if name == "" {
		if clock != "" {
			return nil, time.Time{}, ma2h.Errorf(ma2h.CodeValidationError, "%s needs %s beside it.", NowHeader, TenantHeader)
		}
		return nil, time.Time{}, nil
	}
	s.mu.Lock()
	t := s.tenants[name]
	s.mu.Unlock()
	if t == nil {
		return nil, time.Time{}, ma2h.Errorf(ma2h.CodeNotFound, "There is no tenant of this name.")
	}
	if clock == "" {
		return t, time.Time{}, nil
	}
	ms, err := strconv.ParseInt(clock, 10, 64)
	if err != nil || ms < 0 || ms >= endOfClocks().UnixMilli() {
		return nil, time.Time{}, ma2h.Errorf(ma2h.CodeValidationError,
			"%s is a number of Unix milliseconds, before the year %d.", NowHeader, endOfClocks().Year())
	}
	return t, time.UnixMilli(ms), nil
}

// endOfClocks is the first time that no clock of a test may show: what a hub reckons from its clock, within a year, must
// be a time that can be written.
func endOfClocks() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }

func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	httpapi.WriteError(s.Log, w, r, err)
}

// pending is the Clockwork of one request: it remembers what became due, so that it is done before the answer.
type pending struct {
	mu   sync.Mutex
	keys []record.Key
}

// Arm remembers a key whose time may have come.
func (p *pending) Arm(_ context.Context, key record.Key, _ time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = append(p.keys, key)
}

func (p *pending) next() (record.Key, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.keys) == 0 {
		return record.Key{}, false
	}
	k := p.keys[0]
	p.keys = p.keys[1:]
	return k, true
}

// drain fires whatever is due at the request's clock. What is due later waits for the request that comes then.
func (p *pending) drain(ctx context.Context, h *hub.Hub) error {
	for {
		key, ok := p.next()
		if !ok {
			return nil
		}
		for {
			again, err := h.Fire(ctx, key)
			if err != nil {
				return err
			}
			if again.IsZero() || again.After(h.Now()) {
				break
			}
		}
	}
}

// heldAnswer keeps an answer until it may be seen.
type heldAnswer struct {
	to     http.ResponseWriter
	header http.Header
	status int
	body   bytes.Buffer
	begun  bool

	settle func() error // does what the request has caused so far; nil where nothing may be seen before its end
}

func (h *heldAnswer) Header() http.Header         { return h.header }
func (h *heldAnswer) WriteHeader(status int)      { h.status = status }
func (h *heldAnswer) Write(b []byte) (int, error) { return h.body.Write(b) }

// FlushError is for http.ResponseController: of what is pushed in real time, the beginning is seen before the end.
func (h *heldAnswer) FlushError() error {
	if h.settle == nil {
		return http.ErrNotSupported
	}
	if err := h.settle(); err != nil {
		return err
	}
	if err := h.release(); err != nil {
		return err
	}
	return http.NewResponseController(h.to).Flush()
}

// SetWriteDeadline is for http.ResponseController.
func (h *heldAnswer) SetWriteDeadline(t time.Time) error {
	return http.NewResponseController(h.to).SetWriteDeadline(t)
}

func (h *heldAnswer) release() error {
	if !h.begun {
		h.begun = true
		for name, values := range h.header {
			h.to.Header()[name] = values
		}
		h.to.WriteHeader(h.status)
	}
	_, err := h.to.Write(h.body.Bytes())
	h.body.Reset()
	return err
}

package controlapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// tenant is one isolated account set: a hub of its own that no worker touches.
type tenant struct {
	hub    *hub.Hub
	pushes capture

	mu sync.Mutex // provisioning is one at a time; the protocol itself needs no lock
}

// config is the body of POST /tenants.
type config struct {
	Version             *string `json:"version"`
	SigningKey          *string `json:"signing_key"`
	VisibilityTimeout   *int    `json:"visibility_timeout_seconds"`
	Freshness           *int    `json:"freshness_seconds"`
	MinTTL              *int    `json:"min_ttl_seconds"`
	DefaultTTL          *int    `json:"default_ttl_seconds"`
	MaxTTL              *int    `json:"max_ttl_seconds"`
	MaxLivePerAgent     *int    `json:"max_live_per_agent"`
	TerminalRetention   *int    `json:"terminal_retention_seconds"`
	AgentListVisibility *bool   `json:"agent_list_visibility"`
	SessionListScope    *string `json:"session_list_scope"`
	OperatorHardStop    *bool   `json:"operator_hard_stop"`
	RetentionDays       *int    `json:"retention_days"`
	StreamMaxHold       *int    `json:"stream_max_hold_seconds"`
}

// check refuses values that mean nothing.
func (c *config) check() *ma2h.Error {
	for _, f := range []struct {
		name  string
		value *int
		least int
	}{
		{"visibility_timeout_seconds", c.VisibilityTimeout, 1}, {"freshness_seconds", c.Freshness, 1},
		{"min_ttl_seconds", c.MinTTL, 1}, {"default_ttl_seconds", c.DefaultTTL, 1}, {"max_ttl_seconds", c.MaxTTL, 1},
		{"max_live_per_agent", c.MaxLivePerAgent, 1}, {"terminal_retention_seconds", c.TerminalRetention, 0},
		{"retention_days", c.RetentionDays, 1}, {"stream_max_hold_seconds", c.StreamMaxHold, 1},
	} {
		if f.value != nil && *f.value < f.least {
			return ma2h.FieldErrorf(ma2h.CodeValidationError, "/"+f.name, "%s is at least %d.", f.name, f.least)
		}
	}
	if value(c.RetentionDays, 0) > hub.MaxRetentionDays {
		return ma2h.FieldErrorf(ma2h.CodeValidationError, "/retention_days", "retention_days is at most %d.", hub.MaxRetentionDays)
	}
	return c.checkTogether()
}

func (c *config) checkTogether() *ma2h.Error {
	if value(c.StreamMaxHold, 60) > value(c.Freshness, 90) && c.StreamMaxHold != nil {
		return ma2h.FieldErrorf(ma2h.CodeValidationError, "/stream_max_hold_seconds", "A stream is held no longer than freshness_seconds.")
	}
	if scope := value(c.SessionListScope, "own"); scope != "own" && scope != "account" {
		return ma2h.FieldErrorf(ma2h.CodeValidationError, "/session_list_scope", "session_list_scope is own or account.")
	} else if scope == "account" && !value(c.AgentListVisibility, false) {
		return ma2h.FieldErrorf(ma2h.CodeValidationError, "/session_list_scope", "The scope account needs agent_list_visibility.")
	}
	v, err := ma2h.ParseVersion(value(c.Version, ma2h.Newest))
	if err != nil || v.SchemaMinor() != v.Minor {
		return ma2h.FieldErrorf(ma2h.CodeValidationError, "/version", "version is one that this hub speaks, up to %s.", ma2h.Newest)
	}
	return nil
}

func value[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// newTenant makes a tenant and names it.
func (s *Server) newTenant(c *config) (string, error) {
	store, err := s.NewStore()
	if err != nil {
		return "", fmt.Errorf("make the tenant's store: %w", err)
	}
	settings := hub.DefaultSettings()
	settings.ServeAt(s.BaseURL())
	settings.Grace = s.Grace
	settings.Version = value(c.Version, ma2h.Newest)
	settings.RetentionDays = value(c.RetentionDays, settings.RetentionDays)
	settings.RequestsPerMinute, settings.InboxDepth, settings.PairPerMinute = 0, 0, 0
	c.setSessions(&settings)
	settings.SigningKey = []byte(value(c.SigningKey, rand.Text()))
	settings.OneNamespace = true
	t := &tenant{}
	t.hub = hub.New(store, s.NewKeys(), &t.pushes, s.NewBell(), nil, settings)
	name := "ten_" + ma2h.NewTail()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tenants == nil {
		s.tenants = map[string]*tenant{}
	}
	s.tenants[name] = t
	return name, nil
}

// setSessions sets what the body says of mailboxes and sessions.
func (c *config) setSessions(s *hub.Settings) {
	seconds := func(p *int, of *time.Duration) {
		if p != nil {
			*of = time.Duration(min(*p, maxSeconds)) * time.Second
		}
	}
	seconds(c.VisibilityTimeout, &s.VisibilityTimeout)
	seconds(c.Freshness, &s.Freshness)
	seconds(c.MinTTL, &s.MinTTL)
	seconds(c.DefaultTTL, &s.DefaultTTL)
	seconds(c.MaxTTL, &s.MaxTTL)
	seconds(c.TerminalRetention, &s.TerminalRetention)
	s.StreamMaxHold = min(s.StreamMaxHold, s.Freshness) // unless it is said, when it was checked
	seconds(c.StreamMaxHold, &s.StreamMaxHold)
	s.MaxLivePerAgent = value(c.MaxLivePerAgent, s.MaxLivePerAgent)
	s.AgentListVisibility = value(c.AgentListVisibility, false)
	s.ListAccount = s.AgentListVisibility && value(c.SessionListScope, hub.ScopeAccount) == hub.ScopeAccount
	s.HardStop = value(c.OperatorHardStop, true)
}

// maxSeconds is the longest time that a tenant's sessions know, a hundred years.
const maxSeconds = hub.MaxRetentionDays * 24 * 60 * 60

// at returns the tenant's hub for one request. Under a virtual clock nothing waits.
func (t *tenant) at(now time.Time, work *pending) *hub.Hub {
	if now.IsZero() {
		h := *t.hub
		h.Clockwork = work
		return &h
	}
	h := t.hub.At(now, work)
	h.Settings.MaxWait = 0
	return h
}

// capture is a Pusher that keeps attempts instead of making them; each counts as answered with 200.
type capture struct {
	mu     sync.Mutex
	pushes []capturedPush
}

type capturedPush struct {
	Message string            `json:"message"`
	Attempt int               `json:"attempt"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// Push keeps the attempt.
func (c *capture) Push(_ context.Context, p hub.Push) hub.PushResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pushes = append(c.pushes, capturedPush{
		Message: p.MessageID, Attempt: p.Attempt, URL: p.URL, Headers: p.Headers, Body: string(p.Body),
	})
	return hub.PushResult{Status: 200}
}

// Check takes every URL: nothing is sent.
func (c *capture) Check(string) error { return nil }

// take returns the attempts, oldest first, and forgets them.
func (c *capture) take() []capturedPush {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.pushes
	c.pushes = nil
	if taken == nil {
		taken = []capturedPush{}
	}
	return taken
}

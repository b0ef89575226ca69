package awshub

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// later is a hub that opens as soon as it can: a fresh deployment has no keys until somebody makes them, and then works
// without being started anew.
type later struct {
	open  func(context.Context) (*hub.Hub, error)
	stack string
	log   *slog.Logger

	mu  sync.Mutex
	hub *hub.Hub // nil until there are keys
}

// later returns the hub that open opens, at once if there are keys.
func (c Config) later(ctx context.Context, open func(context.Context) (*hub.Hub, error)) (*later, error) {
	l := &later{open: open, stack: c.Stack, log: c.log()}
	if _, err := l.get(ctx); err != nil && !errors.Is(err, keyring.ErrNoKeys) {
		return nil, err
	}
	return l, nil
}

// get returns the hub, or keyring.ErrNoKeys. Its keys are read again now and then, so that a process that lives for hours
// learns of a rotation in time.
func (l *later) get(ctx context.Context) (*hub.Hub, error) {
	h, err := l.opened(ctx)
	if err != nil {
		return nil, err
	}
	if keys, ok := hubKeys(h); ok {
		if err := keys.Freshen(ctx); err != nil && ctx.Err() == nil { // those at hand still work
			l.log.ErrorContext(ctx, "the hub's keys were not read again and are tried again", "err", err)
		}
	}
	return h, nil
}

func (l *later) opened(ctx context.Context) (*hub.Hub, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hub != nil {
		return l.hub, nil
	}
	h, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	l.hub = h
	return h, nil
}

// ready says why the hub cannot do its work, by a code: the table does not answer, or the keys do not open. That the table
// takes writes is not tried: what this function may write says nothing of the others.
func (l *later) ready(ctx context.Context) string {
	h, err := l.opened(ctx)
	if keys, ok := hubKeys(h); err == nil && ok {
		err = keys.Reload(ctx)
	}
	if err == nil {
		return ""
	}
	l.log.ErrorContext(ctx, "the hub is not ready", "err", err)
	return keyring.Reason(err)
}

// hubKeys returns the keys of a hub that opens any.
func hubKeys(h *hub.Hub) (*keyring.Keyring, bool) {
	if h == nil {
		return nil, false
	}
	keys, ok := h.Keys.(*keyring.Keyring)
	return keys, ok
}

// comeBack is how soon somebody may look again who was told that there are no keys.
const comeBack = 30 * time.Second

// of returns the hub for a request, or what to say as long as there is none.
func (l *later) of(r *http.Request) (*hub.Hub, error) {
	h, err := l.get(r.Context())
	if errors.Is(err, keyring.ErrNoKeys) {
		return nil, &ma2h.Error{
			Code: ma2h.CodeUnavailable, RetryAfter: comeBack,
			Message: "This hub has no owner yet; whoever deployed it runs `mash-aws bootstrap --stack " + l.name() + "`.",
		}
	}
	return h, err
}

func (l *later) name() string {
	if l.stack == "" {
		return "NAME"
	}
	return l.stack
}

package awshub

import (
	"context"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sfnclock"
)

// Execution is what an execution of sfnclock calls. An error is tried again as its definition says.
type Execution func(context.Context, sfnclock.Input) (sfnclock.Answer, error)

// Firer returns what ends a message at its deadline.
func (c Config) Firer(ctx context.Context) (Execution, error) {
	return c.execution(ctx, endpoint.Fire, func(h *hub.Hub, ctx context.Context, key record.Key, _ string) (time.Time, error) {
		return h.Expire(ctx, key)
	})
}

// Deliverer returns what makes one attempt at a callback. A receiver that fails is no error: the answer says when to try
// again.
func (c Config) Deliverer(ctx context.Context) (Execution, error) {
	return c.execution(ctx, endpoint.Deliver, (*hub.Hub).Deliver)
}

func (c Config) execution(
	ctx context.Context, name endpoint.Name,
	do func(h *hub.Hub, ctx context.Context, key record.Key, timer string) (time.Time, error),
) (Execution, error) {
	l, err := c.worker(ctx, name)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, in sfnclock.Input) (sfnclock.Answer, error) {
		key, err := in.Check()
		if err != nil {
			return sfnclock.Answer{}, err // as it is: its type is its name
		}
		h, err := l.get(ctx)
		if err != nil {
			return sfnclock.Answer{}, err
		}
		again, err := do(h, ctx, key, in.Name)
		if err != nil {
			return sfnclock.Answer{}, err
		}
		return sfnclock.Again(again, h.Now()), nil
	}, nil
}

// worker returns the hub of a worker.
func (c Config) worker(ctx context.Context, name endpoint.Name) (*later, error) {
	return c.later(ctx, c.opener(endpoint.WorkerOf(name).Access))
}

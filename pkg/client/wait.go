package client

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

const (
	hold      = 50 * time.Second // asked of the hub, below its cap and the patience of most proxies (spec §8.2)
	leastHold = 2 * time.Second  // between two looks, when the hub does not hold
)

// Wait holds until the message has an outcome and returns it (spec §8.2). It lives through network errors, restarts of
// the hub, 429 and 5xx, for as long as ctx does; then the error wraps ctx's. What ends it otherwise is a *ma2h.Error:
// not_found for a message that is not this agent's, gone for a deleted one. A notify has no outcome, so for one Wait
// returns validation_error.
//
// A Response from Wait is trusted because it came from the hub itself over TLS; its State is not, unless the agent sealed
// it (spec §9.3).
func (c *Client) Wait(ctx context.Context, id string) (*ma2h.Response, error) {
	for {
		began := c.now()
		p, err := c.look(ctx, id)
		if err != nil {
			return nil, err
		}
		if p.Type == ma2h.TypeNotify {
			return nil, ma2h.Errorf(ma2h.CodeValidationError, "A notify gets no response; there is nothing to wait for.")
		}
		if !p.Open() {
			if p.Response == nil {
				return nil, fmt.Errorf("wait for %s: it ended as %s without a response", id, p.Status)
			}
			return p.Response, nil
		}
		if err := sleep(ctx, leastHold-c.now().Sub(began)); err != nil {
			return nil, fmt.Errorf("wait for %s: %w", id, err)
		}
	}
}

// look holds one pull until something happened or the hold is over.
func (c *Client) look(ctx context.Context, id string) (*Pulled, error) {
	var p Pulled
	err := c.call(ctx, request{
		name: endpoint.Pull, ids: []string{id}, into: &p, repeat: true, endless: true,
		query: url.Values{"wait": {strconv.Itoa(int(hold.Seconds()))}}, hold: hold,
	})
	return &p, err
}

// sleep returns after d, or with ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package main

import (
	"context"
	"fmt"
	"time"
)

// mostWake is the longest that an agent which waits may be woken after at the median: two requests to queues and a look.
const mostWake = 300 * time.Millisecond

// wake times how soon an agent that waits has what is sent to it, from before the sending to the end of the drain's answer,
// and fails when the median is too long.
func (d deployed) wake(ctx context.Context, rounds int) error {
	a := &agent{deployed: d}
	var took []time.Duration
	for n := range rounds {
		if n%perAgent == 0 {
			if err := a.renew(ctx); err != nil {
				return err
			}
		}
		one, err := a.woken(ctx)
		if err != nil {
			return err
		}
		if n%perAgent > 0 { // the first waits for its queue to be made
			took = append(took, one)
		}
	}
	p50 := quantile(took, 50)
	fmt.Printf("%-28s %8.2f %8.2f\n", "a waiting drain is woken", ms(p50), ms(quantile(took, 95)))
	if p50 > mostWake {
		return fmt.Errorf("a waiting drain is woken after %s at the median, more than %s", p50, mostWake)
	}
	return nil
}

// settle is how long a drain is given to be waiting, and its queue to be there.
const settle = 700 * time.Millisecond

// woken has the agent wait, sends it a directive, and returns how long that took to arrive.
func (a *agent) woken(ctx context.Context) (time.Duration, error) {
	var got struct {
		Messages []struct{ Directive struct{ ID string } }
	}
	done := make(chan error, 1)
	go func() { done <- a.call(ctx, "GET", "/v1/inbox?wait=20", a.token, "", &got) }()
	time.Sleep(settle)
	began := time.Now()
	if err := a.call(ctx, "POST", "/v1/directives", a.Token, fmt.Sprintf(`{"to":"agent:%s","title":"bench"}`, a.id), nil); err != nil {
		return 0, err
	}
	if err := <-done; err != nil {
		return 0, err
	}
	took := time.Since(began)
	if len(got.Messages) != 1 {
		return 0, fmt.Errorf("a drain that waited has %d entries, want 1", len(got.Messages))
	}
	return took, a.call(ctx, "POST", "/v1/inbox/ack", a.token, fmt.Sprintf(`{"ids":[%q]}`, got.Messages[0].Directive.ID), nil)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// executionsStop: one waits for a deadline and one between two attempts, when both are stopped. The outbox starts neither
// anew, since their names are taken.
func executionsStop(ctx context.Context, t *trial) (string, error) {
	asker, err := t.agent(ctx)
	if err != nil {
		return "", err
	}
	var all []*message
	for window := notSoon; ; window *= 2 {
		asked, err := t.asks(ctx, asker, question{refuse: 1, later: window}, question{expires: window})
		if err != nil {
			return "", err
		}
		all = append(all, asked...)
		owed, waiting := asked[0], asked[1]
		stopped, err := t.stopWaiting(ctx, owed, waiting)
		if err != nil && time.Now().After(waiting.deadline) && window < patience {
			continue // the machine is too slow for that window
		}
		runs := 0
		if err == nil {
			runs, err = t.swept(ctx, all...)
		}
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d stopped; with %d runs of the sweep one was pushed at its second attempt, as the receiver had it, "+
			"and one %.1f s after its deadline", stopped, runs, time.Since(waiting.deadline).Seconds()), nil
	}
}

// stopWaiting stops every execution while these two wait.
func (t *trial) stopWaiting(ctx context.Context, owed, waiting *message) (stopped int, _ error) {
	if err := t.answer(ctx, owed); err != nil {
		return 0, err
	}
	callback, err := t.callbackNow(ctx, owed)
	if err != nil {
		return 0, err
	}
	err = until(ctx, "the receiver has refused", func(ctx context.Context) (bool, error) {
		s, err := t.state(ctx, owed)
		return err == nil && len(s.Push.Attempts) > 0, err
	})
	if err := errors.Join(err, t.reaches(ctx, running, callback, t.expiry(waiting))); err != nil {
		return 0, err
	}
	stopped, err = t.stopAll(ctx)
	return stopped, errors.Join(err, t.reaches(ctx, aborted, callback, t.expiry(waiting)))
}

// brokenPair lets fire and deliver fail at an expiry and at a callback, and returns when the executions of both have seen it.
func (t *trial) brokenPair(ctx context.Context) (answered, expired *message, _ *watch, _ error) {
	if err := t.spoilWorkers(ctx); err != nil {
		return nil, nil, nil, err
	}
	answered, expired, w, err := t.pair(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	callback, err := t.callbackNow(ctx, answered)
	if err == nil {
		err = t.failing(ctx, callback, t.expiry(expired))
	}
	if n := len(t.receiver.arrivals(answered)) + len(t.receiver.arrivals(expired)); n > 0 && err == nil {
		err = fmt.Errorf("%d pushes, though what makes them fails", n)
	}
	if err != nil {
		_, wrong := w.end()
		return nil, nil, nil, errors.Join(err, wrong)
	}
	return answered, expired, w, nil
}

// workersReturn: the executions call them again.
func workersReturn(ctx context.Context, t *trial) (string, error) {
	answered, expired, w, err := t.brokenPair(ctx)
	if err != nil {
		return "", err
	}
	err = t.mend(ctx)
	back := time.Now()
	if err == nil {
		err = t.pushed(ctx, answered, expired)
	}
	took := time.Since(back)
	looks, wrong := w.end()
	if err := errors.Join(err, wrong); err != nil {
		return "", err
	}
	return fmt.Sprintf("%.1f s after they were back both were pushed, by the executions' own tries and no sweep; %d pulls were right",
		took.Seconds(), looks), nil
}

// workersFail: the sweep is faster than their return. What the executions then come to do is done; the last look sees it.
func workersFail(ctx context.Context, t *trial) (string, error) {
	answered, expired, w, err := t.brokenPair(ctx)
	if err != nil {
		return "", err
	}
	runs, err := t.swept(ctx, answered, expired)
	looks, wrong := w.end()
	if err := errors.Join(err, wrong, t.mend(ctx)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d runs of it made both pushes, the second %.1f s after its deadline; %d pulls were right",
		runs, time.Since(expired.deadline).Seconds(), looks), nil
}

// lastLook waits until every execution of every message has ended, so that nothing is under way any more, runs the sweep once
// more, and looks whether something was written or pushed since.
func lastLook(ctx context.Context, t *trial) (string, error) {
	err := until(ctx, "no execution runs", func(ctx context.Context) (bool, error) {
		all, err := t.executions(ctx, running)
		return len(of(all, t.asked...)) == 0, err
	})
	if err != nil {
		return "", err
	}
	all, err := t.executions(ctx, "")
	if err != nil {
		return "", err
	}
	theirs := of(all, t.asked...)
	for _, e := range theirs {
		if e.Status != succeeded && e.Status != aborted {
			return "", fmt.Errorf("%s is %s", e.ExecutionArn, e.Status)
		}
	}
	if err := errors.Join(t.sweep(ctx), t.check(ctx, t.asked...)); err != nil {
		return "", err
	}
	attempts := 0
	for _, m := range t.asked {
		attempts += len(t.receiver.arrivals(m))
	}
	return fmt.Sprintf("%d messages, %d attempts, each message taken once; its %d executions have all ended",
		len(t.asked), attempts, len(theirs)), nil
}

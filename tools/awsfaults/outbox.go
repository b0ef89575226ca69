package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	soon    = 3 * time.Second // to a deadline that something must fail before
	notSoon = 4 * time.Second // to one that something must be waiting for
)

// pair asks for an answer and lets another ask expire, both with a callback; a second agent asks the same without one, and
// pulls them all the time. It returns when the answers are given and the deadlines are not over, but for a slow machine.
func (t *trial) pair(ctx context.Context) (answered, expired *message, _ *watch, _ error) {
	asker, err := t.agent(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	puller, err := t.agent(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	told, err := t.asks(ctx, asker, question{}, question{expires: soon})
	if err != nil {
		return nil, nil, nil, err
	}
	read, err := t.asks(ctx, puller, question{quiet: true}, question{quiet: true, expires: soon})
	if err != nil {
		return nil, nil, nil, err
	}
	w := t.watch(ctx, read...)
	if err := errors.Join(t.answer(ctx, told[0]), t.answer(ctx, read[0])); err != nil {
		_, wrong := w.end()
		return nil, nil, nil, errors.Join(err, wrong)
	}
	return told[0], told[1], w, nil
}

// outboxFails: nothing is started, so the sweep ends one message and makes both callbacks. What the outbox is brought when
// it is back is old by then.
func outboxFails(ctx context.Context, t *trial) (string, error) {
	if err := t.spoilOutbox(ctx); err != nil {
		return "", err
	}
	answered, expired, w, err := t.pair(ctx)
	if err != nil {
		return "", err
	}
	if err := errors.Join(t.stuck(ctx), passed(ctx, expired), t.untouched(ctx, answered, expired)); err != nil {
		_, wrong := w.end()
		return "", errors.Join(err, wrong)
	}
	runs, err := t.swept(ctx, answered, expired)
	late := time.Since(expired.deadline)
	looks, wrong := w.end()
	if err := errors.Join(err, wrong, t.patient(ctx, expired), t.mend(ctx)); err != nil {
		return "", err
	}
	started, err := t.caughtUp(ctx, answered, expired)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d runs of it made both pushes, the second %.1f s after its deadline; %d pulls were right; back again, "+
		"the outbox started %d executions, and nothing was pushed twice", runs, late.Seconds(), looks, started), nil
}

// untouched says whether something was done for messages whose executions nobody should have started.
func (t *trial) untouched(ctx context.Context, messages ...*message) error {
	all, err := t.executions(ctx, "")
	if err != nil {
		return err
	}
	if theirs := of(all, messages...); len(theirs) > 0 {
		return fmt.Errorf("there are executions, though the outbox fails: %+v", theirs)
	}
	for _, m := range messages {
		if got := t.receiver.arrivals(m); len(got) > 0 {
			return fmt.Errorf("%s was pushed before any sweep: %+v", m.id, got)
		}
	}
	return nil
}

// patient says whether the sweep left the expiry of a message, and then its callback, for long enough to whoever else might
// have been at it: beside executions that work, it would push twice.
func (t *trial) patient(ctx context.Context, expired *message) error {
	grace, err := t.grace(ctx)
	if err != nil {
		return err
	}
	s, err := t.state(ctx, expired)
	if err != nil || len(s.Push.Attempts) == 0 {
		return err
	}
	if waited := s.Push.Attempts[0].At.Sub(expired.deadline); waited < 2*grace {
		return fmt.Errorf("the sweep pushed %s %s after its deadline, and was to leave that to others for twice %s",
			expired.id, waited, grace)
	}
	return nil
}

// caughtUp waits until the outbox has started what it could not, and the executions have ended, and looks once more.
func (t *trial) caughtUp(ctx context.Context, answered, expired *message) (started int, _ error) {
	due := []string{t.expiry(expired)}
	for _, m := range []*message{answered, expired} {
		arn, err := t.callbackNow(ctx, m)
		if err != nil {
			return 0, err
		}
		due = append(due, arn)
	}
	if err := t.reaches(ctx, succeeded, due...); err != nil {
		return 0, err
	}
	return len(due), t.check(ctx, answered, expired)
}

// outboxReturns: the stream brings what the outbox could not do, until it can.
func outboxReturns(ctx context.Context, t *trial) (string, error) {
	if err := t.spoilOutbox(ctx); err != nil {
		return "", err
	}
	answered, expired, w, err := t.pair(ctx)
	if err != nil {
		return "", err
	}
	if err := errors.Join(t.stuck(ctx), passed(ctx, expired), t.untouched(ctx, answered, expired), t.mend(ctx)); err != nil {
		_, wrong := w.end()
		return "", errors.Join(err, wrong)
	}
	back := time.Now()
	err = t.pushed(ctx, answered, expired)
	took := time.Since(back)
	looks, wrong := w.end()
	if err := errors.Join(err, wrong); err != nil {
		return "", err
	}
	started, err := t.caughtUp(ctx, answered, expired)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%.1f s after it was back both were pushed, by %d executions and no sweep; %d pulls were right",
		took.Seconds(), started, looks), nil
}

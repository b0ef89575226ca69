package hub

import (
	"math/rand/v2"
	"time"
)

// RetryPolicy is how a callback is tried again (spec §8.3): one value, used by whoever makes attempts and by the
// capability document alike.
type RetryPolicy struct {
	MaxAttempts int           // attempts in all
	First       time.Duration // wait after the first failure; doubles with each further one
	Longest     time.Duration // cap of one wait
	MaxDuration time.Duration // from the resolution to the last attempt
}

// DefaultRetry makes sixteen attempts, over about five hours or, where a receiver asks to be left alone for longer, within
// a day.
func DefaultRetry() RetryPolicy {
	return RetryPolicy{MaxAttempts: 16, First: 2 * time.Second, Longest: time.Hour, MaxDuration: 24 * time.Hour}
}

// Next returns when to try again after the attempt-th failure at now, or false when the policy is spent. Up to a quarter
// of the wait is added as jitter; askedFor is the receiver's Retry-After, honoured where it is longer, but never so far
// that an attempt of the policy would be lost by it: what the waits to come leave of MaxDuration is shared out evenly among
// them.
func (p RetryPolicy) Next(attempt int, began, now time.Time, askedFor time.Duration) (time.Time, bool) {
	if attempt >= p.MaxAttempts {
		return time.Time{}, false
	}
	wait := p.wait(attempt)
	spare := p.MaxDuration - now.Sub(began)
	for i := attempt; i < p.MaxAttempts && spare > 0; i++ {
		spare -= longest(p.wait(i))
	}
	share := max(spare, 0) / time.Duration(p.MaxAttempts-attempt)
	askedFor = min(askedFor, longest(wait)+share)
	wait += time.Duration(rand.Int64N(int64(longest(wait)-wait) + 1)) //nolint:gosec // jitter needs no secrecy
	next := now.Add(max(wait, askedFor))
	return next, next.Sub(began) <= p.MaxDuration
}

// wait is how long the policy itself waits after the attempt-th failure.
func (p RetryPolicy) wait(attempt int) time.Duration {
	wait := p.First
	for i := 1; i < attempt && wait < p.Longest; i++ {
		wait += min(wait, p.Longest-wait)
	}
	return min(wait, p.Longest)
}

// longest is a wait with all the jitter that it may get.
func longest(wait time.Duration) time.Duration { return wait + wait/4 }

// Retryable says whether an attempt with this result may be made again: after 5xx and network errors, never after 4xx
// or a refusal (spec §8.3).
func (r PushResult) Retryable() bool {
	return r.Status >= 500 || r.Status == 0 && !r.Failure.Final()
}

// Delivered says whether the receiver took it: only a 2xx counts (spec §14.2).
func (r PushResult) Delivered() bool { return r.Status >= 200 && r.Status < 300 }

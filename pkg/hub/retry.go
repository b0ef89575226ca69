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

// DefaultRetry makes sixteen attempts over about five hours, and gives up after a day at the latest, however long a
// receiver asks to be left alone.
func DefaultRetry() RetryPolicy {
	return RetryPolicy{MaxAttempts: 16, First: 2 * time.Second, Longest: time.Hour, MaxDuration: 24 * time.Hour}
}

// Next returns when to try again after the attempt-th failure at now, or false when the policy is spent. Up to a quarter
// of the wait is added as jitter; askedFor is the receiver's Retry-After, honoured where it is longer.
func (p RetryPolicy) Next(attempt int, began, now time.Time, askedFor time.Duration) (time.Time, bool) {
	if attempt >= p.MaxAttempts {
		return time.Time{}, false
	}
	wait := min(p.First<<min(attempt-1, 20), p.Longest)
	wait += time.Duration(rand.Int64N(int64(wait)/4 + 1)) //nolint:gosec // jitter needs no secrecy
	next := now.Add(max(wait, askedFor))
	return next, next.Sub(began) <= p.MaxDuration
}

// Retryable says whether an attempt with this result may be made again: after 5xx and network errors, never after 4xx
// or a refusal (spec §8.3).
func (r PushResult) Retryable() bool {
	return r.Status >= 500 || r.Status == 0 && r.Failure != FailureRefused
}

// Delivered says whether the receiver took it: only a 2xx counts (spec §14.2).
func (r PushResult) Delivered() bool { return r.Status >= 200 && r.Status < 300 }

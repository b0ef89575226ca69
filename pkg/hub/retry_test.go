package hub_test

import (
	"math"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// draws is how often a case with jitter is drawn.
const draws = 200

var resolvedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestRetryPolicyNext walks through the attempts of policies: each wait lies between the doubled one, capped, and a
// quarter more, and the jitter makes them differ.
func TestRetryPolicyNext(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]hub.RetryPolicy{
		"default": hub.DefaultRetry(),
		"short":   {MaxAttempts: 3, First: 8 * time.Millisecond, Longest: 10 * time.Millisecond, MaxDuration: time.Hour},
		"endless": {MaxAttempts: 1000, First: time.Second, Longest: time.Minute, MaxDuration: 1 << 60},
	} {
		least := p.First
		for attempt := 1; attempt < p.MaxAttempts; attempt++ {
			seen := map[time.Duration]bool{}
			for range draws {
				next, ok := p.Next(attempt, resolvedAt, resolvedAt, 0)
				wait := next.Sub(resolvedAt)
				if !ok || wait < least || wait > least+least/4 {
					t.Fatalf("%s: Next(%d) = %v, %t, want %v to a quarter more", name, attempt, wait, ok, least)
				}
				seen[wait] = true
			}
			if len(seen) < draws/2 {
				t.Errorf("%s: Next(%d) drew %d waits in %d", name, attempt, len(seen), draws)
			}
			least = min(2*least, p.Longest)
		}
		for _, attempt := range []int{p.MaxAttempts, p.MaxAttempts + 1, 1 << 30} {
			if next, ok := p.Next(attempt, resolvedAt, resolvedAt, 0); ok {
				t.Errorf("%s: Next(%d) of %d = %v, want none", name, attempt, p.MaxAttempts, next)
			}
		}
	}
}

func TestRetryPolicyHonoursWhatTheReceiverAsksFor(t *testing.T) {
	t.Parallel()
	p := hub.DefaultRetry()
	for range draws {
		for _, c := range []struct{ asked, least, most time.Duration }{
			{0, p.First, p.First + p.First/4},
			{-time.Hour, p.First, p.First + p.First/4},
			{time.Millisecond, p.First, p.First + p.First/4}, // shorter than ours
			{time.Minute, time.Minute, time.Minute},
			{p.Longest, p.Longest, p.Longest}, // the cap is of our own waits
		} {
			next, ok := p.Next(1, resolvedAt, resolvedAt, c.asked)
			if wait := next.Sub(resolvedAt); !ok || wait < c.least || wait > c.most {
				t.Fatalf("Next asked for %v = %v, %t, want %v to %v", c.asked, wait, ok, c.least, c.most)
			}
		}
	}
}

func TestRetryPolicyIsSpentByDuration(t *testing.T) {
	t.Parallel()
	p := hub.DefaultRetry()
	for _, c := range []struct {
		since, asked time.Duration
		want         bool
	}{
		{0, 0, true},
		{p.MaxDuration - 2*p.First, 0, true},
		{p.MaxDuration - p.First/2, 0, false},
		{p.MaxDuration, 0, false},
		{0, p.MaxDuration, true},
		{time.Second, p.MaxDuration, true}, // what is asked for never leads beyond
		{p.MaxDuration - time.Hour, time.Hour, true},
		{-time.Minute, 0, true}, // a clock that was set back
	} {
		now := resolvedAt.Add(c.since)
		if next, ok := p.Next(1, resolvedAt, now, c.asked); ok != c.want {
			t.Errorf("Next after %v, asked for %v = %v, %t, want %t", c.since, c.asked, next, ok, c.want)
		}
	}
}

// TestNoReceiverCostsThePolicyAnAttempt: whatever is asked for, each time or now and then, all attempts are made in time,
// and none sooner than the policy's own wait.
func TestNoReceiverCostsThePolicyAnAttempt(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]hub.RetryPolicy{
		"default": hub.DefaultRetry(),
		"short":   {MaxAttempts: 8, First: 200 * time.Millisecond, Longest: 600 * time.Millisecond, MaxDuration: time.Minute},
		"tight":   {MaxAttempts: 5, First: time.Second, Longest: time.Hour, MaxDuration: 19 * time.Second}, // 15 s and a quarter
		"long":    {MaxAttempts: 5, First: 3 * time.Hour, Longest: 1000 * time.Hour, MaxDuration: 1 << 62},
	} {
		for _, asked := range []time.Duration{math.MinInt64, -1, 0, time.Minute, p.Longest, p.MaxDuration, math.MaxInt64} {
			for every := 1; every <= 3; every++ {
				now, own := resolvedAt, p.First
				for attempt := 1; attempt < p.MaxAttempts; attempt++ {
					asks := time.Duration(0)
					if attempt%every == 0 {
						asks = asked
					}
					next, ok := p.Next(attempt, resolvedAt, now, asks)
					if !ok || next.Sub(now) < own || next.Sub(resolvedAt) > p.MaxDuration {
						t.Fatalf("%s: Next(%d) after %v, asked for %v = %v more, %t", name, attempt, now.Sub(resolvedAt), asks, next.Sub(now), ok)
					}
					now, own = next, min(2*own, p.Longest)
				}
			}
		}
	}
}

// TestWhatIsAskedForIsHonouredWhileThereIsTime: by default, an hour at the first attempt is.
func TestWhatIsAskedForIsHonouredWhileThereIsTime(t *testing.T) {
	t.Parallel()
	p := hub.DefaultRetry()
	if next, ok := p.Next(1, resolvedAt, resolvedAt, ma2h.MaxRetryAfter); !ok || next.Sub(resolvedAt) != ma2h.MaxRetryAfter {
		t.Errorf("Next asked for %v = %v, %t", ma2h.MaxRetryAfter, next.Sub(resolvedAt), ok)
	}
}

// TestWhatIsTriedAgain tells each result of an attempt apart: delivered, worth another attempt, or neither.
func TestWhatIsTriedAgain(t *testing.T) {
	t.Parallel()
	const delivered, again, final = "delivered", "again", "final"
	want := func(r hub.PushResult, want string) {
		t.Helper()
		got := final
		switch {
		case r.Delivered() && r.Retryable():
			got = "both"
		case r.Delivered():
			got = delivered
		case r.Retryable():
			got = again
		}
		if got != want {
			t.Errorf("%+v is %s, want %s", r, got, want)
		}
	}
	for status := 100; status < 600; status++ {
		switch {
		case status >= 500:
			want(hub.PushResult{Status: status}, again)
		case status >= 200 && status < 300:
			want(hub.PushResult{Status: status}, delivered)
		default: // 4xx above all, and redirects
			want(hub.PushResult{Status: status, RetryAfter: time.Second}, final)
		}
	}
	want(hub.PushResult{Failure: hub.FailureNetwork}, again)
	want(hub.PushResult{Failure: hub.FailureGuarded}, again)
	want(hub.PushResult{Failure: hub.FailureRefused}, final)
}

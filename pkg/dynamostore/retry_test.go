package dynamostore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// spend waits with one retry until it gives up, and returns after how long, how many tries, and why. Each try takes as long
// as given.
func spend(ctx context.Context, try time.Duration, cause error) (time.Duration, int, error) {
	began := time.Now()
	for r := (retry{}); ; {
		time.Sleep(try) // the bubble's clock: nobody waits
		if err := r.wait(ctx, cause); err != nil {
			return time.Since(began), r.made, err
		}
	}
}

func TestPatienceEndsBeforeAGatewayGivesUp(t *testing.T) {
	t.Parallel()
	cause := errors.New("throttled")
	for range 20 {
		for _, try := range []time.Duration{0, 5 * time.Millisecond, 2 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				took, tries, err := spend(t.Context(), try, cause)
				if took < 5*time.Second || took > patience+2*try || tries > mostTries || !errors.Is(err, cause) {
					t.Errorf("%d tries of %v ended after %v with %v, want at most %d in about %v, with %v",
						tries, try, took, err, mostTries, patience, cause)
				}
			})
		}
	}
}

// TestSomeTimeIsLeftBeforeADeadline: whoever asked can still answer that it did not work.
func TestSomeTimeIsLeftBeforeADeadline(t *testing.T) {
	t.Parallel()
	cause := errors.New("throttled")
	for _, left := range []time.Duration{time.Millisecond, 3 * time.Second, 10 * time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			took, tries, err := spend(ctx, time.Microsecond, cause)
			if took > min(left*9/10, patience)+time.Millisecond || tries > mostTries || !errors.Is(err, cause) || ctx.Err() != nil {
				t.Errorf("with %v left %d tries ended after %v with %v", left, tries, took, err)
			}
			if left > time.Second && tries < 5 {
				t.Errorf("with %v left there were %d tries only", left, tries)
			}
		})
	}
}

func TestWhoHasGoneIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	cause := errors.New("throttled")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		took, _, err := spend(ctx, time.Millisecond, cause)
		if took > 3*time.Second+time.Millisecond || !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("tries ended after %v with %v, want after 3 s", took, err)
		}
	})
}

// TestProgressBeginsThePatienceAnew is about a read of many pages, each of which may be refused for a while.
func TestProgressBeginsThePatienceAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := retry{}
		for range 10 {
			for began := time.Now(); time.Since(began) < 5*time.Second; {
				if err := r.wait(t.Context(), nil); err != nil {
					t.Fatalf("wait = %v, want another try", err)
				}
			}
			r.reset()
		}
	})
}

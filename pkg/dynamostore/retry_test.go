package dynamostore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// spend waits with one retry until it gives up, and returns after how long and why. Each try takes as long as given.
func spend(ctx context.Context, try time.Duration, cause error) (time.Duration, error) {
	began := time.Now()
	for r := (retry{}); ; {
		time.Sleep(try) // the bubble's clock: nobody waits
		if err := r.wait(ctx, cause); err != nil {
			return time.Since(began), err
		}
	}
}

func TestPatienceEndsBeforeAGatewayGivesUp(t *testing.T) {
	t.Parallel()
	cause := errors.New("throttled")
	for _, try := range []time.Duration{0, 5 * time.Millisecond, 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			took, err := spend(t.Context(), try, cause)
			if took < 15*time.Second || took > 25*time.Second || !errors.Is(err, cause) {
				t.Errorf("tries of %v ended after %v with %v, want after about 20 s with %v", try, took, err, cause)
			}
		})
	}
}

func TestADeadlineBoundsThePatience(t *testing.T) {
	t.Parallel()
	cause := errors.New("throttled")
	for _, left := range []time.Duration{time.Millisecond, 3 * time.Second, 28 * time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			took, err := spend(ctx, time.Millisecond, cause)
			if took < left || took > left+time.Millisecond ||
				!errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cause) {
				t.Errorf("tries ended after %v with %v, want after %v with the deadline and %v", took, err, left, cause)
			}
		})
	}
}

// TestProgressBeginsThePatienceAnew is about a read of many pages, each of which may be refused for a while.
func TestProgressBeginsThePatienceAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := retry{}
		for range 10 {
			for began := time.Now(); time.Since(began) < 15*time.Second; {
				if err := r.wait(t.Context(), nil); err != nil {
					t.Fatalf("wait = %v, want another try", err)
				}
			}
			r.reset()
		}
	})
}

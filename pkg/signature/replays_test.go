package signature_test

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/signature"
)

func TestADeliveryIsAcceptedOnceWithinTwoWindows(t *testing.T) {
	t.Parallel()
	now := time.Unix(1790000000, 0)
	r := signature.Replays{Now: func() time.Time { return now }}
	for i := range 3 { // wherever in a generation it falls
		now = now.Add(time.Duration(i) * 100 * time.Second)
		nonce := strconv.Itoa(i)
		if err := r.Add(nonce); err != nil {
			t.Fatalf("Add(%s) = %v, want nil", nonce, err)
		}
		began := now
		for _, later := range []time.Duration{0, time.Second, signature.Window, 2 * signature.Window} {
			now = began.Add(later)
			if err := r.Add(nonce); !errors.Is(err, signature.ErrReplayed) {
				t.Errorf("Add(%s) again after %v = %v, want %v", nonce, later, err, signature.ErrReplayed)
			}
		}
	}
}

func TestNoncesAreForgottenInTheEnd(t *testing.T) {
	t.Parallel()
	now := time.Unix(1790000000, 0)
	r := signature.Replays{TTL: time.Minute, Now: func() time.Time { return now }}
	if err := r.Add("a"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Minute)
	if err := r.Add("a"); err != nil {
		t.Errorf("Add after two TTLs = %v, want nil", err)
	}
}

func TestOfManyAtOnceOneIsAccepted(t *testing.T) {
	t.Parallel()
	var r signature.Replays
	var accepted atomic.Int32
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			if r.Add("same") == nil {
				accepted.Add(1)
			}
		})
	}
	group.Wait()
	if got := accepted.Load(); got != 1 {
		t.Errorf("%d of 32 deliveries with one nonce were accepted, want 1", got)
	}
}

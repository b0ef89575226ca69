package signature

import (
	"sync"
	"time"
)

// Replays remembers the nonces of deliveries that were accepted, so that none is accepted twice (spec §9.2, §9.7). The
// zero value is ready to use. It is safe for concurrent use, and holds no nonce for longer than two TTLs.
type Replays struct {
	// TTL is how long a nonce is remembered at least; zero means twice Window. A signature may be a window ahead of this
	// clock when it comes and is good until a window after, so anything below twice the window leaves a gap.
	TTL time.Duration

	Now func() time.Time // nil means time.Now

	mu          sync.Mutex
	young, aged map[string]struct{}
	since       time.Time // when young began
}

// Add remembers a nonce. It returns ErrReplayed if it is remembered already.
func (r *Replays) Add(nonce string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn()
	_, young := r.young[nonce]
	_, aged := r.aged[nonce]
	if young || aged {
		return ErrReplayed
	}
	r.young[nonce] = struct{}{}
	return nil
}

// turn begins a new generation when the young one is a TTL old, and drops both when nothing came for two.
func (r *Replays) turn() {
	now, ttl := time.Now, r.TTL
	if r.Now != nil {
		now = r.Now
	}
	if ttl <= 0 {
		ttl = 2 * Window
	}
	t := now()
	age := t.Sub(r.since)
	if r.young != nil && age < ttl {
		return
	}
	if r.aged = r.young; age >= 2*ttl {
		r.aged = nil
	}
	r.young, r.since = map[string]struct{}{}, t
}

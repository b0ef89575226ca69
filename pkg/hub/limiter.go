package hub

import (
	"sync"
	"time"
)

// limiter holds what bounds an agent's submits in this process: a token bucket, and recent counts of its open messages and of
// what waits in a lane (spec §8.6). None is exact over several processes, or needs to be.
type limiter struct {
	mu     sync.Mutex
	agents map[string]*usage
}

type usage struct {
	tokens    float64
	filledAt  time.Time
	open      int // as last counted, and what was accepted since
	added     int // of that, into a lane
	countedAt time.Time
	notedAt   time.Time // when a refusal was last noted for people
}

// depthFreshness is how long a count of open messages is trusted.
const depthFreshness = 5 * time.Second

// maxTracked bounds the agents that are remembered; beyond it everyone begins anew.
const maxTracked = 100_000

func newLimiter() *limiter { return &limiter{agents: map[string]*usage{}} }

func (l *limiter) of(agent string) *usage {
	u := l.agents[agent]
	if u == nil {
		if len(l.agents) >= maxTracked {
			clear(l.agents)
		}
		u = &usage{}
		l.agents[agent] = u
	}
	return u
}

// burst is how many submits may come at once: those of ten seconds, and at least ten.
func burst(perMinute int) float64 { return max(float64(perMinute)/6, 10) }

// take removes one token, or says how long to wait for one.
func (l *limiter) take(agent string, perMinute int, now time.Time) (wait time.Duration, ok bool) {
	if perMinute <= 0 {
		return 0, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(agent)
	if u.filledAt.IsZero() {
		u.tokens, u.filledAt = burst(perMinute), now
	}
	perSecond := float64(perMinute) / 60
	u.tokens = min(u.tokens+max(now.Sub(u.filledAt).Seconds(), 0)*perSecond, burst(perMinute))
	u.filledAt = now
	if u.tokens < 1 {
		return time.Duration((1 - u.tokens) / perSecond * float64(time.Second)), false
	}
	u.tokens--
	return 0, true
}

// notes says whether a refusal is to be noted now: this process has not noted one of these within a minute.
func (l *limiter) notes(agent string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(agent)
	if !u.notedAt.IsZero() && now.Sub(u.notedAt).Abs() < limitedApart {
		return false
	}
	u.notedAt = now
	return true
}

// depth returns the known count of an agent's open messages, and whether it is fresh.
func (l *limiter) depth(agent string, now time.Time) (open int, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(agent)
	return u.open, now.Sub(u.countedAt).Abs() < depthFreshness
}

// counted notes a fresh count.
func (l *limiter) counted(agent string, open int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(agent)
	u.open, u.countedAt, u.added = open, now, 0
}

// mustCount says whether the entries of a lane are to be counted: this process has put a tenth of the limit there since it last
// did, or the lane was full a while ago.
func (l *limiter) mustCount(lane string, limit int, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(lane)
	if u.open >= limit {
		return now.Sub(u.countedAt).Abs() >= depthFreshness
	}
	return u.added > limit/10
}

// fits says whether one more entry fits into a lane, and counts it.
func (l *limiter) fits(lane string, limit int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.of(lane)
	if u.open >= limit {
		return false
	}
	u.open, u.added = u.open+1, u.added+1
	return true
}

// opened counts one more message that was accepted.
func (l *limiter) opened(agent string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(agent).open++
}

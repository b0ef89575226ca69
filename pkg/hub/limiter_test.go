package hub

import (
	"fmt"
	"testing"
	"time"
)

var then = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// taken returns how many tokens an agent gets at now before it is told to wait, and for how long.
func taken(l *limiter, agent string, perMinute int, now time.Time) (n int, wait time.Duration) {
	for {
		wait, ok := l.take(agent, perMinute, now)
		if !ok {
			return n, wait
		}
		n++
	}
}

func TestTheBucketHoldsABurstAndFillsAtTheRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perMinute, burst int
		wait             time.Duration // for the next one
	}{
		{1, 10, time.Minute},
		{6, 10, 10 * time.Second},
		{60, 10, time.Second},
		{120, 20, 500 * time.Millisecond},
		{6000, 1000, 10 * time.Millisecond},
	} {
		l, now := newLimiter(), then
		if n, wait := taken(l, "a", c.perMinute, now); n != c.burst || wait.Round(time.Microsecond) != c.wait {
			t.Errorf("at %d a minute %d at once, then wait %v, want %d and %v", c.perMinute, n, wait, c.burst, c.wait)
		}
		now = now.Add(c.wait / 2)
		if n, wait := taken(l, "a", c.perMinute, now); n != 0 || wait.Round(time.Microsecond) != c.wait/2 {
			t.Errorf("at %d a minute, half-way: %d, then wait %v, want 0 and %v", c.perMinute, n, wait, c.wait/2)
		}
		now = now.Add(c.wait/2 + time.Microsecond)
		if n, _ := taken(l, "a", c.perMinute, now); n != 1 {
			t.Errorf("at %d a minute, after the wait: %d, want 1", c.perMinute, n)
		}
		if n, _ := taken(l, "a", c.perMinute, now.Add(24*time.Hour)); n != c.burst {
			t.Errorf("at %d a minute, a day later: %d, want no more than %d", c.perMinute, n, c.burst)
		}
	}
}

func TestWhoWaitsAsToldIsServed(t *testing.T) {
	t.Parallel()
	l, now := newLimiter(), then
	for i := range 1000 {
		wait, ok := l.take("a", 37, now)
		if ok {
			continue
		}
		now = now.Add(wait + time.Microsecond) // for what a float64 loses
		if _, ok := l.take("a", 37, now); !ok {
			t.Fatalf("submit %d was refused after the wait that was asked for", i)
		}
	}
	if took, least := now.Sub(then), 26*time.Minute; took < least || took > 27*time.Minute {
		t.Errorf("1000 submits at 37 a minute took %v, want about %v", took, least)
	}
}

func TestOneAgentsSubmitsAreNoOthers(t *testing.T) {
	t.Parallel()
	l := newLimiter()
	for _, agent := range []string{"a", "b"} {
		if n, _ := taken(l, agent, 60, then); n != 10 {
			t.Errorf("agent %s: %d at once, want 10", agent, n)
		}
	}
}

func TestWithoutARateNobodyWaits(t *testing.T) {
	t.Parallel()
	l := newLimiter()
	for _, perMinute := range []int{0, -1} {
		for range 1000 {
			if wait, ok := l.take("a", perMinute, then); !ok || wait != 0 {
				t.Fatalf("take at %d a minute = %v, %t, want no wait", perMinute, wait, ok)
			}
		}
	}
	if len(l.agents) > 0 {
		t.Errorf("%d agents are remembered, for nothing", len(l.agents))
	}
}

func TestAClockSetBackCostsNobodyTheRate(t *testing.T) {
	t.Parallel()
	l := newLimiter()
	taken(l, "a", 60, then)
	back := then.Add(-time.Hour)
	if n, wait := taken(l, "a", 60, back); n != 0 || wait > time.Second+time.Microsecond {
		t.Errorf("after the clock was set back: %d, then wait %v, want 0 and a second", n, wait)
	}
	if n, _ := taken(l, "a", 60, back.Add(time.Second+time.Microsecond)); n != 1 {
		t.Errorf("a second after the clock was set back: %d, want 1", n)
	}
}

func TestACountOfOpenMessagesIsTrustedForAWhile(t *testing.T) {
	t.Parallel()
	l := newLimiter()
	if open, fresh := l.depth("a", then); open != 0 || fresh {
		t.Errorf("depth that nobody counted = %d, fresh: %t", open, fresh)
	}
	l.counted("a", 7, then)
	l.opened("a")
	l.opened("a")
	l.opened("b")
	for later, want := range map[time.Duration]bool{
		0: true, depthFreshness - 1: true, depthFreshness: false, time.Hour: false, -depthFreshness: false,
	} {
		if open, fresh := l.depth("a", then.Add(later)); open != 9 || fresh != want {
			t.Errorf("depth after %v = %d, fresh: %t, want 9, %t", later, open, fresh, want)
		}
	}
	if open, fresh := l.depth("b", then); open != 1 || fresh {
		t.Errorf("depth of another = %d, fresh: %t", open, fresh)
	}
	l.counted("a", 3, then.Add(time.Hour))
	if open, fresh := l.depth("a", then.Add(time.Hour)); open != 3 || !fresh {
		t.Errorf("depth counted anew = %d, fresh: %t, want 3", open, fresh)
	}
}

// TestAgentsThatAreRememberedAreBounded makes room for everybody at the price of a new burst for all.
func TestAgentsThatAreRememberedAreBounded(t *testing.T) {
	t.Parallel()
	l := newLimiter()
	for i := range maxTracked {
		l.opened(fmt.Sprint(i))
	}
	if len(l.agents) != maxTracked {
		t.Fatalf("%d agents are remembered, want %d", len(l.agents), maxTracked)
	}
	l.opened("0") // a known one needs no room
	if len(l.agents) != maxTracked {
		t.Errorf("%d agents are remembered after a known one, want %d", len(l.agents), maxTracked)
	}
	l.opened("one more")
	if len(l.agents) != 1 {
		t.Errorf("%d agents are remembered after one more, want 1", len(l.agents))
	}
}

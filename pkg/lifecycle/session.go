package lifecycle

import (
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// The states of presence (spec §15.2).
const (
	Online  = "online"
	Offline = "offline"
	Unknown = "unknown"
)

// Ended says whether a session is past every transition of spec §16.3.
func Ended(s ma2h.SessionState) bool { return s == ma2h.SessionClosed || s == ma2h.SessionExpired }

// Lease returns how long a session's lease lasts: what was asked for, or else the hub's own choice, within the bounds that
// the hub has (spec §16.1).
func Lease(asked, otherwise, least, most time.Duration) time.Duration {
	if asked <= 0 {
		asked = otherwise
	}
	return max(min(asked, most), least)
}

// Presence returns what a last sign of life means at now, when it is fresh for window (spec §15.2). A zero time is none.
func Presence(seen, now time.Time, window time.Duration) string {
	switch {
	case seen.IsZero():
		return Unknown
	case now.Sub(seen) <= window:
		return Online
	default:
		return Offline
	}
}

// Hold returns for how long a stream may be held from now on under a lease that ends at end: at most most, and not until
// the lease ends but a margin before that, so that whoever connects again at once is in time (spec §8.7.2). The margin is a
// quarter of what is left of the lease, and at most 5 seconds.
func Hold(end, now time.Time, most time.Duration) time.Duration {
	left := max(end.Sub(now), 0)
	return min(most, left-min(left/4, 5*time.Second))
}

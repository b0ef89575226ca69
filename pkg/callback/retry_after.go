package callback

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest that a receiver can ask to be left alone.
const MaxRetryAfter = time.Hour

// retryAfter reads a Retry-After header: seconds, or an HTTP date (RFC 9110 §10.2.3). What it cannot read is 0.
func (p *Pusher) retryAfter(s string) time.Duration {
	s = strings.TrimSpace(s)
	if seconds, err := strconv.ParseUint(s, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, MaxRetryAfter)
	}
	at, err := http.ParseTime(s)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(p.now()), 0), MaxRetryAfter)
}

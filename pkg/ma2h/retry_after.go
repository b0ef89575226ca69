package ma2h

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest that RetryAfter returns: a mistaken header stops nobody for good.
const MaxRetryAfter = time.Hour

// RetryAfter reads a Retry-After header as seen at now: whole seconds, or an HTTP date (RFC 9110 §10.2.3). It returns
// between 0 and MaxRetryAfter; 0 is also what becomes of a header that is missing, past or unreadable.
func RetryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	seconds, err := strconv.ParseUint(header, 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		return MaxRetryAfter
	}
	if err == nil {
		return min(time.Duration(seconds)*time.Second, MaxRetryAfter)
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), MaxRetryAfter)
}

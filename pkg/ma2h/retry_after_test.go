package ma2h_test

import (
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header string
		want   time.Duration
	}{
		{"", 0},
		{"0", 0},
		{"7", 7 * time.Second},
		{" 7\t", 7 * time.Second},
		{"3600", ma2h.MaxRetryAfter},
		{"3601", ma2h.MaxRetryAfter},
		{"99999999999999999999999", ma2h.MaxRetryAfter},
		{"-7", 0},
		{"+7", 0},
		{"1.5", 0},
		{"1_0", 0},
		{"7, 8", 0},
		{"soon", 0},
		{"Sun, 01 Mar 2026 10:01:30 GMT", 90 * time.Second},
		{"Sunday, 01-Mar-26 10:01:30 GMT", 90 * time.Second},
		{"Sun Mar  1 10:01:30 2026", 90 * time.Second},
		{"Sun, 01 Mar 2026 10:00:00 GMT", 0},
		{"Sun, 01 Mar 2026 09:00:00 GMT", 0},
		{"Sun, 01 Mar 2099 09:00:00 GMT", ma2h.MaxRetryAfter},
		{"Sun, 01 Mar 0001 09:00:00 GMT", 0},
		{"2026-03-01T10:01:30Z", 0},
	} {
		if got := ma2h.RetryAfter(c.header, now); got != c.want {
			t.Errorf("RetryAfter(%q) = %v, want %v", c.header, got, c.want)
		}
	}
}

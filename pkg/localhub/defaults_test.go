package localhub_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

func TestB32_TheCapIsAtMostAMinute(t *testing.T) {
	onStores(t, func(*hub.Settings) {}, nil, func(s *server) {
		if most := s.hub.Settings.MaxWait; most <= 0 || most > time.Minute {
			s.t.Errorf("MaxWait = %s, want more than 0 and at most 1 m", most)
		}
	})
}

func TestB78_TheDefaultPolicyMakesAtLeastFiveAttempts(t *testing.T) {
	onStores(t, func(*hub.Settings) {}, nil, func(s *server) {
		capability := s.send("GET", "/.well-known/ma2h", "", nil, http.StatusOK)
		if n, _ := capability.at("callback_retry", "max_attempts").(float64); n < 5 {
			s.t.Errorf("max_attempts = %v, want at least 5", n)
		}
		now := time.Now()
		last := time.Duration(0)
		for attempt := 1; attempt <= 4; attempt++ {
			next, ok := s.hub.Settings.Retry.Next(attempt, now, now, 0)
			if wait := next.Sub(now); !ok || wait <= last {
				s.t.Errorf("after attempt %d: %s, %t; want longer than %s and another", attempt, wait, ok, last)
			} else {
				last = wait
			}
		}
	})
}

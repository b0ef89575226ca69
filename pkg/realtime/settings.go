package realtime

import (
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

// Settings returns the settings of the test stage. They differ from the defaults where a test would have to wait long or
// send much: windows and timeouts are a few seconds, limits are small. The base URL is the deployment's.
func Settings() hub.Settings {
	s := hub.DefaultSettings()
	s.MaxWait, s.StreamMaxHold = 3*time.Second, 3*time.Second
	s.Retry = hub.RetryPolicy{
		MaxAttempts: 8, First: 200 * time.Millisecond, Longest: 600 * time.Millisecond, MaxDuration: time.Minute,
	}
	s.VisibilityTimeout, s.Freshness, s.MinTTL = 3*time.Second, 3*time.Second, 3*time.Second
	s.TerminalRetention = 20 * time.Second
	s.InboxDepth = 30
	s.RequestsPerMinute = 360 // 60 at once: enough for any agent of a test, and soon exceeded by one that means to
	return s
}

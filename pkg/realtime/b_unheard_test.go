package realtime_test

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// TestB30_B32_AWaitThatNobodyHearsHidesNothing: an answer to a client that went away counts as delivered where nobody is
// told so, and is given again all the same.
func TestB30_B32_AWaitThatNobodyHearsHidesNothing(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		ctx, hangUp := context.WithCancel(context.Background())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/messages/"+id+"?wait=3600", nil)
			if err != nil {
				s.t.Error(err)
				return
			}
			req.Header.Set("Authorization", "Bearer "+bot.token)
			if resp, err := s.client.Do(req); err == nil {
				_ = resp.Body.Close()
			}
		}()
		bot.pull(id, "?wait=0.5").is(http.StatusOK) // the longer wait has begun by its end
		hangUp()
		<-gone
		s.owner.answers(id, "approve").is(http.StatusOK)
		// Whether the wait has counted itself as a delivery or not: it was none.
		since := "?since=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		for range 3 {
			bot.pull(id, since).is(http.StatusOK).shows("/status", "answered", "/response/response/value", "approve")
		}
	})
}

package realtime_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// unseen is how long after the end of a lease its mail may still wait that nobody looks at: far less than a sweep takes.
const unseen = 15 * time.Second

// TestLease_ItsEndIsNoticedWhereNobodyLooks: the sender, who drains and asks for nothing, is told of the bounce soon (spec §14.2,
// §16.3).
func TestLease_ItsEndIsNoticedWhereNobodyLooks(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, sender := s.agent("bot"), s.agent("sender")
		s.owner.call(endpoint.SettingsPut, doc{"inter_agent_enabled": true}).is(http.StatusNoContent)
		own := sender.call(endpoint.SessionAdd, doc{"ttl_seconds": 900}).is(http.StatusCreated).str("/session/id")
		made := bot.call(endpoint.SessionAdd, doc{"ttl_seconds": 3}).is(http.StatusCreated)
		ends, _ := ma2h.ParseTime(made.str("/session/expires_at"))
		to := bot.actor + "#" + made.str("/session/id")
		sender.submit(s.notify(set("/to", to), set("/agent/session", own))).is(http.StatusAccepted)
		s.until("the sender is told", func() bool {
			list, _ := sender.get("/v1/inbox?wait=3&session=" + own).is(http.StatusOK).at("/messages").([]any)
			return len(list) > 0 && lookUp(list[0], "/receipt/event") == "bounced"
		})
		if late := time.Since(ends); late > unseen {
			s.t.Errorf("the sender is told %v after the end of the lease, want %v at most", late, unseen)
		} else {
			s.t.Logf("told %v after the end of the lease", late)
		}
	})
}

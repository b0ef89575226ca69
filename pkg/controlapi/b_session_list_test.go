package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB65_TheScopeSaysWhatWasApplied(t *testing.T) {
	for name, c := range map[string]struct {
		config doc
		scope  string
	}{
		"as it is":             {doc{}, "own"},
		"visible":              {doc{"agent_list_visibility": true}, "account"},
		"visible, yet not all": {doc{"agent_list_visibility": true, "session_list_scope": "own"}, "own"},
		"all, said twice":      {doc{"agent_list_visibility": true, "session_list_scope": "account"}, "account"},
	} {
		t.Run(name, func(t *testing.T) {
			onStoresWith(t, c.config, func(_ *testing.T, s *suite) {
				s.owns("alice", "bot", "sibling")
				s.owns("bob", "stranger")
				bot, sibling, stranger := s.agent("bot"), s.agent("sibling"), s.agent("stranger")
				own := bot.registers(nil)
				s.later(time.Second)
				other := sibling.registers(nil)
				s.later(time.Second)
				foreign := stranger.registers(nil)

				want := map[string][]string{"own": {own}, "account": {other, own}}[c.scope]
				scope, ids := bot.sessions()
				same(s.t, "scope and sessions", append([]string{scope}, ids...), append([]string{c.scope}, want...))
				s.send(request{method: "GET", path: "/.well-known/ma2h"}).
					shows("/sessions/agent_list_visibility", c.config["agent_list_visibility"] == true)
				if c.scope == "account" {
					bot.reads(other).is(http.StatusOK).shows("/session/agent_id", "sibling", "/session/last_seen", stamp(noon.Add(time.Second)))
				} else {
					bot.reads(other).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
				}
				// Whatever is listed, it is for the owning agent alone to close, and nothing leaves the account.
				bot.closes(other).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
				bot.holdBound(other).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
				bot.reads(foreign).refused(http.StatusNotFound, ma2h.CodeNotFound, "")

				scope, ids = s.person("alice").sessions()
				same(s.t, "what a person is shown", append([]string{scope}, ids...), []string{"account", other, own})
			})
		})
	}
}

func TestB65_OwnSessionsAreAlwaysListed(t *testing.T) {
	onStoresWith(t, doc{"max_live_per_agent": 3}, func(_ *testing.T, s *suite) {
		bot := s.agent("bot") // nobody's
		scope, ids := bot.sessions()
		same(s.t, "before there are any", append(ids, scope), []string{"own"})
		closed := bot.registers(nil)
		bot.closes(closed).is(http.StatusOK)
		lapsed := bot.registers(doc{"ttl_seconds": 60})
		s.at(2 * time.Minute)
		first := bot.registers(nil)
		s.later(time.Second)
		second := bot.registers(nil)
		_, ids = bot.sessions()
		same(s.t, "the sessions, those that live first", ids, []string{second, first, lapsed, closed})
		// Which is how a restarted agent finds what is in its way.
		for _, id := range ids {
			bot.closes(id).is(http.StatusOK)
		}
	})
}

func TestB65_APersonOfNoAccountSeesNone(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.agent("bot").registers(nil)
		scope, ids := s.person("carol").sessions()
		same(s.t, "what is listed", append([]string{scope}, ids...), []string{"own"})
	})
}

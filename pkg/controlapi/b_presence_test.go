package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestB80_PresenceIsTheOwnersToRead(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "silent", "sibling")
		s.owns("bob", "stranger")
		bot, alice, bob := s.agent("bot"), s.person("alice"), s.person("bob")
		bot.registers(nil)
		s.agent("lost").registers(nil) // nobody's
		s.later(time.Second)

		alice.presence("bot").is(http.StatusOK).
			shows("", doc{"agent_id": "bot", "state": "online", "last_seen": stamp(noon), "freshness_seconds": 90})
		unknown := doc{"agent_id": "bot", "state": "unknown", "freshness_seconds": 90}
		bob.presence("bot").is(http.StatusOK).shows("", unknown)
		s.person("carol").presence("bot").is(http.StatusOK).shows("", unknown)
		for _, id := range []string{"silent", "nobody", "stranger", "lost", "bot#1"} {
			unknown["agent_id"] = id
			alice.presence(id).is(http.StatusOK).shows("", unknown)
		}
		for _, agent := range []*caller{bot, s.agent("sibling"), s.agent("stranger")} {
			agent.presence("bot").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		}
		s.send(request{method: "GET", path: "/v1/agents/bot/presence"}).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
		alice.send("GET", "/v1/agents/%FF/presence", nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
	})
}

func TestB80_AgentIDsAreReachedByTheirEncodedPath(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		ids := []string{
			"team/a b+c", "100%25/x", "a//b/../c", "é?q=1&x", "\u00e9", "e\u0301", "..", ".", "a/presence", "presence", "a/rotate", "sess:x",
		}
		s.owns("alice", ids...)
		alice := s.person("alice")
		for i, id := range ids {
			s.at(time.Duration(i) * time.Second)
			s.agent(id).registers(nil)
		}
		for i, id := range ids {
			path := "/v1/agents/" + encoded(id) + "/presence"
			alice.send("GET", path, nil).is(http.StatusOK).
				shows("/agent_id", id, "/state", "online", "/last_seen", stamp(noon.Add(time.Duration(i)*time.Second)))
		}
		alice.send("GET", "/v1/agents/team%252Fa%20b%2Bc/presence", nil).is(http.StatusOK). // is not decoded twice
													shows("/agent_id", "team%2Fa b+c", "/state", "unknown")
	})
}

// encoded encodes every byte of an id that is not a letter or a digit.
func encoded(id string) string {
	const digits = "0123456789ABCDEF"
	var b []byte
	for i := range len(id) {
		c := id[i]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(b)
}

// TestDP010_5_PresenceComesFromWhatAgentsDo anyway (spec §15.1).
func TestDP010_5_PresenceComesFromWhatAgentsDo(t *testing.T) {
	onStoresWith(t, doc{"freshness_seconds": 30, "stream_max_hold_seconds": 30}, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		ask := bot.accepted(s.ask())
		bot.get(ask)
		bot.send("GET", "/v1/me", nil).is(http.StatusOK)
		bot.send("GET", "/v1/messages/"+ask+"?wait=0", nil).is(http.StatusOK)
		bot.send("GET", "/v1/messages/msg_00000000000000000000000000?wait=1", nil).is(http.StatusNotFound)
		bot.sessions()
		alice.presence("bot").shows("/state", "unknown") // nobody was listening

		var session string
		now := time.Duration(0)
		for what, acts := range map[string]func(){
			"a drain":                func() { bot.send("GET", "/v1/inbox", nil).is(http.StatusOK) },
			"a pull that waits":      func() { bot.waitsFor(ask) },
			"a registration":         func() { session = bot.registers(nil) },
			"a session's drain":      func() { bot.send("GET", "/v1/inbox?session="+bot.registers(nil), nil).is(http.StatusOK) },
			"the end of one, itself": func() { bot.closes(bot.registers(nil)).is(http.StatusOK) },
		} {
			s.at(now)
			acts()
			seen := []any{"/last_seen", stamp(s.now), "/freshness_seconds", 30}
			s.at(now + 30*time.Second)
			alice.presence("bot").is(http.StatusOK).shows(append(seen, "/state", "online")...)
			s.later(time.Millisecond)
			alice.presence("bot").is(http.StatusOK).shows(append(seen, "/state", "offline")...)
			if s.t.Failed() {
				s.t.Fatalf("after %s", what)
			}
			now += time.Hour
		}
		// What a session did stays known when it has lapsed and is forgotten.
		s.at(now)
		session = bot.registers(doc{"ttl_seconds": 60})
		s.at(now + 72*time.Hour)
		s.settle(doc{"what": "sessions"})
		bot.reads(session).is(http.StatusNotFound)
		alice.presence("bot").shows("/state", "offline", "/last_seen", stamp(noon.Add(now)))
	})
}

func TestPresence_IsAdvertised(t *testing.T) {
	config := doc{
		"freshness_seconds": 45, "min_ttl_seconds": 5, "default_ttl_seconds": 6, "max_ttl_seconds": 7, "max_live_per_agent": 8,
		"terminal_retention_seconds": 9, "agent_list_visibility": true, "operator_hard_stop": true,
	}
	onStoresWith(t, config, func(_ *testing.T, s *suite) {
		s.send(request{method: "GET", path: "/.well-known/ma2h"}).is(http.StatusOK).
			shows("/presence", doc{"enabled": true, "freshness_seconds": 45}, "/sessions", doc{
				"enabled": true, "min_ttl_seconds": 5, "max_ttl_seconds": 7, "max_live_per_agent": 8,
				"terminal_retention_seconds": 9, "agent_list_visibility": true, "operator_hard_stop": true,
			})
	})
}

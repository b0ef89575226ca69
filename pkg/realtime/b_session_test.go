package realtime_test

import (
	"net/http"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// sessionsOf goes once through what there is of sessions and presence.
func (s *server) sessionsOf(bot *caller) {
	s.t.Helper()
	s.owner.call(endpoint.Presence, nil, bot.id).is(http.StatusOK).shows("/agent_id", bot.id)
	first := bot.call(endpoint.SessionAdd, doc{"label": "first"}).is(http.StatusCreated).str("/session/id")
	second := bot.call(endpoint.SessionAdd, nil).is(http.StatusCreated).str("/session/id")
	s.owner.call(endpoint.Presence, nil, bot.id).is(http.StatusOK).shows("/state", "online")
	bot.call(endpoint.SessionRead, nil, first).is(http.StatusOK).shows("/session/label", "first", "/session/state", "active")
	if list := bot.call(endpoint.SessionList, nil).is(http.StatusOK); !list.has("/sessions", "/id", first) || !list.has("/sessions", "/id", second) {
		s.t.Errorf("the agent's sessions are %v", list.json())
	}
	bot.call(endpoint.SessionClose, nil, first).is(http.StatusOK).shows("/session/state", "closed")
	s.owner.call(endpoint.AgentStop, doc{"agent": bot.id, "reason": "It runs in circles."}).is(http.StatusNoContent)
	bot.call(endpoint.SessionRead, nil, second).is(http.StatusOK).shows("/session/state", "closed", "/session/closed_by_operator", true)
	bot.call(endpoint.SessionAdd, nil).refused(http.StatusForbidden, ma2h.CodeSessionClosedByOperator, "")
	s.owner.call(endpoint.StopLift, doc{"agent": bot.id}).is(http.StatusNoContent)
	bot.call(endpoint.SessionAdd, nil).is(http.StatusCreated)
}

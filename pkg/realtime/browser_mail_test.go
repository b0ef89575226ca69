//go:build browser

package realtime_test

import (
	"net/http"
	"net/url"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// sampleRuns lets a sample agent run twice, and returns the page of the agent and the ids of its sessions.
func (s *server) sampleRuns() (path string, sessions []string) {
	s.t.Helper()
	bot := s.sampleAgent("deploybot/dev-team")
	for _, label := range []string{"night build", "release of 4.2"} {
		made := bot.call(endpoint.SessionAdd, doc{"label": label, "run_id": "run-88", "project": "shop"}).is(http.StatusCreated)
		sessions = append(sessions, made.str("/session/id"))
	}
	over := bot.call(endpoint.SessionAdd, doc{"label": "bench"}).is(http.StatusCreated).str("/session/id")
	bot.call(endpoint.SessionClose, nil, over).is(http.StatusOK)
	return s.sampleAgentPath(s.signedIn(), "deploybot/dev-team"), sessions
}

// stopScenes are the stop of an agent, the close of a session, and what is left.
func stopScenes() []scene {
	return []scene{
		{name: "agent-runs", route: "/agents/{ref}", set: func(s *server) string {
			path, _ := s.sampleRuns()
			return path
		}},
		{name: "agent-stop", route: "/agents/{ref}/stop", set: func(s *server) string {
			path, _ := s.sampleRuns()
			return path + "/stop"
		}},
		{name: "session-close", route: "/agents/{ref}/sessions/{session}/close", set: func(s *server) string {
			path, sessions := s.sampleRuns()
			return path + "/sessions/" + sessions[0] + "/close"
		}},
		{name: "agent-stopped", set: func(s *server) string {
			path, _ := s.sampleRuns()
			s.signedIn().post(path+"/stop", url.Values{"reason": {"It asks the planner the same thing over and over."}}).is(http.StatusSeeOther)
			return path
		}},
		{name: "agents-stopped", route: "/agents", set: func(s *server) string {
			path, _ := s.sampleRuns()
			s.sampleAgent("planner").call(endpoint.SessionAdd, doc{"label": "plans"}).is(http.StatusCreated)
			s.sampleAgent("crm-clerk")
			s.signedIn().post(path+"/stop", url.Values{}).is(http.StatusSeeOther)
			return "/agents"
		}},
	}
}

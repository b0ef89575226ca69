package httpapi

import (
	"net/http"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Sessions, and whether an agent is there (spec §15.3, §16).

// withLive authenticates the request, and brings along which sessions of the calling agent live and the records under also.
// Whether the agent is stopped stands there, too, so that it is known as soon as who calls is (spec §16.4.1).
func (s *Server) withLive(c *call, also ...record.Key) (*hub.Caller, error) {
	credential, err := auth.FromRequest(c.r)
	if err != nil {
		return nil, err
	}
	if !credential.Person {
		also = append(also, hub.LiveKey(credential.Ref))
	}
	return s.callerOf(c, credential, also...)
}

func (s *Server) sessionAdd(c *call) (any, error) {
	caller, err := s.withLive(c)
	if err != nil {
		return nil, err
	}
	body, invalid := ma2h.ReadRegister(c.body)
	if invalid != nil {
		return nil, invalid
	}
	c.status = http.StatusCreated
	return c.hub.Register(c.r.Context(), caller, body)
}

func (s *Server) sessionList(c *call) (any, error) {
	caller, err := s.withLive(c)
	if err != nil {
		return nil, err
	}
	return c.hub.ListSessions(c.r.Context(), caller)
}

func (s *Server) sessionRead(c *call) (any, error) {
	id := c.r.PathValue("id")
	caller, err := s.caller(c, c.hub.SessionKeys(id)...)
	if err != nil {
		return nil, err
	}
	return c.hub.SessionAt(c.r.Context(), caller, id)
}

func (s *Server) sessionClose(c *call) (any, error) {
	id := c.r.PathValue("id")
	caller, err := s.withLive(c, c.hub.SessionKeys(id)...)
	if err != nil {
		return nil, err
	}
	return c.hub.CloseSession(c.r.Context(), caller, id)
}

func (s *Server) presence(c *call) (any, error) {
	credential, invalid := auth.FromRequest(c.r)
	if invalid != nil {
		return nil, invalid
	}
	id := c.r.PathValue("agent")
	caller, err := s.callerOf(c, credential, c.hub.PresenceKeys(credential.Account, id)...)
	if err != nil {
		return nil, err
	}
	return c.hub.Presence(c.r.Context(), caller, id)
}

func (s *Server) agentStop(c *call) (any, error) {
	var body struct {
		Agent  string `json:"agent"`
		Reason string `json:"reason"`
	}
	caller, err := s.told(c, &body, "agent")
	if err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, c.hub.StopAgent(c.r.Context(), caller, body.Agent, body.Reason)
}

func (s *Server) stopLift(c *call) (any, error) {
	var body struct {
		Agent string `json:"agent"`
	}
	caller, err := s.told(c, &body, "agent")
	if err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, c.hub.LiftStop(c.r.Context(), caller, body.Agent)
}

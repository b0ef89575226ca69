package httpapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// The product's own endpoints, for people. Their bodies are closed: an unknown member is a validation_error.

// maxWaiting is how many messages a list of what waits holds.
const maxWaiting = 200

// LinkLifetime is how long a link that signs in may lie before it is used.
const LinkLifetime = 24 * time.Hour

// me says who the caller is. A tool that has nothing but a token learns from it the agent.id to send and whom to ask.
func (s *Server) me(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	return caller.Me(), nil
}

func (s *Server) waiting(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	list, err := c.hub.Waiting(c.r.Context(), caller, maxWaiting)
	if err != nil {
		return nil, err
	}
	return map[string][]hub.Summary{"waiting": list}, nil
}

func (s *Server) read(c *call) (any, error) {
	id := c.r.PathValue("id")
	caller, err := s.caller(c, c.hub.MessageKeys(id)...)
	if err != nil {
		return nil, err
	}
	m, err := c.hub.Read(c.r.Context(), caller, id)
	if err != nil {
		return nil, err
	}
	return m.Discreet(), nil
}

func (s *Server) agentList(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	list, err := c.hub.Agents(c.r.Context(), caller)
	if err != nil {
		return nil, err
	}
	return map[string][]hub.AgentView{"agents": list}, nil
}

func (s *Server) agentAdd(c *call) (any, error) {
	var body struct {
		ID string `json:"id"`
	}
	caller, err := s.told(c, &body, "id")
	if err != nil {
		return nil, err
	}
	c.status = http.StatusCreated
	return c.hub.AddAgent(c.r.Context(), caller, body.ID)
}

func (s *Server) agentRotate(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	c.status = http.StatusCreated
	return c.hub.RotateAgent(c.r.Context(), caller, c.r.PathValue("agent"))
}

func (s *Server) agentRevoke(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, c.hub.RevokeAgent(c.r.Context(), caller, c.r.PathValue("agent"))
}

func (s *Server) personList(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	people, invitations, err := c.hub.People(c.r.Context(), caller)
	if err != nil {
		return nil, err
	}
	return struct {
		People      []hub.PersonView     `json:"people"`
		Invitations []hub.InvitationView `json:"invitations"`
	}{people, invitations}, nil
}

func (s *Server) personInvite(c *call) (any, error) {
	body := struct {
		Name string   `json:"name"`
		Role hub.Role `json:"role"`
	}{Role: hub.RoleMember}
	caller, err := s.told(c, &body, "name")
	if err != nil {
		return nil, err
	}
	c.status = http.StatusCreated
	return c.hub.Invite(c.r.Context(), caller, body.Name, body.Role)
}

func (s *Server) personRemove(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, c.hub.Remove(c.r.Context(), caller, c.r.PathValue("id"))
}

func (s *Server) settingsRead(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	return c.hub.AccountSettings(caller)
}

// settingsPut changes the settings that the body has, and leaves the others as they are.
func (s *Server) settingsPut(c *call) (any, error) {
	var body struct {
		DefaultResolvers []string `json:"default_resolvers"`
		InterAgent       *bool    `json:"inter_agent_enabled"`
	}
	caller, err := s.told(c, &body)
	if err != nil {
		return nil, err
	}
	_, given, _ := ma2h.ParseObject(c.body)
	change := hub.SettingsChange{InterAgent: body.InterAgent}
	if _, ok := given["default_resolvers"]; ok { // null means none, as an empty list does
		change.DefaultResolvers = &body.DefaultResolvers
	}
	if v, ok := given["inter_agent_enabled"]; ok && v == nil {
		return nil, ma2h.FieldErrorf(ma2h.CodeValidationError, "/inter_agent_enabled", "inter_agent_enabled is true or false.")
	}
	if change == (hub.SettingsChange{}) {
		return nil, ma2h.Errorf(ma2h.CodeValidationError, "Send default_resolvers, inter_agent_enabled, or both.")
	}
	c.status = http.StatusNoContent
	return nil, c.hub.ChangeSettings(c.r.Context(), caller, change)
}

func (s *Server) link(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	token, err := c.hub.NewLogin(c.r.Context(), caller, hub.LoginLink, LinkLifetime)
	if err != nil {
		return nil, err
	}
	c.status = http.StatusCreated
	return map[string]string{"url": c.hub.Settings.BaseURL + "/in/" + token}, nil
}

// told authenticates the request and then reads its body, as DecodeClosed does.
func (s *Server) told(c *call, body any, required ...string) (*hub.Caller, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	return caller, DecodeClosed(c.body, body, required...)
}

// DecodeClosed reads a body of exactly the members of v, so that a typo does not pass. The members named required must be
// there. The error is a validation_error with the member's path.
func DecodeClosed(body []byte, v any, required ...string) error {
	_, o, invalid := ma2h.ParseObject(body)
	if invalid != nil {
		return invalid
	}
	for _, name := range required {
		if _, ok := o[name]; !ok {
			return ma2h.FieldErrorf(ma2h.CodeValidationError, ma2h.Pointer("", name), "%s is missing.", name)
		}
	}
	err := json.Unmarshal(body, v, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	e := ma2h.Errorf(ma2h.CodeValidationError, "A member is unknown or has the wrong type.")
	if at, ok := errors.AsType[*json.SemanticError](err); ok {
		e.Field = string(at.JSONPointer)
	}
	return e
}

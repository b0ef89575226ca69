package httpapi

import (
	"net/http"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// What people do about where answers go.

func (s *Server) agentRead(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	return c.hub.AgentDetail(c.r.Context(), caller, c.r.URL.Query().Get("id"))
}

func (s *Server) hostBind(c *call) (any, error) {
	var body struct {
		Agent string    `json:"agent"`
		Host  string    `json:"host"`
		Proof hub.Proof `json:"proof"`
	}
	caller, err := s.told(c, &body, "agent", "host", "proof")
	if err != nil {
		return nil, err
	}
	c.status = http.StatusCreated
	return c.hub.BindHost(c.r.Context(), caller, body.Agent, body.Host, body.Proof)
}

func (s *Server) hostUnbind(c *call) (any, error) {
	var body struct {
		Agent string `json:"agent"`
		Host  string `json:"host"`
	}
	caller, err := s.told(c, &body, "agent", "host")
	if err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, c.hub.UnbindHost(c.r.Context(), caller, body.Agent, body.Host)
}

func (s *Server) secretAdd(c *call) (any, error) {
	var body struct {
		Agent string `json:"agent"`
		Ref   string `json:"ref"`
		Value string `json:"value"`
		From  string `json:"from"` // a time, or now
	}
	caller, err := s.told(c, &body, "agent", "ref")
	if err != nil {
		return nil, err
	}
	r := hub.SecretRequest{Ref: body.Ref, Value: body.Value}
	switch from, ok := ma2h.ParseTime(body.From); {
	case ok:
		r.From = from
	case body.From == "now":
		r.From = c.hub.Now()
	case body.From != "":
		return nil, ma2h.FieldErrorf(ma2h.CodeValidationError, "/from", "from is a time as in 2026-03-01T10:00:00Z, or now.")
	}
	c.status = http.StatusCreated
	return c.hub.SetSecret(c.r.Context(), caller, body.Agent, r)
}

func (s *Server) secretUse(c *call) (any, error) {
	var body struct {
		Agent string `json:"agent"`
		Ref   string `json:"ref"`
	}
	caller, err := s.told(c, &body, "agent", "ref")
	if err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, c.hub.UseSecretNow(c.r.Context(), caller, body.Agent, body.Ref)
}

func (s *Server) secretRemove(c *call) (any, error) {
	var body struct {
		Agent string          `json:"agent"`
		Ref   string          `json:"ref"`
		Only  hub.SecretState `json:"only"`
	}
	caller, err := s.told(c, &body, "agent", "ref")
	if err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, c.hub.RemoveSecret(c.r.Context(), caller, body.Agent, body.Ref, body.Only)
}

func (s *Server) webhookPut(c *call) (any, error) {
	var body struct {
		Agent string  `json:"agent"`
		URL   *string `json:"url"` // null for none
	}
	caller, err := s.told(c, &body, "agent", "url")
	if err != nil {
		return nil, err
	}
	if body.URL != nil && *body.URL == "" {
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/url", "Give an https URL, or null for none.")
	}
	url := ""
	if body.URL != nil {
		url = *body.URL
	}
	c.status = http.StatusNoContent
	return nil, c.hub.SetWebhook(c.r.Context(), caller, body.Agent, url)
}

func (s *Server) sendAgain(c *call) (any, error) {
	id := c.r.PathValue("id")
	caller, err := s.caller(c, c.hub.MessageKeys(id)...)
	if err != nil {
		return nil, err
	}
	c.status = http.StatusAccepted
	return nil, c.hub.SendAgain(c.r.Context(), caller, id)
}

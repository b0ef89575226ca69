package client

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// errorOf reads what the hub refused, in whatever form: a proxy's page too becomes an error with a code.
func (c *Client) errorOf(name endpoint.Name, resp *http.Response, body []byte) *ma2h.Error {
	var wire struct {
		Error struct {
			Code    ma2h.Code `json:"code"`
			Message string    `json:"message"`
			Field   string    `json:"field"`
		} `json:"error"`
		ID         string      `json:"id"`
		Status     ma2h.Status `json:"status"`
		Resolution ma2h.Status `json:"resolution"`
	}
	e := &ma2h.Error{HTTPStatus: resp.StatusCode, RetryAfter: ma2h.RetryAfter(resp.Header.Get("Retry-After"), c.now())}
	if err := json.Unmarshal(body, &wire); err == nil {
		e.Code, e.Message, e.Field, e.ID = wire.Error.Code, wire.Error.Message, wire.Error.Field, wire.ID
		if wire.Resolution != "" {
			e.Terminal = &ma2h.Terminal{ID: wire.ID, Status: wire.Status, Resolution: wire.Resolution}
		}
	}
	if !isKnown(e.Code) {
		e.Code = baseCode(name, resp.StatusCode)
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("The hub answered %d %s.", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	if wire.Error.Code == "" && resp.StatusCode < http.StatusInternalServerError {
		e.Message = c.noHub(resp.StatusCode)
	}
	return e
}

// noHub says that something else than a hub answered.
func (c *Client) noHub(status int) string {
	remedy := "check the hub's URL"
	if u, err := url.Parse(c.URL); err == nil && u.Path != "" {
		remedy += ", and leave out its path"
	}
	return fmt.Sprintf("%s does not answer like a hub (%d %s); %s.", c.URL, status, http.StatusText(status), remedy)
}

// isKnown says whether a code is one of ours: all others have the status of internal_error.
func isKnown(code ma2h.Code) bool {
	return code == ma2h.CodeInternalError || code.Status() != http.StatusInternalServerError
}

// baseCode returns what a code that we do not know refines: the code that this endpoint would otherwise answer with
// (spec §8.5).
func baseCode(name endpoint.Name, status int) ma2h.Code {
	switch {
	case name == endpoint.Submit && status == http.StatusConflict:
		return ma2h.CodeIdempotencyConflict
	case name == endpoint.Ack && status == http.StatusConflict:
		return ma2h.CodeNotAcknowledgeable
	case name == endpoint.Submit && status == http.StatusGone:
		return ma2h.CodeDestinationGone
	}
	return ma2h.BaseCode(status)
}

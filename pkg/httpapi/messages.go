package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

func (s *Server) discovery(c *call) (any, error) { return c.hub.Capability(), nil }

// jwks answers with the key set, which may be kept for a while: a new key stands in it before it signs.
func (s *Server) jwks(c *call) (any, error) {
	c.w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(hub.JWKSMaxAge.Seconds())))
	return c.hub.JWKS(), nil
}

// submit takes a message (spec §8.1). The body is read first, since what it says of idempotency decides what is read
// with the credential; but who has no credential learns nothing of what is wrong with it.
func (s *Server) submit(c *call) (any, error) {
	credential, err := auth.FromRequest(c.r)
	if err != nil {
		return nil, err
	}
	envelope, invalid := ma2h.ReadMessage(c.body)
	if invalid != nil {
		caller, err := s.callerOf(c, credential)
		if err == nil {
			err = c.hub.LimitRate(caller) // a refused submit is work, too
		}
		if err != nil {
			return nil, err
		}
		return nil, invalid
	}
	caller, failed := s.callerOf(c, credential, c.hub.SubmitKeys(credential.Account, credential.Ref, envelope)...)
	if failed != nil {
		return nil, failed
	}
	submitted, failed := c.hub.Submit(c.r.Context(), caller, envelope)
	if failed != nil {
		return nil, failed
	}
	warn(c, submitted.Warnings...)
	c.status = http.StatusAccepted
	return submitted.Ack, nil
}

// pull reads a message for its submitter (spec §8.2).
func (s *Server) pull(c *call) (any, error) {
	id := c.r.PathValue("id")
	credential, invalid := auth.FromRequest(c.r)
	if invalid != nil {
		return nil, invalid
	}
	keys := c.hub.MessageKeys(id)
	if c.r.URL.Query().Has("wait") {
		keys = append(keys, hub.SeenKey(credential.Ref)) // who waits is there (spec §15.1)
	}
	caller, err := s.callerOf(c, credential, keys...)
	if err != nil {
		return nil, err
	}
	options, err := pullOptions(c.r)
	if err != nil {
		return nil, err
	}
	options.Stop = s.Stopping
	options.Unread = c.r.Method == http.MethodHead
	body, err := c.hub.Pull(c.r.Context(), caller, id, options)
	if err != nil {
		return nil, err
	}
	if body == nil {
		c.status = http.StatusNotModified
		return nil, nil
	}
	return body, nil
}

func pullOptions(r *http.Request) (hub.PullOptions, error) {
	var o hub.PullOptions
	q, err := query(r)
	if err != nil {
		return o, err
	}
	if o.Wait, err = waitOf(q); err != nil {
		return o, err
	}
	if q.Has("since") {
		t, ok := ma2h.ParseTime(q.Get("since"))
		if !ok {
			return o, ma2h.FieldErrorf(ma2h.CodeValidationError, "/since",
				"Send since as an RFC 3339 time, percent-encoded, such as 2026-01-31T12:00:00Z.")
		}
		o.Since = t
	}
	return o, nil
}

// cancel withdraws an ask (spec §8.4). Its body, if any, says nothing.
func (s *Server) cancel(c *call) (any, error) {
	id := c.r.PathValue("id")
	caller, err := s.caller(c, c.hub.MessageKeys(id)...)
	if err != nil {
		return nil, err
	}
	return c.hub.Cancel(c.r.Context(), caller, id)
}

// resolve answers a message (spec §8.8).
func (s *Server) resolve(c *call) (any, error) {
	id := c.r.PathValue("id")
	caller, session, err := s.underSession(c, c.hub.MessageKeys(id)...)
	if err != nil {
		return nil, err
	}
	body, invalid := ma2h.ReadResolve(c.body, c.hub.Settings.Limits)
	if invalid != nil {
		return nil, invalid
	}
	resolved, err := c.hub.Resolve(c.r.Context(), caller, id, session, body)
	if err == nil && body.Inexact {
		warn(c, hub.WarningInexactNumber)
	}
	return resolved, err
}

// warn says beside an answer what is lawful but should be known.
func warn(c *call, warnings ...hub.Warning) {
	for _, w := range warnings {
		c.w.Header().Add("Mash-Warning", string(w))
	}
}

// ack acknowledges a Response (spec §14.3).
func (s *Server) ack(c *call) (any, error) {
	id := c.r.PathValue("id")
	caller, err := s.caller(c, c.hub.MessageKeys(id)...)
	if err != nil {
		return nil, err
	}
	body, invalid := ma2h.ReadAckRequest(c.body, c.hub.Settings.Limits)
	if invalid != nil {
		return nil, invalid
	}
	return c.hub.Acknowledge(c.r.Context(), caller, id, body)
}

// setRetryAfter writes whole seconds, rounded up: never less than is needed, and one where it is only known that it passes.
func setRetryAfter(w http.ResponseWriter, e *ma2h.Error) {
	if e.Code != ma2h.CodeRateLimited && e.Code != ma2h.CodeUnavailable && e.RetryAfter == 0 {
		return
	}
	seconds := max(int(math.Ceil(e.RetryAfter.Seconds())), 1)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
}

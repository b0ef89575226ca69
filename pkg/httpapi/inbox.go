package httpapi

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// drain hands an agent what waits in its mailbox (spec §8.7).
func (s *Server) drain(c *call) (any, error) {
	q, err := query(c.r)
	if err != nil {
		return nil, err
	}
	session := presented(q)
	credential, invalid := auth.FromRequest(c.r)
	if invalid != nil {
		return nil, invalid
	}
	caller, err := s.callerOf(c, credential, c.hub.DrainKeys(credential.Ref, session)...)
	if err != nil {
		return nil, err
	}
	options, err := drainOptions(q)
	if err != nil {
		return nil, err
	}
	options.Session = session
	options.Stop = s.Stopping
	options.Unread = c.r.Method == http.MethodHead
	body, err := c.hub.Drain(c.r.Context(), caller, options)
	if err != nil {
		return nil, err
	}
	return body, nil
}

// inboxAck consumes entries of an agent's mailbox (spec §8.7, §14.3).
func (s *Server) inboxAck(c *call) (any, error) {
	caller, session, err := s.underSession(c)
	if err != nil {
		return nil, err
	}
	body, invalid := ma2h.ReadInboxAck(c.body, c.hub.Settings.Limits)
	if invalid != nil {
		return nil, invalid
	}
	return c.hub.AckMail(c.r.Context(), caller, session, body)
}

// underSession is who calls, and the session that the query presents, empty for none. What is to be looked at of it is read
// with the credential, as are more keys.
func (s *Server) underSession(c *call, more ...record.Key) (*hub.Caller, string, error) {
	q, err := query(c.r)
	if err != nil {
		return nil, "", err
	}
	session := presented(q)
	caller, err := s.caller(c, append(more, c.hub.SessionKeys(session)...)...)
	return caller, session, err
}

// query reads the query of a request. One that is malformed is not read in part: what went missing may be a bound. Nor is one of two
// values taken.
func query(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, ma2h.Errorf(ma2h.CodeValidationError, "The query is malformed; percent-encode what stands in it.")
	}
	for _, name := range []string{"session", "wait", "max", "since"} {
		if len(q[name]) > 1 {
			return nil, ma2h.FieldErrorf(ma2h.CodeValidationError, "/"+name, "Send %s once.", name)
		}
	}
	return q, nil
}

// presented is the session that a query names, or empty where it names none. To name none by an empty name is to name one
// that nobody has.
func presented(q url.Values) string {
	if q.Has("session") && q.Get("session") == "" {
		return ma2h.PrefixSession
	}
	return q.Get("session")
}

func drainOptions(q url.Values) (hub.DrainOptions, error) {
	var o hub.DrainOptions
	var err error
	if o.Wait, err = waitOf(q); err != nil {
		return o, err
	}
	o.Max, err = maxOf(q)
	return o, err
}

// maxOf reads how many entries a drain may return, zero for as many as the hub gives. A max that is none lifts no bound, it
// is refused.
func maxOf(q url.Values) (int, error) {
	if !q.Has("max") {
		return 0, nil
	}
	text := q.Get("max")
	digits := strings.TrimLeft(text, "0")
	if strings.Trim(text, "0123456789") != "" || digits == "" {
		return 0, ma2h.FieldErrorf(ma2h.CodeValidationError, "/max", "Send max as one whole number of at least 1, or leave it out.")
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return math.MaxInt, nil // larger than any batch
	}
	return n, nil
}

// waitOf reads how long to hold, zero for not at all.
func waitOf(q url.Values) (time.Duration, error) {
	if !q.Has("wait") {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(q.Get("wait"), 64)
	if err != nil || seconds < 0 || math.IsNaN(seconds) || math.IsInf(seconds, 0) {
		return 0, ma2h.FieldErrorf(ma2h.CodeValidationError, "/wait", "Send wait as a number of seconds, 0 or more.")
	}
	return time.Duration(min(seconds, 3600) * float64(time.Second)), nil
}

// directiveSend sends an agent a person's word (spec §13).
func (s *Server) directiveSend(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	body, invalid := ma2h.ReadDirective(c.body, c.hub.Settings.Limits)
	if invalid != nil {
		return nil, invalid
	}
	sent, err := c.hub.Direct(c.r.Context(), caller, body)
	if err != nil {
		return nil, err
	}
	if body.Inexact {
		warn(c, hub.WarningInexactNumber)
	}
	c.status = http.StatusCreated
	return sent, nil
}

func (s *Server) directiveRead(c *call) (any, error) {
	caller, err := s.caller(c)
	if err != nil {
		return nil, err
	}
	return c.hub.DirectiveAt(c.r.Context(), caller, c.r.PathValue("id"))
}

// allowlistPut decides which agents may write to an agent (spec §8.0).
func (s *Server) allowlistPut(c *call) (any, error) {
	var body struct {
		Agent   string    `json:"agent"`
		Senders *[]string `json:"senders"` // null for every agent of the account
	}
	caller, err := s.told(c, &body, "agent", "senders")
	if err != nil {
		return nil, err
	}
	c.status = http.StatusNoContent
	return nil, c.hub.SetAllowlist(c.r.Context(), caller, body.Agent, body.Senders)
}

// Package httpapi binds the use cases of the hub to HTTP: it decodes, calls, encodes, and is the one place that writes an
// error of /v1.
package httpapi

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// maxBody is the transport's cap on a request: above it nothing more is read (spec §8.6 bounds what a message may hold).
const maxBody = 1 << 20

// defaultBodyTimeout is how long a body may take to arrive unless a Server says otherwise.
const defaultBodyTimeout = 30 * time.Second

// Server serves the endpoints of pkg/endpoint for the hub that belongs to a request.
type Server struct {
	// Hub returns the hub of a request, or an error for one whose hub is unknown. A conformance tenant and a virtual
	// clock are two reasons for it not to be always the same.
	Hub func(*http.Request) (*hub.Hub, error)
	Log *slog.Logger

	// Stopping, when closed, ends every wait, so that a process can end without cutting anybody off. Nil means never.
	Stopping <-chan struct{}

	// Draining, when closed, makes the hub say that it is not ready. Nil means never.
	Draining <-chan struct{}

	// Ready says why the hub cannot do its work now, by a code, or "" when it can. Nil means that it can. What it says is good
	// for a moment, so that nobody keeps the hub busy by asking.
	Ready func(context.Context) (reason string)

	// BodyTimeout is how long a body may take to arrive; zero means 30 s.
	BodyTimeout time.Duration

	readiness readiness
}

// handler answers one endpoint; what it returns is written by the caller.
type handler func(*Server, *call) (any, error)

// call is one request on its way through a handler.
type call struct {
	hub    *hub.Hub
	w      http.ResponseWriter
	r      *http.Request
	body   []byte
	status int // of the answer; 200 unless a handler says otherwise
}

// Handler returns the whole of /v1 and of the discovery paths. Everything else is not_found.
func (s *Server) Handler() http.Handler {
	return s.mount(endpoint.All()...)
}

// Endpoint returns one endpoint alone, for a process that serves no other. Everything else is as in Unrouted.
func (s *Server) Endpoint(name endpoint.Name) http.Handler { return s.mount(endpoint.Of(name)) }

// Unrouted returns what answers for every path that is no endpoint: not_found, or method_not_allowed where an endpoint
// takes other methods.
func (s *Server) Unrouted() http.Handler { return s.mount() }

func (s *Server) mount(endpoints ...endpoint.Endpoint) http.Handler {
	mux := http.NewServeMux()
	for _, e := range endpoints {
		h, ok := handlers()[e.Name]
		if !ok {
			continue
		}
		mux.HandleFunc(e.Pattern(), func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, e, h) })
	}
	mux.HandleFunc("/", s.unrouted)
	return Unclean(mux, s.Log)
}

func handlers() map[endpoint.Name]handler {
	return map[endpoint.Name]handler{
		endpoint.Discovery:      (*Server).discovery,
		endpoint.DiscoveryAlias: (*Server).discovery,
		endpoint.JWKS:           (*Server).jwks,
		endpoint.Healthz:        (*Server).healthz,
		endpoint.Readyz:         (*Server).readyz,
		endpoint.Submit:         (*Server).submit,
		endpoint.Pull:           (*Server).pull,
		endpoint.Cancel:         (*Server).cancel,
		endpoint.Resolve:        (*Server).resolve,
		endpoint.Ack:            (*Server).ack,
		endpoint.Me:             (*Server).me,
		endpoint.Waiting:        (*Server).waiting,
		endpoint.Read:           (*Server).read,
		endpoint.AgentList:      (*Server).agentList,
		endpoint.AgentAdd:       (*Server).agentAdd,
		endpoint.AgentRotate:    (*Server).agentRotate,
		endpoint.AgentRevoke:    (*Server).agentRevoke,
		endpoint.PersonList:     (*Server).personList,
		endpoint.PersonInvite:   (*Server).personInvite,
		endpoint.PersonRemove:   (*Server).personRemove,
		endpoint.SettingsRead:   (*Server).settingsRead,
		endpoint.SettingsPut:    (*Server).settingsPut,
		endpoint.Link:           (*Server).link,
		endpoint.AgentRead:      (*Server).agentRead,
		endpoint.HostBind:       (*Server).hostBind,
		endpoint.HostUnbind:     (*Server).hostUnbind,
		endpoint.SecretAdd:      (*Server).secretAdd,
		endpoint.SecretUse:      (*Server).secretUse,
		endpoint.SecretRemove:   (*Server).secretRemove,
		endpoint.SendAgain:      (*Server).sendAgain,
		endpoint.WebhookPut:     (*Server).webhookPut,
		endpoint.Drain:          (*Server).drain,
		endpoint.Stream:         (*Server).stream,
		endpoint.InboxAck:       (*Server).inboxAck,
		endpoint.DirectiveSend:  (*Server).directiveSend,
		endpoint.DirectiveRead:  (*Server).directiveRead,
		endpoint.AllowlistPut:   (*Server).allowlistPut,
		endpoint.SessionAdd:     (*Server).sessionAdd,
		endpoint.SessionList:    (*Server).sessionList,
		endpoint.SessionRead:    (*Server).sessionRead,
		endpoint.SessionClose:   (*Server).sessionClose,
		endpoint.Presence:       (*Server).presence,
		endpoint.AgentStop:      (*Server).agentStop,
		endpoint.StopLift:       (*Server).stopLift,
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, e endpoint.Endpoint, h handler) {
	w.Header().Set("Cache-Control", "no-store")
	c := &call{w: w, r: r, status: http.StatusOK}
	var err error
	if c.hub, err = s.Hub(r); err == nil {
		err = admit(r, e)
	}
	if err == nil {
		c.body, err = s.readBody(w, r)
	}
	if err != nil {
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close") // else net/http waits for the rest of the body before it sends the answer
		}
		s.writeError(w, r, err)
		return
	}
	answer, err := h(s, c)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeAnswer(w, c.status, answer)
}

// admit turns away, before anything is read, who shows nothing that could be a credential where one is needed.
func admit(r *http.Request, e endpoint.Endpoint) error {
	if e.Caller == endpoint.None {
		return nil
	}
	if _, err := auth.FromRequest(r); err != nil {
		return err
	}
	return nil
}

// readBody reads a body up to the transport's cap.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	if r.ContentLength == 0 {
		return nil, nil
	}
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(cmp.Or(s.BodyTimeout, defaultBodyTimeout))) // not every connection has one
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		_ = deadline.SetReadDeadline(time.Time{})
		return body, nil
	}
	// What did not come in time is not waited for again: net/http would read on before it sends the answer.
	_ = deadline.SetReadDeadline(time.Now())
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge()
	}
	return nil, ma2h.Errorf(ma2h.CodeValidationError, "The body did not arrive whole; send it again.")
}

func tooLarge() error {
	return ma2h.Errorf(ma2h.CodeTooLarge, "The body has more than %d bytes, and no more are read; send less.", maxBody)
}

// written is the answer of a handler that has written it.
type written struct{}

// writeAnswer writes a value as JSON: bytes as they are, nil as nothing.
func writeAnswer(w http.ResponseWriter, status int, answer any) {
	switch v := answer.(type) {
	case written:
	case nil:
		w.WriteHeader(status)
	case []byte:
		writeJSON(w, status, v)
	default:
		writeJSON(w, status, hub.Encode(v))
	}
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone away is no error of ours
}

// caller authenticates the request and brings the records under also along.
func (s *Server) caller(c *call, also ...record.Key) (*hub.Caller, error) {
	credential, err := auth.FromRequest(c.r)
	if err != nil {
		return nil, err
	}
	return s.callerOf(c, credential, also...)
}

func (s *Server) callerOf(c *call, credential auth.Credential, also ...record.Key) (*hub.Caller, error) {
	return auth.For(c.hub).Caller(c.r.Context(), credential, also...)
}

// errorBody is the envelope of an error (spec §8.5), with what a lost resolve or cancel is told merged into it (spec
// §8.4, §8.8).
type errorBody struct {
	Error      errorDetail `json:"error"`
	ID         string      `json:"id,omitzero"`
	Status     ma2h.Status `json:"status,omitzero"`
	Resolution ma2h.Status `json:"resolution,omitzero"`
}

type errorDetail struct {
	Code    ma2h.Code `json:"code"`
	Message string    `json:"message"`
	Field   *string   `json:"field,omitzero"`
}

func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	WriteError(s.Log, w, r, err)
}

// WriteError is the one function that writes an error of the wire, and that logs one that is ours.
func WriteError(log *slog.Logger, w http.ResponseWriter, r *http.Request, err error) {
	e := ma2h.AsError(err)
	if e == nil {
		e = internal(log, r, err)
	}
	body := errorBody{Error: errorDetail{Code: e.Code, Message: e.Message}, ID: e.ID}
	if e.Field != "" {
		body.Error.Field = &e.Field
	}
	if e.Terminal != nil {
		body.ID, body.Status, body.Resolution = e.Terminal.ID, e.Terminal.Status, e.Terminal.Resolution
	}
	if e.Code == ma2h.CodeUnauthenticated {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	setRetryAfter(w, e)
	writeJSON(w, e.Status(), hub.Encode(body))
}

// internal hides an error of ours: in full in the log, once, and a plain sentence outside. A caller who has gone is none.
func internal(log *slog.Logger, r *http.Request, err error) *ma2h.Error {
	if r.Context().Err() != nil {
		return &ma2h.Error{Code: ma2h.CodeUnavailable, Message: "The request was given up before it was done; send it again."}
	}
	log.ErrorContext(r.Context(), "request failed", "method", r.Method, "pattern", r.Pattern, "err", err)
	return ma2h.Errorf(ma2h.CodeInternalError, "The hub failed at this request, and nothing is known of its effect; send it again.")
}

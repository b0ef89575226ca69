package controlapi

import (
	"io"
	"net/http"
	"strings"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// call answers one control call: a status and a body, nil for none.
type call func(*Server, *control) (int, any, error)

// control is one control call on its way.
type control struct {
	r      *http.Request
	body   []byte
	tenant *tenant
	hub    *hub.Hub // the tenant's, at the request's clock
}

// maxBody bounds the body of a control call.
const maxBody = 1 << 20

// Handler serves the control API. Mount it at Prefix, inside Wrap.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+Prefix+"tenants", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, &control{r: r}, (*Server).makeTenant)
	})
	for pattern, c := range map[string]call{
		"POST tokens": (*Server).tokens, "POST owners": (*Server).owners, "POST settle": (*Server).settle,
		"GET outcomes": (*Server).outcomes, "GET pushes": (*Server).pushesCall, "GET receipts": (*Server).receipts,
		"POST sign-ack": (*Server).signAck,
		"POST policies": (*Server).policies, "POST allowlists": (*Server).allowlists, "POST directives": (*Server).directives,
		"GET hold-bound": (*Server).holdBound,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+Prefix+path, func(w http.ResponseWriter, r *http.Request) { s.inTenant(w, r, c) })
	}
	httpapi.Mount(mux, Prefix, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.writeError(w, r, ma2h.Errorf(ma2h.CodeNotFound, "The control API has no such call."))
	}))
	return mux
}

// inTenant runs a call that needs a tenant.
func (s *Server) inTenant(w http.ResponseWriter, r *http.Request, c call) {
	q, ok := r.Context().Value(contextKey{}).(*request)
	if !ok {
		s.writeError(w, r, ma2h.Errorf(ma2h.CodeValidationError, "Name the tenant in %s.", TenantHeader))
		return
	}
	s.serve(w, r, &control{r: r, tenant: q.tenant, hub: q.hub}, c)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, k *control, c call) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		s.writeError(w, r, ma2h.Errorf(ma2h.CodeTooLarge, "The body cannot be read; send at most %d bytes.", maxBody))
		return
	}
	k.body = body
	status, answer, err := c(s, k)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	if answer == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(hub.Encode(answer)) // a client that has gone away is no error of ours
}

func (s *Server) makeTenant(k *control) (int, any, error) {
	var c config
	if err := httpapi.DecodeClosed(k.body, &c); err != nil {
		return 0, nil, err
	}
	if err := c.check(); err != nil {
		return 0, nil, err
	}
	name, err := s.newTenant(&c)
	return http.StatusCreated, map[string]string{"tenant": name}, err
}

func (s *Server) settle(k *control) (int, any, error) {
	var body struct {
		What string  `json:"what"`
		ID   *string `json:"id"`
	}
	if err := httpapi.DecodeClosed(k.body, &body, "what"); err != nil {
		return 0, nil, err
	}
	switch body.What {
	case "sessions":
		return http.StatusNoContent, nil, settleSessions(k)
	case "retention":
		if err := settleSessions(k); err != nil {
			return 0, nil, err
		}
		return http.StatusNoContent, nil, settleDue(k, everything)
	case "message":
		if err := settleSessions(k); err != nil {
			return 0, nil, err
		}
		if body.ID == nil {
			return 0, nil, ma2h.FieldErrorf(ma2h.CodeValidationError, "/id", "Name the message.")
		}
		if _, err := k.hub.Outcome(k.r.Context(), *body.ID); err != nil {
			return 0, nil, err
		}
		key, _ := hub.StateKey(*body.ID)
		_, err := k.hub.Fire(k.r.Context(), key)
		return http.StatusNoContent, nil, err
	}
	return 0, nil, ma2h.FieldErrorf(ma2h.CodeValidationError, "/what", "what is sessions, retention or message.")
}

// settleSessions does all that is due of sessions.
func settleSessions(k *control) error {
	return settleDue(k, func(key record.Key) bool { return strings.HasPrefix(key.Part, "s#") })
}

func everything(record.Key) bool { return true }

// settleDue fires all that is due of some records at the request's clock, until nothing new turns up.
func settleDue(k *control, which func(record.Key) bool) error {
	fired := map[record.Entry]bool{}
	before := k.hub.Now().Add(k.hub.Settings.Grace) // a record may be due as late; what is fired too early does nothing
	for {
		entries, err := k.hub.Store.Due(k.r.Context(), before, record.Entry{}, record.MaxListLimit)
		if err != nil {
			return err
		}
		news := false
		for _, e := range entries {
			if fired[e] || !which(e.Key) {
				continue
			}
			fired[e], news = true, true
			if _, err := k.hub.Fire(k.r.Context(), e.Key); err != nil {
				return err
			}
		}
		if !news {
			return nil
		}
	}
}

func (s *Server) outcomes(k *control) (int, any, error) {
	o, err := k.hub.Outcome(k.r.Context(), k.r.URL.Query().Get("id"))
	if e := ma2h.AsError(err); e != nil {
		return 0, nil, ma2h.Errorf(ma2h.CodeNotFound, "There is no message with this id.")
	}
	return http.StatusOK, o, err
}

func (s *Server) pushesCall(k *control) (int, any, error) {
	return http.StatusOK, map[string][]capturedPush{"pushes": k.tenant.pushes.take()}, nil
}

// receipts is the owner's read of a response track, or of the track of a directive (spec §14.4).
func (s *Server) receipts(k *control) (int, any, error) {
	credential, err := auth.FromRequest(k.r)
	if err != nil {
		return 0, nil, err
	}
	caller, failed := auth.For(k.hub).Caller(k.r.Context(), credential)
	if failed != nil {
		return 0, nil, failed
	}
	id := k.r.URL.Query().Get("id")
	if strings.HasPrefix(id, ma2h.PrefixDirective) {
		return directiveReceipt(k, caller, id)
	}
	if caller.Person == nil || caller.Account.Owner != caller.Actor() {
		return 0, nil, noReceipt()
	}
	reading, failed := k.hub.Read(k.r.Context(), caller, id)
	if ma2h.AsError(failed) != nil || failed == nil && reading.Delivery == nil {
		return 0, nil, noReceipt()
	}
	if failed != nil {
		return 0, nil, failed
	}
	return http.StatusOK, reading.Delivery, nil
}

// holdBound says for how long a stream opened now would be held. It renews nothing.
func (s *Server) holdBound(k *control) (int, any, error) {
	credential, err := auth.FromRequest(k.r)
	if err != nil {
		return 0, nil, err
	}
	caller, failed := auth.For(k.hub).Caller(k.r.Context(), credential)
	if failed != nil {
		return 0, nil, failed
	}
	hold, failed := k.hub.HoldBound(k.r.Context(), caller, k.r.URL.Query().Get("session"))
	return http.StatusOK, map[string]int64{"ms": hold.Milliseconds()}, failed
}

// signAck signs an ack as it would be pushed (spec §14.4).
func (s *Server) signAck(k *control) (int, any, error) {
	d, _, invalid := ma2h.ParseObject(k.body)
	if invalid != nil {
		return 0, nil, invalid
	}
	v, _ := ma2h.ParseVersion(ma2h.Newest)
	if err := ma2h.Shape(ma2h.KindAck, v.Minor, d.Value); err != nil {
		return 0, nil, err
	}
	header, err := k.hub.SignAck(k.body)
	return http.StatusOK, map[string]string{"signature": header}, err
}

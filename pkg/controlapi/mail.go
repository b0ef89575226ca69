package controlapi

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// policies is the word of a person whether the agents of their account may write to each other (spec §8.0).
func (s *Server) policies(k *control) (int, any, error) {
	var body struct {
		Owner      string `json:"owner"`
		InterAgent *bool  `json:"inter_agent_enabled"`
	}
	if err := httpapi.DecodeClosed(k.body, &body, "owner", "inter_agent_enabled"); err != nil {
		return 0, nil, err
	}
	person, ok := personID(body.Owner)
	if !ok {
		return 0, nil, ma2h.FieldErrorf(ma2h.CodeValidationError, "/owner", "owner is human:<id>.")
	}
	if body.InterAgent == nil {
		return 0, nil, ma2h.FieldErrorf(ma2h.CodeValidationError, "/inter_agent_enabled", "inter_agent_enabled is true or false.")
	}
	k.tenant.mu.Lock()
	defer k.tenant.mu.Unlock()
	if err := ensureAccount(k.r.Context(), k.hub, body.Owner); err != nil {
		return 0, nil, err
	}
	owner := &hub.Caller{Account: hub.Account{Ref: k.hub.AccountRef(body.Owner)}, Person: &hub.Person{ID: person}}
	return http.StatusNoContent, nil, k.hub.SetInterAgent(k.r.Context(), owner, *body.InterAgent)
}

// allowlists decides who may write to an agent, in the name of whoever owns it.
func (s *Server) allowlists(k *control) (int, any, error) {
	var body struct {
		Agent   string    `json:"agent"`
		Senders *[]string `json:"senders"`
	}
	if err := httpapi.DecodeClosed(k.body, &body, "agent", "senders"); err != nil {
		return 0, nil, err
	}
	k.tenant.mu.Lock()
	defer k.tenant.mu.Unlock()
	ctx := k.r.Context()
	a, was, err := agentOf(ctx, k.hub, body.Agent)
	if err != nil {
		return 0, nil, err
	}
	if was == "" {
		return 0, nil, ma2h.FieldErrorf(ma2h.CodeNotFound, "/agent", "The tenant has no agent with this id; make it first.")
	}
	var account hub.Account
	if _, err := read(ctx, k.hub, hub.AccountKey(a.Account), &account); err != nil {
		return 0, nil, err
	}
	owner := &hub.Caller{Account: account, Person: &hub.Person{ID: strings.TrimPrefix(account.Owner, ma2h.HumanPrefix)}}
	return http.StatusNoContent, nil, k.hub.SetAllowlist(ctx, owner, body.Agent, body.Senders)
}

// directives sends a directive in the name of anybody, as the web inbox does in that of who is signed in.
func (s *Server) directives(k *control) (int, any, error) {
	_, o, invalid := ma2h.ParseObject(k.body)
	if invalid != nil {
		return 0, nil, invalid
	}
	from, _ := o["from"].(string)
	if _, ok := personID(from); !ok {
		return 0, nil, ma2h.FieldErrorf(ma2h.CodeValidationError, "/from", "from is human:<id>.")
	}
	rest, err := without(k.body, "from")
	if err != nil {
		return 0, nil, err
	}
	d, invalid := ma2h.ReadDirective(rest, k.hub.Settings.Limits)
	if invalid != nil {
		return 0, nil, invalid
	}
	sent, err := k.hub.DirectFrom(k.r.Context(), from, d)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, map[string]string{"id": sent.ID}, nil
}

// without returns an object without one of its members, the others as they stand.
func without(object []byte, name string) ([]byte, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	delete(members, name)
	return json.Marshal(members)
}

// directiveReceipt is the track of a directive, for who sent it.
func directiveReceipt(k *control, caller *hub.Caller, id string) (int, any, error) {
	track, err := k.hub.DirectiveTrack(k.r.Context(), caller, id)
	if ma2h.AsError(err) != nil {
		return 0, nil, noReceipt()
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, track, nil
}

func noReceipt() error {
	return ma2h.Errorf(ma2h.CodeNotFound, "There is no receipt of this id for you.")
}

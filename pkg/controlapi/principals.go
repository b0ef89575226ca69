package controlapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// tokens makes a credential for a principal, and the principal too when it is new.
func (s *Server) tokens(k *control) (int, any, error) {
	var body struct {
		Principal string `json:"principal"`
	}
	if err := httpapi.DecodeClosed(k.body, &body, "principal"); err != nil {
		return 0, nil, err
	}
	k.tenant.mu.Lock()
	defer k.tenant.mu.Unlock()
	var token string
	var err error
	if id, ok := strings.CutPrefix(body.Principal, ma2h.AgentPrefix); ok && id != "" {
		token, err = agentToken(k.r.Context(), k.hub, id)
	} else if id, ok := personID(body.Principal); ok {
		token, err = personToken(k.r.Context(), k.hub, id)
	} else {
		err = ma2h.FieldErrorf(ma2h.CodeValidationError, "/principal", "principal is agent:<id> or human:<id>.")
	}
	return http.StatusCreated, map[string]string{"token": token}, err
}

// personID reads human:<id>. People have no sessions of the protocol.
func personID(principal string) (string, bool) {
	id, ok := strings.CutPrefix(principal, ma2h.HumanPrefix)
	return id, ok && id != "" && !strings.Contains(id, "#"+ma2h.PrefixSession)
}

// owners puts an agent into a person's account.
func (s *Server) owners(k *control) (int, any, error) {
	var body struct {
		Agent string `json:"agent"`
		Owner string `json:"owner"`
	}
	if err := httpapi.DecodeClosed(k.body, &body, "agent", "owner"); err != nil {
		return 0, nil, err
	}
	person, ok := personID(body.Owner)
	if !ok {
		return 0, nil, ma2h.FieldErrorf(ma2h.CodeValidationError, "/owner", "owner is human:<id>.")
	}
	if body.Agent == "" {
		return 0, nil, ma2h.FieldErrorf(ma2h.CodeValidationError, "/agent", "agent is an agent.id.")
	}
	k.tenant.mu.Lock()
	defer k.tenant.mu.Unlock()
	return http.StatusNoContent, nil, own(k.r.Context(), k.hub, body.Agent, person)
}

// agentToken gives an agent one more credential; a new agent is in the common account.
func agentToken(ctx context.Context, h *hub.Hub, id string) (string, error) {
	a, was, err := agentOf(ctx, h, id)
	if err != nil {
		return "", err
	}
	if was == "" {
		if err := ensureAccount(ctx, h, ""); err != nil {
			return "", err
		}
		a.Account = h.AccountRef("")
	}
	token := hub.NewToken(hub.AgentTokenPrefix, a.Account, a.Ref)
	a.Credentials = slices.Insert(a.Credentials, 0, hub.Credential{Hash: hub.TokenHash(token), CreatedAt: h.Now()})
	return token, putAgent(ctx, h, a, was)
}

func personToken(ctx context.Context, h *hub.Hub, id string) (string, error) {
	p, was, err := personOf(ctx, h, id)
	if err != nil {
		return "", err
	}
	if was == "" {
		if err := ensureAccount(ctx, h, ""); err != nil {
			return "", err
		}
		p.Account = h.AccountRef("")
		if err := put(ctx, h, hub.PersonKey(p.Ref), hub.KindPerson, p, was); err != nil {
			return "", err
		}
	}
	return h.NewLogin(ctx, &hub.Caller{Person: p, Account: hub.Account{Ref: p.Account}}, hub.LoginToken, 0)
}

// own makes the person's account and moves the agent into it, unless it has had records elsewhere.
func own(ctx context.Context, h *hub.Hub, agent, person string) error {
	owner := ma2h.HumanPrefix + person
	ref := h.AccountRef(owner)
	a, agentWas, err := agentOf(ctx, h, agent)
	if err != nil {
		return err
	}
	if a.Account != ref {
		used, err := hasRecords(ctx, h, a.Ref)
		if err != nil {
			return err
		}
		if used {
			return ma2h.FieldErrorf(ma2h.CodeValidationError, "/owner", "The agent has records under another owner already.")
		}
	}
	if err := ensureAccount(ctx, h, owner); err != nil {
		return err
	}
	p, personWas, err := personOf(ctx, h, person)
	if err != nil {
		return err
	}
	if p.Account != ref {
		p.Account = ref
		if err := put(ctx, h, hub.PersonKey(p.Ref), hub.KindPerson, p, personWas); err != nil {
			return err
		}
	}
	if a.Account == ref {
		return nil
	}
	a.Account = ref
	return putAgent(ctx, h, a, agentWas)
}

func hasRecords(ctx context.Context, h *hub.Hub, agentRef string) (bool, error) {
	for _, list := range []string{"open#", "done#", "sess#"} {
		entries, err := h.Store.Index(ctx, 2, list+agentRef, record.Entry{}, 1)
		if err != nil || len(entries) > 0 {
			return len(entries) > 0, err
		}
	}
	return false, nil
}

func ensureAccount(ctx context.Context, h *hub.Hub, owner string) error {
	a := hub.Account{Ref: h.AccountRef(owner), Owner: owner}
	err := put(ctx, h, hub.AccountKey(a.Ref), hub.KindAccount, a, "")
	if record.AsConflict(err) != nil {
		return nil
	}
	return err
}

func agentOf(ctx context.Context, h *hub.Hub, id string) (*hub.Agent, string, error) {
	a := &hub.Agent{Ref: h.AgentRef("", id), ID: id, CreatedAt: h.Now()}
	was, err := read(ctx, h, hub.AgentKey(a.Ref), a)
	return a, was, err
}

func personOf(ctx context.Context, h *hub.Hub, id string) (*hub.Person, string, error) {
	p := &hub.Person{Ref: h.PersonRef(id), ID: id}
	was, err := read(ctx, h, hub.PersonKey(p.Ref), p)
	return p, was, err
}

// read decodes the record under key into v, if there is one, and returns its revision.
func read(ctx context.Context, h *hub.Hub, key record.Key, v any) (string, error) {
	recs, err := h.Store.Get(ctx, key)
	if err != nil || recs[0].Rev == "" {
		return "", err
	}
	return recs[0].Rev, hub.Decode(recs[0], v)
}

func putAgent(ctx context.Context, h *hub.Hub, a *hub.Agent, was string) error {
	return put(ctx, h, hub.AgentKey(a.Ref), hub.KindAgent, a, was, record.Tag{Name: "agent#" + a.Account, Order: a.Ref})
}

func put(ctx context.Context, h *hub.Hub, key record.Key, kind string, v any, was string, tags ...record.Tag) error {
	r := record.Record{Key: key, Kind: kind, Body: hub.Encode(v)}
	copy(r.Tags[:], tags)
	if err := h.Store.Commit(ctx, record.Put(r, was)); err != nil {
		return fmt.Errorf("provision %s: %w", kind, err)
	}
	return nil
}

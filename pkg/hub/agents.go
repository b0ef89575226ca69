package hub

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// AgentView is what a person sees of an agent.
type AgentView struct {
	ID          string    `json:"id"`
	CreatedAt   time.Time `json:"created_at"`
	Revoked     bool      `json:"revoked,omitzero"`
	Credentials int       `json:"credentials"` // live ones; two while rotating
	SecretRefs  []string  `json:"secret_refs"`
}

// NewCredentials is what a person is shown once of an agent's credentials.
type NewCredentials struct {
	ID         string `json:"id"`
	Token      string `json:"token"`
	PushSecret string `json:"push_secret,omitzero"`
	SecretRef  string `json:"secret_ref,omitzero"`
}

// maxCredentials is how many tokens of an agent live at once, so that one can be replaced without a gap.
const maxCredentials = 2

// AddAgent makes an agent of the person's account with a token and a push secret, or gives a revoked one new ones.
func (h *Hub) AddAgent(ctx context.Context, c *Caller, id string) (*NewCredentials, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	if id == "" || len(id) > 256 {
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/id", "Give the agent an id of 1 to 256 bytes.")
	}
	if strings.Contains(id, "#"+ma2h.PrefixSession) {
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/id",
			"An id with #%s reads like the session of another agent; choose another.", ma2h.PrefixSession)
	}
	ref := h.AgentRef(c.Account.Ref, id)
	rec, err := h.get(ctx, AgentKey(ref))
	if err != nil {
		return nil, err
	}
	a := Agent{Ref: ref, ID: id, Account: c.Account.Ref, CreatedAt: h.now()}
	if rec.Rev != "" {
		if err := Decode(rec, &a); err != nil {
			return nil, err
		}
		if !a.Revoked {
			return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/id",
				"The account has an agent with this id; rotate its token instead.")
		}
	}
	a.Revoked, a.Credentials, a.Secrets = false, nil, nil
	made := &NewCredentials{ID: id, Token: h.addCredential(&a), SecretRef: PushSecretRef}
	if made.PushSecret, err = h.addSecret(ctx, &a); err != nil {
		return nil, err
	}
	return made, h.putAgent(ctx, c, rec, &a, "agent_add")
}

// addCredential gives an agent another token; the oldest beyond two goes.
func (h *Hub) addCredential(a *Agent) string {
	token := NewToken(AgentTokenPrefix, a.Account, a.Ref)
	a.Credentials = slices.Insert(a.Credentials, 0, Credential{Hash: TokenHash(token), CreatedAt: h.now()})
	a.Credentials = a.Credentials[:min(len(a.Credentials), maxCredentials)]
	return token
}

func (h *Hub) addSecret(ctx context.Context, a *Agent) (string, error) {
	secret := "mashs_" + rand.Text() + rand.Text()
	wrapped, err := h.Keys.Wrap(ctx, secretPurpose(a.Ref), []byte(secret))
	if err != nil {
		return "", fmt.Errorf("wrap push secret: %w", err)
	}
	a.Secrets = slices.Insert(a.Secrets, 0, PushSecret{Ref: PushSecretRef, Wrapped: wrapped, CreatedAt: h.now()})
	return secret, nil
}

// putAgent commits an agent and the deed together.
func (h *Hub) putAgent(ctx context.Context, c *Caller, was record.Record, a *Agent, did string) error {
	r := record.Record{
		Key: AgentKey(a.Ref), Kind: KindAgent, Body: Encode(a),
		Tags: [2]record.Tag{{Name: "agent#" + a.Account, Order: a.Ref}},
	}
	err := h.Store.Commit(ctx, record.Put(r, was.Rev), h.deed(c, did, a.ID, h.now()))
	if record.AsConflict(err) != nil {
		return ma2h.Errorf(ma2h.CodeUnavailable, "The agent was changed at the same time; try again.")
	}
	if err != nil {
		return fmt.Errorf("write agent: %w", err)
	}
	return nil
}

// RotateAgent gives an agent a new token beside its latest one, and nothing older. The push secret stays what it is, and
// is shown again, so that whoever sets up the agent anew has everything.
func (h *Hub) RotateAgent(ctx context.Context, c *Caller, id string) (*NewCredentials, error) {
	a, rec, err := h.agentOf(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if a.Revoked {
		return nil, ma2h.Errorf(ma2h.CodeNotFound, "The agent is revoked; add it again.")
	}
	made := &NewCredentials{ID: id, Token: h.addCredential(a), SecretRef: PushSecretRef}
	secret, err := h.pushKey(ctx, a, &ma2h.CallbackAuth{SecretRef: PushSecretRef})
	if err != nil {
		return nil, fmt.Errorf("open push secret: %w", err)
	}
	made.PushSecret = string(secret)
	return made, h.putAgent(ctx, c, rec, a, "agent_rotate")
}

// RevokeAgent ends all of an agent's credentials. What it asked stays where it is.
func (h *Hub) RevokeAgent(ctx context.Context, c *Caller, id string) error {
	a, rec, err := h.agentOf(ctx, c, id)
	if err != nil || a.Revoked {
		return err
	}
	a.Revoked, a.Credentials = true, nil
	return h.putAgent(ctx, c, rec, a, "agent_revoke")
}

// agentOf returns an agent of the person's account; any other is unknown.
func (h *Hub) agentOf(ctx context.Context, c *Caller, id string) (*Agent, record.Record, error) {
	if err := personOnly(c); err != nil {
		return nil, record.Record{}, err
	}
	rec, err := h.get(ctx, AgentKey(h.AgentRef(c.Account.Ref, id)))
	if err != nil {
		return nil, rec, err
	}
	var a Agent
	if rec.Rev != "" {
		if err := Decode(rec, &a); err != nil {
			return nil, rec, err
		}
	}
	if a.Account != c.Account.Ref {
		return nil, rec, ma2h.Errorf(ma2h.CodeNotFound, "The account has no agent with this id.")
	}
	return &a, rec, nil
}

// Agents returns the agents of the person's account.
func (h *Hub) Agents(ctx context.Context, c *Caller) ([]AgentView, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	views, after := []AgentView{}, record.Entry{}
	for {
		recs, last, err := h.indexed(ctx, 1, "agent#"+c.Account.Ref, after, record.MaxReads)
		if err != nil {
			return nil, err
		}
		for _, r := range recs {
			var a Agent
			if err := Decode(r, &a); err != nil {
				return nil, err
			}
			views = append(views, a.view())
		}
		if last == (record.Entry{}) {
			break
		}
		after = last
	}
	slices.SortFunc(views, func(x, y AgentView) int { return strings.Compare(x.ID, y.ID) })
	return views, nil
}

func (a *Agent) view() AgentView {
	v := AgentView{ID: a.ID, CreatedAt: a.CreatedAt, Revoked: a.Revoked, Credentials: len(a.Credentials)}
	for _, s := range a.Secrets {
		v.SecretRefs = append(v.SecretRefs, s.Ref)
	}
	return v
}

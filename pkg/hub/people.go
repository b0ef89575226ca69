package hub

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// The prefixes of tokens: each names whom it belongs to, so that one read of known keys authenticates.
const (
	AgentTokenPrefix  = "mash"  // mash_<account>_<agent ref>_<secret>
	PersonTokenPrefix = "mashp" // mashp_<account>_<person ref>_<secret>
)

// NewToken mints a token of 130 random bits for the holder of ref.
func NewToken(prefix, account, ref string) string {
	return prefix + "_" + account + "_" + ref + "_" + ma2h.NewTail()
}

// TokenHash is what is kept of an agent's token.
func TokenHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// LoginHash names the record of a person's token, session or link.
func LoginHash(token string) string { return hex.EncodeToString(TokenHash(token)) }

// EnsureOwner makes the account of an owner, the person and the account being one Commit, unless they are there. name is
// the person's id without human:.
func (h *Hub) EnsureOwner(ctx context.Context, name string) (*Caller, error) {
	account := Account{Ref: h.AccountRef(ma2h.HumanPrefix + name), Owner: ma2h.HumanPrefix + name}
	person := Person{Ref: h.PersonRef(name), ID: name, Account: account.Ref}
	recs, err := h.Store.Get(ctx, accountKey(account.Ref), personKey(person.Ref))
	if err != nil {
		return nil, fmt.Errorf("read owner: %w", err)
	}
	if recs[0].Rev == "" {
		err := h.Store.Commit(ctx,
			record.Put(record.Record{Key: accountKey(account.Ref), Kind: KindAccount, Body: Encode(account)}, ""),
			record.Put(record.Record{Key: personKey(person.Ref), Kind: KindPerson, Body: Encode(person)}, recs[1].Rev))
		if err == nil {
			return &Caller{Account: account, Person: &person}, nil
		}
		if record.AsConflict(err) == nil {
			return nil, fmt.Errorf("make owner: %w", err)
		}
		if recs, err = h.Store.Get(ctx, accountKey(account.Ref), personKey(person.Ref)); err != nil {
			return nil, fmt.Errorf("read owner: %w", err)
		}
	}
	c := &Caller{Person: &Person{}}
	if err := Decode(recs[0], &c.Account); err != nil {
		return nil, err
	}
	return c, Decode(recs[1], c.Person)
}

// NewLogin makes a token, web session or link for the person and returns it; only its hash is kept. ttl is how long it
// is good for, 0 for ever.
func (h *Hub) NewLogin(ctx context.Context, c *Caller, use LoginUse, ttl time.Duration) (string, error) {
	if err := personOnly(c); err != nil {
		return "", err
	}
	token, write := h.login(c, use, ttl)
	if err := h.Store.Commit(ctx, write); err != nil {
		return "", fmt.Errorf("make %s: %w", use, err)
	}
	return token, nil
}

func (h *Hub) login(c *Caller, use LoginUse, ttl time.Duration) (string, record.Write) {
	token := NewToken(PersonTokenPrefix, c.Account.Ref, c.Person.Ref)
	now := h.now()
	l := Login{Person: c.Person.Ref, Use: use, CreatedAt: now}
	r := record.Record{Key: LoginKey(c.Person.Ref, LoginHash(token)), Kind: KindLogin}
	if ttl > 0 {
		l.ExpiresAt = now.Add(ttl)
		r.Erase = l.ExpiresAt
	}
	r.Body = Encode(l)
	return token, record.Put(r, "")
}

// RedeemLink turns a link, once, into a web session that lasts ttl. link is the record of the link as it was read with
// the credential.
func (h *Hub) RedeemLink(ctx context.Context, c *Caller, link record.Record, ttl time.Duration) (string, error) {
	token, write := h.login(c, LoginSession, ttl)
	if err := h.Store.Commit(ctx, record.Erase(link.Key, link.Rev), write); err != nil {
		if record.AsConflict(err) != nil {
			return "", ma2h.Errorf(ma2h.CodeUnauthenticated, "The link was used already; ask for another.")
		}
		return "", fmt.Errorf("redeem link: %w", err)
	}
	return token, nil
}

// SignOut ends the web session under key.
func (h *Hub) SignOut(ctx context.Context, session record.Record) error {
	err := h.Store.Commit(ctx, record.Erase(session.Key, session.Rev))
	if err != nil && record.AsConflict(err) == nil {
		return fmt.Errorf("sign out: %w", err)
	}
	return nil
}

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
	ref := h.AgentRef(c.Account.Ref, id)
	rec, err := h.get(ctx, agentKey(ref))
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
		Key: agentKey(a.Ref), Kind: KindAgent, Body: Encode(a),
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
	rec, err := h.get(ctx, agentKey(h.AgentRef(c.Account.Ref, id)))
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
	recs, err := h.indexed(ctx, 1, "agent#"+c.Account.Ref, record.MaxListLimit)
	if err != nil {
		return nil, err
	}
	views := make([]AgentView, 0, len(recs))
	for _, r := range recs {
		var a Agent
		if err := Decode(r, &a); err != nil {
			return nil, err
		}
		v := AgentView{ID: a.ID, CreatedAt: a.CreatedAt, Revoked: a.Revoked, Credentials: len(a.Credentials)}
		for _, s := range a.Secrets {
			v.SecretRefs = append(v.SecretRefs, s.Ref)
		}
		views = append(views, v)
	}
	slices.SortFunc(views, func(x, y AgentView) int { return strings.Compare(x.ID, y.ID) })
	return views, nil
}

// SetDefaultResolvers decides who may resolve the asks to come that list nobody; an empty list turns that off (spec
// §9.1). Messages already accepted keep what they have.
func (h *Hub) SetDefaultResolvers(ctx context.Context, c *Caller, list []string) error {
	if err := personOnly(c); err != nil {
		return err
	}
	for i, r := range list {
		if !strings.HasPrefix(r, ma2h.HumanPrefix) && !strings.HasPrefix(r, ma2h.AgentPrefix) {
			return ma2h.FieldErrorf(ma2h.CodeInvalidField, fmt.Sprintf("/default_resolvers/%d", i),
				"A resolver is human:<id> or agent:<id>.")
		}
	}
	rec, err := h.get(ctx, accountKey(c.Account.Ref))
	if err != nil {
		return err
	}
	var a Account
	if err := Decode(rec, &a); err != nil {
		return err
	}
	a.DefaultResolvers = list
	r := record.Record{Key: rec.Key, Kind: KindAccount, Body: Encode(a)}
	err = h.Store.Commit(ctx, record.Put(r, rec.Rev), h.deed(c, "default_resolvers", "", h.now()))
	if record.AsConflict(err) != nil {
		return ma2h.Errorf(ma2h.CodeUnavailable, "The settings were changed at the same time; try again.")
	}
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	c.Account = a
	return nil
}

// deed is the audit entry of what a person did, to be committed with it.
func (h *Hub) deed(c *Caller, did, subject string, now time.Time) record.Write {
	d := Deed{At: now, By: c.Actor(), Did: did, Subject: subject}
	key := record.Key{
		Part: "u#" + c.Account.Ref + "#" + now.Format("2006-01-02"),
		Sort: fmt.Sprintf("%019d", time.Now().UnixMicro()) + ma2h.NewTail()[:4],
	}
	return record.Put(record.Record{Key: key, Kind: KindDeed, Body: Encode(d)}, "")
}

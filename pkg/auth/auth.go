// Package auth turns what a request shows, a token of an agent or of a person, a cookie or a link, into a hub.Caller,
// with one read that may bring other records along.
package auth

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Credential is a token that has the form of one of ours. Nothing is known yet of whether it is good.
type Credential struct {
	Account string // ref
	Ref     string // of the agent or person it names
	Person  bool

	token string
}

// FromRequest reads the credential of a /v1 request: Authorization: Bearer, whatever the case of the scheme, or
// X-API-Key (spec §9.1; RFC 9110 §11.1). More than one credential is a validation_error, so that nobody acts under a
// mixture of two; a missing one, or one that has not our form, is unauthenticated.
func FromRequest(r *http.Request) (Credential, *ma2h.Error) {
	bearer, key := r.Header.Values("Authorization"), r.Header.Values("X-API-Key")
	switch {
	case len(bearer)+len(key) > 1:
		return Credential{}, ma2h.Errorf(ma2h.CodeValidationError,
			"Send one credential, in Authorization or in X-API-Key, not several.")
	case len(key) == 1:
		return Parse(key[0])
	case len(bearer) == 1:
		scheme, token, _ := strings.Cut(bearer[0], " ")
		if strings.EqualFold(scheme, "Bearer") {
			return Parse(strings.TrimLeft(token, " "))
		}
	}
	return Credential{}, unauthenticated()
}

func unauthenticated() *ma2h.Error {
	return ma2h.Errorf(ma2h.CodeUnauthenticated,
		"Send a valid token, as Authorization: Bearer <token> or X-API-Key: <token>.")
}

// Parse reads a token's form.
func Parse(token string) (Credential, *ma2h.Error) {
	parts := strings.Split(token, "_")
	if len(parts) != 4 || !ma2h.Minted(parts[1], hub.AccountRefLength) ||
		!ma2h.Minted(parts[2], ma2h.TailLength) || !ma2h.Minted(parts[3], ma2h.TailLength) {
		return Credential{}, unauthenticated()
	}
	c := Credential{Account: parts[1], Ref: parts[2], Person: parts[0] == hub.PersonTokenPrefix, token: token}
	if !c.Person && parts[0] != hub.AgentTokenPrefix {
		return Credential{}, unauthenticated()
	}
	return c, nil
}

// Authenticator checks credentials against the store.
type Authenticator struct {
	Store record.Store
	Now   func() time.Time
}

// For returns the authenticator of a hub.
func For(h *hub.Hub) Authenticator { return Authenticator{Store: h.Store, Now: h.Now} }

// Caller returns who shows the credential, with one read that brings the records under also along. A credential that is
// not good is unauthenticated, whatever the reason. Of a person's logins only tokens are good for /v1.
func (a Authenticator) Caller(ctx context.Context, c Credential, also ...record.Key) (*hub.Caller, error) {
	if c.Person {
		caller, login, err := a.person(ctx, c, also)
		if err != nil {
			return nil, err
		}
		if login.use != hub.LoginToken {
			return nil, unauthenticated()
		}
		return caller, nil
	}
	recs, err := a.Store.Get(ctx, distinct([]record.Key{hub.AgentKey(c.Ref), hub.AccountKey(c.Account)}, also)...)
	if err != nil {
		return nil, fmt.Errorf("authenticate: %w", err)
	}
	var agent hub.Agent
	if recs[0].Rev == "" {
		return nil, unauthenticated()
	}
	if err := hub.Decode(recs[0], &agent); err != nil {
		return nil, err
	}
	hash := hub.TokenHash(c.token)
	if !agent.Knows(hash) {
		return nil, unauthenticated()
	}
	caller := &hub.Caller{Agent: &agent, Credential: hash, Read: recs[2:]}
	return caller, a.account(ctx, caller, recs[1], agent.Account)
}

// distinct returns the keys of a credential and what is to come along, each once, as a store wants them: what comes along may
// be named by whoever sends the request, themselves among others.
func distinct(keys, also []record.Key) []record.Key {
	for _, k := range also {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// account fills in the caller's account. The token's own word for it is a guess that saves a read: an agent may have got
// its owner after the token was made.
func (a Authenticator) account(ctx context.Context, c *hub.Caller, guess record.Record, ref string) error {
	if guess.Key != hub.AccountKey(ref) {
		recs, err := a.Store.Get(ctx, hub.AccountKey(ref))
		if err != nil {
			return fmt.Errorf("authenticate: %w", err)
		}
		guess = recs[0]
	}
	if guess.Rev == "" {
		return unauthenticated()
	}
	return hub.Decode(guess, &c.Account)
}

// login is how a person came in.
type login struct {
	use    hub.LoginUse
	record record.Record
}

func (a Authenticator) person(ctx context.Context, c Credential, also []record.Key) (*hub.Caller, login, error) {
	keys := distinct([]record.Key{
		hub.LoginKey(c.Ref, hub.LoginHash(c.token)), hub.PersonKey(c.Ref), hub.AccountKey(c.Account),
	}, also)
	recs, err := a.Store.Get(ctx, keys...)
	if err != nil {
		return nil, login{}, fmt.Errorf("authenticate: %w", err)
	}
	if recs[0].Rev == "" || recs[1].Rev == "" {
		return nil, login{}, unauthenticated()
	}
	var l hub.Login
	var p hub.Person
	if err := hub.Decode(recs[0], &l); err != nil {
		return nil, login{}, err
	}
	if err := hub.Decode(recs[1], &p); err != nil {
		return nil, login{}, err
	}
	if !p.Admits(&l) || l.Use == hub.LoginInvitation || !l.ExpiresAt.IsZero() && a.Now().After(l.ExpiresAt) {
		return nil, login{}, unauthenticated()
	}
	if err := a.stillWith(ctx, &p, &l); err != nil {
		return nil, login{}, err
	}
	caller := &hub.Caller{Person: &p, Login: recs[0], Read: recs[3:]}
	return caller, login{use: l.Use, record: recs[0]}, a.account(ctx, caller, recs[2], p.Account)
}

// stillWith asks for the token with which a login was made, if there was one: it may have been revoked since. That is one
// read more, for those who came in by such a link.
func (a Authenticator) stillWith(ctx context.Context, p *hub.Person, l *hub.Login) error {
	if l.With == "" {
		return nil
	}
	recs, err := a.Store.Get(ctx, hub.LoginKey(p.Ref, l.With))
	if err != nil {
		return fmt.Errorf("authenticate: %w", err)
	}
	if recs[0].Rev == "" {
		return unauthenticated()
	}
	var token hub.Login
	if err := hub.Decode(recs[0], &token); err != nil {
		return err
	}
	if !p.Admits(&token) {
		return unauthenticated()
	}
	return nil
}

// Session returns the person of a web session's cookie, and the session's record.
func (a Authenticator) Session(ctx context.Context, cookie string, also ...record.Key) (*hub.Caller, record.Record, error) {
	return a.login(ctx, cookie, hub.LoginSession, also)
}

// Link returns the person of a link that signs in, and the link's record, to be redeemed with hub.RedeemLink.
func (a Authenticator) Link(ctx context.Context, token string) (*hub.Caller, record.Record, error) {
	return a.login(ctx, token, hub.LoginLink, nil)
}

// Invitation returns the open invitation with this token. It changes nothing.
func Invitation(ctx context.Context, h *hub.Hub, token string) (*hub.Invitation, error) {
	c, err := Parse(token)
	if err != nil {
		return nil, err
	}
	if !c.Person {
		return nil, unauthenticated()
	}
	return h.OpenInvitation(ctx, token, c.Account, c.Ref)
}

func (a Authenticator) login(
	ctx context.Context, token string, use hub.LoginUse, also []record.Key,
) (*hub.Caller, record.Record, error) {
	c, err := Parse(token)
	if err != nil {
		return nil, record.Record{}, err
	}
	if !c.Person {
		return nil, record.Record{}, unauthenticated()
	}
	caller, l, failed := a.person(ctx, c, also)
	if failed != nil {
		return nil, record.Record{}, failed
	}
	if l.use != use {
		return nil, record.Record{}, unauthenticated()
	}
	return caller, l.record, nil
}

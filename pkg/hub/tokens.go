package hub

import (
	"context"
	"fmt"
	"strings"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// maxTokenName is the longest name of a token, in bytes; maxTokens is how many a person may have.
const (
	maxTokenName = 100
	maxTokens    = 50
)

// NewPersonToken makes a token of /v1 for the caller, who calls it name, and returns it; only its hash is kept.
func (h *Hub) NewPersonToken(ctx context.Context, c *Caller, name string) (string, error) {
	if err := personOnly(c); err != nil {
		return "", err
	}
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxTokenName {
		return "", ma2h.FieldErrorf(ma2h.CodeInvalidField, "/name", "Give the token a name of 1 to %d bytes, to know it by.", maxTokenName)
	}
	all, err := h.Tokens(ctx, c)
	if err != nil {
		return "", err
	}
	if len(all) >= maxTokens {
		return "", ma2h.FieldErrorf(ma2h.CodeInvalidField, "/name", "You have %d tokens, which is the most; revoke one first.", len(all))
	}
	return h.addToken(ctx, c, name)
}

// ReplaceToken makes a token of /v1 for the caller in the place of those that have this name, however many there are: for a
// machine that keeps one.
func (h *Hub) ReplaceToken(ctx context.Context, c *Caller, name string) (string, error) {
	all, err := h.Tokens(ctx, c)
	if err != nil {
		return "", err
	}
	for _, t := range all {
		if t.Name == name {
			err := h.RevokeToken(ctx, c, t.ID)
			if e := ma2h.AsError(err); err != nil && (e == nil || e.Code != ma2h.CodeNotFound) { // gone is good
				return "", err
			}
		}
	}
	return h.addToken(ctx, c, name)
}

func (h *Hub) addToken(ctx context.Context, c *Caller, name string) (string, error) {
	person, err := h.get(ctx, PersonKey(c.Person.Ref))
	if err != nil {
		return "", err
	}
	still, err := c.still(person)
	if err != nil {
		return "", err
	}
	token, write := h.login(c, Login{Use: LoginToken, Name: name}, 0)
	writes := append(still, record.Check(person.Key, person.Rev), write, h.deed(c, "token_add", LoginHash(token), h.now()))
	err = h.Store.Commit(ctx, writes...)
	if record.AsConflict(err) != nil {
		return "", changedMeanwhile()
	}
	if err != nil {
		return "", fmt.Errorf("make token: %w", err)
	}
	return token, nil
}

// RevokeToken ends one of the caller's tokens, and with it the links that were made with it and the sessions that began by
// them, which are good only while it is there. Tokens and passwords of such a session have a life of their own.
func (h *Hub) RevokeToken(ctx context.Context, c *Caller, id string) error {
	token, err := h.ownLogin(ctx, c, id, LoginToken)
	if err != nil {
		return err
	}
	return h.endLogin(ctx, c, token, "token_revoke")
}

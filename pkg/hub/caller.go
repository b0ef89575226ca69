package hub

import (
	"crypto/subtle"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Caller is who makes a request, as the hub itself found out: never taken from a body (spec §9.1).
type Caller struct {
	Account Account
	Agent   *Agent  // of an agent
	Person  *Person // of a person

	// Credential is the TokenHash of what an agent showed. A pull that waits holds it against the agent as it then is.
	Credential []byte

	// Session is the id of the session that an agent presents, for what it is to be attested by (spec §8.8).
	Session string

	// Login is the record of what a person showed, as it was read.
	Login record.Record

	// Read holds the records that were read in the same request as the credential, absent ones included.
	Read []record.Record
}

// Knows says whether a token with this TokenHash is one of the agent's.
func (a *Agent) Knows(hash []byte) bool {
	found := false
	for _, k := range a.Credentials {
		if subtle.ConstantTimeCompare(k.Hash, hash) == 1 {
			found = true
		}
	}
	return found && !a.Revoked
}

// Actor returns the namespaced identity: agent:alice is not human:alice (spec §9.1). One that presents a session is named
// with it.
func (c *Caller) Actor() string {
	switch {
	case c.Agent != nil:
		return ma2h.Address{AgentID: c.Agent.ID, Session: c.Session}.String()
	case c.Person != nil:
		return ma2h.HumanPrefix + c.Person.ID
	}
	return ""
}

// Me is who a caller is.
type Me struct {
	Actor   string `json:"actor"`             // agent:<id> or human:<id>
	AgentID string `json:"agent_id,omitzero"` // of an agent
	Owner   string `json:"owner,omitzero"`    // human:<id> of the account's owner
}

// Me says who the caller is.
func (c *Caller) Me() Me {
	m := Me{Actor: c.Actor(), Owner: c.Account.Owner}
	if c.Agent != nil {
		m.AgentID = c.Agent.ID
	}
	return m
}

// seen returns the record under k if it was read with the credential.
func (c *Caller) seen(k record.Key) (record.Record, bool) {
	for _, r := range c.Read {
		if r.Key == k {
			return r, true
		}
	}
	return record.Record{}, false
}

// Owns says whether the caller is an owner of the account.
func (c *Caller) Owns() bool { return c.Person != nil && c.Person.Role != RoleMember }

// agentOnly and personOnly refuse the other kind of caller.
func agentOnly(c *Caller) error {
	if c.Agent == nil {
		return ma2h.Errorf(ma2h.CodeNotAuthorized, "This is for agents; use an agent's token.")
	}
	return nil
}

func personOnly(c *Caller) error {
	if c.Person == nil {
		return ma2h.Errorf(ma2h.CodeNotAuthorized, "This is for people; an agent's token does not open it.")
	}
	return nil
}

// ownerOnly is for what members may not do.
func ownerOnly(c *Caller) error {
	if err := personOnly(c); err != nil {
		return err
	}
	if !c.Owns() {
		return ma2h.Errorf(ma2h.CodeNotAuthorized, "Only an owner of the account may do this.")
	}
	return nil
}

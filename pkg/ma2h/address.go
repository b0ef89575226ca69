package ma2h

import "strings"

// The kinds of a namespaced identity (spec §9.1): agent:x and human:x are two identities.
const (
	AgentPrefix  = "agent:"
	HumanPrefix  = "human:"
	SystemPrefix = "system:"
)

// The system actors of a Response (spec §6, §7).
const (
	ActorDefaultOnExpire = "system:default_on_expire"
	ActorUndeliverable   = "system:undeliverable"
)

// Address is where mail for agents goes: an agent, or one of its sessions (spec §4).
type Address struct {
	AgentID string
	Session string // a session id, or empty for the principal
}

// ParseAddress reads agent:<agent.id> or agent:<agent.id>#<session.id>. The first # ends the agent id, and what follows
// must begin with sess_ (spec §4).
func ParseAddress(s string) (Address, bool) {
	rest, ok := strings.CutPrefix(s, AgentPrefix)
	if !ok {
		return Address{}, false
	}
	id, session, qualified := strings.Cut(rest, "#")
	if id == "" || qualified && !strings.HasPrefix(session, PrefixSession) {
		return Address{}, false
	}
	return Address{AgentID: id, Session: session}, true
}

// String returns the address as it is written on the wire.
func (a Address) String() string {
	if a.Session == "" {
		return AgentPrefix + a.AgentID
	}
	return AgentPrefix + a.AgentID + "#" + a.Session
}

// Addressable says whether an agent id can stand in an address and hold sessions: one with a # cannot (spec §4, §16.1).
func Addressable(agentID string) bool { return agentID != "" && !strings.Contains(agentID, "#") }

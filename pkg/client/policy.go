package client

import (
	"errors"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// The reasons for which an ask or task of an agent is withheld.
var (
	ErrNoPolicy   = errors.New("client: no policy says whose asks and tasks this agent takes")
	ErrNotAllowed = errors.New("client: the policy does not allow asks and tasks of this sender")
)

// Policy says from which agents an agent takes asks and tasks (spec §13.4). Whoever deploys an agent has to declare it: there is
// none until AllowAgents or AllowEveryAgent makes one. That an entry verifies proves who sent it, and not that they may.
type Policy struct {
	every  bool
	agents []string
}

// AllowAgents is a policy of the agents with these ids, each in any of its sessions; also written agent:<id>. Without any it
// allows nobody.
func AllowAgents(ids ...string) *Policy { return &Policy{agents: slices.Clone(ids)} }

// AllowEveryAgent is a policy of all agents that the hub lets write to this one.
func AllowEveryAgent() *Policy { return &Policy{every: true} }

// Allows says whether who is named as from, agent:<id> or agent:<id>#<session>, may ask and task the agent. A nil Policy allows
// nobody.
func (p *Policy) Allows(from string) bool {
	a, ok := ma2h.ParseAddress(from)
	if p == nil || !ok || a.AgentID == "" {
		return false
	}
	return p.every || slices.Contains(p.agents, a.AgentID) || slices.Contains(p.agents, ma2h.AgentPrefix+a.AgentID)
}

// String says for people whom the policy allows.
func (p *Policy) String() string {
	switch {
	case p == nil:
		return "not declared"
	case p.every:
		return "every agent"
	case len(p.agents) == 0:
		return "no agent"
	}
	return strings.Join(p.agents, ", ")
}

// Withheld is an ask or task of another agent that was verified, and is not handed over, since the policy does not allow it.
// It is not acknowledged: it comes again, and bounces when its session ends.
type Withheld struct {
	ID   string
	From string // agent:<id> or agent:<id>#<session>, attested by the hub
	Type ma2h.Type
	Why  error // ErrNoPolicy or ErrNotAllowed
}

// withheld returns what is not for the caller under the policy, or nil. A directive is a person's word, and what is only told
// moves nobody.
func (p *Policy) withheld(e Entry) *Withheld {
	m, ok := e.(*MessageEntry)
	if !ok || m.Type == ma2h.TypeNotify || p.Allows(m.From) {
		return nil
	}
	w := &Withheld{ID: m.ID, From: m.From, Type: m.Type, Why: ErrNotAllowed}
	if p == nil {
		w.Why = ErrNoPolicy
	}
	return w
}

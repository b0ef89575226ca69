package hub

import (
	"context"
	"slices"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Warning is a word of the Mash-Warning header: something lawful that the sender should know.
type Warning string

// The warnings of a submit; a resolve has the first.
const (
	// WarningInexactNumber: an integer beyond ±(2^53−1) occurs, and signatures see it rounded (spec §9.2).
	WarningInexactNumber Warning = "inexact_number"

	// WarningNoHumanResolver: the message lists no resolver, so nobody but its sender may answer it (spec §9.1).
	WarningNoHumanResolver Warning = "no_human_resolver"

	// WarningUnknownResolver: the message lists a resolver who is nobody of the account now (spec §9.1).
	WarningUnknownResolver Warning = "unknown_resolver"
)

// warnings are what the sender of a message should know of it.
func (h *Hub) warnings(ctx context.Context, c *Caller, e *ma2h.Envelope, s *State) ([]Warning, error) {
	var w []Warning
	if e.Inexact {
		w = append(w, WarningInexactNumber)
	}
	if s.Type != ma2h.TypeNotify && s.Mail == nil && len(s.Resolvers) == 0 {
		w = append(w, WarningNoHumanResolver)
	}
	if !s.ResolversListed {
		return w, nil
	}
	strangers, err := h.Strangers(ctx, c, s.Resolvers)
	if len(strangers) > 0 {
		w = append(w, WarningUnknownResolver)
	}
	return w, err
}

// SubmitKeys returns the keys to read with the credential of the agent with this ref, of what it says is the account with that
// one, so that an earlier submit with the same idempotency key comes along with it (spec §8.1), and so do the resolvers.
func (h *Hub) SubmitKeys(account, agentRef string, e *ma2h.Envelope) []record.Key {
	var keys []record.Key
	if e.Message.IdempotencyKey != nil {
		keys = append(keys, stateKey(h.messageTail(agentRef, *e.Message.IdempotencyKey)))
	}
	add := func(more ...record.Key) {
		for _, k := range more {
			if !slices.Contains(keys, k) && k != AgentKey(agentRef) {
				keys = append(keys, k)
			}
		}
	}
	add(h.destinationKeys(account, e.Message.To)...)
	add(h.SessionKeys(e.Message.Agent.Session)...)
	list, _ := e.Message.AllowedResolvers()
	for _, r := range list[:min(len(list), maxResolversAlong)] {
		key, ok := h.principalKey(account, r)
		if ok && key != AgentKey(agentRef) && h.AccountRef(r) != account && !slices.Contains(keys, key) { // nor its owner's
			keys = append(keys, key)
		}
	}
	return keys
}

// maxResolversAlong is how many resolvers are read along with a credential.
const maxResolversAlong = 20

package hub

import (
	"context"
	"fmt"
	"slices"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// SetInterAgent is an owner's word whether the agents of the account may write to each other (spec §8.0). They may not
// until it is given.
func (h *Hub) SetInterAgent(ctx context.Context, c *Caller, on bool) error {
	return h.ChangeSettings(ctx, c, SettingsChange{InterAgent: &on})
}

// SettingsView is what people of an account see of its settings.
type SettingsView struct {
	DefaultResolvers []string `json:"default_resolvers"` // of asks to come that list nobody
	InterAgent       bool     `json:"inter_agent_enabled"`
}

// AccountSettings returns the settings of the person's account.
func (h *Hub) AccountSettings(c *Caller) (*SettingsView, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	return &SettingsView{append([]string{}, c.Account.DefaultResolvers...), c.Account.InterAgent}, nil
}

// The bounds of an agent's allowlist.
const (
	maxSenders      = 1000
	maxSendersBytes = 128 << 10 // as it is kept, beside the agent's hosts and secrets
)

// SetAllowlist decides which agents may write to the agent with this id: those with the ids of senders, nobody where it is
// empty, and where it is nil every one of the account (spec §8.0, §13.5). What was sent before is delivered all the same.
func (h *Hub) SetAllowlist(ctx context.Context, c *Caller, agentID string, senders *[]string) error {
	list, err := allowlistOf(senders)
	if err != nil {
		return err
	}
	return h.changeOwn(ctx, c, agentID, "allowlist", func(a *Agent) (bool, error) {
		if a.Senders == nil && list == nil || a.Senders != nil && list != nil && slices.Equal(a.Senders.Agents, list.Agents) {
			return false, nil
		}
		a.Senders = list
		return true, nil
	})
}

// allowlistOf is the list as it is kept: each id once, in order.
func allowlistOf(senders *[]string) (*Allowlist, error) {
	if senders == nil {
		return nil, nil
	}
	if len(*senders) > maxSenders {
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/senders", "Name at most %d agents.", maxSenders)
	}
	for i, id := range *senders {
		if id == "" || len(id) > maxAgentID {
			return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, fmt.Sprintf("/senders/%d", i),
				"An agent's id has 1 to %d bytes.", maxAgentID)
		}
	}
	ids := slices.Clone(*senders)
	slices.Sort(ids)
	list := &Allowlist{Agents: slices.Compact(ids)}
	if len(Encode(list)) > maxSendersBytes {
		return nil, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/senders", "The ids together take more than %d bytes; name fewer agents.",
			maxSendersBytes)
	}
	return list, nil
}

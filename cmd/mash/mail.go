package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// mailCommand is `mash agent mail`: whether the agents of the account may write to each other.
func mailCommand(flags *flag.FlagSet) action {
	return callbackCommand("on|off", func(*flag.FlagSet, *callbackFlags) {}, agentMail)(flags)
}

func agentMail(ctx context.Context, p *program, d *desk, _ *callbackFlags, args []string) error {
	set, said := d.AllowMail, "Your agents may write to each other."
	switch args[0] {
	case "on":
	case "off":
		set, said = d.ForbidMail, "Your agents may not write to each other any more. What was sent before is delivered all the same."
	default:
		return usagef("", "Say on or off.")
	}
	if err := set(ctx); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, said)
	return nil
}

// sendersCommand is `mash agent senders`: which agents may write to one.
func sendersCommand(flags *flag.FlagSet) action {
	return callbackCommand("NAME WHO", func(*flag.FlagSet, *callbackFlags) {}, agentSenders)(flags)
}

// noAgent is what is given instead of names.
const noAgent = "none"

func agentSenders(ctx context.Context, p *program, d *desk, _ *callbackFlags, args []string) error {
	name, senders, who := args[0], namesIn(args[1]), args[1]
	switch args[1] {
	case everyAgent:
		senders, who = nil, "every agent of the account"
	case noAgent:
		senders, who = []string{}, "no agent"
	}
	if err := d.SetAllowlist(ctx, name, senders); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "To %s may write: %s.\n", clean(name), clean(who))
	return p.sayStrangers(ctx, d, senders)
}

// namesIn reads names with commas between them.
func namesIn(text string) []string {
	names := strings.Split(text, ",")
	for i, n := range names {
		names[i] = strings.TrimPrefix(strings.TrimSpace(n), ma2h.AgentPrefix)
	}
	return names
}

// sayStrangers tells which of these are no agents, who may be so yet, or be misspelt.
func (p *program) sayStrangers(ctx context.Context, d *desk, names []string) error {
	agents, err := d.ListAgents(ctx)
	if err != nil {
		return err
	}
	for _, n := range names {
		if !slices.ContainsFunc(agents, func(a client.Agent) bool { return a.ID == n }) {
			fmt.Fprintf(p.stderr, "Note: there is no agent %s yet.\n", clean(n))
		}
	}
	return nil
}

// AllowMail lets the agents of the account write to each other.
func (o offline) AllowMail(ctx context.Context) error {
	return o.s.Hub.SetInterAgent(ctx, o.s.Owner, true)
}

// ForbidMail ends that.
func (o offline) ForbidMail(ctx context.Context) error {
	return o.s.Hub.SetInterAgent(ctx, o.s.Owner, false)
}

// SetAllowlist decides which agents may write to one; nil for all.
func (o offline) SetAllowlist(ctx context.Context, id string, senders []string) error {
	if senders == nil {
		return o.s.Hub.SetAllowlist(ctx, o.s.Owner, id, nil)
	}
	return o.s.Hub.SetAllowlist(ctx, o.s.Owner, id, &senders)
}

package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
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
	name, senders, who := args[0], strings.Split(args[1], ","), args[1]
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

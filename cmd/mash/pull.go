package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// waitFor is --wait, which may stand without a duration.
type waitFor struct {
	given bool
	time.Duration
}

// IsBoolFlag lets the flag package take --wait alone.
func (*waitFor) IsBoolFlag() bool { return true }

// Set reads a duration, or the word true for a flag without one.
func (w *waitFor) Set(s string) (err error) {
	if w.given = s != "false"; s == "true" || s == "false" {
		return nil
	}
	w.Duration, err = waitingTime(s)
	return err
}

func pullCommand(flags *flag.FlagSet) action {
	var wait waitFor
	flags.Var(&wait, "wait", "")
	asJSON := flags.Bool("json", false, "")
	return func(ctx context.Context, p *program, args []string) error {
		c, id, err := p.agentAndID(args)
		if err != nil {
			return err
		}
		pulled, err := c.Pull(ctx, id)
		if err != nil {
			return err
		}
		if pulled.Open() && wait.given {
			return p.wait(ctx, c, id, wait.Duration, func(*ma2h.Response) error {
				if pulled, err = c.Pull(ctx, id); err != nil {
					return err
				}
				return p.printPulled(pulled, *asJSON)
			})
		}
		return p.printPulled(pulled, *asJSON)
	}
}

// agentAndID is what the commands on one message begin with.
func (p *program) agentAndID(args []string) (*client.Client, string, error) {
	if len(args) != 1 {
		return nil, "", usagef("", "Give the id of one message, as it was printed when it was sent.")
	}
	c, err := p.agentClient()
	return c, args[0], err
}

// printPulled prints how a message stands, or the whole of it as JSON, and returns the exit that says how it ended.
func (p *program) printPulled(m *client.Pulled, asJSON bool) error {
	switch {
	case asJSON:
		if err := p.printJSON(m); err != nil {
			return err
		}
	case m.Response != nil:
		return p.printResponse(m.Response, false)
	case m.Open():
		fmt.Fprintf(p.stderr, "Still open. To wait for the answer: %s pull %s --wait\n", p.name, m.ID)
	default:
		fmt.Fprintf(p.stderr, "%s.\n", sentence(string(m.Status)))
	}
	if m.Open() {
		return exit(exitOpen)
	}
	return outcome(m.Status)
}

func cancelCommand(*flag.FlagSet) action {
	return func(ctx context.Context, p *program, args []string) error {
		c, id, err := p.agentAndID(args)
		if err != nil {
			return err
		}
		if _, err := c.Cancel(ctx, id); err != nil {
			return err
		}
		fmt.Fprintln(p.stderr, "Withdrawn.")
		return nil
	}
}

func ackCommand(flags *flag.FlagSet) action {
	note := flags.String("note", "", "")
	return func(ctx context.Context, p *program, args []string) error {
		c, id, err := p.agentAndID(args)
		if err != nil {
			return err
		}
		if _, err := c.Ack(ctx, id, ma2h.AckRequest{Note: *note}); err != nil {
			return err
		}
		fmt.Fprintln(p.stderr, "Acknowledged.")
		return nil
	}
}

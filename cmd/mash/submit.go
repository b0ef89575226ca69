package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// waitFlags say who may answer, and how long to wait for it.
type waitFlags struct {
	resolvers *list
	no        bool
	timeout   time.Duration
}

func newWaitFlags(flags *flag.FlagSet) *waitFlags {
	w := &waitFlags{resolvers: &list{}}
	flags.Func("resolver", "", func(s string) error {
		if kind, name, _ := strings.Cut(s, ":"); kind == "" || name == "" {
			return fmt.Errorf("wants human:%[1]s or agent:%[1]s", cmp.Or(cleanLine(strings.Trim(s, ":")), "NAME"))
		}
		return w.resolvers.Set(s)
	})
	flags.BoolVar(&w.no, "no-wait", false, "")
	flags.Func("timeout", "", func(s string) (err error) {
		w.timeout, err = waitingTime(s)
		return err
	})
	return w
}

// submit sends a message, then waits for its end unless it is told not to, and prints that.
func (p *program) submit(ctx context.Context, m ma2h.Message, d *draft, w *waitFlags) error {
	c, err := p.agentClient()
	if err != nil {
		return err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return err
	}
	if me.AgentID == "" {
		return fmt.Errorf("MASH_TOKEN belongs to %s, and only agents send; make one with `%s agent add NAME`", me.Actor, p.name)
	}
	allow(&m, w)
	c.Patience = 0 // the hub is there; what fails from here on passes
	ack, err := send(ctx, c, m, d)
	if err != nil {
		return err
	}
	for _, warning := range ack.Warnings {
		fmt.Fprintf(p.stderr, "Note: %s\n", warningText(warning, &m))
	}
	if m.Type == ma2h.TypeNotify || w.no {
		return p.printSent(ack, m.Type, d.json)
	}
	if m.To != "" {
		fmt.Fprintf(p.stderr, "Sent as %s.\n%sWaiting for the answer of %s.\n", ack.ID, reached(ack), cleanLine(m.To))
	} else {
		fmt.Fprintf(p.stderr, "Sent as %s.\nWaiting for the answer, which can be given at\n  %s\n", ack.ID, clean(ack.ReviewURL))
	}
	return p.wait(ctx, c, ack.ID, w.timeout, func(r *ma2h.Response) error { return p.printResponse(r, d.json) })
}

// reached says when an addressed message may be picked up, where the sender may know (spec §8.1).
func reached(ack *client.Ack) string {
	if ack.Destination == nil || ack.Destination.State == "unknown" {
		return ""
	}
	return pickedUp(*ack.Destination) + "\n"
}

// allow lets those resolve whom the flags name. Without any, the client lets the owner.
func allow(m *ma2h.Message, w *waitFlags) {
	switch {
	case w.resolvers == nil || len(*w.resolvers) == 0:
	case m.Request != nil:
		m.Request.AllowedResolvers = *w.resolvers
	case m.Action != nil:
		m.Action.AllowedResolvers = *w.resolvers
	}
}

// send submits a message. Where its --key is taken by the same message of an earlier run, which differs only in its
// times, that one is what was wanted.
func send(ctx context.Context, c *client.Client, m ma2h.Message, d *draft) (*client.Ack, error) {
	ack, err := c.Submit(ctx, m)
	e := ma2h.AsError(err)
	if e == nil || e.Code != ma2h.CodeIdempotencyConflict || e.ID == "" {
		return ack, err
	}
	earlier, pullErr := c.Pull(ctx, e.ID)
	if pullErr != nil {
		return nil, err
	}
	m.CreatedAt = earlier.CreatedAt
	if _, isTime := ma2h.ParseTime(d.expires); !isTime && d.expires != "" {
		m.ExpiresAt = earlier.ExpiresAt
	}
	ack, again := c.Submit(ctx, m)
	if again != nil {
		return nil, fmt.Errorf("the key %s belongs to another message, %s; choose another --key", d.key, e.ID)
	}
	return ack, nil
}

func warningText(warning string, m *ma2h.Message) string {
	switch hub.Warning(warning) {
	case hub.WarningInexactNumber:
		return "an integer beyond 2^53 occurs; signatures see it rounded, so send it as a string."
	case hub.WarningUnknownResolver:
		return stranger(m) + " is not in the account, and cannot answer this before they join."
	case hub.WarningNoHumanResolver:
		return "the message lists nobody who may answer it, so nobody but this agent can."
	}
	return clean(warning)
}

// stranger names who of a message is unknown, as far as the sender can tell: one of those whom it named.
func stranger(m *ma2h.Message) string {
	who, _ := m.AllowedResolvers()
	switch len(who) {
	case 0:
		return "somebody who may answer"
	case 1:
		return listed(who, "")
	}
	return "at least one of " + listed(who, "and")
}

// printSent says what became of a message that nobody waits for.
func (p *program) printSent(ack *client.Ack, t ma2h.Type, asJSON bool) error {
	if asJSON {
		return p.printJSON(ack.SubmitAck)
	}
	fmt.Fprintln(p.stdout, ack.ID)
	if t != ma2h.TypeNotify {
		fmt.Fprintf(p.stderr, "Sent. For the answer: %s pull %s --wait\n", p.name, ack.ID)
	}
	return nil
}

// wait holds until the message has ended and shows how. A timeout of 0 means for ever.
func (p *program) wait(
	ctx context.Context, c *client.Client, id string, timeout time.Duration, show func(*ma2h.Response) error,
) error {
	waiting, cancel := ctx, context.CancelFunc(func() {})
	if timeout > 0 {
		waiting, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	response, err := c.Wait(waiting, id)
	switch {
	case err == nil:
		return show(response)
	case ctx.Err() != nil:
		p.sayHowToGoOn("Stopped waiting", id)
		return exit(exitInterrupt)
	case errors.Is(err, context.DeadlineExceeded) && waiting.Err() != nil:
		p.sayHowToGoOn("No answer within "+timeout.String(), id)
		return exit(exitOpen)
	}
	return err
}

func (p *program) sayHowToGoOn(why, id string) {
	fmt.Fprintf(p.stderr, "%s; the message stays open.\nTo go on waiting, or to withdraw it if it is a question:\n"+
		"  %[2]s pull %[3]s --wait\n  %[2]s cancel %[3]s\n", why, p.name, id)
}

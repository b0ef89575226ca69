package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// directFlags are those of mash direct.
type directFlags struct {
	data, session, body, priority, expires string
	tags                                   *list
	json                                   bool
}

func directCommand(flags *flag.FlagSet) action {
	f := directFlags{tags: listFlag(flags, "tag")}
	flags.StringVar(&f.data, "data", "", "")
	flags.StringVar(&f.session, "session", "", "")
	flags.StringVar(&f.body, "body", "", "")
	flags.StringVar(&f.priority, "priority", "", "")
	flags.StringVar(&f.expires, "expires", "", "")
	flags.BoolVar(&f.json, "json", false, "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) == 1 && strings.HasPrefix(args[0], ma2h.PrefixDirective) {
			return p.showDirective(ctx, &f, args[0])
		}
		d, err := f.directive(p, args, time.Now())
		if err != nil {
			return err
		}
		c, err := p.personClient(f.data)
		if err != nil {
			return err
		}
		sent, err := c.Direct(ctx, d)
		if err != nil {
			return orListed(ctx, c, strings.TrimPrefix(args[0], ma2h.AgentPrefix), err)
		}
		if f.json {
			return p.printJSON(sent)
		}
		fmt.Fprintf(p.stdout, "%s is in the mailbox of %s.\n%s\n\nTo see what became of it:\n%s direct %s%s\n", sent.ID,
			cleanLine(args[0]), pickedUp(sent.Destination), p.name, sent.ID, dataArgs(f.data))
		return nil
	}
}

// directive builds what is sent.
func (f *directFlags) directive(p *program, args []string, now time.Time) (ma2h.Directive, error) {
	var d ma2h.Directive
	if len(args) != 2 || args[0] == "" || args[1] == "" {
		return d, usagef("", "Give the name of an agent, and one title, in quotes.")
	}
	if !slices.Contains(priorities, f.priority) {
		return d, usagef("", "--priority wants low, normal, high or urgent, not %s.", shellQuote(f.priority))
	}
	to := ma2h.Address{AgentID: strings.TrimPrefix(args[0], ma2h.AgentPrefix), Session: f.session}
	d = ma2h.Directive{To: to.String(), Title: args[1], Priority: ma2h.Priority(f.priority), Tags: *f.tags}
	var err error
	if d.Body, err = p.text("--body", f.body); err != nil {
		return d, err
	}
	d.ExpiresAt, err = expiry(f.expires, now)
	return d, err
}

// pickedUp says when a directive may be picked up (spec §15.4).
func pickedUp(d ma2h.Destination) string {
	switch d.State {
	case "online":
		return "The agent is listening now."
	case "offline":
		return "The agent is not listening now, and gets it on its next run."
	}
	return "Nothing is known of when the agent listened; it gets it on its next run."
}

func (p *program) showDirective(ctx context.Context, f *directFlags, id string) error {
	c, err := p.personClient(f.data)
	if err != nil {
		return err
	}
	d, err := c.ReadDirective(ctx, id)
	if err != nil {
		return err
	}
	if f.json {
		return p.printJSON(d)
	}
	fmt.Fprintf(p.stdout, "%s\nto %s, from %s\n%s\n", cleanLine(d.Title), cleanLine(d.To), cleanLine(d.From), became(d))
	if d.Webhook != nil {
		fmt.Fprintln(p.stdout, pushed(d.Webhook))
	}
	return nil
}

// pushed says in a sentence how far a directive has come to its agent's webhook.
func pushed(w *client.Callback) string {
	made, host := len(w.Attempts)+w.Earlier, clean(w.Host)
	if made == 0 {
		return "It is about to be pushed to " + host + "."
	}
	last := w.Attempts[len(w.Attempts)-1]
	cause := fmt.Sprintf("it answered %d", last.Status)
	if last.Status == 0 {
		cause = last.Failure
	}
	attempts := fmt.Sprintf("%d attempts to push it to %s", made, host)
	if made == 1 {
		attempts = "1 attempt to push it to " + host
	}
	switch {
	case w.State == "delivered":
		return fmt.Sprintf("It was pushed to %s at %s.", host, moment(last.At, time.Now()))
	case w.Next.IsZero():
		return fmt.Sprintf("%s, the last: %s. No other is made; it waits in the mailbox.", attempts, cause)
	}
	return fmt.Sprintf("%s, the last: %s. The next is at %s.", attempts, cause, moment(w.Next, time.Now()))
}

// became says in a sentence what became of a directive (spec §14.2).
func became(d *client.DirectiveTrack) string {
	b := d.Mailbox
	switch b.State {
	case ma2h.TrackAcknowledged:
		said := "The agent has acknowledged it."
		if b.Ack != nil && b.Ack.Note != "" {
			said = "The agent has acknowledged it: " + cleanLine(b.Ack.Note)
		}
		return said
	case ma2h.TrackDelivered:
		return "The agent has got it, and has not acknowledged it yet."
	case ma2h.TrackExpired:
		return "Nobody picked it up in time; it was never seen."
	case ma2h.TrackBounced:
		if b.Prior == ma2h.TrackDelivered {
			return "The session that had got it ended without acknowledging it."
		}
		return "The session ended before it had picked it up; it was never seen."
	}
	return "It waits in the mailbox; nobody has picked it up yet."
}

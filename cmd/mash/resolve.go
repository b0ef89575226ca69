package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// resolveFlags are those of mash resolve.
type resolveFlags struct {
	json, comment          string
	decline, done, dismiss bool
}

// resolveCommand is `mash resolve`: an agent answers what another asked it, which it has read in its mailbox (spec §8.8).
func resolveCommand(flags *flag.FlagSet) action {
	var f resolveFlags
	flags.StringVar(&f.json, "value-json", "", "")
	flags.StringVar(&f.comment, "comment", "", "")
	flags.BoolVar(&f.decline, "decline", false, "")
	flags.BoolVar(&f.done, "done", false, "")
	flags.BoolVar(&f.dismiss, "dismiss", false, "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) == 0 || len(args) > 2 {
			return usagef("", "Give the id of one message, and one value; put a value of several words in quotes.")
		}
		r, err := f.resolve(p, args[1:])
		if err != nil {
			return err
		}
		c, err := p.agentClient()
		if err != nil {
			return err
		}
		done, err := c.Resolve(ctx, args[0], *r)
		if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeAlreadyTerminal && e.Terminal != nil {
			return fmt.Errorf("this has ended already: it is %s", e.Terminal.Status)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "%s.\n", sentence(string(done.Status)))
		return nil
	}
}

// resolve builds what is sent. Which of these a message takes, the hub knows.
func (f *resolveFlags) resolve(p *program, value []string) (*ma2h.Resolve, error) {
	r := &ma2h.Resolve{Comment: f.comment}
	ways := 0
	for status, given := range map[ma2h.Status]bool{
		ma2h.StatusAnswered: len(value) > 0, ma2h.StatusDeclined: f.decline, ma2h.StatusCompleted: f.done, ma2h.StatusDismissed: f.dismiss,
	} {
		if given {
			r.Resolution = status
			ways++
		}
	}
	if f.json != "" {
		r.Resolution = ma2h.StatusAnswered
		ways++
	}
	if ways != 1 {
		return nil, usagef("", "Give one of a value, --value-json JSON and --decline for a question, --done and --dismiss for a task.")
	}
	if len(value) > 0 {
		r.Value = jsonString(value[0])
	}
	var err error
	if f.json != "" {
		r.Value, err = p.jsonText("--value-json", f.json)
	}
	return r, err
}

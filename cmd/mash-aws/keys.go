package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/awshub"
)

func rotateCommand(flags *flag.FlagSet) action {
	stack := flags.String("stack", "", "")
	overlap, atOnce := flags.Duration("overlap", 0, ""), flags.Bool("now", false, "")
	return func(ctx context.Context, p *program, _ string) error {
		if *overlap < 0 || *atOnce && *overlap != 0 {
			return usagef("", "--overlap wants a duration such as 24h, and has no meaning with --now.")
		}
		c, err := p.find(ctx, *stack)
		if err != nil {
			return err
		}
		rotate := func() (*awshub.HubKeyRotated, error) { return c.RotateHubKey(ctx, *overlap) }
		if *atOnce {
			rotate = func() (*awshub.HubKeyRotated, error) { return c.ReplaceHubKey(ctx) }
		}
		done, err := rotate()
		if err != nil {
			return rotating(c, err)
		}
		if *atOnce {
			fmt.Fprintf(p.stderr, "The new key signs now, and of those before it none is valid any more. Functions that run learn of it\n"+
				"within 5 minutes. Whoever verifies has to read the key set anew.\n")
		} else {
			fmt.Fprintf(p.stderr, "The new key is in the key set within 5 minutes, and signs from %s.\nThe key before is valid until %s.\n",
				utc(done.SignsFrom), utc(done.OldUntil))
		}
		_, err = fmt.Fprintln(p.stdout, done.ID)
		return err
	}
}

// rotating says why no key was made.
func rotating(c awshub.Config, err error) error {
	if e, ok := errors.AsType[*awshub.RotatingError](err); ok {
		return fmt.Errorf("two keys are valid already: the newest signs from %s, and the one before is valid until %s; "+
			"rotate again after that, or with --now if a key has leaked", utc(e.SignsFrom), utc(e.OldUntil))
	}
	return noOwner(c, err)
}

func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// noOwner says what to run where there are no keys yet.
func noOwner(c awshub.Config, err error) error {
	if errors.Is(err, awshub.ErrNoOwner) {
		return fmt.Errorf("%s has no owner yet; run mash-aws bootstrap --stack %s", c.Stack, c.Stack)
	}
	return err
}

func rekeyCommand(flags *flag.FlagSet) action {
	stack := flags.String("stack", "", "")
	return func(ctx context.Context, p *program, _ string) error {
		c, err := p.find(ctx, *stack)
		if err != nil {
			return err
		}
		if err := c.Rekey(ctx); err != nil {
			return noOwner(c, err)
		}
		_, err = fmt.Fprintf(p.stdout, "The hub's keys lie under %s.\n", c.Key)
		return err
	}
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
)

// rotateCommand is `mash admin rotate-hub-key`.
func rotateCommand(flags *flag.FlagSet) action {
	data := flags.String("data", "", "")
	atOnce := flags.Bool("now", false, "")
	how := keyring.Rotation{}
	flags.Func("overlap", "", func(s string) (err error) {
		how.Overlap, err = waitingTime(s)
		if err == nil && how.Overlap < time.Minute {
			return errors.New(wantsDuration)
		}
		return err
	})
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) > 0 {
			return usagef("", "admin rotate-hub-key takes no argument, but got %q.", args[0])
		}
		if *atOnce && how.Overlap != 0 {
			return usagef("", "--now leaves no key beside the new one, so --overlap has no meaning with it.")
		}
		how.AtOnce = *atOnce
		at, err := folder(*data)
		if err != nil {
			return err
		}
		done, err := at.RotateHubKey(ctx, how)
		if rotating, ok := errors.AsType[*keyring.RotatingError](err); ok {
			return fmt.Errorf("two keys are valid already: the newest signs from %s, and the one before is valid until %s; "+
				"rotate again after that, or with --now if a key has leaked", clockTime(rotating.SignsFrom), clockTime(rotating.OldUntil))
		}
		if err != nil {
			return p.noHubIn(err, at)
		}
		p.sayRotated(done, how.AtOnce)
		return nil
	}
}

// sayRotated tells what happens when.
func (p *program) sayRotated(done *keyring.Rotated, atOnce bool) {
	fmt.Fprintf(p.stdout, "The new key of the hub is %s\n", done.ID)
	if atOnce {
		fmt.Fprintf(p.stdout, "It signs, and %s. A hub that runs learns of that within a\n"+
			"minute; restart it where that is too long. Whoever verifies has to read the key\nset anew.\n", gone(len(done.Old)))
		return
	}
	fmt.Fprintf(p.stdout, "A hub that runs has it in the key set within a minute, without a restart.\n"+
		"It signs from %s.\nThe key before is valid until %s.\n", clockTime(done.SignsFrom), clockTime(done.OldUntil))
}

func gone(n int) string {
	if n == 1 {
		return "the key before is gone"
	}
	return fmt.Sprintf("the %d keys before are gone", n)
}

// clockTime writes a time for a person at this machine.
func clockTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04 MST") }

// rekeyCommand is `mash admin rekey`.
func rekeyCommand(flags *flag.FlagSet) action {
	data := flags.String("data", "", "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) > 0 {
			return usagef("", "admin rekey takes no argument, but got %q.", args[0])
		}
		at, err := folder(*data)
		if err != nil {
			return err
		}
		done, err := at.Rekey(context.WithoutCancel(ctx)) // what has begun is brought to its end
		if errors.Is(err, localhub.ErrHeld) {
			return fmt.Errorf("a hub runs with the data folder %s; stop it first, since it must wrap nothing under the old key meanwhile", at)
		}
		if err != nil {
			return p.noHubIn(err, at)
		}
		if done.Resumed {
			fmt.Fprintln(p.stdout, "A rekey that had been cut short is finished.")
		}
		fmt.Fprintf(p.stdout, "The hub's keys lie under a new key file, %s\n"+
			"%s wrapped anew.\n\n"+
			"Backups made before hold the old key file, or need it if they were made with\n"+
			"--without-key. If the old one has leaked, destroy them once there is a new one:\n  %s backup FILE%s\n",
			at.KeyFile(), secretsOf(done.Agents), p.name, dataArgs(*data))
		return nil
	}
}

func secretsOf(agents int) string {
	switch agents {
	case 0:
		return "No agent has a secret that had to be"
	case 1:
		return "The secrets of one agent are"
	}
	return fmt.Sprintf("The secrets of %d agents are", agents)
}

// noHubIn says where no hub was found, and leaves other errors as they are.
func (p *program) noHubIn(err error, at localhub.Folder) error {
	if !errors.Is(err, localhub.ErrNoHub) {
		return err
	}
	return fmt.Errorf("there is no hub in the data folder %s; name its folder with --data, or make one with `%s serve`", at, p.name)
}

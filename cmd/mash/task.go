package main

import (
	"context"
	"flag"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func taskCommand(flags *flag.FlagSet) action {
	d, w := draftFlags(flags), newWaitFlags(flags)
	checks := listFlag(flags, "check")
	flags.StringVar(&d.expires, "expires", "", "")
	instructions := flags.String("instructions", "", "")
	verification := flags.String("verification", "", "")
	return func(ctx context.Context, p *program, args []string) error {
		m, err := d.message(p, args, time.Now())
		if err != nil {
			return err
		}
		if *instructions == "" {
			return usagef("", "Say what to do with --instructions TEXT.")
		}
		m.Type, m.Action = ma2h.TypeTask, &ma2h.Action{Verification: *verification}
		if m.Action.Instructions, err = p.text("--instructions", *instructions); err != nil {
			return err
		}
		for _, step := range *checks {
			m.Action.Checklist = append(m.Action.Checklist, ma2h.ChecklistItem{Text: step})
		}
		return p.submit(ctx, m, d, w)
	}
}

func notifyCommand(flags *flag.FlagSet) action {
	d := draftFlags(flags)
	return func(ctx context.Context, p *program, args []string) error {
		m, err := d.message(p, args, time.Now())
		if err != nil {
			return err
		}
		m.Type = ma2h.TypeNotify
		return p.submit(ctx, m, d, &waitFlags{no: true})
	}
}

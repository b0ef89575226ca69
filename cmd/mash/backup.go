package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime/debug"

	"github.com/mash-hub/mash/pkg/localhub"
)

// backupCommand is `mash backup FILE`.
func backupCommand(flags *flag.FlagSet) action {
	data := flags.String("data", "", "")
	withoutKey := flags.Bool("without-key", false, "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) != 1 {
			return usagef("", "backup takes the name of the file to write.")
		}
		at, err := folder(*data)
		if err != nil {
			return err
		}
		m, err := localhub.Backup{File: args[0], WithoutKey: *withoutKey, Version: ownVersion()}.Save(ctx, at)
		if errors.Is(err, localhub.ErrExists) {
			return fmt.Errorf("%w; name another", err)
		}
		if err != nil {
			return p.noHubIn(err, at)
		}
		p.sayBackup(args[0], m)
		return nil
	}
}

func (p *program) sayBackup(file string, m *localhub.Manifest) {
	fmt.Fprintf(p.stdout, "The hub as of %s is in %s (%d MB of database)\n",
		m.MadeAt.Local().Format("2006-01-02 15:04:05 MST"), file, (m.Files[0].Size+1<<20-1)>>20)
	if m.HasKey() {
		fmt.Fprintf(p.stdout, "It holds every message and answer, and the key file: whoever reads it can sign\n"+
			"as this hub and read its agents' secrets. Keep it where nobody else can.\n")
	} else {
		fmt.Fprintf(p.stdout, "It holds every message and answer, and not the key file: keep a copy of\n"+
			"hub.key elsewhere, for without it this backup is worth little.\n")
	}
	key := ""
	if !m.HasKey() {
		key = " --key HUB.KEY"
	}
	fmt.Fprintf(p.stdout, "\nTo try it:\n  %s restore %s --data DIR%s\n  %s doctor --data DIR\n", p.name, shellQuote(file), key, p.name)
}

func ownVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// restoreCommand is `mash restore FILE`.
func restoreCommand(flags *flag.FlagSet) action {
	data, key := flags.String("data", "", ""), flags.String("key", "", "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) != 1 {
			return usagef("", "restore takes the name of the backup.")
		}
		at, err := folder(*data)
		if err != nil {
			return err
		}
		m, err := localhub.Restore{File: args[0], Key: *key}.Into(ctx, at)
		switch {
		case errors.Is(err, localhub.ErrHeld):
			return held(at)
		case errors.Is(err, localhub.ErrNotEmpty):
			return fmt.Errorf("%w; name another folder with --data, or move this one away", err)
		case err != nil:
			return err
		}
		p.sayRestored(at, m, m.HasKey() || *key != "", dataArgs(*data))
		return nil
	}
}

func (p *program) sayRestored(at localhub.Folder, m *localhub.Manifest, opens bool, args string) {
	fmt.Fprintf(p.stdout, "%s holds the hub as it was at %s.\n", at, m.MadeAt.Local().Format("2006-01-02 15:04:05 MST"))
	first := ""
	if !opens {
		fmt.Fprint(p.stdout, "The key file is not in this backup, and nothing works without it.\n")
		first = fmt.Sprintf("To bring the copy of the hub.key of that time, put in place of HUB.KEY:\n  install -m 600 HUB.KEY %s\n\n",
			shellQuote(at.KeyFile()))
	}
	fmt.Fprintf(p.stdout, `
What has happened since is not in it:
  Tokens, sessions and people are as they were then: who was revoked, removed or
  signed out since is good again. Revoke them anew.
  Messages that were answered since are open again, or overdue.
  Answers that were to be pushed then are pushed when the hub starts, some of
  them once more; receivers tell by the resolution_id.
Never run this hub beside the one that the backup was made of.

%[3]sTo see that it is whole, and to start it:
  %[1]s doctor%[2]s
  %[1]s serve%[2]s
`, p.name, args, first)
}

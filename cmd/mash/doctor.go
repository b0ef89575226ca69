package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/localhub"
)

// doctorCommand is `mash doctor`.
func doctorCommand(flags *flag.FlagSet) action {
	data := flags.String("data", "", "")
	asJSON := flags.Bool("json", false, "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) > 0 {
			return usagef("", "doctor takes no argument, but got %q.", args[0])
		}
		at, err := folder(*data)
		if err != nil {
			return err
		}
		checks, err := at.Examine(ctx)
		if err != nil {
			return p.noHubIn(err, at)
		}
		if *asJSON {
			err = p.writeChecks(at, checks)
		} else {
			p.sayChecks(checks)
		}
		if err == nil && !localhub.Healthy(checks) {
			err = exit(exitError)
		}
		return err
	}
}

func (p *program) writeChecks(at localhub.Folder, checks []localhub.Checkup) error {
	text, err := json.Marshal(struct {
		Folder  string             `json:"folder"`
		Healthy bool               `json:"healthy"`
		Checks  []localhub.Checkup `json:"checks"`
	}{string(at), localhub.Healthy(checks), checks}, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s\n", text)
	return err
}

// sayChecks prints a line a check, and below each fault what to do.
func (p *program) sayChecks(checks []localhub.Checkup) {
	for _, c := range checks {
		fmt.Fprintf(p.stdout, "%-8s %-11s %s\n", c.State, c.Name, c.Says)
		if c.Do != "" {
			fmt.Fprintf(p.stdout, "%-8s %-11s %s\n", "", "", "to do: "+p.nameIn(c.Do))
		}
	}
}

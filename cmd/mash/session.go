package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

func sessionsCommand(flags *flag.FlagSet) action {
	data := flags.String("data", "", "")
	asJSON := flags.Bool("json", false, "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) > 0 {
			return usagef("", "sessions takes no argument.")
		}
		c, err := p.personClient(*data)
		if err != nil {
			return err
		}
		all, err := c.Sessions(ctx)
		if err != nil {
			return err
		}
		if *asJSON {
			return p.printJSON(all)
		}
		return p.printSessions(all.Sessions)
	}
}

func (p *program) printSessions(all []ma2h.Session) error {
	if len(all) == 0 {
		fmt.Fprintln(p.stdout, "No agent has a session, nor had one lately.")
		return nil
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SESSION\tAGENT\tSTATE\tLAST SEEN")
	for _, s := range all {
		state := string(s.State)
		if s.ClosedByOperator {
			state = "stopped"
		}
		seen := "never"
		if at, ok := ma2h.ParseTime(s.LastSeen); ok {
			seen = at.Local().Format("2006-01-02 15:04:05")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.ID, cleanLine(s.AgentID), state, seen)
	}
	return table.Flush()
}

// stopCommand stops an agent, and liftCommand lets it go on.
func stopCommand(flags *flag.FlagSet) action {
	reason := flags.String("reason", "", "")
	return aboutAgent(flags, "stopped",
		func(ctx context.Context, c *client.Client, agent string) error {
			return c.StopAgent(ctx, agent, *reason)
		},
		"%[1]s is stopped: its sessions are closed, and it can register no other.\n"+
			"Its token stays good, to ask with and to be told something; to end that, too,\nrevoke it: %[2]s agent revoke %[3]s%[4]s\n\nTo let it go on:\n%[2]s lift %[3]s%[4]s\n")
}

func liftCommand(flags *flag.FlagSet) action {
	return aboutAgent(flags, "lifted",
		func(ctx context.Context, c *client.Client, agent string) error { return c.LiftStop(ctx, agent) },
		"%[1]s may register sessions again. Start it; those that were closed stay so.\n")
}

// aboutAgent is a command about one agent of a hub that runs. told is formatted with the agent's name, the program's, the
// agent's as a shell wants it, and the arguments that name the data folder.
func aboutAgent(
	flags *flag.FlagSet, became string, do func(context.Context, *client.Client, string) error, told string,
) action {
	data := flags.String("data", "", "")
	asJSON := flags.Bool("json", false, "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return usagef("", "%s takes the name of one agent.", flags.Name())
		}
		c, err := p.personClient(*data)
		if err != nil {
			return err
		}
		agent := strings.TrimPrefix(args[0], ma2h.AgentPrefix)
		if err := do(ctx, c, agent); err != nil {
			return orListed(ctx, c, agent, err)
		}
		if *asJSON {
			return p.printJSON(map[string]string{"agent": agent, "status": became})
		}
		fmt.Fprint(p.stdout, format(told, cleanLine(agent), p.name, shellQuote(agent), dataArgs(*data)))
		return nil
	}
}

// format is Sprintf for a text that needs not all of the arguments.
func format(text string, args ...string) string {
	for i, a := range args {
		text = strings.ReplaceAll(text, fmt.Sprintf("%%[%d]s", i+1), a)
	}
	return text
}

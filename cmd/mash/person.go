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

// personFlags are the flags of the person commands.
type personFlags struct {
	data  string
	json  bool
	owner bool // of invite
}

// personCommand declares the flags of a person command that takes n arguments. The hub has to run, as for link.
func personCommand(
	n int, work func(context.Context, *program, *client.Client, *personFlags, string) error,
) func(*flag.FlagSet) action {
	return func(flags *flag.FlagSet) action {
		var f personFlags
		flags.StringVar(&f.data, "data", "", "")
		flags.BoolVar(&f.json, "json", false, "")
		if strings.HasSuffix(flags.Name(), "invite") {
			flags.BoolVar(&f.owner, "owner", false, "")
		}
		return func(ctx context.Context, p *program, args []string) error {
			if len(args) != n {
				return usagef("", "%s takes %s.", flags.Name(), []string{"no argument", "the name of one person"}[n])
			}
			c, err := p.personClient(f.data)
			if err != nil {
				return err
			}
			name := ""
			if n == 1 {
				name = strings.TrimPrefix(args[0], ma2h.HumanPrefix)
			}
			return work(ctx, p, c, &f, name)
		}
	}
}

func personInvite(ctx context.Context, p *program, c *client.Client, f *personFlags, name string) error {
	role := "member"
	if f.owner {
		role = "owner"
	}
	made, err := c.Invite(ctx, name, role)
	if err != nil {
		return err
	}
	if f.json {
		return p.printJSON(made)
	}
	fmt.Fprintf(p.stdout, "Hand this link to %s, and to nobody else.\nIt works once, until %s, and is shown only here:\n\n  %s\n",
		clean(made.Name), made.ExpiresAt.Local().Format("2006-01-02 15:04"), made.URL)
	return nil
}

func personList(ctx context.Context, p *program, c *client.Client, f *personFlags, _ string) error {
	all, err := c.ListPeople(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return p.printJSON(all)
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PERSON\tROLE\tSINCE")
	for _, who := range all.People {
		since := "the beginning"
		if !who.JoinedAt.IsZero() {
			since = who.JoinedAt.Local().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", clean(who.Name), who.Role, since)
	}
	for _, i := range all.Invitations {
		fmt.Fprintf(table, "%s\t%s\tinvited, open until %s\n", clean(i.Name), i.Role, i.ExpiresAt.Local().Format("2006-01-02 15:04"))
	}
	return table.Flush()
}

// personRemove ends a person, and whatever invitations are open for the name.
func personRemove(ctx context.Context, p *program, c *client.Client, f *personFlags, name string) error {
	all, err := c.ListPeople(ctx)
	if err != nil {
		return err
	}
	var ids, names []string
	for _, who := range all.People {
		names = append(names, clean(who.Name))
		if who.Name == name {
			ids = append(ids, who.ID)
		}
	}
	for _, i := range all.Invitations {
		if i.Name == name {
			ids = append(ids, i.ID)
		}
	}
	if len(ids) == 0 {
		return fmt.Errorf("there is no person %s; there are: %s", shellQuote(name), strings.Join(names, ", "))
	}
	for _, id := range ids {
		if err := c.RemovePerson(ctx, id); err != nil {
			return err
		}
	}
	if f.json {
		return p.printJSON(map[string]string{"name": name, "status": "removed"})
	}
	fmt.Fprintf(p.stdout, "%s is out: signed out everywhere, with no token and no invitation that is good. What they did stays as it is.\n",
		clean(name))
	return nil
}

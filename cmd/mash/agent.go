package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// agentFlags are the flags of the agent commands.
type agentFlags struct {
	data string
	json bool
}

// agentCommand declares the flags of an agent command that takes n arguments, and opens its desk.
func agentCommand(
	n int, open func(*program, context.Context, string) (*desk, error),
	work func(context.Context, *program, *desk, *agentFlags, string) error,
) func(*flag.FlagSet) action {
	return func(flags *flag.FlagSet) action {
		var f agentFlags
		flags.StringVar(&f.data, "data", "", "")
		flags.BoolVar(&f.json, "json", false, "")
		return func(ctx context.Context, p *program, args []string) error {
			if len(args) != n {
				return usagef("", "%s takes %s.", flags.Name(), []string{"no argument", "the name of one agent"}[n])
			}
			d, err := open(p, ctx, f.data)
			if err != nil {
				return err
			}
			defer d.close()
			name := ""
			if n == 1 {
				name = args[0]
			}
			return work(ctx, p, d, &f, name)
		}
	}
}

// newToken is what agent add and rotate print with --json.
type newToken struct {
	*client.NewCredentials
	URL   string `json:"url"`
	Owner string `json:"owner"`
}

func agentAdd(ctx context.Context, p *program, d *desk, f *agentFlags, name string) error {
	me, err := d.Me(ctx)
	if err != nil {
		return err
	}
	made, err := d.AddAgent(ctx, name)
	if err != nil {
		return err
	}
	if f.json {
		return p.printJSON(newToken{made, d.hubURL, me.Owner})
	}
	fmt.Fprintf(p.stdout, "The agent %s may send now. Its token and push secret are shown only here:\n\n", name)
	p.printExports(d.hubURL, made)
	fmt.Fprintf(p.stdout, "\nA callback names the push secret as \"secret_ref\": %q.\n", made.SecretRef)
	if d.offline != "" {
		fmt.Fprintf(p.stdout, "\nThe hub of the data folder %s does not run.\nBefore the agent asks, start it:\n\n%s serve%s\n",
			d.offline, p.name, dataArgs(f.data))
	}
	fmt.Fprintf(p.stdout, "\nWith these lines in place it asks like this, and waits for the answer:\n\n")
	fmt.Fprintf(p.stdout, "%s ask %s\n", p.name, shellQuote("May I tidy up?"))
	fmt.Fprintf(p.stdout, "\nOr with curl alone, as it stands here; pasted again, it finds the same ask:\n\n%s\n",
		firstAsk(d.hubURL, made, me.Owner, time.Now()))
	fmt.Fprintf(p.stdout, "\nWhat comes back has a poll_url; put in place of POLL_URL, it reads the answer:\n\n%s\n",
		curl("POLL_URL", made))
	return nil
}

func (p *program) printExports(hubURL string, made *client.NewCredentials) {
	fmt.Fprintf(p.stdout, "export MASH_URL=%s\nexport MASH_TOKEN=%s\n", shellQuote(hubURL), shellQuote(made.Token))
	if made.PushSecret != "" {
		fmt.Fprintf(p.stdout, "export MASH_PUSH_SECRET=%s\n", shellQuote(made.PushSecret))
	}
}

// firstAsk is a whole ask as one curl. Its key is fresh, so that pasting it twice asks once.
func firstAsk(hubURL string, made *client.NewCredentials, owner string, now time.Time) string {
	key := "key_" + ma2h.NewTail()
	m := ma2h.Message{
		Version: ma2h.Newest, Type: ma2h.TypeAsk, CreatedAt: ma2h.FormatTime(now.Truncate(time.Second)),
		Agent: ma2h.Agent{ID: made.ID, RunID: "run_1"}, Title: "May I tidy up?", IdempotencyKey: &key,
		Request: &ma2h.Request{Mode: ma2h.ModeConfirm, AllowedResolvers: []string{owner}},
	}
	return curl(hubURL+"/v1/messages", made) + " \\\n" +
		"  -H 'Content-Type: application/json' \\\n" +
		"  -d " + shellQuote(string(indented(m, "  ")))
}

// curl is a call of the hub as one curl. It ends the line that the hub does not end.
func curl(at string, made *client.NewCredentials) string {
	return "curl -sS -w '\\n' " + shellQuote(at) + " \\\n  -H " + shellQuote("Authorization: Bearer "+made.Token)
}

func agentRotate(ctx context.Context, p *program, d *desk, f *agentFlags, name string) error {
	me, err := d.Me(ctx)
	if err != nil {
		return err
	}
	made, err := d.RotateAgent(ctx, name)
	if err != nil {
		return d.orListed(ctx, name, err)
	}
	if f.json {
		return p.printJSON(newToken{made, d.hubURL, me.Owner})
	}
	fmt.Fprintf(p.stdout, "A new token of the agent %s, shown only here:\n\n", name)
	p.printExports(d.hubURL, made)
	fmt.Fprint(p.stdout, "\nIts latest token before this one stays good too, until you rotate once more.\n")
	return nil
}

// orListed is orListed at the desk.
func (d *desk) orListed(ctx context.Context, name string, err error) error {
	return orListed(ctx, d, name, err)
}

// orListed turns the error about an agent that is not there into one that says which are.
func orListed(ctx context.Context, from interface {
	ListAgents(ctx context.Context) ([]client.Agent, error)
}, name string, err error,
) error {
	if e := ma2h.AsError(err); e == nil || e.Code != ma2h.CodeNotFound && e.Code != ma2h.CodeUnknownDestination {
		return err
	}
	agents, listErr := from.ListAgents(ctx)
	if listErr != nil {
		return err
	}
	var names []string
	for _, a := range agents {
		if a.ID == name {
			return err // revoked, as it says
		}
		if !a.Revoked {
			names = append(names, cleanLine(a.ID))
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no agent %s, and no other yet", shellQuote(name))
	}
	return fmt.Errorf("there is no agent %s; there are: %s", shellQuote(name), strings.Join(names, ", "))
}

func agentRevoke(ctx context.Context, p *program, d *desk, f *agentFlags, name string) error {
	if err := d.RevokeAgent(ctx, name); err != nil {
		return d.orListed(ctx, name, err)
	}
	if f.json {
		return p.printJSON(map[string]string{"id": name, "status": "revoked"})
	}
	fmt.Fprintf(p.stdout, "The agent %s can send no more. What it asked stays where it is.\n", name)
	return nil
}

func agentList(ctx context.Context, p *program, d *desk, f *agentFlags, _ string) error {
	agents, err := d.ListAgents(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return p.printJSON(map[string][]client.Agent{"agents": agents})
	}
	if len(agents) == 0 {
		fmt.Fprintf(p.stdout, "There is no agent yet. Make one: %s agent add NAME%s\n", p.name, dataArgs(f.data))
		return nil
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "AGENT\tTOKENS\tMADE")
	for _, a := range agents {
		tokens := fmt.Sprint(a.Credentials)
		if a.Revoked {
			tokens = "revoked"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", clean(a.ID), tokens, a.CreatedAt.Local().Format("2006-01-02 15:04"))
	}
	return table.Flush()
}

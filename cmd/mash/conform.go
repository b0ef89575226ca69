package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/conform"
)

// conformFlags are those of mash conform.
type conformFlags struct {
	hub, data, run, credentials, callback, restart string
	real, json                                     bool
	longest                                        time.Duration
	parallel                                       int
}

// conformCommand is `mash conform`.
func conformCommand(flags *flag.FlagSet) action {
	f := conformFlags{longest: 2 * time.Minute}
	flags.StringVar(&f.hub, "hub", "", "")
	flags.StringVar(&f.data, "data", "", "")
	flags.StringVar(&f.run, "run", "", "")
	flags.StringVar(&f.credentials, "credentials", "", "")
	flags.StringVar(&f.callback, "callback", "", "")
	flags.StringVar(&f.restart, "restart", "", "")
	flags.BoolVar(&f.real, "real-time", false, "")
	flags.BoolVar(&f.json, "json", false, "")
	flags.IntVar(&f.parallel, "parallel", 0, "")
	flags.Func("wait", "", func(s string) (err error) { f.longest, err = waitingTime(s); return err })
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) > 0 {
			return usagef("", "conform takes no argument, but got %q; name the hub with --hub.", args[0])
		}
		only, err := regexp.Compile(f.run)
		if err != nil {
			return usagef("", "--run wants a regular expression, not %s.", shellQuote(f.run))
		}
		stage, end, err := f.stage(ctx, p)
		if err != nil {
			return err
		}
		return f.ask(ctx, p, stage, end, only)
	}
}

// ask runs the clauses and prints what came of them.
func (f *conformFlags) ask(ctx context.Context, p *program, s conform.Stage, end func(context.Context) error, only *regexp.Regexp) error {
	o := conform.Options{Only: only, AtOnce: f.parallel}
	if !f.json {
		o.Report = p.sayResult
	}
	results, err := conform.Run(ctx, s, o)
	if err = errors.Join(err, end(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	if len(results) == 0 {
		return usagef("", "No clause is called like %s.", shellQuote(f.run))
	}
	n := conform.Count(results)
	if f.json {
		err = p.printJSON(results)
	} else {
		fmt.Fprintf(p.stdout, "\n%d ok, %d failed, %d not applicable\n", n[conform.Passed], n[conform.Failed], n[conform.NotApplicable])
	}
	if err == nil && n[conform.Failed] > 0 {
		err = exit(exitError)
	}
	return err
}

// stage is the way to the hub: by its control API where it has one, else with credentials.
func (f *conformFlags) stage(ctx context.Context, p *program) (conform.Stage, func(context.Context) error, error) {
	if f.hub != "" && f.data != "" {
		return nil, nil, usagef("", "Name the hub with --hub, or with --data, not with both.")
	}
	c := &client.Client{URL: strings.TrimRight(f.hub, "/"), Token: p.env("MASH_TOKEN")}
	if f.hub == "" {
		var err error
		if c, err = p.personClient(f.data); err != nil {
			return nil, nil, err
		}
	} else if err := checkURL(f.hub); err != nil {
		return nil, nil, usagef("", "--hub wants the URL of a hub, such as http://%s, not %s.", defaultListen, shellQuote(f.hub))
	}
	if !f.real && c.HTTP == nil && conform.Controlled(ctx, c.URL) {
		return &conform.Virtual{URL: c.URL}, func(context.Context) error { return nil }, nil
	}
	hub := &conform.Real{URL: c.URL, Owner: c.Token, Callback: f.callback, Longest: f.longest, HTTP: c.HTTP}
	if f.restart != "" {
		hub.Restart = func(ctx context.Context) error { return p.shell(ctx, f.restart) }
	}
	if err := f.fill(p, hub); err != nil {
		return nil, nil, err
	}
	if hub.Owner == "" && len(hub.Agents) == 0 {
		return nil, nil, fmt.Errorf("MASH_TOKEN is not set; it has to be an account owner's, or --credentials has to name a file with agents")
	}
	return hub, hub.Close, nil
}

// restartWithin is how long a command may take that restarts a hub.
const restartWithin = time.Minute

// shell runs a command that a person gave. What it leaves running may keep its output open.
func (p *program) shell(ctx context.Context, command string) error {
	ctx, cancel := context.WithTimeout(ctx, restartWithin)
	defer cancel()
	c := exec.CommandContext(ctx, "/bin/sh", "-c", command) //nolint:gosec // it is what the person who started this wants
	c.Stdout, c.Stderr, c.WaitDelay = p.stderr, p.stderr, time.Second
	if err := c.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("the command of --restart failed: %w", err)
	}
	return nil
}

// fill adds the credentials of the file that is named.
func (f *conformFlags) fill(p *program, hub *conform.Real) error {
	if f.credentials == "" {
		return nil
	}
	text, err := os.ReadFile(f.credentials)
	if err != nil {
		return err
	}
	var given struct {
		Owner    string               `json:"owner"`
		Agents   []conform.Credential `json:"agents"`
		Person   *conform.Credential  `json:"person"`
		Stranger *conform.Credential  `json:"stranger"`
	}
	if err := json.Unmarshal(text, &given, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("the file %s does not have the form that `%s help conform` shows: %w", f.credentials, p.name, err)
	}
	hub.Agents, hub.Person, hub.Stranger = given.Agents, given.Person, given.Stranger
	if given.Owner != "" || len(given.Agents) > 0 {
		hub.Owner = given.Owner
	}
	return nil
}

const (
	lineWidth = 80
	maxLines  = 6 // of what was sent or came
)

// sayResult prints a line about a clause, and below a failure what it was.
func (p *program) sayResult(r conform.Result) {
	fmt.Fprintf(p.stdout, "%-7s %-11s %s\n", r.Verdict, r.Clause, r.Title)
	for _, part := range []struct{ name, text string }{{"because", r.Why}, {"sent", r.Sent}, {"came", r.Came}, {"want", r.Want}} {
		if part.text == "" {
			continue
		}
		for i, line := range folded(cleanLine(part.text), lineWidth-16) {
			name := part.name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(p.stdout, "%8s%-7s %s\n", "", name, line)
		}
	}
}

// folded breaks a text into lines of so many columns, between words where it can be, and cuts it after some.
func folded(text string, width int) []string {
	var lines []string
	for text != "" {
		if len(lines) == maxLines {
			return append(lines, "...")
		}
		at := len(text)
		if utf8.RuneCountInString(text) > width {
			at = len(string([]rune(text)[:width]))
			if space := strings.LastIndexByte(text[:at], ' '); space > at/2 {
				at = space
			}
		}
		lines, text = append(lines, text[:at]), strings.TrimSpace(text[at:])
	}
	return lines
}

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/hub"
)

// callbackFlags are the flags of what is done about where an agent's answers go.
type callbackFlags struct {
	agentFlags
	by                  string        // of a host
	after               time.Duration // of a secret
	now, value          bool
	use, cancel, remove bool
}

// callbackCommand is agentCommand for commands of an agent and something of it.
func callbackCommand(
	wants string, declare func(*flag.FlagSet, *callbackFlags),
	work func(context.Context, *program, *desk, *callbackFlags, []string) error,
) func(*flag.FlagSet) action {
	return func(flags *flag.FlagSet) action {
		var f callbackFlags
		flags.StringVar(&f.data, "data", "", "")
		flags.BoolVar(&f.json, "json", false, "")
		declare(flags, &f)
		return func(ctx context.Context, p *program, args []string) error {
			if len(args) != len(strings.Fields(wants)) {
				return usagef("", "%s takes %s.", flags.Name(), wants)
			}
			d, err := p.oldDesk(ctx, f.data)
			if err != nil {
				return err
			}
			defer d.close()
			return d.orListed(ctx, args[0], work(ctx, p, d, &f, args))
		}
	}
}

func hostCommand(flags *flag.FlagSet) action {
	return callbackCommand("NAME HOST", func(flags *flag.FlagSet, f *callbackFlags) {
		flags.StringVar(&f.by, "by", string(client.ProofWellKnown), "")
		flags.BoolVar(&f.remove, "remove", false, "")
	}, agentHost)(flags)
}

func agentHost(ctx context.Context, p *program, d *desk, f *callbackFlags, args []string) error {
	name, host := args[0], args[1]
	if f.remove {
		if err := d.UnbindHost(ctx, name, host); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "No credential of %s goes to %s any more.\n", clean(name), clean(host))
		return nil
	}
	bound, err := d.BindHost(ctx, name, host, client.Proof(f.by))
	if err != nil {
		if f.by != string(client.ProofPerson) {
			p.sayChallenge(ctx, d, name)
		}
		return err
	}
	if f.json {
		return p.printJSON(bound)
	}
	fmt.Fprintf(p.stdout, "Credentials of %s may go to %s.\n", clean(name), bound.Host)
	return nil
}

// sayChallenge prints the line that a host has to show. Whoever was refused needs it.
func (p *program) sayChallenge(ctx context.Context, d *desk, name string) {
	if a, err := d.ReadAgent(ctx, name); err == nil {
		fmt.Fprintf(p.stderr, "The challenge of %s is the line\n\n%s\n\n", clean(name), a.Challenge)
	}
}

func webhookCommand(flags *flag.FlagSet) action {
	return callbackCommand("NAME URL", func(*flag.FlagSet, *callbackFlags) {}, agentWebhook)(flags)
}

// noWebhook is what is given instead of a URL.
const noWebhook = "none"

func agentWebhook(ctx context.Context, p *program, d *desk, _ *callbackFlags, args []string) error {
	name, url := args[0], args[1]
	if url == noWebhook {
		url = ""
	}
	if err := d.SetWebhook(ctx, name, url); err != nil {
		return err
	}
	if url == "" {
		fmt.Fprintf(p.stdout, "What %s is told is not pushed any more.\n", clean(name))
		return nil
	}
	fmt.Fprintf(p.stdout, "What %s is told from now on is pushed to %s, and waits in its mailbox.\n", clean(name), clean(url))
	return nil
}

func secretCommand(flags *flag.FlagSet) action {
	return callbackCommand("NAME REF", func(flags *flag.FlagSet, f *callbackFlags) {
		flags.DurationVar(&f.after, "after", 0, "")
		flags.BoolVar(&f.now, "now", false, "")
		flags.BoolVar(&f.value, "value", false, "")
		flags.BoolVar(&f.use, "use", false, "")
		flags.BoolVar(&f.cancel, "cancel", false, "")
		flags.BoolVar(&f.remove, "remove", false, "")
	}, agentSecret)(flags)
}

func agentSecret(ctx context.Context, p *program, d *desk, f *callbackFlags, args []string) error {
	name, ref := args[0], args[1]
	said := func(err error, text string) error {
		if err == nil {
			fmt.Fprintf(p.stdout, text+"\n", clean(ref), clean(name))
		}
		return err
	}
	switch {
	case f.use:
		return said(d.UseSecretNow(ctx, name, ref), "The next secret %s of %s is used from now on.")
	case f.cancel:
		return said(d.RemoveNextSecret(ctx, name, ref), "The next secret %s of %s is taken back; the one before it stays.")
	case f.remove:
		return said(d.RemoveSecret(ctx, name, ref), "The secret %s of %s is gone; callbacks that name it fail.")
	}
	value, err := p.givenSecret(f.value)
	if err != nil {
		return err
	}
	made, err := d.SetSecret(ctx, name, ref, value, f.from(time.Now()))
	if err != nil {
		return err
	}
	if f.json {
		return p.printJSON(made)
	}
	if made.Value != "" {
		fmt.Fprintf(p.stdout, "A secret %s of %s, shown only here:\n\n%s\n\n", clean(ref), clean(name), made.Value)
	}
	if made.From.After(time.Now()) {
		fmt.Fprintf(p.stdout, "It is used from %s on, and the one before it until then.\n", made.From.Local().Format("2006-01-02 15:04"))
		return nil
	}
	fmt.Fprintln(p.stdout, "It is used from now on.")
	return nil
}

// from is when a secret is to be used from; zero for the hub's own choice.
func (f *callbackFlags) from(now time.Time) time.Time {
	switch {
	case f.now:
		return now.Add(-time.Minute)
	case f.after > 0:
		return now.Add(f.after)
	}
	return time.Time{}
}

// givenSecret reads a secret from standard input, so that it stands in no list of processes.
func (p *program) givenSecret(given bool) (string, error) {
	if !given {
		return "", nil
	}
	line, err := bufio.NewReader(p.stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.New("no secret came on standard input; write it there, on one line")
	}
	return line, nil
}

func agentShow(ctx context.Context, p *program, d *desk, f *agentFlags, name string) error {
	a, err := d.ReadAgent(ctx, name)
	if err != nil {
		return d.orListed(ctx, name, err)
	}
	if f.json {
		return p.printJSON(a)
	}
	tokens := "with " + counted(a.Credentials, "token")
	if a.Revoked {
		tokens = "revoked"
	}
	fmt.Fprintf(p.stdout, "%s, %s\n", clean(a.ID), tokens)
	if a.Stopped != nil {
		p.printStop(a.Stopped)
	}
	fmt.Fprintf(p.stdout, "\nIts challenge, for hosts:\n  %s\n\n", a.Challenge)
	p.heading("Its hosts", "It has no host of its own.", len(a.Hosts))
	for _, h := range a.Hosts {
		fmt.Fprintf(p.stdout, "  %s (%s, %s)\n", h.Host, h.Proof, h.At.Local().Format("2006-01-02"))
	}
	fmt.Fprintln(p.stdout)
	p.printWebhook(a.Webhook)
	p.heading("Its secrets", "It has no secret.", len(a.Secrets))
	for _, s := range a.Secrets {
		fmt.Fprintf(p.stdout, "  %s, %s\n", s.Ref, used(s))
	}
	return nil
}

// printWebhook says where what an agent is told is pushed.
func (p *program) printWebhook(w *client.Webhook) {
	switch {
	case w == nil:
		fmt.Fprint(p.stdout, "It fetches what it is told.\n\n")
	case !w.Bound:
		fmt.Fprintf(p.stdout, "What it is told went to %s, which is no host of its own any more.\n\n", clean(w.Host))
	default:
		fmt.Fprintf(p.stdout, "What it is told is pushed to %s.\n\n", clean(cmp.Or(w.URL, w.Host)))
	}
}

// printStop says that a person has stopped an agent.
func (p *program) printStop(s *client.Stop) {
	reason := ""
	if s.Reason != "" {
		reason = ": " + cleanLine(s.Reason)
	}
	fmt.Fprintf(p.stdout, "Stopped by %s, %s%s\n", cleanLine(s.By), s.At.Local().Format("2006-01-02 15:04"), reason)
}

// heading prints what stands above n things, or what to say where there is none.
func (p *program) heading(text, none string, n int) {
	if n == 0 {
		fmt.Fprintln(p.stdout, none)
		return
	}
	fmt.Fprintln(p.stdout, text+":")
}

// used says from when or until when a secret is used.
func used(s client.Secret) string {
	switch at := "2006-01-02 15:04"; {
	case !s.From.IsZero():
		return "used from " + s.From.Local().Format(at) + " on"
	case !s.Until.IsZero():
		return "used until " + s.Until.Local().Format(at)
	}
	return "used now"
}

func againCommand(flags *flag.FlagSet) action {
	data := flags.String("data", "", "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) != 1 {
			return usagef("", "send-again takes the id of one message.")
		}
		d, err := p.oldDesk(ctx, *data)
		if err != nil {
			return err
		}
		defer d.close()
		if err := d.SendAgain(ctx, args[0]); err != nil {
			return err
		}
		fmt.Fprintln(p.stderr, "The answer is sent again.")
		return nil
	}
}

// ReadAgent returns one agent.
func (o offline) ReadAgent(ctx context.Context, id string) (*client.AgentDetail, error) {
	got, err := o.s.Hub.AgentDetail(ctx, o.s.Owner, id)
	if err != nil {
		return nil, err
	}
	var a client.AgentDetail
	return &a, json.Unmarshal(hub.Encode(got), &a)
}

// BindHost notes that a host is an agent's own.
func (o offline) BindHost(ctx context.Context, id, host string, proof client.Proof) (*client.CallbackHost, error) {
	got, err := o.s.Hub.BindHost(ctx, o.s.Owner, id, host, hub.Proof(proof))
	if err != nil {
		return nil, err
	}
	return &client.CallbackHost{Host: got.Host, Proof: client.Proof(got.Proof), At: got.At, By: got.By}, nil
}

// UnbindHost takes a host from an agent.
func (o offline) UnbindHost(ctx context.Context, id, host string) error {
	return o.s.Hub.UnbindHost(ctx, o.s.Owner, id, host)
}

// SetWebhook says where what people tell an agent is pushed.
func (o offline) SetWebhook(ctx context.Context, id, url string) error {
	return o.s.Hub.SetWebhook(ctx, o.s.Owner, id, url)
}

// SetSecret gives an agent a secret.
func (o offline) SetSecret(ctx context.Context, id, ref, value string, from time.Time) (*client.NewSecret, error) {
	got, err := o.s.Hub.SetSecret(ctx, o.s.Owner, id, hub.SecretRequest{Ref: ref, Value: value, From: from})
	if err != nil {
		return nil, err
	}
	return (*client.NewSecret)(got), nil
}

// UseSecretNow has the next secret used.
func (o offline) UseSecretNow(ctx context.Context, id, ref string) error {
	return o.s.Hub.UseSecretNow(ctx, o.s.Owner, id, ref)
}

// RemoveSecret ends all secrets of a name.
func (o offline) RemoveSecret(ctx context.Context, id, ref string) error {
	return o.s.Hub.RemoveSecret(ctx, o.s.Owner, id, ref, "")
}

// RemoveNextSecret takes back the next secret.
func (o offline) RemoveNextSecret(ctx context.Context, id, ref string) error {
	return o.s.Hub.RemoveSecret(ctx, o.s.Owner, id, ref, hub.SecretNext)
}

// SendAgain has an answer pushed again, once the hub runs.
func (o offline) SendAgain(ctx context.Context, id string) error {
	return o.s.Hub.SendAgain(ctx, o.s.Owner, id)
}

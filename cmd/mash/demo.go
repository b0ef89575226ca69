package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/localhub"
)

const (
	giveUpGrace = 20 * time.Second // after the question's end, for the agent to say so
	lastLook    = 20 * time.Second // after the story, for whoever answered in the browser and goes on clicking there
)

func demoCommand(flags *flag.FlagSet) action {
	giveUp := flags.Duration("give-up", 10*time.Minute, "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) > 0 {
			return usagef("", "demo takes no argument.")
		}
		folder, err := os.MkdirTemp("", "mash-demo-")
		if err != nil {
			return fmt.Errorf("make a temporary folder: %w", err)
		}
		defer os.RemoveAll(folder) //nolint:errcheck // a temporary folder that cannot be removed harms nobody
		ctx, cancel := context.WithTimeout(ctx, *giveUp+giveUpGrace)
		defer cancel()
		d := &demo{program: p, folder: localhub.Folder(folder), giveUp: *giveUp}
		err = d.run(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			fmt.Fprint(p.stdout, "\nNobody answered, so the demo gives up.\n")
			return exit(exitExpired)
		}
		return err
	}
}

// demo is the hub's and the person's side of the demo.
type demo struct {
	*program
	folder localhub.Folder
	giveUp time.Duration
	hub    *localhub.Server
}

// run opens a hub that may push to the agent's port, serves it, and lets the agent do its part.
func (d *demo) run(ctx context.Context) error {
	fmt.Fprint(d.stdout, "An agent asks, a person answers, and the agent verifies the answer.\n\n")
	callback, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("open a port for the agent: %w", err)
	}
	defer callback.Close() //nolint:errcheck // the agent has a copy of its own
	d.hub, err = localhub.Open(ctx, localhub.Config{
		Folder: d.folder, Listen: "127.0.0.1:0", AllowCallback: []string{callback.Addr().String()}, Command: d.name,
		Log: slog.New(slog.NewTextHandler(d.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	return whileServing(ctx, d.hub.Run, func(ctx context.Context) error {
		fmt.Fprintf(d.stdout, "A hub serves at %s, from a temporary folder.\n", d.hub.URL)
		return d.withAgent(ctx, callback.(*net.TCPListener))
	})
}

// whileServing calls do while serve runs, and then ends serve. Should serve end first, it ends do, whose error is then a
// consequence and not told.
func whileServing(ctx context.Context, serve, do func(context.Context) error) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	doing, abandon := context.WithCancel(ctx)
	defer abandon()
	served := make(chan error, 1)
	go func() {
		served <- serve(serving)
		abandon()
	}()
	err := do(doing)
	stop()
	failed := <-served
	switch over := ctx.Err(); {
	case !errors.Is(err, context.Canceled):
	case over != nil: // which serve may have seen first
		err = over
	case failed != nil:
		return failed
	}
	return errors.Join(err, failed)
}

// withAgent starts the agent, answers for the person where ANSWER says what, and passes on how the agent ended.
func (d *demo) withAgent(ctx context.Context, callback *net.TCPListener) error {
	credentials, err := d.hub.Hub.AddAgent(ctx, d.hub.Owner, "deployer")
	if err != nil {
		return err
	}
	fmt.Fprint(d.stdout, "An agent runs as a process of its own, with a token and a push secret.\n\n")
	agent, err := startDemoAgent(ctx, d, (*client.NewCredentials)(credentials), callback)
	if err != nil {
		return err
	}
	told := d.follow(ctx, agent)
	if told != nil {
		agent.stop() // it would wait for an answer that nobody gives
	}
	ended := agent.wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case told != nil:
		return told
	case ended == exitOK:
		d.linger(ctx)
		d.epilogue()
		return nil
	case ended == exitExpired:
		fmt.Fprintf(d.stdout, "\nNobody answered within %s. Try again: %s demo\n", d.giveUp, d.name)
	default:
		fmt.Fprint(d.stdout, "\nThe agent did not come to the end of its part; see above.\n")
	}
	return exit(ended)
}

// follow tells what the agent says, and lets the person answer once it has asked.
func (d *demo) follow(ctx context.Context, agent *demoProcess) error {
	for event := range agent.events() {
		if event.Say != "" {
			fmt.Fprint(d.stdout, indent("  agent  ", event.Say))
		}
		if event.Asked == "" {
			continue
		}
		if err := d.letAnswer(ctx, event.Asked); err != nil {
			return err
		}
	}
	return nil
}

// letAnswer shows the person where to answer, or answers with what ANSWER says.
func (d *demo) letAnswer(ctx context.Context, id string) error {
	if answer := d.env("ANSWER"); answer != "" {
		return d.answerFor(ctx, id, answer)
	}
	link, err := d.hub.Link(ctx, "/inbox/"+id)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.stdout, "\nNow it waits for you. Answer in the browser; this link signs you in:\n\n  %s\n\n"+
		"or in another terminal:\n\n  %s answer %s approve --data %s\n\n",
		link, d.name, id, shellQuote(string(d.folder)))
	return nil
}

// answerFor does the person's part over HTTP, as `mash answer` would.
func (d *demo) answerFor(ctx context.Context, id, answer string) error {
	c, err := ownerClient(d.folder)
	if err != nil {
		return err
	}
	m, err := c.Read(ctx, id)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.stdout, "\nANSWER is set, so the demo answers for you, with the owner's token:\n\n")
	quiet := &program{name: d.name, stdin: d.stdin, stdout: &prefixed{d.stdout, "  you    "}, stderr: d.stderr, env: d.env}
	flags, value := answerFlags{fields: &list{}, checks: &list{}, decline: answer == "--decline"}, []string{answer}
	if flags.decline {
		value = nil
	}
	if err := quiet.answer(ctx, c, m, &flags, value); err != nil {
		return err
	}
	fmt.Fprintln(d.stdout)
	return nil
}

// linger keeps the hub up for a person who may still look at it.
func (d *demo) linger(ctx context.Context) {
	if d.env("ANSWER") != "" {
		return
	}
	fmt.Fprintf(d.stdout, "\nThe hub stays up for %d more seconds, for a last look; Ctrl-C ends it at once.\n",
		int(lastLook.Seconds()))
	select {
	case <-time.After(lastLook):
	case <-ctx.Done():
	}
}

func (d *demo) epilogue() {
	fmt.Fprintf(d.stdout, "\nThat was the whole way round; the hub and its folder are gone again.\n\n"+
		"To go on with a hub that stays:\n  %[1]s serve\n  %[1]s agent add NAME     (in another terminal)\n",
		d.name)
}

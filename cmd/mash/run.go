package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Exit codes. Those above 2 say how an ask or task ended.
const (
	exitOK        = 0
	exitError     = 1
	exitUsage     = 2
	exitDeclined  = 3 // declined or dismissed
	exitExpired   = 4
	exitCancelled = 5
	exitOpen      = 6 // still open: pull without --wait, or a wait that ran out
	exitInterrupt = 130
)

// program is what a command may touch of the world.
type program struct {
	name   string // what to type in a shell to run it again, for the commands that it prints
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	env    func(string) string

	terminal bool // somebody reads what stdout gets; a program gets it to the letter

	usual string // host:port where a hub listens unless told otherwise
}

// command is one of mash's commands. Its help text stands in help/.
type command struct {
	name   string                     // one word, or two such as "agent add"
	hidden bool                       // not for people
	setup  func(*flag.FlagSet) action // declares its flags and returns what runs with them
}

// action runs a command whose flags are parsed. An error is told to the person; an exit chooses the code.
type action func(ctx context.Context, p *program, args []string) error

func commands() []command {
	return []command{
		{name: "serve", setup: serveCommand},
		{name: "agent add", setup: agentCommand(1, (*program).newDesk, agentAdd)},
		{name: "agent list", setup: agentCommand(0, (*program).oldDesk, agentList)},
		{name: "agent rotate", setup: agentCommand(1, (*program).oldDesk, agentRotate)},
		{name: "agent revoke", setup: agentCommand(1, (*program).oldDesk, agentRevoke)},
		{name: "agent show", setup: agentCommand(1, (*program).oldDesk, agentShow)},
		{name: "agent host", setup: hostCommand},
		{name: "agent webhook", setup: webhookCommand},
		{name: "agent secret", setup: secretCommand},
		{name: "agent mail", setup: mailCommand},
		{name: "agent senders", setup: sendersCommand},
		{name: "send-again", setup: againCommand},
		{name: "person invite", setup: personCommand(1, personInvite)},
		{name: "person list", setup: personCommand(0, personList)},
		{name: "person remove", setup: personCommand(1, personRemove)},
		{name: "direct", setup: directCommand},
		{name: "sessions", setup: sessionsCommand},
		{name: "stop", setup: stopCommand},
		{name: "lift", setup: liftCommand},
		{name: "link", setup: linkCommand},
		{name: "backup", setup: backupCommand},
		{name: "restore", setup: restoreCommand},
		{name: "doctor", setup: doctorCommand},
		{name: "conform", setup: conformCommand},
		{name: "admin rotate-hub-key", setup: rotateCommand},
		{name: "admin rekey", setup: rekeyCommand},
		{name: "ask", setup: askCommand},
		{name: "task", setup: taskCommand},
		{name: "notify", setup: notifyCommand},
		{name: "pull", setup: pullCommand},
		{name: "cancel", setup: cancelCommand},
		{name: "ack", setup: ackCommand},
		{name: "resolve", setup: resolveCommand},
		{name: "listen", setup: listenCommand},
		{name: "answer", setup: answerCommand},
		{name: "demo", setup: demoCommand},
		{name: demoAgentName, hidden: true, setup: demoAgentCommand},
		{name: "help", setup: helpCommand},
		{name: "version", setup: versionCommand},
	}
}

// run does what args say and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(p.stderr, p.inOurName(helpText("")))
		return exitUsage
	}
	c, rest, err := find(args)
	if err == nil {
		err = c.run(ctx, p, rest)
	}
	return p.finish(err)
}

// find returns the command that args begin with and what follows it.
func find(args []string) (*command, []string, error) {
	if isHelp(args[0]) {
		return nil, nil, &help{text: helpText("")}
	}
	if slices.Contains([]string{"--version", "-version", "-v"}, args[0]) {
		args = []string{"version"}
	}
	for words := min(2, len(args)); words > 0; words-- {
		name := strings.Join(args[:words], " ")
		for _, c := range commands() {
			if c.name == name {
				return &c, args[words:], nil
			}
		}
	}
	return nil, nil, unknown(args)
}

// unknown is the error of args that begin with no command.
func unknown(args []string) error {
	group := args[0]
	if helpText(group) == "" {
		return noCommand(group)
	}
	if len(args) == 1 {
		return usagef(group, "Say what to do with %s.", group)
	}
	if isHelp(args[1]) || args[1] == "help" {
		return &help{text: helpText(group)}
	}
	e := noCommand(group + " " + args[1])
	e.command = group
	return e
}

// noCommand is the error of a name that no command has, with those that are like it.
func noCommand(name string) *usage {
	var names []string
	for _, c := range commands() {
		if c.hidden {
			continue
		}
		group, _, _ := strings.Cut(c.name, " ")
		names = append(names, c.name, group)
	}
	return &usage{message: fmt.Sprintf("There is no command %q.%s", name, didYouMean(name, names))}
}

func isHelp(s string) bool { return s == "--help" || s == "-help" || s == "-h" }

// run parses the flags, which may stand before, between and after the arguments, and runs the command.
func (c *command) run(ctx context.Context, p *program, args []string) error {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // what is wrong is told by finish
	act := c.setup(flags)
	rest, err := parse(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		return &help{text: helpText(c.name)}
	}
	if err != nil {
		return usagef(c.name, "%s", wrongFlag(flags, err))
	}
	err = act(ctx, p, rest)
	if u, ok := errors.AsType[*usage](err); ok && u.command == "" && c.name != "help" { // whose help helps nobody to find another
		u.command = c.name
	}
	return err
}

// parse parses flags wherever they stand before a --, and returns the arguments.
func parse(flags *flag.FlagSet, args []string) ([]string, error) {
	var rest []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		left := flags.Args()
		read := len(args) - len(left)
		if len(left) == 0 || read > 0 && args[read-1] == "--" {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

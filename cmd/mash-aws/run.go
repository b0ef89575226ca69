package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Exit codes.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

//go:embed help/*.txt
var helpFiles embed.FS

// helpText returns the help of a command, or the general one for "mash-aws"; "" when there is none.
func helpText(command string) string {
	text, err := helpFiles.ReadFile("help/" + command + ".txt")
	if err != nil {
		return ""
	}
	return string(text)
}

// program is what a command may touch of the world.
type program struct {
	stdout, stderr io.Writer
	load           func(context.Context) (aws.Config, error) // finds region and credentials
}

// action runs a command whose flags are parsed, with at most one word behind them.
type action func(ctx context.Context, p *program, word string) error

// commands are all that there are by their names: each declares its flags and returns what runs with them.
func commands() map[string]func(*flag.FlagSet) action {
	return map[string]func(*flag.FlagSet) action{
		"account": accountCommand, "bootstrap": bootstrapCommand, "help": helpCommand, "rekey": rekeyCommand,
		"rotate-hub-key": rotateCommand, "token": tokenCommand, "version": versionCommand,
	}
}

// usageError is a command line that is none. It is told with where to read more.
type usageError struct{ command, message string }

func (e *usageError) Error() string { return e.message }

// usagef makes a usage error. Without a command, the one that runs is meant.
func usagef(command, format string, args ...any) error {
	return &usageError{command, fmt.Sprintf(format, args...)}
}

// run does what args say and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(p.stderr, helpText("mash-aws"))
		return exitUsage
	}
	err := p.command(ctx, args[0], args[1:])
	if wrong, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintf(p.stderr, "mash-aws: %s See %s --help.\n", wrong.message, wrong.command)
		return exitUsage
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "mash-aws: %s\n", sentence(err))
		return exitError
	}
	return exitOK
}

func (p *program) command(ctx context.Context, name string, args []string) error {
	switch name {
	case "--help", "-help", "-h":
		name = "help"
	case "--version", "-version":
		name = "version"
	}
	setup, ok := commands()[name]
	if !ok {
		return noCommand(name)
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	act := setup(flags)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(p.stdout, helpText(name))
		return nil
	case err != nil:
		return usagef("mash-aws "+name, "The command line is wrong: %s.", err)
	case name != "help" && flags.NArg() > 0 || flags.NArg() > 1:
		return usagef("mash-aws "+name, "%q is one word too many.", flags.Arg(flags.NArg()-1))
	}
	err = act(ctx, p, flags.Arg(0))
	if wrong, ok := errors.AsType[*usageError](err); ok && wrong.command == "" {
		wrong.command = "mash-aws " + name
	}
	return err
}

func noCommand(name string) error { return usagef("mash-aws", "There is no command %q.", name) }

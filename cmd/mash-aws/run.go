package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/mash-hub/mash/pkg/awshub"
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

// usageError is a command line that is none. It is told with where to read more.
type usageError struct{ command, message string }

func (e *usageError) Error() string { return e.message }

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
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	stack := flags.String("stack", "", "")
	act := func(ctx context.Context, c awshub.Config) error { return p.token(ctx, c) }
	switch name {
	case "bootstrap":
		owner := flags.String("owner", "", "")
		act = func(ctx context.Context, c awshub.Config) error {
			return p.bootstrap(ctx, c, strings.TrimPrefix(*owner, "human:"))
		}
	case "token":
	case "help", "--help", "-help", "-h":
		fmt.Fprint(p.stdout, helpText("mash-aws"))
		return nil
	default:
		return &usageError{"mash-aws", fmt.Sprintf("There is no command %q.", name)}
	}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(p.stdout, helpText(name))
		return nil
	case err != nil:
		return &usageError{"mash-aws " + name, fmt.Sprintf("The command line is wrong: %s.", err)}
	case flags.NArg() > 0:
		return &usageError{"mash-aws " + name, fmt.Sprintf("%q is one word too many.", flags.Arg(0))}
	case *stack == "":
		return &usageError{"mash-aws " + name, "Name the stack with --stack."}
	}
	c, err := p.find(ctx, *stack)
	if err != nil {
		return err
	}
	return act(ctx, c)
}

func (p *program) bootstrap(ctx context.Context, c awshub.Config, name string) error {
	owner, link, err := c.Bootstrap(ctx, name)
	if other, ok := errors.AsType[*awshub.OtherOwnerError](err); ok {
		return fmt.Errorf("%s belongs to %s, which cannot be changed; leave --owner out", c.Stack, other.Owner)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "This link signs %s in, once, within %.0f hours:\n", owner, awshub.LinkLifetime.Hours())
	_, err = fmt.Fprintln(p.stdout, link)
	return err
}

func (p *program) token(ctx context.Context, c awshub.Config) error {
	token, err := c.Token(ctx)
	if errors.Is(err, awshub.ErrNoOwner) {
		return fmt.Errorf("%s has no owner yet; run mash-aws bootstrap --stack %s", c.Stack, c.Stack)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, token)
	return err
}

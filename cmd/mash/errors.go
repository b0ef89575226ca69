package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// usage is the error of a command line that cannot be understood.
type usage struct {
	command string // whose help to point to; empty for the general one
	message string
}

func (u *usage) Error() string { return u.message }

// usagef makes a usage error. Without a command, the one that runs is meant.
func usagef(command, format string, args ...any) error {
	return &usage{command: command, message: fmt.Sprintf(format, args...)}
}

// help is not an error but the wish to read a help text.
type help struct{ text string }

func (*help) Error() string { return "help" }

// exit ends the program with a code and says nothing more: the command has said it all.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// finish tells the person what went wrong, in one place, and returns the exit code.
func (p *program) finish(err error) int {
	if err == nil {
		return exitOK
	}
	if h, ok := errors.AsType[*help](err); ok {
		fmt.Fprint(p.stdout, p.inOurName(h.text))
		return exitOK
	}
	if code, ok := errors.AsType[exit](err); ok {
		return int(code)
	}
	if u, ok := errors.AsType[*usage](err); ok {
		about := strings.TrimSpace("help " + u.command)
		fmt.Fprintf(p.stderr, "mash: %s See: %s %s\n", u.message, p.name, about)
		return exitUsage
	}
	fmt.Fprintf(p.stderr, "mash: %s\n", p.explain(err))
	if errors.Is(err, context.Canceled) {
		return exitInterrupt
	}
	return exitError
}

// explain turns an error into one plain sentence.
func (p *program) explain(err error) string {
	if e := ma2h.AsError(err); e != nil {
		if e.Code == ma2h.CodeUnauthenticated {
			return p.unknownToken()
		}
		return e.Message
	}
	if errors.Is(err, context.Canceled) {
		return "Interrupted."
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return p.unreachable(u)
	}
	return sentence(err.Error()) + "."
}

// unknownToken says that the hub does not know the token of MASH_TOKEN, and how to come by another.
func (p *program) unknownToken() string {
	at := p.env("MASH_URL")
	if isPersons(p.env("MASH_TOKEN")) {
		return fmt.Sprintf("The hub at %s does not know this token of a person; check MASH_URL and MASH_TOKEN; %s.", at, personsToken(at))
	}
	return fmt.Sprintf("The hub at %s does not know this token; check MASH_URL and MASH_TOKEN, or get another with `%s agent rotate NAME`.",
		at, p.name)
}

// unreachable says that nobody answers where the hub ought to be, and what to do.
func (p *program) unreachable(e *url.Error) string {
	at, err := url.Parse(e.URL)
	if err != nil {
		return "The hub's URL cannot be read; check MASH_URL."
	}
	hub := at.Scheme + "://" + at.Host
	if _, ok := errors.AsType[*net.OpError](e.Err); !ok && !e.Timeout() {
		return fmt.Sprintf("%s does not answer like a hub; check MASH_URL.", hub)
	}
	if onThisMachine(hub) {
		return fmt.Sprintf("No hub answers at %s; start it with `%s serve`, or check MASH_URL.", hub, p.name)
	}
	return fmt.Sprintf("No hub answers at %s; is MASH_URL the right one, and can it be reached from here?", hub)
}

// sentence makes the text of an error begin like a sentence, and takes the full stop away.
func sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return strings.TrimSuffix(string(unicode.ToUpper(first))+s[size:], ".")
}

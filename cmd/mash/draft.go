package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// draft holds the flags that every message has.
type draft struct {
	to       string // another agent, or a session of it
	body     string
	priority string
	tags     *list
	parts    []part
	state    string
	key      string
	run      string
	expires  string
	json     bool
}

// part is a --context flag as it was given, in the order of all of them.
type part struct{ kind, value string }

func draftFlags(flags *flag.FlagSet) *draft {
	d := &draft{tags: listFlag(flags, "tag")}
	flags.StringVar(&d.to, "to", "", "")
	flags.StringVar(&d.body, "body", "", "")
	flags.StringVar(&d.priority, "priority", "", "")
	flags.StringVar(&d.state, "state", "", "")
	flags.StringVar(&d.key, "key", "", "")
	flags.StringVar(&d.run, "run", "", "")
	flags.BoolVar(&d.json, "json", false, "")
	for _, kind := range []string{"text", "data", "file"} {
		flags.Func("context-"+kind, "", func(value string) error {
			d.parts = append(d.parts, part{kind, value})
			return nil
		})
	}
	return d
}

// message builds what all messages have in common.
func (d *draft) message(p *program, args []string, now time.Time) (ma2h.Message, error) {
	var m ma2h.Message
	if len(args) != 1 || args[0] == "" {
		return m, usagef("", "Give one title, in quotes.")
	}
	m = ma2h.Message{Title: args[0], Priority: ma2h.Priority(d.priority), Tags: *d.tags, Agent: ma2h.Agent{RunID: d.run}}
	if d.key != "" {
		m.IdempotencyKey = &d.key
	}
	if !slices.Contains(priorities, d.priority) {
		return m, usagef("", "--priority wants low, normal, high or urgent, not %s.", shellQuote(d.priority))
	}
	var err error
	if m.To, err = address(d.to); err != nil {
		return m, err
	}
	if m.Body, err = p.text("--body", d.body); err != nil {
		return m, err
	}
	if d.state != "" {
		if m.State, err = p.jsonText("--state", d.state); err != nil {
			return m, err
		}
	}
	for _, given := range d.parts {
		built, err := p.part(given)
		if err != nil {
			return m, err
		}
		m.Context = append(m.Context, built)
	}
	if m.ExpiresAt, err = expiry(d.expires, now); err != nil {
		return m, err
	}
	// What was asked before under the key can be found again even when it has ended since.
	if at, ok := ma2h.ParseTime(m.ExpiresAt); ok && !at.After(now) && d.key == "" {
		return m, usagef("", "--expires %s is over already; give a time to come, or a duration such as 15m.", d.expires)
	}
	return m, nil
}

// address reads --to: AGENT or AGENT#SESSION, with agent: before it or not.
func address(to string) (string, error) {
	if to == "" {
		return "", nil
	}
	a, ok := ma2h.ParseAddress(ma2h.AgentPrefix + strings.TrimPrefix(to, ma2h.AgentPrefix))
	if !ok {
		return "", usagef("", "--to wants the name of an agent, or AGENT#SESSION for one of its sessions, not %s.", shellQuote(to))
	}
	return a.String(), nil
}

// priorities are what --priority may say; without it, it is normal.
var priorities = []string{"", "low", "normal", "high", "urgent"}

func (p *program) part(given part) (ma2h.Part, error) {
	out := ma2h.Part{Kind: given.kind}
	var err error
	switch given.kind {
	case "text":
		out.Text, err = p.text("--context-text", given.value)
	case "data":
		out.Data, err = p.jsonText("--context-data", given.value)
	case "file":
		out.File = &ma2h.File{URI: given.value}
	}
	return out, err
}

// text reads a flag that is a text, @ and the name of a file, or - for standard input.
func (p *program) text(flagName, value string) (string, error) {
	if value == "-" {
		b, err := io.ReadAll(p.stdin)
		if err != nil {
			return "", fmt.Errorf("read standard input: %w", err)
		}
		return string(b), nil
	}
	if path, ok := strings.CutPrefix(value, "@"); ok {
		return readFile(flagName, path)
	}
	return value, nil
}

// readFile reads the file that a flag names.
func readFile(flagName, path string) (string, error) {
	b, err := os.ReadFile(path) //nolint:gosec // a file that the person named
	if cause := errors.Unwrap(err); err != nil {
		return "", usagef("", "Cannot read the file %s of %s: %v.", shellQuote(path), flagName, cause)
	}
	return string(b), nil
}

// jsonText reads a flag that is JSON, with what text offers.
func (p *program) jsonText(flagName, value string) (jsontext.Value, error) {
	s, err := p.text(flagName, value)
	if err != nil {
		return nil, err
	}
	v := jsontext.Value(s)
	if !v.IsValid() {
		return nil, usagef("", "%s wants JSON, such as {\"build\":14}.", flagName)
	}
	return v, v.Compact()
}

// schema reads the file that --input names.
func (p *program) schema(path string) (jsontext.Value, error) {
	if path == "-" || strings.HasPrefix(path, "@") {
		return p.jsonText("--input", path)
	}
	s, err := readFile("--input", path)
	v := jsontext.Value(s)
	if err == nil && !v.IsValid() {
		err = usagef("", "The file %s of --input holds no JSON; it wants the JSON Schema of an object.", shellQuote(path))
	}
	if err != nil {
		return nil, err
	}
	return v, v.Compact()
}

// expiry turns --expires, a duration from now or a time, into expires_at.
func expiry(s string, now time.Time) (string, error) {
	if s == "" {
		return "", nil
	}
	if _, ok := ma2h.ParseTime(s); ok {
		return s, nil
	}
	d, err := duration(s)
	if err != nil || d <= 0 {
		return "", usagef("", "--expires wants a duration such as 15m, 2h or 3d, or a time such as 2026-01-31T12:00:00Z.")
	}
	return ma2h.FormatTime(now.Add(d).Truncate(time.Millisecond)), nil
}

// duration reads what time.ParseDuration does, and days.
func duration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		return time.Duration(n * 24 * float64(time.Hour)), err
	}
	return time.ParseDuration(s)
}

// jsonString encodes a string, which cannot fail once it is UTF-8; else the hub will say so.
func jsonString(s string) jsontext.Value {
	b, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		panic(err)
	}
	return b
}

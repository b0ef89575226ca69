package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// brokenPipe is the error of a reader of the standard output who has gone.
type brokenPipe struct{ error }

// known is an entry without what no signature covers and nobody knows (spec §13.4).
func known(e client.Entry) (jsontext.Value, error) {
	var v any
	switch e := e.(type) {
	case *client.DirectiveEntry:
		v = e.Directive
	case *client.MessageEntry:
		v = struct {
			ID   string `json:"id"`
			From string `json:"from"`
			ma2h.Message
		}{e.ID, e.From, e.Message}
	case *client.ResponseEntry:
		v = e.Response
	case *client.ReceiptEntry:
		v = e.Receipt
	}
	return json.Marshal(v)
}

// hand gives an entry to the command, or prints it, and returns the note for its ack.
func (l *listener) hand(ctx context.Context, e client.Entry) (note string, _ error) {
	content, err := known(e)
	if err != nil {
		return "", err
	}
	if l.command != "" {
		return l.run(ctx, e, content)
	}
	line, err := json.Marshal(struct {
		Kind    client.EntryKind `json:"kind"`
		ID      string           `json:"id"`
		Session string           `json:"session"`
		Entry   jsontext.Value   `json:"entry"`
	}{e.Kind(), e.Key(), l.box.Session, content})
	if err != nil {
		return "", err
	}
	if l.p.terminal {
		line = escaped(line)
	}
	if _, err := fmt.Fprintf(l.p.stdout, "%s\n", line); err != nil {
		return "", &brokenPipe{fmt.Errorf("nobody reads what is printed: %w", err)}
	}
	return "", nil
}

// run runs the command for an entry and waits for its end. Meanwhile the session stays alive.
func (l *listener) run(ctx context.Context, e client.Entry, content []byte) (note string, _ error) {
	first := &firstLine{}
	c := exec.CommandContext(ctx, "/bin/sh", "-c", l.command) //nolint:gosec // it is what the person who started this wants
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(append(content, '\n')), io.MultiWriter(first, l.p.stdout), l.p.stderr
	c.Env = append(os.Environ(),
		"MASH_ENTRY_KIND="+string(e.Kind()), "MASH_ENTRY_ID="+e.Key(), "MASH_SESSION="+l.box.Session)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	beat, end := context.WithCancel(ctx)
	beating := make(chan struct{})
	go func() { defer close(beating); l.renewing(beat) }()
	err := c.Run()
	end()
	<-beating
	if err != nil {
		return "", fmt.Errorf("the command failed: %w", err)
	}
	return first.note(), nil
}

const leastBeat = 100 * time.Millisecond

// renewing renews the session's lease while a command runs: an ack of nothing presents it (spec §16.2). What goes wrong
// shows at the next drain.
func (l *listener) renewing(ctx context.Context) {
	for sleepFor(ctx, max(l.lease/3, leastBeat)) == nil {
		_, _ = l.box.Ack(ctx, "")
	}
}

// maxNote is how many bytes of a line become a note: what hubs take, ours among them.
const maxNote = 1000

// firstLine keeps the beginning of the first line that is written to it.
type firstLine struct {
	text []byte
	over bool
}

// Write keeps what it can use.
func (f *firstLine) Write(p []byte) (int, error) {
	if line, _, ended := bytes.Cut(p, []byte("\n")); !f.over {
		f.text = append(f.text, line[:min(len(line), maxNote-len(f.text))]...)
		f.over = ended || len(f.text) >= maxNote
	}
	return len(p), nil
}

// note is the line as a note of an ack.
func (f *firstLine) note() string {
	return strings.TrimSpace(clean(strings.ToValidUTF8(string(f.text), "")))
}

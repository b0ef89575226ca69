package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/client"
)

// demoEvent is one line that the agent of the demo writes: what it asked, or what it has to say.
type demoEvent struct {
	Asked string `json:"asked,omitzero"` // the id of its question
	Say   string `json:"say,omitzero"`
}

// demoProcess is the agent of the demo as the demo sees it.
type demoProcess struct {
	cmd    *exec.Cmd
	stdin  io.Closer // open as long as the demo lives; its end is the agent's end
	stdout *bufio.Scanner
}

// demoAgentName is the hidden command of the agent.
const demoAgentName = "demo-agent"

// startDemoAgent starts this program once more as the agent. It gets what any agent has, and the port of its callback.
func startDemoAgent(
	ctx context.Context, d *demo, c *client.NewCredentials, callback *net.TCPListener,
) (*demoProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	port, err := callback.File()
	if err != nil {
		return nil, fmt.Errorf("hand over the agent's port: %w", err)
	}
	defer port.Close()                    //nolint:errcheck // a copy
	cmd := exec.CommandContext(ctx, self) //nolint:gosec // this very program
	cmd.Args = []string{"mash", demoAgentName, "--expires", strconv.FormatInt(d.giveUp.Milliseconds(), 10) + "ms"}
	cmd.Env = []string{
		"MASH_URL=" + d.hub.URL, "MASH_TOKEN=" + c.Token, "MASH_PUSH_SECRET=" + c.PushSecret,
	}
	cmd.ExtraFiles = []*os.File{port}
	cmd.Stderr = d.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	return &demoProcess{cmd: cmd, stdin: stdin, stdout: bufio.NewScanner(stdout)}, nil
}

// events returns what the agent writes until it ends.
func (a *demoProcess) events() iter.Seq[demoEvent] {
	return func(yield func(demoEvent) bool) {
		for a.stdout.Scan() {
			var e demoEvent
			if err := json.Unmarshal(a.stdout.Bytes(), &e); err != nil {
				e = demoEvent{Say: a.stdout.Text()}
			}
			if !yield(e) {
				return
			}
		}
	}
}

// stop tells the agent to end.
func (a *demoProcess) stop() { _ = a.stdin.Close() }

// wait returns the agent's exit code once it has ended.
func (a *demoProcess) wait() int {
	err := a.cmd.Wait()
	a.stop()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() > 0 {
		return ended.ExitCode()
	}
	if err != nil {
		return exitError
	}
	return exitOK
}

// indent puts a name before a text and breaks it into lines of 80 columns.
func indent(name, text string) string {
	const columns = 80
	var out strings.Builder
	line := name
	for _, word := range strings.Fields(text) {
		if len(line)+len(word) >= columns && line != name {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", len(name))
		}
		line += word + " "
	}
	out.WriteString(strings.TrimRight(line, " ") + "\n")
	return out.String()
}

// prefixed writes lines behind a name.
type prefixed struct {
	io.Writer
	name string
}

// Write writes one line.
func (w *prefixed) Write(b []byte) (int, error) {
	_, err := io.WriteString(w.Writer, indent(w.name, string(b)))
	return len(b), err
}

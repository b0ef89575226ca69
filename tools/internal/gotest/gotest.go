// Package gotest runs `go test -json` and hands its events on.
package gotest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Module is the prefix that package paths are shown without.
const Module = "github.com/mash-hub/mash/"

// Event is one line of `go test -json`; see `go doc test2json`.
type Event struct {
	Action     string
	Package    string
	ImportPath string // of build output
	Test       string
	Output     string
	Elapsed    float64
}

// Passed, Failed and Skipped tell of the end of a test or, without Test, of a package.
const (
	Passed  = "pass"
	Failed  = "fail"
	Skipped = "skip"
)

// Name returns the package's path inside the module.
func (e Event) Name() string { return strings.TrimPrefix(e.Package, Module) }

// Took returns Elapsed in the form in which it is shown.
func (e Event) Took() string {
	return time.Duration(e.Elapsed * float64(time.Second)).Round(10 * time.Millisecond).String()
}

// Run runs `go test -json` with args in the current folder and calls each for every event. Lines that are no event go
// to standard error. It returns whether the command succeeded; its own error means that it could not be run.
func Run(ctx context.Context, args []string, each func(Event)) (bool, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...) //nolint:gosec // G204: the caller's own flags
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("start go test: %w", err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e Event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintln(os.Stderr, lines.Text())
			continue
		}
		each(e)
	}
	if err := lines.Err(); err != nil {
		_ = cmd.Process.Kill() // nobody reads its output any more
		_ = cmd.Wait()
		return false, fmt.Errorf("read go test: %w", err)
	}
	err = cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return false, nil
	}
	return err == nil, err
}

// Report tells how many passed and failed: to the file that MASH_COUNTS names, for whoever adds them up, or else as the
// last line of the output.
func Report(passed, failed int) error {
	path := os.Getenv("MASH_COUNTS")
	if path == "" {
		fmt.Printf("%d passed, %d failed\n", passed, failed)
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // G703: the script that called names it
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(f, passed, failed); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

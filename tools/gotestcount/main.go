// Command gotestcount runs `go test` and shows a line a package, the output of what failed, and how many tests and
// subtests passed and failed.
//
//	gotestcount [-noskip] [-show] [flags and packages of go test]
//
// With -noskip a skipped test counts as failed; with -show all output is shown as it comes. Both come before the rest.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mash-hub/mash/tools/internal/gotest"
)

func main() {
	args := os.Args[1:]
	c := counter{output: map[[2]string][]string{}, failedIn: map[string]int{}, testsIn: map[string]int{}}
	for len(args) > 0 && (args[0] == "-noskip" || args[0] == "-show") {
		c.noSkip = c.noSkip || args[0] == "-noskip"
		c.show = c.show || args[0] == "-show"
		args = args[1:]
	}
	ok, err := gotest.Run(context.Background(), args, c.event)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotestcount:", err)
		os.Exit(1)
	}
	if c.failed == 0 && (!ok || c.passed == 0) {
		fmt.Println("FAIL  no test could be run")
		c.failed++
	}
	slices.Sort(c.skipped)
	for _, line := range c.skipped {
		fmt.Println("skipped", line)
	}
	if err := gotest.Report(c.passed, c.failed); err != nil {
		fmt.Fprintln(os.Stderr, "gotestcount:", err)
		os.Exit(1)
	}
	if c.failed > 0 {
		os.Exit(1)
	}
}

// counter adds up the events of one run. Output is kept until its test or package has ended, and shown if that failed.
type counter struct {
	noSkip, show   bool
	passed, failed int
	skipped        []string
	output         map[[2]string][]string // by package and test
	failedIn       map[string]int         // failed tests by package
	testsIn        map[string]int         // tests by package
}

func (c *counter) event(e gotest.Event) {
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Print(e.Output)
	case "output":
		if c.show {
			fmt.Print(e.Output)
			return
		}
		c.output[key] = append(c.output[key], e.Output)
	case gotest.Passed, gotest.Failed, gotest.Skipped:
		if e.Test == "" {
			c.packageEnded(e, c.output[key])
		} else {
			c.testEnded(e, c.output[key])
		}
		delete(c.output, key)
	}
}

func (c *counter) testEnded(e gotest.Event, output []string) {
	c.testsIn[e.Package]++
	switch e.Action {
	case gotest.Passed:
		c.passed++
	case gotest.Failed:
		c.fail(e.Package)
		fmt.Printf("--- FAIL %s %s\n%s", e.Name(), e.Test, strings.Join(output, ""))
	default:
		c.skipped = append(c.skipped, fmt.Sprintf("%s %s: %s", e.Name(), e.Test, reason(output)))
		if c.noSkip {
			c.fail(e.Package)
			fmt.Printf("--- SKIP %s %s\n", e.Name(), e.Test)
		}
	}
}

func (c *counter) packageEnded(e gotest.Event, output []string) {
	if e.Action == gotest.Failed && c.failedIn[e.Package] == 0 {
		c.fail(e.Package) // it did not compile, or died outside of any test
		fmt.Print(strings.Join(output, ""))
	}
	switch {
	case c.failedIn[e.Package] > 0 && c.testsIn[e.Package] == 0:
		fmt.Printf("FAIL  %s  outside of its tests\n", e.Name())
	case c.failedIn[e.Package] > 0:
		fmt.Printf("FAIL  %s  %d of %d tests, %s\n", e.Name(), c.failedIn[e.Package], c.testsIn[e.Package], e.Took())
	case c.testsIn[e.Package] > 0:
		fmt.Printf("ok    %s  %d tests, %s\n", e.Name(), c.testsIn[e.Package], e.Took())
	}
}

func (c *counter) fail(pkg string) {
	c.failed++
	c.failedIn[pkg]++
}

// reason returns what a skipped test said, without go test's own lines.
func reason(output []string) string {
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return "no reason given"
}

// Command engines runs tests whose subtests stand on several engines, each a subtest of its name, and compares: every test
// of one engine must be one of the other, and all must pass, none skipped. It prints how many each has.
//
//	engines [-list FILE] SQLite,AWS -- flags and packages of go test
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/tools/internal/gotest"
)

func main() {
	list := flag.String("list", "", "the `file` to write the names of all tests to, an engine after the other")
	flag.Parse()
	args := flag.Args()
	if len(args) < 2 || args[1] != "--" {
		fmt.Fprintln(os.Stderr, "usage: engines [-list FILE] ENGINE,ENGINE -- flags and packages of go test")
		os.Exit(2)
	}
	ok, err := run(strings.Split(args[0], ","), *list, args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "engines:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// suite gathers what became of each test: by engine, then by its name without the engine's.
type suite struct {
	engines []string
	by      map[string]map[string]string
	output  map[string][]string
	loose   []string // tests that failed and belong to no engine
	slowest map[string]time.Duration
}

func run(engines []string, list string, args []string) (bool, error) {
	s := &suite{
		engines: engines, by: map[string]map[string]string{}, output: map[string][]string{}, slowest: map[string]time.Duration{},
	}
	for _, e := range engines {
		s.by[e] = map[string]string{}
	}
	ran, err := gotest.Run(context.Background(), args, s.event)
	if err != nil {
		return false, err
	}
	passed, failed := s.print()
	if !ran && failed == 0 {
		fmt.Println("FAIL: a package does not build, or failed outside of its tests")
		failed = 1
	}
	if list != "" {
		if err := os.WriteFile(list, []byte(s.names()), 0o600); err != nil {
			return false, err
		}
		fmt.Println("the names of all tests are in", list)
	}
	return failed == 0, gotest.Report(passed, failed)
}

func (s *suite) event(e gotest.Event) {
	if e.Action == "build-output" {
		fmt.Print(e.Output)
	}
	key := e.Name() + " " + e.Test
	switch e.Action {
	case "output":
		s.output[key] = append(s.output[key], e.Output)
		return
	case gotest.Passed, gotest.Failed, gotest.Skipped:
	default:
		return
	}
	if e.Action != gotest.Passed && e.Test != "" {
		fmt.Printf("--- %s %s\n%s", e.Action, key, strings.Join(s.output[key], ""))
	}
	delete(s.output, key)
	engine, name := s.split(e.Test)
	switch {
	case engine != "":
		s.by[engine][e.Name()+" "+name] = e.Action
		s.slowest[engine] = max(s.slowest[engine], time.Duration(e.Elapsed*float64(time.Second)))
	case e.Action == gotest.Failed && !strings.Contains(e.Test, "/"):
		s.loose = append(s.loose, key)
	}
}

// split takes the engine's name out of a test's.
func (s *suite) split(test string) (engine, name string) {
	parts := strings.Split(test, "/")
	if len(parts) < 2 || !slices.Contains(s.engines, parts[1]) {
		return "", test
	}
	return parts[1], strings.Join(slices.Delete(slices.Clone(parts), 1, 2), "/")
}

// print writes a line an engine and what keeps them from being alike, and returns how many tests passed and failed.
func (s *suite) print() (passed, failed int) {
	all := map[string]bool{}
	for _, e := range s.engines {
		for name := range s.by[e] {
			all[name] = true
		}
	}
	for _, e := range s.engines {
		outcomes := map[string]int{}
		for name := range maps.Keys(all) {
			outcome, ran := s.by[e][name]
			if !ran {
				fmt.Printf("FAIL  %s did not run on %s\n", name, e)
				outcome = "missing"
			}
			outcomes[outcome]++
		}
		bad := len(all) - outcomes[gotest.Passed]
		passed, failed = passed+outcomes[gotest.Passed], failed+bad
		top := 0
		for name := range s.by[e] {
			if !strings.Contains(name[strings.Index(name, " "):], "/") {
				top++
			}
		}
		fmt.Printf("%-8s %d tests, %d with their parts: %d passed, %d failed, %d skipped, %d missing; the slowest took %s\n", e, top,
			len(s.by[e]), outcomes[gotest.Passed], outcomes[gotest.Failed], outcomes[gotest.Skipped], outcomes["missing"],
			s.slowest[e].Round(100*time.Millisecond))
	}
	if len(all) == 0 {
		fmt.Println("FAIL: no tests on any engine")
		failed++
	}
	if failed == 0 && len(s.loose) > 0 {
		fmt.Println("FAIL:", strings.Join(s.loose, ", "))
		failed += len(s.loose)
	}
	return passed, failed
}

func (s *suite) names() string {
	var b strings.Builder
	for _, e := range s.engines {
		fmt.Fprintf(&b, "%s: %d\n", e, len(s.by[e]))
		for _, name := range slices.Sorted(maps.Keys(s.by[e])) {
			fmt.Fprintf(&b, "  %-7s %s\n", s.by[e][name], name)
		}
	}
	return b.String()
}

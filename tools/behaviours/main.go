// Command behaviours runs the tests that prove a behaviour, prints number and tests, and fails on a number that has none
// and does not stand in DIVERGENCES.md as not built yet.
//
//	behaviours -last N [-stores NAME,NAME] -- flags and packages of go test
//
// A test proves the behaviours at the front of its name: TestB33_X proves 33, TestB33_B34_X both. With -stores, a
// behaviour needs for every store a passing subtest whose name holds the name of the store.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mash-hub/mash/tools/internal/gotest"
)

func main() {
	last := flag.Int("last", 0, "the highest `number` of a behaviour")
	list := flag.String("divergences", "DIVERGENCES.md", "the `file` that lists what is not built yet")
	stores := flag.String("stores", "", "the `names` of the stores that each must be proven on, separated by commas")
	flag.Parse()
	ok, err := run(*last, *list, strings.FieldsFunc(*stores, func(r rune) bool { return r == ',' }), flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "behaviours:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(last int, list string, stores, args []string) (bool, error) {
	text, err := os.ReadFile(list) //nolint:gosec // G304: the file is the caller's choice
	if err != nil {
		return false, err
	}
	notYet, err := readNotYet(string(text))
	if err != nil {
		return false, fmt.Errorf("%s: %w", list, err)
	}
	s := suite{tests: map[string]*test{}}
	ran, err := gotest.Run(context.Background(), append([]string{"-run", `^TestB[0-9]+_`}, args...), s.event)
	if err != nil {
		return false, err
	}
	passed, failed := s.print(last, notYet, stores)
	if !ran && failed == 0 {
		fmt.Println("FAIL: a package does not build, or a test failed that proves none of these numbers")
		failed = 1
	}
	return failed == 0, gotest.Report(passed, failed)
}

// notYetBlock is the fenced block of DIVERGENCES.md that lists behaviours not built yet, a line each: a number or a range,
// then why.
var notYetBlock = regexp.MustCompile("(?s)```behaviours-not-yet\n(.*?)```")

// readNotYet returns why a behaviour is not built yet, by number.
func readNotYet(text string) (map[int]string, error) {
	block := notYetBlock.FindStringSubmatch(text)
	if block == nil {
		return nil, fmt.Errorf("no block ```behaviours-not-yet")
	}
	notYet := map[int]string{}
	for line := range strings.Lines(block[1]) {
		numbers, why, _ := strings.Cut(strings.TrimSpace(line), " ")
		if numbers == "" {
			continue
		}
		first, end, isRange := strings.Cut(numbers, "-")
		if !isRange {
			end = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(end)
		if err1 != nil || err2 != nil || to < from || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("want a number or a range and why, got %q", line)
		}
		for n := from; n <= to; n++ {
			notYet[n] = strings.TrimSpace(why)
		}
	}
	return notYet, nil
}

// test is a top-level test with the names of its subtests that passed.
type test struct {
	pkg, name string
	outcome   string
	passed    []string
	output    []string
}

// suite gathers the tests of a run, by package and name.
type suite struct{ tests map[string]*test }

func (s *suite) event(e gotest.Event) {
	if e.Action == "build-output" {
		fmt.Print(e.Output)
	}
	if e.Test == "" {
		return
	}
	name, sub, isSub := strings.Cut(e.Test, "/")
	t := s.tests[e.Package+" "+name]
	if t == nil {
		t = &test{pkg: e.Name(), name: name}
		s.tests[e.Package+" "+name] = t
	}
	switch e.Action {
	case "output":
		t.output = append(t.output, e.Output)
	case gotest.Passed, gotest.Failed, gotest.Skipped:
		switch {
		case !isSub:
			t.outcome = e.Action
		case e.Action == gotest.Passed:
			t.passed = append(t.passed, sub)
		}
	}
}

var provenBy = regexp.MustCompile(`^Test((?:B[0-9]+_)+)`)

// proves returns the numbers at the front of a test's name.
func proves(name string) []int {
	var numbers []int
	front := provenBy.FindStringSubmatch(name)
	if front == nil {
		return nil
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(front[1], "_"), "_") {
		if n, err := strconv.Atoi(part[1:]); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// print writes a line for each behaviour and each of its tests, and returns how many behaviours passed and failed.
func (s *suite) print(last int, notYet map[int]string, stores []string) (passed, failed int) {
	byNumber := map[int][]*test{}
	for _, t := range s.tests {
		for _, n := range proves(t.name) {
			byNumber[n] = append(byNumber[n], t)
		}
	}
	for n := 1; n <= last; n++ {
		tests := byNumber[n]
		why, isNotYet := notYet[n]
		fault := fault(tests, stores)
		switch {
		case fault == "" && isNotYet:
			passed++
			fmt.Printf("%3d  ok, though listed as not built yet\n", n)
		case fault == "":
			passed++
			fmt.Printf("%3d  ok\n", n)
		case isNotYet && !slices.ContainsFunc(tests, (*test).failed): // what there is of it passes, and proves no whole
			fmt.Printf("%3d  not yet: %s\n", n, why)
		default:
			failed++
			fmt.Printf("%3d  FAIL: %s\n", n, fault)
		}
		slices.SortFunc(tests, func(a, b *test) int { return strings.Compare(a.pkg+a.name, b.pkg+b.name) })
		for _, t := range tests {
			t.print()
		}
	}
	return passed, failed
}

// fault returns what keeps these tests from proving a behaviour, or "".
func fault(tests []*test, stores []string) string {
	if len(tests) == 0 {
		return "has no test and is not listed as not built yet"
	}
	for _, t := range tests {
		if t.failed() {
			return t.name + " did not pass"
		}
	}
	for _, store := range stores {
		if !slices.ContainsFunc(tests, func(t *test) bool { return t.passedOn(store) }) {
			return "no test ran on " + store
		}
	}
	return ""
}

func (t *test) failed() bool { return t.outcome != gotest.Passed }

func (t *test) passedOn(store string) bool {
	return slices.ContainsFunc(t.passed, func(sub string) bool { return strings.Contains(sub, store) })
}

func (t *test) print() {
	var at []string
	for _, sub := range t.passed {
		if first, _, _ := strings.Cut(sub, "/"); !slices.Contains(at, first) {
			at = append(at, first)
		}
	}
	fmt.Printf("       %s  %s %s\n", t.name, t.pkg, strings.Join(at, ", "))
	if t.failed() {
		fmt.Print(strings.Join(t.output, ""))
	}
}

package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHelp_NamesEveryFlag holds each help text to the flags that there are: all of them, and no other.
func TestHelp_NamesEveryFlag(t *testing.T) {
	t.Parallel()
	declared, texts := map[string]map[string]bool{}, map[string]string{}
	for _, c := range commands() {
		if c.hidden {
			continue
		}
		group, _, _ := strings.Cut(c.name, " ") // the agent commands share a text
		if declared[group] == nil {
			declared[group] = map[string]bool{}
		}
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.setup(flags)
		flags.VisitAll(func(f *flag.Flag) { declared[group]["--"+f.Name] = true })
		texts[group] = helpText(c.name)
	}
	for group, text := range texts {
		described := map[string]bool{}
		for _, name := range regexp.MustCompile(`(?m)^ +(--[a-z-]+)`).FindAllStringSubmatch(text, -1) {
			described[name[1]] = true
		}
		if got, want := slices.Sorted(maps.Keys(described)), slices.Sorted(maps.Keys(declared[group])); !slices.Equal(got, want) {
			t.Errorf("the help of %s describes %q, and its flags are %q", group, got, want)
		}
	}
}

// TestHelp_Fits holds the help texts to 80 columns, and the general one to all commands.
func TestHelp_Fits(t *testing.T) {
	t.Parallel()
	files, err := helpFiles.ReadDir("help")
	if err != nil || len(files) == 0 {
		t.Fatalf("no help texts: %v", err)
	}
	for _, file := range files {
		text := helpText(strings.TrimSuffix(file.Name(), ".txt"))
		built := (&program{name: "bin/mash"}).inOurName(text)
		for line := range strings.Lines(text + built) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s has a line of %d columns: %s", file.Name(), n, line)
			}
		}
	}
	for _, c := range commands() {
		word, _, _ := strings.Cut(c.name, " ")
		if !c.hidden && !strings.Contains(helpText(""), "\n  "+word+" ") {
			t.Errorf("the general help leaves %s out", c.name)
		}
	}
}

// TestHelp_EveryWay asks for each help text in each way there is.
func TestHelp_EveryWay(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		if c.hidden {
			continue
		}
		words := strings.Fields(c.name)
		ways := [][]string{append([]string{"help"}, words...), append(words, "--help"), append(words, "-h")}
		if len(words) == 2 {
			ways = append(ways, []string{words[0], "--help"}, []string{"help", words[0]})
		}
		for _, way := range ways {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), append([]string{"mash"}, way...), nil, &stdout, &stderr, noEnv)
			if code != exitOK || stdout.String() != helpText(c.name) || stdout.Len() == 0 || stderr.Len() > 0 {
				t.Errorf("mash %q exits %d and prints %q", way, code, stdout.String()+stderr.String())
			}
		}
	}
}

// TestHelp_InOurName calls mash by other names.
func TestHelp_InOurName(t *testing.T) {
	t.Parallel()
	for called, want := range map[string]string{
		"bin/mash":                     "\n  bin/mash agent list           list the agents\n",
		"mash":                         "\n  mash agent list               list the agents\n",
		"/opt/my tools/mash":           "\n  '/opt/my tools/mash' agent list  list the agents\n",
		"/tmp/go-build1/b001/exe/mash": "\n  go run ./cmd/mash agent list  list the agents\n",
	} {
		var stdout, stderr bytes.Buffer
		if run(t.Context(), []string{called, "help", "agent"}, nil, &stdout, io.Discard, noEnv); !strings.Contains(stdout.String(), want) {
			t.Errorf("called as %s, the help is\n%s\nwant in it\n%s", called, &stdout, want)
		}
		stdout.Reset()
		run(t.Context(), []string{called, "help"}, nil, &stdout, io.Discard, noEnv)
		if !strings.HasPrefix(stdout.String(), "Mash is a hub") || !strings.Contains(stdout.String(), "\n  help      the help of a command, as in: "+typed(called)+" help ask\n") {
			t.Errorf("called as %s, the general help is\n%s", called, &stdout)
		}
		run(t.Context(), []string{called, "ask", "Title"}, nil, io.Discard, &stderr, noEnv)
		if text, _, _ := strings.Cut(stderr.String(), " agent add"); !strings.HasSuffix(text, "`"+typed(called)) {
			t.Errorf("called as %s, it says %s", called, &stderr)
		}
	}
}

// TestHelp_NamesNoOtherMash holds every help text, and the general one, to say in each place how mash was called.
func TestHelp_NamesNoOtherMash(t *testing.T) {
	t.Parallel()
	files, err := helpFiles.ReadDir("help")
	if err != nil || len(files) == 0 {
		t.Fatalf("no help texts: %v", err)
	}
	other := regexp.MustCompile(`(?:^|[^/\w.-])mash ([\w-]+)`)
	for _, file := range files {
		text := (&program{name: "bin/mash"}).inOurName(helpText(strings.TrimSuffix(file.Name(), ".txt")))
		if !strings.Contains(text, "bin/mash ") {
			t.Errorf("%s names no command", file.Name())
		}
		for _, m := range other.FindAllStringSubmatch(text, -1) {
			if isCommand(m[1]) {
				t.Errorf("called as bin/mash, %s says %q", file.Name(), m[0])
			}
		}
	}
}

// run runs mash as a process would, args[0] being its name.
func run(
	ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string,
) int {
	p := &program{name: typed(args[0]), stdin: stdin, stdout: stdout, stderr: stderr, env: env}
	return p.run(ctx, args[1:])
}

func noEnv(string) string { return "" }

func TestParse_FlagsStandAnywhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, want []string
		tag        string
	}{
		{[]string{"a", "--tag", "x", "b"}, []string{"a", "b"}, "x"},
		{[]string{"--tag=x", "a"}, []string{"a"}, "x"},
		{[]string{"a", "b", "-tag", "x"}, []string{"a", "b"}, "x"},
		{[]string{"a", "--", "--tag", "x"}, []string{"a", "--tag", "x"}, ""},
		{[]string{"--", "-1"}, []string{"-1"}, ""},
		{nil, nil, ""},
	} {
		flags := flag.NewFlagSet("test", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		tag := flags.String("tag", "", "")
		got, err := parse(flags, c.args)
		if err != nil || !slices.Equal(got, c.want) || *tag != c.tag {
			t.Errorf("parse(%q) = %q, %v and tag %q, want %q and tag %q", c.args, got, err, *tag, c.want, c.tag)
		}
	}
}

// TestRun_Interrupted holds to the exit code of a command that Ctrl-C ends.
func TestRun_Interrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	env := func(name string) string {
		return map[string]string{"MASH_URL": "http://127.0.0.1:1", "MASH_TOKEN": "mash_x"}[name]
	}
	if code := run(ctx, []string{"mash", "ask", "Now?"}, nil, io.Discard, &stderr, env); code != exitInterrupt {
		t.Errorf("exits %d, want %d: %s", code, exitInterrupt, &stderr)
	}
}

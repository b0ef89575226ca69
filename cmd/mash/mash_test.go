package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts run this very binary as mash, which looks for a hub not at the usual address, where this
// machine may have one, but where USUAL says.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mash": func() { start(os.Getenv("USUAL")) }})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_DATA_HOME", e.WorkDir+"/data")
			e.Setenv("TZ", "UTC")
			e.Setenv("USUAL", "127.0.0.1:1")
			e.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else each command ends a second late under -race
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"await": await, "until": until, "exits": exits, "capture": capture, "exports": exports, "paste": paste,
			"fetch": fetch,
		},
	})
}

const patience = 30 * time.Second

// await waits until a file is there: await FILE.
func await(ts *testscript.TestScript, _ bool, args []string) {
	poll(ts, args[0], func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// until runs a command again until its standard output matches: until REGEXP COMMAND [ARG...].
func until(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile(args[0])
	poll(ts, args[0], func() bool {
		return ts.Exec(args[1], args[2:]...) == nil && pattern.MatchString(ts.ReadFile("stdout"))
	})
}

func poll(ts *testscript.TestScript, what string, done func() bool) {
	for end := time.Now().Add(patience); !done(); {
		if time.Now().After(end) {
			ts.Fatalf("waited %s in vain for %s", patience, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// exits runs a command that has to end with a code: exits CODE COMMAND [ARG...].
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		got, err = ended.ExitCode(), nil
	}
	ts.Check(err)
	if got != want {
		ts.Fatalf("%q exits %d, want %d", args[1:], got, want)
	}
}

// capture sets a variable to what the first group of a pattern matches: capture NAME REGEXP [FILE].
func capture(ts *testscript.TestScript, _ bool, args []string) {
	file := "stdout"
	if len(args) == 3 {
		file = args[2]
	}
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile(file))
	if found == nil {
		ts.Fatalf("no match for %s", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// exports does what a shell does with the export lines of the last output.
func exports(ts *testscript.TestScript, _ bool, _ []string) {
	lines := regexp.MustCompile(`(?m)^export (\w+)=(\S+)$`).FindAllStringSubmatch(ts.ReadFile("stdout"), -1)
	if len(lines) == 0 {
		ts.Fatalf("no export lines")
	}
	for _, l := range lines {
		ts.Setenv(l[1], l[2])
	}
}

// paste sends a curl of the last output, word by word as a shell would read it, and prints the status and the body. A
// machine without curl can run it too. The first curl is meant, or with a poll_url the one that reads: paste [POLL_URL].
func paste(ts *testscript.TestScript, _ bool, args []string) {
	var commands [][]string
	for paragraph := range strings.SplitSeq(ts.ReadFile("stdout"), "\n\n") {
		if command, ok := strings.CutPrefix(paragraph, "curl "); ok {
			commands = append(commands, shellWords(command+"\n"))
		}
	}
	if len(commands) != 2 {
		ts.Fatalf("%d curls, want 2", len(commands))
	}
	if len(args) == 0 {
		curled(ts, commands[0])
		return
	}
	i := slices.Index(commands[1], "POLL_URL")
	if i < 0 {
		ts.Fatalf("no POLL_URL in %q", commands[1])
	}
	commands[1][i] = args[0]
	curled(ts, commands[1])
}

// curled does what curl does with these words.
func curled(ts *testscript.TestScript, words []string) {
	method, target, body, after := http.MethodGet, "", "", ""
	header := http.Header{}
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "-sS":
		case "-w":
			i++
			after = strings.ReplaceAll(words[i], `\n`, "\n")
		case "-H":
			i++
			name, value, _ := strings.Cut(words[i], ": ")
			header.Set(name, value)
		case "-d":
			i++
			method, body = http.MethodPost, words[i]
		default:
			target = words[i]
		}
	}
	req, err := http.NewRequest(method, target, strings.NewReader(body))
	ts.Check(err)
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d %s%s", resp.StatusCode, answer, after)
}

// fetch opens a link as a browser does, and prints the status and the page: fetch URL.
func fetch(ts *testscript.TestScript, _ bool, args []string) {
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	resp, err := (&http.Client{Jar: jar}).Get(args[0])
	ts.Check(err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d\n%s\n", resp.StatusCode, page)
}

// shellWords splits a command as a shell does that knows quotes, with escapes or without, and backslashes.
func shellWords(s string) []string {
	var words []string
	word, quoted, started := "", false, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case !quoted && strings.HasPrefix(s[i:], "$'"):
			for i += 2; s[i] != '\''; i++ {
				c, read := unescaped(s[i:])
				word, i = word+c, i+read-1
			}
			started = true
		case c == '\'':
			quoted, started = !quoted, true
		case quoted:
			word += string(c)
		case c == '\\':
			if i++; s[i] != '\n' {
				word, started = word+string(s[i]), true
			}
		case c == ' ' || c == '\n':
			if started || word != "" {
				words, word, started = append(words, word), "", false
			}
		default:
			word, started = word+string(c), true
		}
	}
	return words
}

// unescaped reads one character within $'…', and says how long it was written.
func unescaped(s string) (string, int) {
	if s[0] != '\\' {
		return s[:1], 1
	}
	switch s[1] {
	case 'n':
		return "\n", 2
	case 't':
		return "\t", 2
	case '\'', '\\':
		return s[1:2], 2
	}
	n, _ := strconv.ParseUint(s[1:4], 8, 8)
	return string([]byte{byte(n)}), 4
}

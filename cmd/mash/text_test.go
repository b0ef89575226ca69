package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestOption(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]ma2h.Option{
		"eu":                       {Value: "eu"},
		"eu=Europe":                {Value: "eu", Label: "Europe"},
		"eu=Europe: close to us":   {Value: "eu", Label: "Europe", Description: "close to us"},
		"eu=: close":               {Value: "eu", Description: "close"},
		"a:b=At 12:30, or=earlier": {Value: "a:b", Label: "At 12:30, or=earlier"},
		"t=12:30: high noon":       {Value: "t", Label: "12:30", Description: "high noon"},
	} {
		if diff := cmp.Diff(want, option(in)); diff != "" {
			t.Errorf("option(%q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]string{
		"":                     "",
		"15m":                  "2026-01-31T12:15:00Z",
		"1.5d":                 "2026-02-02T00:00:00Z",
		"2026-02-01T00:00:00Z": "2026-02-01T00:00:00Z",
	} {
		if got, err := expiry(in, now); err != nil || got != want {
			t.Errorf("expiry(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"soon", "-1h", "0s", "d", "15"} {
		if got, err := expiry(in, now); err == nil {
			t.Errorf("expiry(%q) = %q, want an error", in, got)
		}
	}
}

// TestClean holds to what must not reach a terminal from a message: escape sequences and what turns text around.
func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ttext\n":      "plain\ttext\n",
		"\x1b[31mred\x07":    "\uFFFD[31mred\uFFFD",
		"back\rover\u202Eit": "back\uFFFDover\uFFFDit",
		"größe 🎉":            "größe 🎉",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestShellQuote reads each word back as a shell would.
func TestShellQuote(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "plain", "two words", "it's", "$HOME", "a;b", "*", `back\slash`, "new\nline", "~",
		"a\nb\t'c' \\", "\x1b]0;pwn\a\x1b[2J", "\u202e\u009b31m", "ä\u200b"} {
		for _, quoted := range []string{shellQuote(word), shellWord(word)} {
			if got := shellWords(quoted + " "); len(got) != 1 || got[0] != word {
				t.Errorf("%q is quoted as %s, which reads as %q", word, quoted, got)
			}
			if clean(quoted) != quoted {
				t.Errorf("%q is quoted as %q, which works on a terminal", word, quoted)
			}
		}
		if strings.Contains(shellWord(word), "\n") {
			t.Errorf("shellWord(%q) has several lines", word)
		}
	}
}

// TestAnAnswerIsExactForAProgramAndHarmlessForATerminal: an answer in own words may hold anything.
func TestAnAnswerIsExactForAProgramAndHarmlessForATerminal(t *testing.T) {
	t.Parallel()
	r := &ma2h.Response{Resolution: ma2h.StatusAnswered, Response: &ma2h.Detail{Value: []byte(`"\u001b[2J\nx\u202e"`), Actor: "human:owner"}}
	for terminal, want := range map[bool]string{false: "\x1b[2J\nx\u202e\n", true: "\ufffd[2J\nx\ufffd\n"} {
		var out strings.Builder
		p := &program{stdout: &out, stderr: io.Discard, terminal: terminal}
		if err := p.printResponse(r, false); err != nil || out.String() != want {
			t.Errorf("with a terminal %t, %q is printed, %v; want %q", terminal, out.String(), err, want)
		}
		out.Reset()
		if err := p.printJSON("\u009b31m\x7f\U000e0041é\n"); err != nil || (clean(out.String()) == out.String()) != terminal {
			t.Errorf("with a terminal %t, the JSON printed is %q, %v", terminal, out.String(), err)
		}
		var back string
		if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back != "\u009b31m\x7f\U000e0041é\n" {
			t.Errorf("with a terminal %t, it reads as %q, %v", terminal, back, err)
		}
	}
}

// TestDecided says of every way to end what stands, by whom and when.
func TestDecided(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(-50 * time.Hour)
	when := at.Local().Format("2006-01-02 15:04")
	owner, bot := "human:owner", "agent:bot"
	for _, c := range []struct {
		status ma2h.Status
		by     string
		detail *ma2h.Detail
		want   string
	}{
		{"answered", owner, &ma2h.Detail{Value: []byte(`"eu"`), Comment: "Go\nahead."}, "Answered by human:owner at " + when + ". The answer is eu. The comment is: Go ahead."},
		{"answered", owner, &ma2h.Detail{Value: []byte(`"moon"`), Edited: true}, "Answered by human:owner at " + when + ", with a value that is none of the options. The answer is moon."},
		{"declined", owner, nil, "Declined by human:owner at " + when + "."},
		{"completed", owner, nil, "Completed by human:owner at " + when + "."},
		{"dismissed", owner, nil, "Dismissed by human:owner at " + when + "."},
		{"cancelled", bot, nil, "Cancelled by agent:bot at " + when + "."},
		{"expired", "system:hub", nil, "Nobody answered by " + when + "."},
		{"expired", "system:hub", &ma2h.Detail{Value: []byte(`"no"`)}, "Nobody answered in time, so the default has applied since " + when + ". The answer is no."},
	} {
		m := &client.Reading{Response: &ma2h.Response{Resolution: c.status, Response: c.detail}, EndedAt: at, EndedBy: c.by}
		if got, want := decided(m).Error(), "this has ended already. "+c.want; got != want {
			t.Errorf("decided = %q, want %q", got, want)
		}
	}
	if got, want := moment(at, at), at.Local().Format(time.TimeOnly); got != want {
		t.Errorf("moment of today = %s, want %s", got, want)
	}
}

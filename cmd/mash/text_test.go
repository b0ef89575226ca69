package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestOption(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]ma2h.Option{
		"eu":                       {Value: "eu"},
		"eu=Europe":                {Value: "eu", Label: "Europe"},
		"eu=Europe: close to us":   {Value: "eu", Label: "Europe", Description: "close to us"},
		"eu=:close":                {Value: "eu", Description: "close"},
		"a:b=At 12:30, or=earlier": {Value: "a:b", Label: "At 12", Description: "30, or=earlier"},
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
	for _, word := range []string{"", "plain", "two words", "it's", "$HOME", "a;b", "*", `back\slash`, "new\nline", "~"} {
		if got := shellWords(shellQuote(word) + " "); len(got) != 1 || got[0] != word {
			t.Errorf("shellQuote(%q) = %s, which reads as %q", word, shellQuote(word), got)
		}
	}
}

package main

import (
	"slices"
	"testing"
)

func TestClosest(t *testing.T) {
	t.Parallel()
	words := []string{"ask", "ack", "task", "answer", "notify", "cancel", "--option", "--no-wait", "--expires", "--expired"}
	for in, want := range map[string][]string{
		"aks":      {"ask"},
		"akc":      {"ack"},
		"tsk":      {"ask", "task"},
		"anwser":   {"answer"},
		"notfy":    {"notify"},
		"ans":      {"answer"},
		"--optoin": {"--option"},
		"--opt":    {"--option"},
		"--nowait": {"--no-wait"},
		"--expire": {"--expires", "--expired"},
		"deploy":   nil,
		"":         nil,
	} {
		if got := closest(in, words); !slices.Equal(got, want) {
			t.Errorf("closest(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		want     int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"ask", "aks", 1}, {"ask", "task", 1}, {"öl", "ol", 1}, {"kitten", "sitting", 3}} {
		if got := edits(c.from, c.to); got != c.want || edits(c.to, c.from) != got {
			t.Errorf("edits(%q, %q) = %d, want %d", c.from, c.to, got, c.want)
		}
	}
}

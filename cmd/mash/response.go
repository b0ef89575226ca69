package main

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// printResponse prints the value alone on standard output, who and what else on standard error, and returns the exit that
// says how it ended.
func (p *program) printResponse(r *ma2h.Response, asJSON bool) error {
	if asJSON {
		if err := p.printJSON(r); err != nil {
			return err
		}
		return outcome(r.Resolution)
	}
	if d := r.Response; d != nil && len(d.Value) > 0 {
		fmt.Fprintln(p.stdout, valueText(d.Value))
	}
	fmt.Fprintf(p.stderr, "%s\n", ended(r))
	if d := r.Response; d != nil {
		for _, item := range d.Checklist {
			fmt.Fprintf(p.stderr, "  [%s] %s\n", mark(item.Done), cleanLine(item.Text))
		}
		if d.Comment != "" {
			fmt.Fprintf(p.stderr, "Comment: %s\n", clean(d.Comment))
		}
	}
	return outcome(r.Resolution)
}

func mark(done bool) string {
	if done {
		return "x"
	}
	return " "
}

// valueText is a string as it is, and everything else as JSON.
func valueText(value []byte) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// ended says in a sentence how a message ended, by whom and when.
func ended(r *ma2h.Response) string {
	by, at := "", ""
	if d := r.Response; d != nil {
		if d.Actor != ma2h.ActorDefaultOnExpire {
			by = " by " + cleanLine(d.Actor)
		}
		if t, ok := ma2h.ParseTime(d.ResolvedAt); ok {
			at = " at " + t.Local().Format(time.TimeOnly)
		}
	}
	switch {
	case r.Resolution == ma2h.StatusExpired && r.Response != nil && len(r.Response.Value) > 0:
		return "Nobody answered in time, so the default applies."
	case r.Resolution == ma2h.StatusExpired:
		return "Nobody answered in time."
	case r.Response != nil && r.Response.Edited:
		return fmt.Sprintf("Answered%s%s, with a value that is none of the options.", by, at)
	}
	return fmt.Sprintf("%s%s%s.", sentence(string(r.Resolution)), by, at)
}

// outcome is the exit of an outcome.
func outcome(s ma2h.Status) error {
	switch s {
	case ma2h.StatusDeclined, ma2h.StatusDismissed:
		return exit(exitDeclined)
	case ma2h.StatusExpired:
		return exit(exitExpired)
	case ma2h.StatusCancelled:
		return exit(exitCancelled)
	}
	return nil
}

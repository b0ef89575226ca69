package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/client"
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
		text := valueText(d.Value)
		if p.terminal {
			text = clean(text)
		}
		fmt.Fprintln(p.stdout, text)
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
	if jsontext.Value(value).Kind() == '"' && json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// shown is an answer to a message as a terminal shows it: its secrets, which are for the agent alone, are only named.
func shown(m *client.Reading, answer jsontext.Value) string {
	withheld := slices.Clone(m.Withheld)
	if r := m.Message.Request; r != nil && len(answer) > 0 {
		var more []string
		answer, more = ma2h.Withhold(answer, r.Schema)
		withheld = append(withheld, more...)
	}
	slices.Sort(withheld)
	text, names := "", strings.Join(slices.Compact(withheld), ", ")
	if len(answer) > 0 {
		text = cleanLine(valueText(answer)) + " "
	}
	switch {
	case len(withheld) == 0:
		return strings.TrimSuffix(text, " ")
	case names == "":
		return text + "(kept back, as a secret)"
	}
	return text + "(kept back, as a secret: " + cleanLine(names) + ")"
}

// ended says in a sentence how a message ended, by whom and when.
func ended(r *ma2h.Response) string {
	by, at := "", time.Time{}
	if d := r.Response; d != nil {
		by = d.Actor
		at, _ = ma2h.ParseTime(d.ResolvedAt)
	}
	return verdict(r, by, at)
}

// verdict is what ended says where the outcome's actor and time are known from elsewhere.
func verdict(r *ma2h.Response, actor string, when time.Time) string {
	if r.Resolution == ma2h.StatusExpired {
		return unanswered(r.Defaulted || r.Response != nil && len(r.Response.Value) > 0, when)
	}
	by, at := "", ""
	if actor != "" {
		by = " by " + cleanLine(actor)
	}
	if !when.IsZero() {
		at = " at " + moment(when, time.Now())
	}
	if r.Response != nil && r.Response.Edited {
		return fmt.Sprintf("Answered%s%s, with a value that is none of the options.", by, at)
	}
	return fmt.Sprintf("%s%s%s.", sentence(string(r.Resolution)), by, at)
}

// unanswered says that nobody answered, and by when if that is known; or since when the default applies.
func unanswered(defaulted bool, when time.Time) string {
	at := moment(when, time.Now())
	switch {
	case defaulted && when.IsZero():
		return "Nobody answered in time, so the default applies."
	case defaulted:
		return "Nobody answered in time, so the default has applied since " + at + "."
	case when.IsZero():
		return "Nobody answered in time."
	}
	return "Nobody answered by " + at + "."
}

// moment is a time as somebody at this machine says it now: with the day unless it is today.
func moment(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
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

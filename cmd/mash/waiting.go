package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// findMessage returns the id that a person means: a whole one, or the beginning or the end of just one that waits.
func findMessage(ctx context.Context, c *client.Client, given string) (string, error) {
	if tail, ok := ma2h.MessageTail(given); ok {
		return ma2h.PrefixMessage + tail, nil
	}
	waiting, err := c.Waiting(ctx)
	if err != nil {
		return "", err
	}
	var found []string
	for _, s := range waiting {
		tail := strings.TrimPrefix(s.ID, ma2h.PrefixMessage)
		if given != "" && (strings.HasPrefix(s.ID, given) || strings.HasPrefix(tail, given) || strings.HasSuffix(tail, given)) {
			found = append(found, s.ID)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("nothing that waits has the id %q; leave the id out to see what waits, or give the whole id of what was decided", given)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%q fits %d messages that wait; give more of the id", given, len(found))
}

// listWaiting prints what waits, oldest first.
func (p *program) listWaiting(ctx context.Context, c *client.Client, data string) error {
	waiting, err := c.Waiting(ctx)
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		fmt.Fprintln(p.stdout, "Nothing waits for you.")
		return nil
	}
	for _, s := range waiting {
		fmt.Fprintf(p.stdout, "%s\n  %s\n  %s\n", s.ID, cleanLine(s.Title), strings.Join(facts(s), ", "))
	}
	fmt.Fprintf(p.stdout, "\nTo see one and how to answer it: %s answer ID%s\n", p.name, dataArgs(data))
	return nil
}

// facts are what the list says of a message in a few words.
func facts(s client.Summary) []string {
	words := []string{string(s.Type) + " from " + cleanLine(s.AgentID)}
	if s.Priority != "" {
		words = append(words, string(s.Priority))
	}
	if !s.ExpiresAt.IsZero() {
		words = append(words, "ends in "+span(time.Until(s.ExpiresAt)))
	}
	if !s.MayResolve {
		words = append(words, "not for you to answer")
	}
	return words
}

// show prints a message and the commands that answer it.
func (p *program) show(m *client.Reading, data string) {
	fmt.Fprintf(p.stdout, "%s\n%s\n", cleanLine(m.Title), strings.Join(facts(m.Summary), ", "))
	if m.Message.Body != "" {
		fmt.Fprintf(p.stdout, "\n%s\n", strings.TrimSpace(clean(m.Message.Body)))
	}
	for _, part := range m.Message.Context {
		fmt.Fprintf(p.stdout, "\n%s\n", partText(part))
	}
	if m.Message.Action != nil {
		p.showAction(m.Message.Action)
	}
	if m.Response != nil {
		fmt.Fprintf(p.stdout, "\n%s\n", sentence(decided(m).Error()))
		return
	}
	p.showAnswers(m, data)
}

func partText(part ma2h.Part) string {
	switch {
	case part.File != nil:
		return "File: " + cleanLine(part.File.Name+" "+part.File.URI)
	case len(part.Data) > 0:
		return "Data: " + clean(string(indented(part.Data, "")))
	}
	return clean(part.Text)
}

func (p *program) showAction(a *ma2h.Action) {
	fmt.Fprintf(p.stdout, "\nTo do: %s\n", clean(a.Instructions))
	for i, item := range a.Checklist {
		fmt.Fprintf(p.stdout, "  %d [%s] %s\n", i+1, mark(item.Done), cleanLine(item.Text))
	}
	if a.Verification != "" {
		fmt.Fprintf(p.stdout, "To verify: %s\n", clean(a.Verification))
	}
}

// showAnswers prints a command for each way to answer, each to be pasted as it stands.
func (p *program) showAnswers(m *client.Reading, data string) {
	if !m.MayResolve {
		fmt.Fprintf(p.stdout, "\n%s\n", mayAnswer(m))
		return
	}
	say := func(how, what string) {
		fmt.Fprintf(p.stdout, "  %s answer %s%s %s%s\n", p.name, m.ID, dataArgs(data), how, what)
	}
	if m.Type == ma2h.TypeTask {
		fmt.Fprint(p.stdout, "\nTo answer:\n")
		say("--done", "")
		if steps := openSteps(m.Message.Action); steps != "" {
			say("--done"+steps, "   # each step is done")
		}
		say("--dismiss", "")
		return
	}
	r := m.Message.Request
	p.showDefault(m)
	switch form := readForm(r.Schema); {
	case !r.Respondable() && !r.Ignorable():
		fmt.Fprint(p.stdout, "\nThis takes no answer, and cannot be declined: the agent may withdraw it.\n")
	case !r.Respondable():
		fmt.Fprint(p.stdout, "\nThis takes no answer; it can only be declined:\n")
	case r.Mode == ma2h.ModeInput && len(form.Properties) == 0:
		fmt.Fprint(p.stdout, "\nTo answer, with JSON of your own:\n")
		say(form.example(), "")
	case r.Mode == ma2h.ModeInput:
		fmt.Fprintf(p.stdout, "\nTo fill in:\n%s\nTo answer, with values of your own:\n", form.show())
		say(form.example(), "")
		if form.secrecy.Hides() {
			say("--value-json -", "   # reads a JSON object; no secret in the shell's history")
		}
	default:
		fmt.Fprint(p.stdout, "\nTo answer:\n")
		for _, o := range r.EffectiveOptions() {
			say(valueArg(o.Value), optionNote(o))
		}
		if v, err := ma2h.ParseVersion(m.Message.Version); err == nil && r.Editable(v) {
			say("TEXT", "   # in words of your own, in quotes")
		}
	}
	if r.Ignorable() {
		say("--decline", "")
	}
}

// openSteps are the flags that mark all steps that are not done yet.
func openSteps(a *ma2h.Action) string {
	flags := ""
	for i, item := range a.Checklist {
		if !item.Done {
			flags += fmt.Sprintf(" --check %d", i+1)
		}
	}
	return flags
}

// mayAnswer says who may answer what this person may not.
func mayAnswer(m *client.Reading) string {
	if len(m.Resolvers) == 0 {
		return "You may not answer this; only the agent that sent it can end it."
	}
	return "You may not answer this; it is for " + listed(m.Resolvers, "or") + "."
}

// listed is a list of people and agents in a sentence, with a word before the last.
func listed(who []string, word string) string {
	words := make([]string, len(who))
	for i := range who {
		words[i] = cleanLine(who[i])
	}
	last := len(words) - 1
	if last <= 0 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + word + " " + words[last]
}

// showDefault says what applies when nobody answers, and when.
func (p *program) showDefault(m *client.Reading) {
	r, at := m.Message.Request, m.ExpiresAt
	if !r.HasDefault() && len(m.Withheld) == 0 || at.IsZero() { // one that is a secret is not there
		return
	}
	fmt.Fprintf(p.stdout, "\nIf nobody answers by %s, in %s, this applies: %s\n",
		at.Local().Format(time.DateTime), span(time.Until(at)), shown(m, r.DefaultOnExpire))
}

// valueArg is a value as an argument that no flag is.
func valueArg(s string) string {
	if strings.HasPrefix(s, "-") {
		return "-- " + shellWord(s)
	}
	return shellWord(s)
}

// optionNote says what an option means, behind a # that a shell leaves alone.
func optionNote(o ma2h.Option) string {
	note := cleanLine(o.Label)
	if o.Description != "" {
		note = strings.TrimPrefix(note+": "+cleanLine(o.Description), ": ")
	}
	if note == "" {
		return ""
	}
	return "   # " + note
}

package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// answerFlags are the flags of answer.
type answerFlags struct {
	data    string
	fields  *list
	json    string
	decline bool
	done    bool
	dismiss bool
	checks  *list
	comment string
}

func answerCommand(flags *flag.FlagSet) action {
	f := answerFlags{fields: listFlag(flags, "field"), checks: listFlag(flags, "check")}
	flags.StringVar(&f.data, "data", "", "")
	flags.StringVar(&f.json, "value-json", "", "")
	flags.BoolVar(&f.decline, "decline", false, "")
	flags.BoolVar(&f.done, "done", false, "")
	flags.BoolVar(&f.dismiss, "dismiss", false, "")
	flags.StringVar(&f.comment, "comment", "", "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) > 2 {
			return usagef("", "Give the id and one value; put a value of several words in quotes.")
		}
		c, err := p.personClient(f.data)
		if err != nil {
			return err
		}
		if len(args) == 0 {
			return p.listWaiting(ctx, c, f.data)
		}
		id, err := findMessage(ctx, c, args[0])
		if err != nil {
			return err
		}
		m, err := c.Read(ctx, id)
		if err != nil {
			return err
		}
		if f.empty() && len(args) == 1 {
			p.show(m, f.data)
			return nil
		}
		return p.answer(ctx, c, m, &f, args[1:])
	}
}

// empty says that nothing was given to answer with.
func (f *answerFlags) empty() bool {
	return !f.decline && !f.done && !f.dismiss && f.json == "" && f.comment == "" && len(*f.fields)+len(*f.checks) == 0
}

// answer resolves a message as the flags and the value say, and tells what stands if something else came first.
func (p *program) answer(ctx context.Context, c *client.Client, m *client.Reading, f *answerFlags, value []string) error {
	if m.Response != nil {
		return decided(m)
	}
	resolve, err := f.resolve(p, m, value)
	if err != nil {
		return err
	}
	done, err := c.Resolve(ctx, m.ID, *resolve)
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeAlreadyTerminal {
		if now, readErr := c.Read(ctx, m.ID); readErr == nil && now.Response != nil {
			return decided(now)
		}
	}
	if err != nil && m.Message.Request != nil {
		form := readForm(m.Message.Request.Schema)
		return form.refusal(err)
	}
	if err != nil {
		return err
	}
	what := ""
	if len(resolve.Value) > 0 {
		what = " " + shown(m, resolve.Value)
	}
	fmt.Fprintf(p.stdout, "%s%s: %s\n", sentence(string(done.Status)), what, cleanLine(m.Title))
	return nil
}

// decided says what stands already, by whom and since when.
func decided(m *client.Reading) error {
	what := ""
	if d := m.Response.Response; d != nil {
		if len(d.Value) > 0 || len(m.Withheld) > 0 {
			what = " The answer is " + shown(m, d.Value) + "."
		}
		if d.Comment != "" {
			what += " The comment is: " + cleanLine(d.Comment)
		}
	}
	return fmt.Errorf("this has ended already. %s%s", verdict(m.Response, m.EndedBy, m.EndedAt), what)
}

// resolve builds what is sent.
func (f *answerFlags) resolve(p *program, m *client.Reading, value []string) (*ma2h.Resolve, error) {
	r := &ma2h.Resolve{Comment: f.comment}
	if m.Type == ma2h.TypeTask {
		return r, f.endTask(r, m.Message.Action, value)
	}
	if f.done || f.dismiss || len(*f.checks) > 0 {
		return nil, usagef("", "--done, --dismiss and --check are for tasks, and this is a question; give a value%s.",
			orDecline(m.Message.Request))
	}
	given := len(value)
	if f.json != "" {
		given++
	}
	if len(*f.fields) > 0 {
		given++
	}
	if f.decline {
		if given > 0 {
			return nil, usagef("", "Give a value or --decline, not both.")
		}
		r.Resolution = ma2h.StatusDeclined
		return r, nil
	}
	if given != 1 {
		return nil, usagef("", "Give one value, --field NAME=VALUE or --value-json JSON%s.", orDecline(m.Message.Request))
	}
	r.Resolution = ma2h.StatusAnswered
	var err error
	r.Value, err = f.value(p, m, value)
	return r, err
}

// endTask completes or dismisses a task, with the steps that are done.
func (f *answerFlags) endTask(r *ma2h.Resolve, a *ma2h.Action, value []string) error {
	if len(value) > 0 || f.decline || f.json != "" || len(*f.fields) > 0 || f.done == f.dismiss {
		return usagef("", "This is a task; end it with --done or --dismiss.")
	}
	r.Resolution = ma2h.StatusCompleted
	if f.dismiss {
		r.Resolution = ma2h.StatusDismissed
	}
	r.Checklist = slices.Clone(a.Checklist) // as it stands, also where no step is done
	for _, s := range *f.checks {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > len(r.Checklist) {
			return usagef("", "--check wants the number of a step, from 1 to %d.", len(r.Checklist))
		}
		r.Checklist[n-1].Done = true
	}
	return nil
}

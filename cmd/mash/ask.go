package main

import (
	"context"
	"flag"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// askFlags are the flags of ask.
type askFlags struct {
	*draft
	*waitFlags
	options   *list
	confirm   bool
	input     string
	fallback  string // --default
	allowEdit bool
	noDecline bool
}

func askCommand(flags *flag.FlagSet) action {
	f := askFlags{draft: draftFlags(flags), waitFlags: newWaitFlags(flags), options: listFlag(flags, "option")}
	flags.BoolVar(&f.confirm, "confirm", false, "")
	flags.StringVar(&f.input, "input", "", "")
	flags.StringVar(&f.fallback, "default", "", "")
	flags.StringVar(&f.expires, "expires", "", "")
	flags.BoolVar(&f.allowEdit, "allow-edit", false, "")
	flags.BoolVar(&f.noDecline, "no-decline", false, "")
	return func(ctx context.Context, p *program, args []string) error {
		m, err := f.message(p, args, time.Now())
		if err != nil {
			return err
		}
		m.Type = ma2h.TypeAsk
		if m.Request, err = f.request(p); err != nil {
			return err
		}
		return p.submit(ctx, m, f.draft, f.waitFlags)
	}
}

// request builds what is asked: an input, a choice of the options or, without any, a confirm.
func (f *askFlags) request(p *program) (*ma2h.Request, error) {
	r := &ma2h.Request{Mode: ma2h.ModeConfirm, Permissions: f.permissions()}
	if f.input != "" && (len(*f.options) > 0 || f.confirm) {
		return nil, usagef("", "--input asks for a form; leave --option and --confirm out.")
	}
	if f.input != "" {
		r.Mode = ma2h.ModeInput
		var err error
		if r.Schema, err = p.schema(f.input); err != nil {
			return nil, err
		}
		return r, f.giveDefault(r)
	}
	if err := f.giveOptions(r); err != nil {
		return nil, err
	}
	return r, f.giveDefault(r)
}

// giveOptions takes over the options, and makes them a select unless they are those of a confirm.
func (f *askFlags) giveOptions(r *ma2h.Request) error {
	for _, given := range *f.options {
		o := option(given)
		if o.Value == "" {
			return usagef("", "--option wants a value, and perhaps more, such as eu=\"Europe: in Frankfurt\"; %s has none.", shellQuote(given))
		}
		if r.HasOption(o.Value) && len(r.Options) > 0 {
			return usagef("", "Two options have the value %s; give each its own.", shellQuote(o.Value))
		}
		r.Options = append(r.Options, o)
	}
	if f.confirm && len(r.Options) != 0 && len(r.Options) != 2 {
		return usagef("", "--confirm takes two --option, or none for approve and deny.")
	}
	if len(r.Options) > 0 && !f.confirm {
		r.Mode = ma2h.ModeSelect
	}
	return nil
}

// giveDefault takes over what applies when nobody answers in time.
func (f *askFlags) giveDefault(r *ma2h.Request) error {
	if f.fallback == "" {
		return nil
	}
	if f.expires == "" {
		return usagef("", "--default applies when the question expires; say when with --expires, such as --expires 15m.")
	}
	if r.Mode == ma2h.ModeInput {
		r.DefaultOnExpire = jsontext.Value(f.fallback)
		if !r.DefaultOnExpire.IsValid() {
			return usagef("", "--default wants a JSON object that meets the schema.")
		}
		return nil
	}
	if !r.HasOption(f.fallback) {
		return usagef("", "The --default %s is none of the options; give one of %s.", shellQuote(f.fallback), optionList(r))
	}
	r.DefaultOnExpire = jsonString(f.fallback)
	return nil
}

func (f *askFlags) permissions() *ma2h.Permissions {
	if !f.allowEdit && !f.noDecline {
		return nil
	}
	var permissions ma2h.Permissions
	if f.allowEdit {
		permissions.AllowEdit = new(true)
	}
	if f.noDecline {
		permissions.AllowIgnore = new(false)
	}
	return &permissions
}

// option reads VALUE[=LABEL[: DESCRIPTION]]. A colon without a blank after it is part of the label, as in 10:30.
func option(s string) ma2h.Option {
	value, rest, _ := strings.Cut(s, "=")
	label, description, _ := strings.Cut(rest, ": ")
	return ma2h.Option{Value: value, Label: label, Description: strings.TrimSpace(description)}
}

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
	for _, o := range *f.options {
		r.Options = append(r.Options, option(o))
	}
	switch {
	case f.input != "":
		r.Mode = ma2h.ModeInput
		path := f.input
		if path != "-" && !strings.HasPrefix(path, "@") {
			path = "@" + path
		}
		var err error
		if r.Schema, err = p.jsonText("--input", path); err != nil {
			return nil, err
		}
	case len(*f.options) > 0 && !f.confirm:
		r.Mode = ma2h.ModeSelect
	}
	if f.fallback != "" {
		r.DefaultOnExpire = jsonString(f.fallback)
		if r.Mode == ma2h.ModeInput {
			r.DefaultOnExpire = jsontext.Value(f.fallback)
			if !r.DefaultOnExpire.IsValid() {
				return nil, usagef("", "--default wants a JSON object that meets the schema.")
			}
		}
	}
	return r, nil
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

// option reads VALUE[=LABEL[:DESCRIPTION]].
func option(s string) ma2h.Option {
	value, rest, _ := strings.Cut(s, "=")
	label, description, _ := strings.Cut(rest, ":")
	return ma2h.Option{Value: value, Label: label, Description: strings.TrimSpace(description)}
}

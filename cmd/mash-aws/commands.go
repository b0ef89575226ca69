package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/mash-hub/mash/pkg/awshub"
)

func bootstrapCommand(flags *flag.FlagSet) action {
	stack, owner := flags.String("stack", "", ""), flags.String("owner", "", "")
	return func(ctx context.Context, p *program, _ string) error {
		c, err := p.find(ctx, *stack)
		if err != nil {
			return err
		}
		who, link, err := c.Bootstrap(ctx, strings.TrimPrefix(*owner, "human:"))
		if other, ok := errors.AsType[*awshub.OtherOwnerError](err); ok {
			return fmt.Errorf("%s belongs to %s, which cannot be changed; leave --owner out", c.Stack, other.Owner)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "The hub, for the mash command:\n  export MASH_URL=%s\n"+
			"This link signs %s in, once, within %.0f hours:\n", c.BaseURL, who, awshub.LinkLifetime.Hours())
		_, err = fmt.Fprintln(p.stdout, link)
		return err
	}
}

func tokenCommand(flags *flag.FlagSet) action {
	stack := flags.String("stack", "", "")
	return func(ctx context.Context, p *program, _ string) error {
		c, err := p.find(ctx, *stack)
		if err != nil {
			return err
		}
		token, err := c.Token(ctx)
		if err != nil {
			return noOwner(c, err)
		}
		fmt.Fprintf(p.stderr, "A token of the owner, for MASH_TOKEN. It is good at:\n  export MASH_URL=%s\n", c.BaseURL)
		_, err = fmt.Fprintln(p.stdout, token)
		return err
	}
}

func accountCommand(*flag.FlagSet) action {
	return func(ctx context.Context, p *program, _ string) error {
		conf, err := p.connect(ctx)
		if err != nil {
			return err
		}
		account, err := accountOf(ctx, conf)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.stdout, account)
		return err
	}
}

func versionCommand(*flag.FlagSet) action {
	return func(_ context.Context, p *program, _ string) error {
		version, goVersion := "unknown", ""
		if info, ok := debug.ReadBuildInfo(); ok {
			version, goVersion = info.Main.Version, info.GoVersion
		}
		_, err := fmt.Fprintf(p.stdout, "mash-aws %s, %s\n", version, goVersion)
		return err
	}
}

func helpCommand(*flag.FlagSet) action {
	return func(_ context.Context, p *program, word string) error {
		text := helpText(cmp.Or(word, "mash-aws"))
		if text == "" {
			return noCommand(word)
		}
		_, err := fmt.Fprint(p.stdout, text)
		return err
	}
}

package main

import (
	"context"
	"flag"
	"fmt"
)

func linkCommand(flags *flag.FlagSet) action {
	data := flags.String("data", "", "")
	return func(ctx context.Context, p *program, args []string) error {
		if len(args) > 0 {
			return usagef("", "link takes no argument.")
		}
		c, err := p.personClient(*data)
		if err != nil {
			return err
		}
		link, err := c.Link(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintln(p.stdout, link)
		return nil
	}
}

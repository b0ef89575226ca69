package main

import (
	"context"
	"flag"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func versionCommand(*flag.FlagSet) action {
	return func(_ context.Context, p *program, _ []string) error {
		version, goVersion := "unknown", ""
		if info, ok := debug.ReadBuildInfo(); ok {
			version, goVersion = info.Main.Version, info.GoVersion
		}
		fmt.Fprintf(p.stdout, "mash %s, MA2H %s, %s\n", version, ma2h.Newest, goVersion)
		return nil
	}
}

func helpCommand(*flag.FlagSet) action {
	return func(_ context.Context, _ *program, args []string) error {
		name := strings.Join(args, " ")
		text := helpText(name)
		if text == "" {
			return noCommand(name)
		}
		return &help{text: text}
	}
}

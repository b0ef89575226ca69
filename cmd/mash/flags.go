package main

import (
	"flag"
	"path/filepath"
	"strings"

	"github.com/mash-hub/mash/pkg/localhub"
)

// list is a flag that may be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, ", ") }

// Set adds a value.
func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}

// listFlag declares a flag that may be given several times.
func listFlag(flags *flag.FlagSet, name string) *list {
	var l list
	flags.Var(&l, name, "")
	return &l
}

// folder returns the data folder that --data names, or the default one.
func folder(data string) (localhub.Folder, error) {
	if data != "" {
		return localhub.Folder(data), nil
	}
	return localhub.DefaultFolder()
}

// dataArgs is what a printed command needs so that it finds the same data folder, wherever it is typed.
func dataArgs(data string) string {
	if data == "" {
		return ""
	}
	if path, err := filepath.Abs(data); err == nil {
		data = path
	}
	return " --data " + shellQuote(data)
}

// shellQuote writes a word so that a shell takes it as it is.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

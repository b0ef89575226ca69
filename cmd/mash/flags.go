package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/localhub"
)

// list is a flag that may be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, ", ") }

// Set adds a value. An empty one is mostly that of a variable that was not set.
func (l *list) Set(s string) error {
	if s == "" {
		return errors.New("wants a value")
	}
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

// shellQuote writes a word so that a shell takes it as it is, with nothing in it that works on a terminal.
func shellQuote(s string) string {
	if clean(s) != s {
		return shellEscape(s)
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// shellWord is shellQuote for a word that has to stand on one line.
func shellWord(s string) string {
	if strings.ContainsAny(s, "\n\t") {
		return shellEscape(s)
	}
	return shellQuote(s)
}

// shellEscape writes a word as bash, zsh and ksh read it, byte by byte where it is not plain.
func shellEscape(s string) string {
	var out strings.Builder
	out.WriteString("$'")
	for _, r := range s {
		switch {
		case r == '\'' || r == '\\':
			out.WriteString(`\` + string(r))
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case clean(string(r)) != string(r):
			for _, b := range []byte(string(r)) {
				fmt.Fprintf(&out, `\%03o`, b)
			}
		default:
			out.WriteRune(r)
		}
	}
	return out.String() + "'"
}

// wantsDuration ends the sentence about a flag that wants one.
const wantsDuration = "wants a duration such as 30s, 15m, 2h or 3d"

// wrongFlag says what is wrong with a flag, in our words and with two dashes.
func wrongFlag(flags *flag.FlagSet, err error) string {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		var names []string
		flags.VisitAll(func(f *flag.Flag) { names = append(names, "--"+f.Name) })
		return fmt.Sprintf("There is no flag --%s.%s", name, didYouMean("--"+name, names))
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return fmt.Sprintf("--%s wants a value behind it.", name)
	}
	m := regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*") for (?:flag )?-([\w-]+): (.*)$`).FindStringSubmatch(text)
	if m == nil {
		return sentence(text) + "."
	}
	return fmt.Sprintf("--%s %s, not %s.", m[2], wanted(flags, m[2], m[3]), m[1])
}

// wanted says what a flag wants, from what kind it is; because is what the flag itself said.
func wanted(flags *flag.FlagSet, name, because string) string {
	if strings.HasPrefix(because, "wants ") {
		return because
	}
	f := flags.Lookup(name)
	if f == nil {
		return "wants something else"
	}
	if boolean, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && boolean.IsBoolFlag() {
		return "stands alone"
	}
	if getter, ok := f.Value.(flag.Getter); ok {
		switch getter.Get().(type) {
		case time.Duration:
			return wantsDuration
		case int:
			return "wants a whole number"
		}
	}
	if name == "log-level" {
		return "wants debug, info, warn or error"
	}
	return "wants something else"
}

// waitingTime reads how long to wait at most. Its error is in the words of wrongFlag.
func waitingTime(s string) (time.Duration, error) {
	d, err := duration(s)
	if err != nil || d < 0 {
		return 0, errors.New(wantsDuration)
	}
	return d, nil
}

package inbox

import "strings"

// command writes a command of mash so that it can be pasted into a shell.
func (c Config) command(arguments string) string {
	if c.Command == "" {
		return "mash " + arguments
	}
	return c.Command + " " + arguments
}

// link is the command that prints a link.
func (c Config) link() string {
	if c.Stack != "" {
		return c.operate("bootstrap")
	}
	return c.command("link") + c.folder()
}

// operate writes a command of mash-aws for the hub's stack, or nothing where the hub is not on AWS.
func (c Config) operate(command string) string {
	if c.Stack == "" {
		return ""
	}
	return "mash-aws " + command + " --stack " + shellQuote(c.Stack)
}

// folder is what a command that looks into the hub's data folder needs behind it, or nothing.
func (c Config) folder() string {
	if c.Folder == "" {
		return ""
	}
	return " --data " + shellQuote(c.Folder)
}

// shellQuote writes a word so that a shell takes it as it is.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

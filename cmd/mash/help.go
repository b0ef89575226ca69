package main

import (
	"embed"
	"strings"
)

//go:embed help/*.txt
var helpFiles embed.FS

// helpText returns the help of a command ("" for the general one), or "" when there is none. A command of two words
// without a text of its own shares that of its first word.
func helpText(command string) string {
	if command == "" {
		command = "mash"
	}
	for {
		text, err := helpFiles.ReadFile("help/" + strings.ReplaceAll(command, " ", "-") + ".txt")
		if err == nil {
			return string(text)
		}
		group, _, ok := strings.Cut(command, " ")
		if !ok {
			return ""
		}
		command = group
	}
}

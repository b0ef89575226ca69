package main

import (
	"embed"
	"regexp"
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

// typed is what to type in a shell to run the program that was called as called.
func typed(called string) string {
	if strings.Contains(called, "/go-build") && strings.Contains(called, "/exe/") { // gone once it has ended
		return "go run ./cmd/mash"
	}
	return shellQuote(called)
}

var (
	ownCommand = regexp.MustCompile(`(^|[ ` + "`" + `])mash ([a-zA-Z][a-zA-Z-]*)`)
	inColumns  = regexp.MustCompile(`^( +\S.*?\S)( {2,})(\S.*\n)$`)
)

// inOurName writes the commands of a help text as they are to be typed, and keeps its columns where there is room.
func (p *program) inOurName(text string) string {
	if p.name == "mash" {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		m := inColumns.FindStringSubmatch(line)
		if m == nil {
			out.WriteString(p.nameIn(line))
			continue
		}
		left := p.nameIn(m[1])
		gap := max(len(m[2])-len(left)+len(m[1]), 2)
		out.WriteString(left + strings.Repeat(" ", gap) + p.nameIn(m[3]))
	}
	return out.String()
}

// nameIn writes the commands of a line as they are to be typed.
func (p *program) nameIn(line string) string {
	return ownCommand.ReplaceAllStringFunc(line, func(found string) string {
		m := ownCommand.FindStringSubmatch(found)
		if m[2] != "COMMAND" && !isCommand(m[2]) {
			return found
		}
		return m[1] + p.name + " " + m[2]
	})
}

// isCommand says whether a word begins a command.
func isCommand(word string) bool {
	for _, c := range commands() {
		if first, _, _ := strings.Cut(c.name, " "); first == word {
			return true
		}
	}
	return false
}

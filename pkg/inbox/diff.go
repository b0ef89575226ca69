package inbox

import (
	"html/template"
	"regexp"
	"strconv"
	"strings"
)

// line is one line of a change.
type line struct {
	Kind string // file, hunk, add, del or same
	Text theirs
}

// maxDiffLines is how many lines of a change are told apart; a longer one is shown as the text that it is.
const maxDiffLines = 5000

var hunk = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// readDiff reads a unified diff: one with the head of a hunk and a line that comes or goes. It is nil for every other text.
func readDiff(s string) []line {
	if !strings.HasPrefix(s, "@@ ") && !strings.Contains(s, "\n@@ ") || strings.Count(s, "\n") > maxDiffLines {
		return nil
	}
	var out []line
	var left, right int // lines that the hunk still has, of what was and of what is
	hunks, changes := 0, 0
	for text := range strings.SplitSeq(strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n") {
		kind := "file"
		switch m := hunk.FindStringSubmatch(text); {
		case (left > 0 || right > 0) && m == nil:
			kind = signed(text, &left, &right)
		case m != nil:
			kind, left, right = "hunk", linesOf(m[1]), linesOf(m[2])
			hunks++
		case strings.HasPrefix(text, `\ `):
			kind = "same"
		}
		if kind == "add" || kind == "del" {
			changes++
		}
		out = append(out, line{Kind: kind, Text: cleanLines(text)})
	}
	if hunks == 0 || changes == 0 {
		return nil
	}
	return out
}

// signed tells by its sign what a line of a hunk is.
func signed(text string, left, right *int) string {
	switch {
	case strings.HasPrefix(text, "+"):
		*right--
		return "add"
	case strings.HasPrefix(text, "-"):
		*left--
		return "del"
	case strings.HasPrefix(text, `\`):
		return "same"
	}
	*left, *right = *left-1, *right-1
	return "same"
}

// linesOf reads how many lines a hunk has; one, where its head does not say.
func linesOf(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1
	}
	return min(n, maxDiffLines)
}

// foldedDiff says how much of a change is folded away, or nothing where it is short.
func (c catalogue) foldedDiff(lines []line) template.HTML {
	if len(lines) <= longLines {
		return ""
	}
	added, removed := 0, 0
	for _, l := range lines {
		switch l.Kind {
		case "add":
			added++
		case "del":
			removed++
		}
	}
	return c.html("folded.diff", len(lines), added, removed)
}

package inbox

import (
	"strings"
	"unicode"
)

// theirs is text that somebody else wrote, an agent mostly, made fit to stand beside ours by clean or cleanLines: no
// character of it reorders, hides or erases its neighbours. It is isolated by <bdi> wherever it is shown.
type theirs string

// clean makes one line of s.
func clean(s string) theirs {
	return theirs(strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return visible(r)
	}, s)))
}

// cleanLines keeps the lines of s.
func cleanLines(s string) theirs {
	return theirs(strings.Map(visible, strings.ReplaceAll(s, "\r\n", "\n")))
}

// visible shows that there was a character that would work on its surroundings, instead of letting it: controls, and
// the embeddings, overrides and isolates of bidirectional text. The marks that only lean a word (U+200E, U+200F) and the
// joiners that scripts and emoji need stay.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r == '\u2028' || r == '\u2029' || r == '\u0085' || r == '\v' || r == '\f' || r == '\r':
		return ' '
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', unicode.IsControl(r):
		return unicode.ReplacementChar
	}
	return r
}

// blank says whether nothing of s would be seen.
func (t theirs) blank() bool {
	return !strings.ContainsFunc(string(t), func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !looksBlank(r)
	})
}

// looksBlank says whether a letter or a sign looks like nothing: fillers, which are to be ignored, and two whose very form
// is empty, of braille and of musical notes.
func looksBlank(r rune) bool {
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r == '\u2800' || r == '\U0001d159'
}

// or returns t, or the other text where nothing of t would be seen.
func (t theirs) or(other string) theirs {
	if t.blank() {
		return theirs(other)
	}
	return t
}

// short returns the first n characters of t, with an ellipsis where some are left out.
func (t theirs) short(n int) theirs {
	runes := []rune(string(t))
	if len(runes) <= n {
		return t
	}
	return theirs(strings.TrimSpace(string(runes[:n-1]))) + "…"
}

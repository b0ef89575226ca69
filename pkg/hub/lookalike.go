package hub

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// alike are scripts some of whose letters look the same: no name mixes them.
var alike = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic}

// unseen are characters of which nothing is seen, or no more than of a blank.
var unseen = []*unicode.RangeTable{
	unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
	{R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}}},
}

// lookalike says what in a name to come would let people take it for another one, or "". People decide by the name whom
// they answer and trust, so it is not enough that the hub tells two apart.
func lookalike(name string) string {
	scripts := 0
	for _, s := range alike {
		if strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(s, r) }) {
			scripts++
		}
	}
	switch {
	case strings.TrimSpace(name) != name:
		return "a blank at its beginning or end"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsOneOf(unseen, r) || r != ' ' && unicode.IsSpace(r) }):
		return "a character that is not seen"
	case scripts > 1:
		return "letters of two scripts that look alike"
	case !norm.NFKC.IsNormalString(name):
		return "a character that is another way to write a usual one"
	}
	return ""
}

package password

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a password that a person chooses.
const (
	MinLength = 10  // characters
	MaxBytes  = 256 // so that nobody makes the hub hash a book
)

// Weakness is why a password will not do.
type Weakness string

// The weaknesses of a password.
const (
	Fine    Weakness = ""
	Short   Weakness = "short"   // fewer than MinLength characters
	Long    Weakness = "long"    // more than MaxBytes
	Invalid Weakness = "invalid" // no UTF-8, or control characters in it
	Common  Weakness = "common"  // among those that are guessed first
	Simple  Weakness = "simple"  // the same few characters over and over, or a row of the keyboard or alphabet
	Named   Weakness = "named"   // little more than the person's or the product's name
)

// Check says what is wrong with a password that the person with this name chose.
func Check(password, name string) Weakness {
	switch {
	case !utf8.ValidString(password) || strings.ContainsFunc(password, unicode.IsControl):
		return Invalid
	case utf8.RuneCountInString(password) < MinLength:
		return Short
	case len(password) > MaxBytes:
		return Long
	}
	lower := strings.ToLower(password)
	switch core := plain(lower); {
	case simple(lower):
		return Simple
	case isName(lower, core, strings.ToLower(name)):
		return Named
	case core == "" || common(core):
		return Common
	}
	return Fine
}

// isName says whether nothing of weight is left of a password without a name.
func isName(lower, core, name string) bool {
	for _, n := range []string{name, "mash"} {
		if utf8.RuneCountInString(n) < 3 {
			continue
		}
		left := strings.ReplaceAll(lower, n, "")
		if left != lower && utf8.RuneCountInString(left) < 6 || core == plain(n) {
			return true
		}
	}
	return false
}

// plain undoes what people do to a word to make it look like a password: digits and marks around it, and digits that look
// like letters in it.
func plain(lower string) string {
	word := strings.TrimFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) })
	return strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s", "!", "i",
		" ", "", "-", "", "_", "", ".", "").Replace(word)
}

// common says whether a word, or several of them in a row, is what guessers try first.
func common(core string) bool {
	for rest := core; ; {
		cut := ""
		for _, w := range commonWords() {
			if strings.HasPrefix(rest, w) && len(w) > len(cut) {
				cut = w
			}
		}
		if cut == "" {
			return false
		}
		if rest = rest[len(cut):]; rest == "" {
			return true
		}
	}
}

// commonWords are what most of the passwords that people are found to have are made of.
func commonWords() []string {
	return strings.Fields(`password passwort passwd pass motdepasse contrasena senha parola secret geheim
		qwerty qwertz azerty asdf zxcv letmein welcome willkommen bienvenue login access admin administrator root user guest
		test testing changeme default temp master hello hallo iloveyou ichliebedich love lovely sunshine princess prinzessin
		dragon monkey football fussball baseball basketball soccer hockey superman batman spiderman starwars pokemon
		michael jordan jessica ashley daniel charlie thomas andrew joshua matthew summer sommer winter spring autumn
		january february march april june july august september october november december monday friday
		freedom whatever nothing computer internet google facebook samsung android iphone apple windows microsoft linux
		trustno one two three four five six seven eight nine ten company firma office server agent agents inbox
		correcthorsebatterystaple abc abcd xyz the my is a i me you and this it new old big`)
}

// rows are what fingers run along.
func rows() []string {
	return []string{
		"01234567890123456789", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm",
		"azertyuiopqsdfghjklmwxcvbn", "1qaz2wsx3edc4rfv5tgb6yhn7ujm", "1q2w3e4r5t6z7u8i9o0p", "1q2w3e4r5t6y7u8i9o0p",
	}
}

// simple says whether a password is of very few characters, one piece over and over, or a row.
func simple(lower string) bool {
	runes := []rune(lower)
	kinds := map[rune]bool{}
	for _, r := range runes {
		kinds[r] = true
	}
	if len(kinds) < 4 {
		return true
	}
	for n := 1; n <= len(runes)/3; n++ {
		piece := string(runes[:n])
		if strings.HasPrefix(strings.Repeat(piece, len(runes)/n+1), lower) && n < 6 {
			return true
		}
	}
	return inRows(lower)
}

// inRows says whether a password is made of pieces of rows, either way, of four characters or more.
func inRows(rest string) bool {
	for rest != "" {
		n := 0
		for _, row := range rows() {
			n = max(n, along(rest, row), along(rest, reversed(row)))
		}
		if n < 4 {
			return false
		}
		rest = rest[n:]
	}
	return true
}

// along returns how many bytes at the beginning of s run along a row.
func along(s, row string) int {
	n := 0
	for n < len(s) && strings.Contains(row, s[:n+1]) {
		n++
	}
	return n
}

func reversed(s string) string {
	b := []byte(s) // rows are ASCII
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// printJSON writes a value as one line of JSON.
func (p *program) printJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	if p.terminal {
		b = escaped(b)
	}
	fmt.Fprintf(p.stdout, "%s\n", b)
	return nil
}

// escaped is JSON that says the same with nothing in it that could steer a terminal.
func escaped(b []byte) []byte {
	var out []byte
	for _, r := range string(b) {
		if clean(string(r)) == string(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// indented encodes one of our own types, which cannot fail, over several lines.
func indented(v any, prefix string) []byte {
	b, err := json.Marshal(v, jsontext.WithIndentPrefix(prefix), jsontext.WithIndent("  "))
	if err != nil {
		panic(err)
	}
	return b
}

// clean takes out of a text from elsewhere what could steer a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			return '\uFFFD'
		}
		return r
	}, s)
}

// cleanLine is clean for what stands in a line.
func cleanLine(s string) string {
	return strings.Join(strings.Fields(clean(s)), " ")
}

// counted says how many there are of something.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// are is counted with its verb.
func are(n int, thing string) string {
	if n == 1 {
		return counted(n, thing) + " is"
	}
	return counted(n, thing) + " are"
}

// span says roughly how long something takes, in its two words: "12 min".
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(int(d.Seconds()), 1))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

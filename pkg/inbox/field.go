package inbox

import (
	"html/template"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// What is left empty is left out of the answer: an empty field never becomes an empty text, and an object or an element
// of an array in which nothing was filled in is not there. Where the property must be there it becomes null, if null is
// admitted, or else is asked for. What came as it was prefilled is the default, to the letter. Whoever must answer with an
// empty text, or with anything else that the fields cannot say, writes the answer as JSON instead.

// Text is what stands in the field.
func (f *field) Text() string {
	if len(f.Typed) == 0 || f.Secret {
		return ""
	}
	return f.Typed[0]
}

// Optional says whether the property may be left out.
func (f *field) Optional() bool { return !f.Required && f.Row == 0 }

// Asked says whether a control is marked as one that has to be filled in; a group of them cannot be.
func (f *field) Asked() bool {
	return f.Needed && f.Control != controlMany && f.Control != controlObject && f.Control != controlList
}

// Boxed says whether a person decides that an object is sent at all.
func (f *field) Boxed() bool { return f.Row == 0 && (!f.Required || f.Nullable) }

// longHelp is from how many characters on a description is folded.
const longHelp = 600

// LongHelp says whether the description is so long that it is folded.
func (f *field) LongHelp() bool { return len(f.Help) > longHelp }

// Described says whether anything stands beside the label.
func (f *field) Described() bool { return f.Help != "" || len(f.Hints) > 0 || f.Again() }

// Growable says whether an array can get another row.
func (f *field) Growable() bool {
	most, ok := f.schema.get("maxItems").integer()
	return !f.full && len(f.Rows) < maxRows && (!ok || len(f.Rows) < most)
}

// Again says whether a secret that was typed has to be typed again, as pages never hold one.
func (f *field) Again() bool { return f.Secret && len(f.Typed) > 0 && !f.fixed() }

func (f *field) empty(words catalogue) jsontext.Value {
	switch {
	case !f.Required:
	case f.Nullable:
		return jsontext.Value("null")
	default:
		f.Wrong = words.html("field.needed")
	}
	return nil
}

func (f *field) readText(typed string, words catalogue) jsontext.Value {
	f.checkText(typed, words)
	b, err := jsontext.AppendQuote(nil, typed)
	if err != nil {
		f.Wrong = words.html("field.refused")
		return nil
	}
	return b
}

// readJSON takes a value as it is, where it is one.
func (f *field) readJSON(typed string, words catalogue) jsontext.Value {
	if _, err := ma2h.Parse([]byte(typed)); err != nil {
		f.Wrong = words.html("field.json")
		return nil
	}
	return jsontext.Value(typed)
}

// The forms in which a browser sends times, without a zone; the seconds may be missing. fullTime is the form of a time of
// day in an answer (RFC 3339 §5.6).
const (
	localTime = "2006-01-02T15:04:05"
	wallTime  = "15:04:05"
	fullTime  = "15:04:05Z07:00"
)

func (f *field) readDateTime(typed string, words catalogue, zone *time.Location) jsontext.Value {
	for _, form := range timeForms[:3] {
		if t, err := time.ParseInLocation(form, strings.TrimSpace(typed), zone); err == nil {
			return quote(t.Format(time.RFC3339Nano))
		}
	}
	if _, ok := ma2h.ParseTime(typed); ok {
		return quote(typed)
	}
	f.Wrong = words.html("field.time")
	return nil
}

// timeForms are those of dates with times, and of times.
var timeForms = []string{localTime, "2006-01-02T15:04", "2006-01-02 15:04", wallTime, "15:04"}

// readTime reads a time of day, in the zone of now.
func (f *field) readTime(typed string, words catalogue, now time.Time) jsontext.Value {
	typed = strings.TrimSpace(typed)
	if _, err := time.Parse(fullTime, typed); err == nil {
		return quote(typed)
	}
	for _, form := range timeForms[3:] {
		t, err := time.Parse(form, typed)
		if err != nil {
			continue
		}
		t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), now.Location())
		return quote(t.Format("15:04:05.999999999Z07:00"))
	}
	f.Wrong = words.html("field.clock")
	return nil
}

var number = regexp.MustCompile(`^\+?(-?)0*(\d*)(\.\d*)?([eE][+-]?\d+)?$`)

// readNumber takes a number digit by digit as it was typed, so that none is rounded. What people write and JSON does not
// know is mended: a plus, zeros in front, nothing before or behind the point.
func (f *field) readNumber(typed string, words catalogue) jsontext.Value {
	typed = strings.TrimSpace(typed)
	m := number.FindStringSubmatch(typed)
	if m == nil || !strings.ContainsAny(strings.TrimSuffix(typed, m[4]), "0123456789") {
		f.Wrong = words.html("field.number")
		return nil
	}
	whole, fraction := m[2], m[3]
	if whole == "" {
		whole = "0"
	}
	if fraction == "." {
		fraction = ""
	}
	literal := m[1] + whole + fraction + m[4]
	if _, err := ma2h.Parse([]byte(literal)); err != nil {
		f.Wrong = words.html("field.number.size")
		if _, large := strconv.ParseFloat(literal, 64); large == nil {
			f.Wrong = words.html("field.number.small")
		}
		return nil
	}
	f.bounds(literal, words)
	return jsontext.Value(literal)
}

// addressed says whether a text is an address of mail.
func addressed(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Name == "" && !strings.ContainsAny(s, "<> ")
}

// located says whether a text is an address with a scheme.
func located(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && !strings.ContainsAny(s, " \n\t")
}

// path names a field in a list of what is wrong, with what it is in.
func (f *field) path(above template.HTML, words catalogue) template.HTML {
	switch {
	case above != "" && f.Row > 0:
		return words.html("field.within.row", above, f.Row)
	case above != "":
		return words.html("field.within", above, f.Label)
	}
	return words.html("field.name", f.Label)
}

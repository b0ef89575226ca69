package inbox

import (
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// fate is what becomes of a message that nobody answers, in words, and how near that is.
type fate struct {
	Row   template.HTML // short, for the list
	Bar   template.HTML // in full, above the answer
	Left  template.HTML // how long until then
	Level string        // "", soon or now; never said by colour alone
}

// How near an end is soon, and how near it is now.
const (
	soon = 15 * time.Minute
	now  = 2 * time.Minute
)

func (v *visit) fate(m *hub.Reading) fate {
	if m.Type == ma2h.TypeNotify {
		return fate{}
	}
	if m.ExpiresAt.IsZero() && nobody(&m.Summary) {
		return fate{}
	}
	if m.ExpiresAt.IsZero() {
		f := fate{Row: v.words.html("fate.waits"), Bar: v.words.html("fate.waits.bar")}
		if !m.MayResolve {
			f.Row = v.words.html("fate.waits.others")
		}
		return f
	}
	left, at := v.clock.left(m.ExpiresAt), v.clock.at(m.ExpiresAt)
	f := fate{Level: level(m.ExpiresAt.Sub(v.clock.now)), Left: v.words.html("fate.left", left)}
	switch label, mode := v.defaultOf(m); {
	case m.Type == ma2h.TypeTask:
		f.Row, f.Bar = v.words.html("fate.task", left), v.words.html("fate.task.bar", at)
	case mode == ma2h.ModeInput:
		f.Row, f.Bar = v.words.html("fate.form", left), v.words.html("fate.form.bar", at)
	case mode != "":
		f.Row, f.Bar = v.words.html("fate.default", label, left), v.words.html("fate.default.bar", at, label)
	default:
		f.Row, f.Bar = v.words.html("fate.expires", left), v.words.html("fate.expires.bar", at)
	}
	return f
}

func level(left time.Duration) string {
	switch {
	case left < now:
		return "now"
	case left < soon:
		return "soon"
	}
	return ""
}

// defaultOf returns the label of the option that applies when nobody answers, and the mode of the ask; no mode where
// nothing applies.
func (v *visit) defaultOf(m *hub.Reading) (theirs, ma2h.Mode) {
	q := m.Message.Request
	if q == nil || !q.HasDefault() {
		return "", ""
	}
	if q.Mode == ma2h.ModeInput {
		return "", q.Mode
	}
	return v.labelOf(q, text(q.DefaultOnExpire)).short(80), q.Mode
}

// option is one choice of an ask.
type option struct {
	Do          string // what its button sends: the number of the option, so that nothing of it has to survive a form
	Label       theirs
	Description theirs
	Value       theirs // what the agent gets, where the label does not say it
	Default     bool   // the answer if nobody answers
}

func (v *visit) options(m *hub.Reading) []option {
	q := m.Message.Request
	applies := q.HasDefault() && !m.ExpiresAt.IsZero() // without a deadline no default ever does
	var out []option
	for i, o := range q.EffectiveOptions() {
		label := v.label(o)
		out = append(out, option{
			Do: doOption + strconv.Itoa(i), Label: label, Description: clean(o.Description),
			Default: applies && text(q.DefaultOnExpire) == o.Value,
		})
		// A value that the label says in other words is worth seeing: it is what the agent gets.
		if value := clean(o.Value); !strings.Contains(strings.ToLower(string(label)), strings.ToLower(string(value))) || value.blank() {
			out[i].Value = value.or(strconv.QuoteToASCII(o.Value))
		}
	}
	return out
}

// How many options, with how many characters together, stay in sight while a message is read: no more than leave room
// to read it on a phone.
const (
	maxNear      = 3
	maxNearChars = 240
)

func near(options []option) bool {
	chars := 0
	for _, o := range options {
		chars += utf8.RuneCountInString(string(o.Label + o.Description + o.Value))
	}
	return len(options) <= maxNear && chars <= maxNearChars
}

// maxShort is how many characters fill half the width of a phone.
const maxShort = 16

func short(options []option) bool {
	for _, o := range options {
		if o.Description != "" || o.Value != "" || utf8.RuneCountInString(string(o.Label)) > maxShort {
			return false
		}
	}
	return true
}

func (v *visit) label(o ma2h.Option) theirs {
	return clean(o.Label).or(string(clean(o.Value).or(v.words.plain("option.empty"))))
}

// labelOf returns the label of the option with a value, or the value where it is none of them.
func (v *visit) labelOf(q *ma2h.Request, value string) theirs {
	for _, o := range q.EffectiveOptions() {
		if o.Value == value {
			return v.label(o)
		}
	}
	return clean(value)
}

// text returns a JSON string's text.
func text(value []byte) string {
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		return string(value)
	}
	return s
}

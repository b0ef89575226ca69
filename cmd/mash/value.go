package main

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// value builds the answer that was given, with the types that the ask wants.
func (f *answerFlags) value(p *program, m *client.Reading, given []string) (jsontext.Value, error) {
	r := m.Message.Request
	if f.json != "" {
		return p.jsonText("--value-json", f.json)
	}
	if r.Mode == ma2h.ModeInput {
		form := readForm(r.Schema)
		return form.answer(*f.fields, given)
	}
	if len(given) == 0 {
		return nil, usagef("", "This wants one of its options, not fields: %s.", optionList(r))
	}
	v, err := ma2h.ParseVersion(m.Message.Version)
	if !r.HasOption(given[0]) && (err != nil || !r.Editable(v)) {
		return nil, fmt.Errorf("%q is none of the options; give one of %s%s", given[0], optionList(r), orDecline(r))
	}
	return jsonString(given[0]), nil
}

// orDecline adds --decline to a list of what can be given, where the question can be declined.
func orDecline(r *ma2h.Request) string {
	if !r.Ignorable() {
		return ""
	}
	return ", or --decline"
}

// plainWord is a value as it is listed: as it is, or quoted where a line would not show it so.
func plainWord(s string) string {
	if s == "" || cleanLine(s) != s {
		return shellWord(s)
	}
	return s
}

func optionList(r *ma2h.Request) string {
	var words []string
	for _, o := range r.EffectiveOptions() {
		words = append(words, plainWord(o.Value))
	}
	return strings.Join(words, ", ")
}

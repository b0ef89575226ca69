package inbox

import (
	"html/template"
	"strings"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// maxQuick is how many options a row offers; a longer choice is made on the message's own page.
const maxQuick = 4

// quick returns what a message can be answered with from the list, and what its page is good for besides.
func (v *visit) quick(m *hub.Reading) (options []option, open template.HTML) {
	if m.Type == ma2h.TypeTask {
		return nil, v.words.html("row.task")
	}
	q := m.Message.Request
	if !q.Respondable() {
		return nil, v.words.html("row.decline")
	}
	if q.Mode == ma2h.ModeInput {
		return nil, v.formSize(q.Schema)
	}
	all := v.options(m)
	if len(all) > maxQuick || alike(all) {
		return nil, v.words.counted("row.options", len(all))
	}
	return all, ""
}

// alike says whether two options look so much the same that only their values tell them apart, which a row does not
// show.
func alike(options []option) bool {
	seen := map[string]bool{}
	for _, o := range options {
		look := strings.ToLower(string(o.Label))
		if seen[look] {
			return true
		}
		seen[look] = true
	}
	return false
}

// unread says how much of a message a row leaves out, so that nobody answers in the belief of having seen it all.
func (v *visit) unread(m *hub.Reading, options []option) template.HTML {
	var parts []string
	if n := paragraphs(m.Message.Body); n > 0 {
		parts = append(parts, string(v.words.counted("unread.paragraphs", n)))
	}
	if n := len(m.Message.Context); n > 0 {
		parts = append(parts, string(v.words.counted("unread.attachments", n)))
	}
	for _, o := range options {
		if o.Description != "" {
			parts = append(parts, string(v.words.html("unread.options")))
			break
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return v.words.html("unread", template.HTML(strings.Join(parts, ", "))) //nolint:gosec // HTML joined by a comma
}

// paragraphs counts the parts of a text that empty lines set apart.
func paragraphs(s string) int {
	n, within := 0, false
	for line := range strings.Lines(s) {
		empty := clean(line).blank()
		if !empty && !within {
			n++
		}
		within = !empty
	}
	return n
}

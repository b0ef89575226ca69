package inbox

import (
	"html/template"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// lost shows the outcome that was faster. What was read with the session is older than that, and so not used again.
func (v *visit) lost(id string, d *draft) error {
	fresh := *v.caller
	fresh.Read = nil
	m, err := v.hub.Read(v.r.Context(), &fresh, id)
	if err != nil {
		return err
	}
	return v.late(m, d)
}

// late shows an outcome to somebody who answered after it.
func (v *visit) late(m *hub.Reading, d *draft) error {
	return v.show(ma2h.CodeAlreadyTerminal.Status(), m, d, v.words.html("warning.late", v.outcome(m)))
}

// kept is a text that was typed and could not be sent. It is shown again, so that it is not lost.
type kept struct {
	Name template.HTML
	Text string
}

// kept returns what was typed in words. Fields and JSON, which may hold secrets, are not among it.
func (v *visit) kept(d *draft) []kept {
	var out []kept
	if d.Comment != "" {
		out = append(out, kept{v.words.html("kept.comment"), d.Comment})
	}
	if d.Other != "" {
		out = append(out, kept{v.words.html("kept.other"), d.Other})
	}
	return out
}

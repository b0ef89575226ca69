package inbox

import (
	"bytes"
	"html/template"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// lost shows the outcome that was faster. What was read with the session is older than that, and so not used again.
func (v *visit) lost(id string, r *ma2h.Resolve, d *draft) error {
	fresh := *v.caller
	fresh.Read = nil
	m, err := v.hub.Read(v.r.Context(), &fresh, id)
	if err != nil {
		return err
	}
	return v.late(m, r, d)
}

// late shows an outcome to somebody who answered after it. Whoever has sent the outcome itself, such as by a button that was
// pressed twice, is not late.
func (v *visit) late(m *hub.Reading, r *ma2h.Resolve, d *draft) error {
	if m.EndedBy == v.caller.Actor() && d.Count() == 0 && repeats(m, r) {
		v.leadBack(m.ID)
		return nil
	}
	return v.show(ma2h.CodeAlreadyTerminal.Status(), m, d, v.words.html("warning.late", v.outcome(m)))
}

// repeats says whether a resolve asks for just what the outcome is.
func repeats(m *hub.Reading, r *ma2h.Resolve) bool {
	var d ma2h.Detail
	if m.Response.Response != nil {
		d = *m.Response.Response
	}
	return m.Status == r.Resolution && r.Comment == d.Comment && bytes.Equal(compact(r.Value), compact(d.Value)) &&
		slices.Equal(r.Checklist, d.Checklist)
}

// compact is a JSON value without blanks.
func compact(v jsontext.Value) jsontext.Value {
	out := v.Clone()
	if out.Compact() != nil {
		return v // it is none
	}
	return out
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

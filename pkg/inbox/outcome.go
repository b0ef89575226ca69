package inbox

import (
	"html/template"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// outcome says in a sentence what became of a message, by whom and when.
func (v *visit) outcome(m *hub.Reading) template.HTML {
	at := v.clock.at(m.EndedAt)
	if m.EndedBy == ma2h.ActorUndeliverable {
		return v.words.html("outcome.undeliverable", at)
	}
	by := v.who(m.EndedBy)
	switch m.Status {
	case ma2h.StatusAnswered:
		return v.answered(m, by, at)
	case ma2h.StatusExpired:
		return v.expired(m, at)
	case ma2h.StatusDeclined, ma2h.StatusCancelled, ma2h.StatusCompleted, ma2h.StatusDismissed:
		return v.words.html("outcome."+string(m.Status), by, at)
	}
	return ""
}

func (v *visit) answered(m *hub.Reading, by, at template.HTML) template.HTML {
	d := m.Response.Response
	switch {
	case m.Message.Request.Mode == ma2h.ModeInput:
		return v.words.html("outcome.form", by, at)
	case d.Edited:
		return v.words.html("outcome.edited", by, clean(text(d.Value)).short(200), at)
	}
	return v.words.html("outcome.option", by, v.labelOf(m.Message.Request, text(d.Value)).short(200), at)
}

func (v *visit) expired(m *hub.Reading, at template.HTML) template.HTML {
	switch label, mode := v.defaultOf(m); {
	case m.Type == ma2h.TypeTask:
		return v.words.html("outcome.expired.task", at)
	case mode == ma2h.ModeInput:
		return v.words.html("outcome.expired.form", at)
	case mode != "":
		return v.words.html("outcome.expired.default", at, label)
	}
	return v.words.html("outcome.expired", at)
}

// verdict is outcome in a few words: what, and by whom where that was not the visitor.
func (v *visit) verdict(m *hub.Reading) template.HTML {
	what := v.what(m)
	if m.Status == ma2h.StatusExpired || m.EndedBy == v.caller.Actor() || m.EndedBy == ma2h.ActorUndeliverable {
		return what
	}
	return v.words.html("verdict.by", what, v.who(m.EndedBy))
}

// verdictOfAll is verdict with whom in any case.
func (v *visit) verdictOfAll(m *hub.Reading) template.HTML {
	if m.Status == ma2h.StatusExpired || m.EndedBy == ma2h.ActorUndeliverable {
		return v.what(m)
	}
	return v.words.html("verdict.by", v.what(m), v.who(m.EndedBy))
}

func (v *visit) what(m *hub.Reading) template.HTML {
	label, mode := v.defaultOf(m)
	switch expired := m.Status == ma2h.StatusExpired; {
	case m.EndedBy == ma2h.ActorUndeliverable:
		return v.words.html("verdict.undeliverable")
	case m.Status == ma2h.StatusAnswered && m.Message.Request.Mode == ma2h.ModeInput:
		return v.words.html("verdict.form")
	case m.Status == ma2h.StatusAnswered:
		return v.words.html("verdict.option", v.labelOf(m.Message.Request, text(m.Response.Response.Value)).short(60))
	case expired && m.Type == ma2h.TypeTask:
		return v.words.html("verdict.expired.task")
	case expired && mode == ma2h.ModeInput:
		return v.words.html("verdict.expired.form")
	case expired && mode != "":
		return v.words.html("verdict.expired.default", label.short(60))
	case expired:
		return v.words.html("verdict.expired")
	}
	return v.words.html("verdict." + string(m.Status))
}

// ended is what a page shows of a message that has an outcome.
type ended struct {
	Sentence  template.HTML
	Values    []pair // of a form
	Text      theirs // an answer in own words, in full
	Comment   theirs
	Checklist []step
}

func (v *visit) ended(m *hub.Reading) *ended {
	if m.Response == nil {
		return nil
	}
	e := &ended{Sentence: v.outcome(m)}
	d := m.Response.Response
	if d == nil {
		return e
	}
	e.Comment = cleanLines(d.Comment)
	e.Checklist = steps(d.Checklist, v.words.plain("option.empty"))
	switch {
	case m.Type != ma2h.TypeAsk || len(d.Value) == 0:
	case m.Message.Request.Mode == ma2h.ModeInput:
		e.Values = v.values(m, d.Value)
	case d.Edited:
		e.Text = cleanLines(text(d.Value))
	}
	return e
}

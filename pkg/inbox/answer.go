package inbox

import (
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// What the buttons of a form send as do.
const (
	doOption   = "option:" // and the option's number
	doOther    = "other"   // the answer in own words
	doSend     = "send"    // the fields
	doMore     = "more:"   // and the name of an array that gets a row; nothing is sent
	doLess     = "less:"   // and the name of a row that goes; nothing is sent
	doJSON     = "json"    // the answer written as JSON
	doDecline  = "decline"
	doComplete = "complete"
	doDismiss  = "dismiss"
)

// draft is what has been typed into the form of an answer, and what is wrong with it.
type draft struct {
	Comment, Other, JSON                string
	CommentWrong, OtherWrong, JSONWrong template.HTML
	Wrong                               template.HTML // with no one place
	Steps                               []step

	Secret bool // the form asks for something that is never shown

	fields []*field
	asJSON bool // the answer was written as JSON
}

// Count is the number of places at which something is wrong.
func (d draft) Count() int {
	n := 0
	for _, w := range []template.HTML{d.CommentWrong, d.OtherWrong, d.JSONWrong, d.Wrong} {
		if w != "" {
			n++
		}
	}
	return n + countWrong(d.fields)
}

func stepName(i int) string { return "step" + strconv.Itoa(i) }

// firstDraft is the form before anything was typed.
func (v *visit) firstDraft(m *hub.Reading) *draft {
	d := &draft{}
	switch {
	case m.Message.Action != nil:
		d.Steps = steps(m.Message.Action.Checklist, v.words.plain("option.empty"))
	case m.Message.Request != nil && m.Message.Request.Mode == ma2h.ModeInput:
		b := v.builder(m)
		d.fields, d.Secret = b.fields(), b.hides(b.root, 0)
	}
	return d
}

// answer takes what a person decided, through the same checks as the API, and leads back to the list. What cannot be
// taken comes back with what was typed; a second answer is told what the first one was.
func (v *visit) answer() error {
	id := v.r.PathValue("id")
	m, err := v.hub.Read(v.r.Context(), v.caller, id)
	if err != nil {
		return err
	}
	if m.Type == ma2h.TypeNotify {
		v.w.Header().Set("Allow", http.MethodGet)
		return ma2h.Errorf(ma2h.CodeMethodNotAllowed, "A notify wants no answer.")
	}
	d := v.firstDraft(m)
	if m.Response != nil {
		d.readTexts(v.r.PostForm)
		return v.late(m, d)
	}
	if v.reshape(m, d) {
		return v.show(http.StatusOK, m, d, "")
	}
	resolve := v.readAnswer(m, d)
	if d.Count() == 0 {
		done, err := v.resolve(m, resolve, d)
		if done || err != nil {
			return err
		}
	}
	return v.show(ma2h.CodeInvalidField.Status(), m, d, "")
}

// resolve hands the answer to the hub, and says whether the visitor has been answered by that.
func (v *visit) resolve(m *hub.Reading, r *ma2h.Resolve, d *draft) (done bool, _ error) {
	// Through the reader of the wire, so that a person's answer is held to everything that an agent's is.
	checked, invalid := ma2h.ReadResolve(hub.Encode(r), v.hub.Settings.Limits)
	if invalid != nil {
		d.refuse(invalid, v.words)
		return false, nil
	}
	_, err := v.hub.Resolve(v.r.Context(), v.caller, m.ID, checked)
	if err == nil {
		http.Redirect(v.w, v.r, "/inbox?done="+m.ID, http.StatusSeeOther)
		return true, nil
	}
	e := ma2h.AsError(err)
	if e == nil {
		return false, err
	}
	switch e.Code {
	case ma2h.CodeInvalidField, ma2h.CodeValidationError:
		d.refuse(e, v.words)
		return false, nil
	case ma2h.CodeNotAuthorized:
		return true, v.show(e.Status(), m, d, v.words.html("warning.forbidden"))
	case ma2h.CodeAlreadyTerminal:
		return true, v.lost(m.ID, d)
	}
	return false, err
}

// readAnswer makes the resolve that the pressed button means.
func (v *visit) readAnswer(m *hub.Reading, d *draft) *ma2h.Resolve {
	form := v.r.PostForm
	d.readTexts(form)
	do := form.Get("do")
	v.keepFields(m, d, do == doSend)
	r := &ma2h.Resolve{Comment: d.Comment}
	switch {
	case do == doDecline:
		r.Resolution = ma2h.StatusDeclined
	case m.Type == ma2h.TypeTask:
		v.readTask(m, d, r, do)
	case strings.HasPrefix(do, doOption), do == doOther, do == doJSON, do == doSend:
		r.Resolution = ma2h.StatusAnswered
		r.Value = v.readValue(m, d, do)
	default:
		d.Wrong = v.words.html("warning.nothing")
	}
	return r
}

func (v *visit) readValue(m *hub.Reading, d *draft, do string) jsontext.Value {
	q := m.Message.Request
	form := q.Mode == ma2h.ModeInput
	switch {
	case do == doOther:
		if d.Other == "" && q.Editable(versionOf(m)) {
			d.OtherWrong = v.words.html("field.needed")
		}
		return quote(d.Other)
	case do == doJSON && form:
		d.asJSON = true
		typed := d.JSON
		if d.Secret {
			d.JSON = withoutSecrets(typed, q.Schema)
		}
		if _, err := ma2h.Parse([]byte(typed)); err != nil {
			d.JSONWrong = v.words.html("field.json")
			return nil
		}
		return jsontext.Value(typed)
	case do == doSend && form:
		return objectOf(d.fields)
	}
	number, ok := strings.CutPrefix(do, doOption)
	i, err := strconv.Atoi(number)
	if options := q.EffectiveOptions(); ok && err == nil && i >= 0 && i < len(options) {
		return quote(options[i].Value)
	}
	d.Wrong = v.words.html("warning.nothing")
	return nil
}

func (d *draft) readTexts(form url.Values) {
	d.Comment, d.Other, d.JSON = lines(form.Get("comment")), lines(form.Get("other")), lines(form.Get("json"))
}

func (v *visit) readTask(m *hub.Reading, d *draft, r *ma2h.Resolve, do string) {
	switch do {
	case doComplete:
		r.Resolution = ma2h.StatusCompleted
	case doDismiss:
		r.Resolution = ma2h.StatusDismissed
	default:
		d.Wrong = v.words.html("warning.nothing")
	}
	for i, item := range m.Message.Action.Checklist {
		item.Done = v.r.PostForm.Has(stepName(i))
		d.Steps[i].Done = item.Done
		r.Checklist = append(r.Checklist, item)
	}
}

// lines takes the line ends of a form back to those that were typed.
func lines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func quote(s string) jsontext.Value {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return jsontext.Value(`""`) // a form that is not in UTF-8 was refused already
	}
	return b
}

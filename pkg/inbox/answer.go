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

	Secret bool   // the form asks for something that is never shown
	typed  string // the answer as JSON with whatever secrets it holds

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

// draft is the form before what was typed is read: the first one, or that which a form that was sent belongs to.
func (v *visit) draft(m *hub.Reading, sent url.Values) *draft {
	d := &draft{}
	switch {
	case m.Message.Action != nil:
		d.Steps = steps(m.Message.Action.Checklist, v.words.plain("option.empty"))
	case m.Message.Request != nil && m.Message.Request.Mode == ma2h.ModeInput:
		b := v.builder(m, sent)
		d.fields, d.Secret = b.fields(), b.whole.Hides()
	}
	return d
}

// answer takes what a person decided, through the same checks as the API, and leads back to the list. What cannot be
// taken comes back with what was typed; a second answer is told what the first one was, unless that was the very same.
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
	d := v.draft(m, v.r.PostForm)
	if m.Response != nil {
		return v.late(m, v.readAnswer(m, d), d)
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
	_, err := v.hub.Resolve(v.r.Context(), v.caller, m.ID, "", checked)
	if err == nil {
		v.leadBack(m.ID)
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
		return true, v.lost(m.ID, r, d)
	}
	return false, err
}

// leadBack leads back to the list, which says what was done.
func (v *visit) leadBack(id string) { http.Redirect(v.w, v.r, "/inbox?done="+id, http.StatusSeeOther) }

// readAnswer makes the resolve that the pressed button means.
func (v *visit) readAnswer(m *hub.Reading, d *draft) *ma2h.Resolve {
	form := v.r.PostForm
	d.readTexts(form, m)
	do := form.Get("do")
	v.keepFields(d, do == doSend)
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
		if _, err := ma2h.Parse([]byte(d.typed)); err != nil {
			d.JSONWrong = v.words.html("field.json")
			return nil
		}
		return jsontext.Value(d.typed)
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

// readTexts takes over what was typed in words or as JSON. What is shown again of the latter holds no secret.
func (d *draft) readTexts(form url.Values, m *hub.Reading) {
	d.Comment, d.Other, d.typed = lines(form.Get("comment")), lines(form.Get("other")), lines(form.Get("json"))
	d.JSON = d.typed
	if d.Secret {
		d.JSON = withoutSecrets(d.typed, m.Message.Request.Schema)
	}
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

package ma2h

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// ReadResolve reads the body of a resolve. What is malformed is a validation_error. What contradicts itself is left to
// CheckAnswer: whoever is late shall hear that, not what is wrong with the answer (spec §8.8).
func ReadResolve(body []byte, l Limits) (*Resolve, *Error) {
	if len(body) > l.AnswerBytes {
		return nil, FieldErrorf(CodeInvalidField, "", "The answer has %d bytes, and at most %d are taken.", len(body), l.AnswerBytes)
	}
	d, o, err := ParseObject(body)
	if err != nil {
		return nil, err
	}
	if err := resolveRules(o); err != nil {
		return &Resolve{invalid: err}, nil
	}
	if err := Shape(KindResolveRequest, minorNewest, d.Value); err != nil {
		return nil, err
	}
	r := Resolve{Inexact: d.Inexact}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, Errorf(CodeValidationError, "The body does not have the shape of a resolve.")
	}
	return &r, nil
}

// resolveRules: value stands exactly with answered, a checklist never with what ends an ask, and a resolver asserts only
// what a resolver may.
func resolveRules(o map[string]any) *Error {
	resolution, ok := o["resolution"].(string)
	if !ok {
		return nil // a matter of shape
	}
	switch Status(resolution) {
	case StatusAnswered, StatusDeclined, StatusCompleted, StatusDismissed:
	default:
		return FieldErrorf(CodeInvalidField, "/resolution",
			"Send answered or declined for an ask, completed or dismissed for a task.")
	}
	value, given := o["value"]
	if Status(resolution) == StatusAnswered && !given {
		return FieldErrorf(CodeInvalidField, "/value", "An answer needs a value; send one, or decline.")
	}
	if kind := kindOf(value); Status(resolution) == StatusAnswered && kind != "a string" && kind != "an object" {
		return FieldErrorf(CodeInvalidField, "/value", "A value is the string of an option or the object of a form, not %s.", kind)
	}
	if Status(resolution) != StatusAnswered && given {
		return FieldErrorf(CodeInvalidField, "/value", "Only an answer has a value; leave it out of %s.", resolution)
	}
	if _, ok := o["checklist"]; ok && (Status(resolution) == StatusAnswered || Status(resolution) == StatusDeclined) {
		return FieldErrorf(CodeInvalidField, "/checklist", "Only a task has a checklist; leave it out of %s.", resolution)
	}
	return nil
}

// Answer is a resolve that its message admits.
type Answer struct {
	Resolve
	Type   Type // of the message
	Edited bool // the value is none of the options (spec §6)
}

// CheckAnswer holds a resolve to the message it answers: the verb, what the message permits, and the value (spec §5.2,
// §8.8).
func (m *Message) CheckAnswer(r *Resolve, v Version) (Answer, *Error) {
	a := Answer{Resolve: *r, Type: m.Type}
	if r.invalid != nil {
		return a, r.invalid
	}
	if m.Type == TypeTask {
		return a, checkTask(r)
	}
	if r.Checklist != nil {
		return a, FieldErrorf(CodeInvalidField, "/checklist", "Only a task has a checklist; leave it out.")
	}
	switch r.Resolution {
	case StatusAnswered:
		if !m.Request.Respondable() {
			return a, FieldErrorf(CodeInvalidField, "/resolution", "This ask takes no answer; it can only be declined.")
		}
		var err *Error
		a.Edited, err = m.Request.checkValue(r, v)
		return a, err
	case StatusDeclined:
		if !m.Request.Ignorable() {
			return a, FieldErrorf(CodeInvalidField, "/resolution", "This ask cannot be declined; answer it.")
		}
		return a, nil
	default:
		return a, FieldErrorf(CodeInvalidField, "/resolution", "An ask is answered or declined, not %s.", r.Resolution)
	}
}

func checkTask(r *Resolve) *Error {
	if r.Resolution == StatusCompleted || r.Resolution == StatusDismissed {
		return nil
	}
	return FieldErrorf(CodeInvalidField, "/resolution", "A task is completed or dismissed, not %s.", r.Resolution)
}

func (r *Request) checkValue(answer *Resolve, v Version) (edited bool, _ *Error) {
	if r.Mode == ModeInput {
		s, err := CompileAnswerSchema(r.Schema)
		if err != nil {
			return false, err
		}
		return false, s.Check(answer.Value, "/value")
	}
	var value string
	if err := json.Unmarshal(answer.Value, &value); err != nil || answer.Value.Kind() != '"' {
		return false, FieldErrorf(CodeInvalidField, "/value", "Send the value of one of the options, as a string.")
	}
	if r.HasOption(value) {
		return false, nil
	}
	if r.Editable(v) {
		return true, nil
	}
	return false, FieldErrorf(CodeInvalidField, "/value", "That is none of the options; send one of %s.", r.optionList())
}

func (r *Request) optionList() string {
	list := ""
	for i, o := range r.EffectiveOptions() {
		if i > 0 {
			list += ", "
		}
		list += fmt.Sprintf("%q", o.Value)
	}
	return list
}

// ReadAckRequest reads the body of a message ack; an empty body is an ack without a note (spec §14.3).
func ReadAckRequest(body []byte, l Limits) (*AckRequest, *Error) {
	var a AckRequest
	if len(body) == 0 {
		return &a, nil
	}
	_, o, err := ParseObject(body)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"note", "resolution_id"} {
		if v, ok := o[name]; ok {
			if _, ok := v.(string); !ok {
				return nil, FieldErrorf(CodeValidationError, "/"+name, "Send %s as a string, or leave it out.", name)
			}
		}
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, Errorf(CodeValidationError, "The body does not have the shape of an ack.")
	}
	return &a, checkNote(a.Note, l)
}

func checkNote(note string, l Limits) *Error {
	if len(note) > l.NoteBytes {
		return FieldErrorf(CodeInvalidField, "/note", "The note has %d bytes, and at most %d are taken.", len(note), l.NoteBytes)
	}
	return nil
}

package ma2h

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// directiveRequest is what a person sends of a directive: what the hub itself says of one is left out (spec §13.1). It is
// closed, so that a typo does not pass.
var directiveRequest = &object{
	closed: true,
	members: []member{
		{name: "to", form: address, required: true},
		{name: "title", form: title, required: true},
		{name: "body", form: text},
		{name: "priority", form: priority},
		{name: "tags", form: strs},
		{name: "context", form: &list{formFunc(checkPart)}},
		{name: "expires_at", form: instant},
		{name: "sensitive", form: flag},
	},
}

// ReadDirective reads a directive as a person sends it, without what the hub fills in. What is malformed is a
// validation_error, and what is too large an invalid_field.
func ReadDirective(body []byte, l Limits) (*Directive, *Error) {
	if len(body) > l.EnvelopeBytes {
		return nil, FieldErrorf(CodeInvalidField, "", "The directive has %d bytes, and at most %d are taken; shorten it, or send a link.",
			len(body), l.EnvelopeBytes)
	}
	parsed, _, err := ParseObject(body)
	if err != nil {
		return nil, err
	}
	if err := directiveRequest.check(parsed.Value, minorNewest).asError(); err != nil {
		return nil, err
	}
	d := Directive{Inexact: parsed.Inexact}
	var members map[string]jsontext.Value
	if json.Unmarshal(body, &d) != nil || json.Unmarshal(body, &members) != nil {
		return nil, Errorf(CodeValidationError, "The body does not have the shape of a directive.")
	}
	if err := partSizes(members["context"], len(d.Context), l); err != nil {
		return nil, err
	}
	return &d, nil
}

// CheckExpiry refuses a directive whose expires_at is not after now, and returns the time, zero for none (spec §13.1).
func (d *Directive) CheckExpiry(now time.Time) (time.Time, *Error) {
	return CheckExpiry(d.ExpiresAt, now)
}

// maxAckedIDs is how many entries one ack of a mailbox may name.
const maxAckedIDs = 1000

// inboxAckForm is the body of an ack of mailbox entries (spec §8.7, §14.3).
var inboxAckForm = &object{members: []member{
	{name: "ids", form: strs, required: true},
	{name: "note", form: text},
}}

// ReadInboxAck reads the body of an ack of mailbox entries. What is malformed is a validation_error, and what is too large
// an invalid_field.
func ReadInboxAck(body []byte, l Limits) (*InboxAckRequest, *Error) {
	if len(body) > l.EnvelopeBytes {
		return nil, FieldErrorf(CodeInvalidField, "", "The ack has %d bytes, and at most %d are taken; name fewer ids at once.",
			len(body), l.EnvelopeBytes)
	}
	d, _, err := ParseObject(body)
	if err != nil {
		return nil, err
	}
	if err := inboxAckForm.check(d.Value, minorNewest).asError(); err != nil {
		return nil, err
	}
	var a InboxAckRequest
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, Errorf(CodeValidationError, "The body does not have the shape of an ack.")
	}
	if len(a.IDs) > maxAckedIDs {
		return nil, FieldErrorf(CodeInvalidField, "/ids", "There are %d ids, and at most %d are taken at once; send the rest after them.",
			len(a.IDs), maxAckedIDs)
	}
	return &a, checkNote(a.Note, l)
}

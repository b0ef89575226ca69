package ma2h

import (
	"bytes"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits bounds what one message may hold (spec §8.6).
type Limits struct {
	EnvelopeBytes int
	PartBytes     int
	Parts         int
	AnswerBytes   int // body of a resolve
	NoteBytes     int // note of an ack
}

// DefaultLimits is what a hub advertises and enforces unless told otherwise.
func DefaultLimits() Limits {
	return Limits{EnvelopeBytes: 256 << 10, PartBytes: 128 << 10, Parts: 16, AnswerBytes: 64 << 10, NoteBytes: 4 << 10}
}

// corrections refuses what no declared version makes right, before the version's schema is looked at, so that senders of
// every minor get invalid_field (spec §4 "Sender-side symmetry", §5.2).
func corrections(o map[string]any) *Error {
	if err := hashSender(o); err != nil {
		return err
	}
	request, ok := o["request"].(map[string]any)
	if o["type"] != string(TypeAsk) || !ok {
		return nil
	}
	if err := optionRules(request); err != nil {
		return err
	}
	if request["mode"] == string(ModeInput) {
		return answerable(request)
	}
	return nil
}

// hashSender refuses what would need an address that the grammar cannot express.
func hashSender(o map[string]any) *Error {
	agent, _ := o["agent"].(map[string]any)
	id, ok := agent["id"].(string)
	if !ok || Addressable(id) || id == "" {
		return nil
	}
	const sentence = "An agent id with a # has no address, so it can use neither to nor agent.session; leave them out."
	if _, ok := o["to"]; ok {
		return FieldErrorf(CodeInvalidField, "/to", sentence)
	}
	if _, ok := agent["session"]; ok {
		return FieldErrorf(CodeInvalidField, "/agent/session", sentence)
	}
	return nil
}

// optionRules: the values of options are distinct, and a confirm that brings options brings two (spec §5.2).
func optionRules(request map[string]any) *Error {
	options, ok := request["options"].([]any)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for i, v := range options {
		option, _ := v.(map[string]any)
		value, ok := option["value"].(string)
		if ok && seen[value] {
			return FieldErrorf(CodeInvalidField, fmt.Sprintf("/request/options/%d/value", i),
				"Two options have the same value; give each its own.")
		}
		seen[value] = true
	}
	if request["mode"] == string(ModeConfirm) && len(options) != 2 {
		return FieldErrorf(CodeInvalidField, "/request/options",
			"A confirm has exactly two options; send two, or none for approve and deny.")
	}
	return nil
}

// answerable: the schema of mode input admits an object and has something to fill in (spec §5.2).
func answerable(request map[string]any) *Error {
	given, ok := request["schema"]
	if !ok {
		return nil // the version's schema demands it
	}
	schema, ok := given.(map[string]any)
	if !ok || !admitsObject(schema) {
		return FieldErrorf(CodeInvalidField, "/request/schema",
			`The answer is an object; let request.schema have type "object" and describe the answer in its properties.`)
	}
	if properties, ok := schema["properties"].(map[string]any); !ok || len(properties) == 0 {
		return FieldErrorf(CodeInvalidField, "/request/schema",
			"request.schema has no properties, so there is nothing to fill in; describe at least one.")
	}
	return nil
}

// admitsObject reads the type keyword: absent, "object", or a well-formed array with it.
func admitsObject(schema map[string]any) bool {
	given, ok := schema["type"]
	if !ok {
		return true
	}
	list, ok := given.([]any)
	if !ok {
		return given == "object"
	}
	seen := map[string]bool{}
	for _, v := range list {
		s, ok := v.(string)
		if !ok || seen[s] {
			return false
		}
		seen[s] = true
	}
	return seen["object"]
}

// pushGate refuses a push at a version whose receiver could not verify it (spec §10 "Push version parity").
func pushGate(m *Message, v Version) *Error {
	if v.Minor < MinorPush && m.Callback().Pushes() {
		return FieldErrorf(CodeVersionNotSupported, "/ma2h_version",
			"A push is signed as from version 0.3 on, which %s cannot verify; declare 0.3 or later, or pull.", m.Version)
	}
	return nil
}

// Rules says what is wrong with a message that no schema can say and that stays wrong whenever it is sent: sizes, and
// defaults that fit neither the options nor the schema (spec §5.2, §7, §8.6).
func (e *Envelope) Rules(l Limits) *Error {
	if err := e.sizes(l); err != nil {
		return err
	}
	if e.Message.Request == nil {
		return nil
	}
	return e.Message.Request.defaultRules()
}

func (e *Envelope) sizes(l Limits) *Error {
	if len(e.raw) > l.EnvelopeBytes {
		return FieldErrorf(CodeInvalidField, "", "The message has %d bytes, and at most %d are taken; shorten it, or send a link.",
			len(e.raw), l.EnvelopeBytes)
	}
	return partSizes(e.members["context"], len(e.Message.Context), l)
}

// partSizes bounds a context of n parts, which may be absent (spec §8.6).
func partSizes(context jsontext.Value, n int, l Limits) *Error {
	if n > l.Parts {
		return FieldErrorf(CodeInvalidField, "/context", "The context has %d parts, and at most %d are taken.", n, l.Parts)
	}
	if len(context) <= l.PartBytes {
		return nil
	}
	var parts []jsontext.Value
	if err := json.Unmarshal(context, &parts); err != nil {
		return nil //nolint:nilerr // no context, so no part that is too large
	}
	for i, p := range parts {
		if len(p) > l.PartBytes {
			return FieldErrorf(CodeInvalidField, fmt.Sprintf("/context/%d", i),
				"This part has %d bytes, and at most %d are taken; shorten it, or send a link.", len(p), l.PartBytes)
		}
	}
	return nil
}

// defaultRules: default_on_expire is null, one of the options, or an object that meets the schema (spec §7).
func (r *Request) defaultRules() *Error {
	var schema *AnswerSchema
	if r.Mode == ModeInput {
		s, err := CompileAnswerSchema(r.Schema)
		if err != nil {
			return err
		}
		schema = s
	}
	if !r.HasDefault() {
		return nil
	}
	const field = "/request/default_on_expire"
	if schema != nil {
		if err := schema.Check(r.DefaultOnExpire, field); err != nil {
			return err
		}
		return nil
	}
	var value string
	if json.Unmarshal(r.DefaultOnExpire, &value) != nil || !r.HasOption(value) {
		return FieldErrorf(CodeInvalidField, field, "The default is none of the options; send the value of one of them, or null.")
	}
	return nil
}

// HasDefault says whether a value applies when nobody answers: null is none (spec §7).
func (r *Request) HasDefault() bool {
	return len(r.DefaultOnExpire) > 0 && !bytes.Equal(r.DefaultOnExpire, []byte("null"))
}

// CheckExpiry refuses a message whose expires_at is not after now, and returns the time, zero for none (spec §4).
func (m *Message) CheckExpiry(now time.Time) (time.Time, *Error) {
	return CheckExpiry(m.ExpiresAt, now)
}

// CheckExpiry returns the time of an expires_at, zero for none; one that is not in the future is invalid_field (spec §4,
// §13.1).
func CheckExpiry(expiresAt string, now time.Time) (time.Time, *Error) {
	if expiresAt == "" {
		return time.Time{}, nil
	}
	t, ok := ParseTime(expiresAt)
	if !ok || !t.After(now) {
		return time.Time{}, FieldErrorf(CodeInvalidField, "/expires_at",
			"expires_at is not in the future; by this hub's clock it is %s.", FormatTime(now))
	}
	return t, nil
}

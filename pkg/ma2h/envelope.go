package ma2h

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Envelope is a submitted message that passed everything but Rules and the clock.
type Envelope struct {
	Message Message
	Version Version

	// Inexact says that an integer beyond ±(2^53−1) occurs, which signatures see rounded (spec §9.2).
	Inexact bool

	raw     []byte
	value   any
	members map[string]jsontext.Value
}

// envelopeMembers are the members of an envelope that we know, in the order in which they are stored.
var envelopeMembers = [...]string{
	"ma2h_version", "type", "created_at", "agent", "to", "title", "body", "priority", "tags", "context", "state",
	"client_ref", "idempotency_key", "expires_at", "sensitive", "request", "action",
}

// ReadMessage reads a submitted message in the order that the spec's codes demand: well-formed JSON, an object, the
// version's major before anything else of it, the corrections that hold at every minor, the shape of the declared
// version, and what that version cannot carry (spec §4, §5.2, §8.5, §10).
func ReadMessage(body []byte) (*Envelope, *Error) {
	d, o, err := ParseObject(body)
	if err != nil {
		return nil, err
	}
	declared, ok := o["ma2h_version"].(string)
	if !ok {
		return nil, FieldErrorf(CodeValidationError, "/ma2h_version", "Send ma2h_version as a string, such as %q.", Newest)
	}
	v, err := ParseVersion(declared)
	if err != nil {
		return nil, err
	}
	if err := corrections(o); err != nil {
		return nil, err
	}
	if err := Shape(KindMessage, v.SchemaMinor(), d.Value); err != nil {
		return nil, err
	}
	e := &Envelope{Version: v, Inexact: d.Inexact, raw: body, value: d.Value}
	if err := e.decode(); err != nil {
		return nil, err
	}
	return e, pushGate(&e.Message, v)
}

// decode fills Message from the members we know. Members of other spellings are unknown fields and not looked at.
func (e *Envelope) decode() *Error {
	if err := json.Unmarshal(e.raw, &e.Message); err != nil {
		return Errorf(CodeValidationError, "The message does not have the shape of version %s.", e.Message.Version)
	}
	if err := json.Unmarshal(e.raw, &e.members); err != nil {
		return Errorf(CodeValidationError, "The message is not an object.")
	}
	return nil
}

// Known returns the envelope as it is stored: the members that we know, each as it was sent (spec §4 "verbatim", §10).
func (e *Envelope) Known() jsontext.Value {
	out := append(make([]byte, 0, len(e.raw)), '{')
	for _, name := range envelopeMembers {
		v, ok := e.members[name]
		if !ok {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = append(out, name...)
		out = append(out, '"', ':')
		out = append(out, v...)
	}
	return append(out, '}')
}

package ma2h

// Kind names a kind of document: the schema that it is held to, below the schema folder of a version.
type Kind string

// The kinds of document and, behind the number sign, the definitions of the session schema (spec §4, §6, §8, §13 to §16).
const (
	KindMessage         Kind = "message"
	KindResponse        Kind = "response"
	KindSubmitAck       Kind = "submit-ack"
	KindGetMessage      Kind = "get-message"
	KindInboundMessage  Kind = "inbound-message" // a mailbox entry of any kind
	KindAck             Kind = "ack"
	KindPresence        Kind = "presence"
	KindSession         Kind = "session"
	KindCapability      Kind = "capability"
	KindResolveRequest  Kind = "resolve-request"
	KindError           Kind = "error"
	KindRegisterRequest Kind = "session#/$defs/registerRequest"
	KindSessionEnvelope Kind = "session#/$defs/sessionEnvelope"
	KindSessionList     Kind = "session#/$defs/sessionList"
)

// Shape holds a decoded document to the shape that version 0.minor gives its kind, and returns nil or a validation_error
// about the first member that is wrong. v is what Document.Value holds. Shape says exactly what the JSON Schemas of the
// schema folder say; what no schema can say is left to Rules.
//
// A minor beyond those we have schemas of means the nearest one, and so does one that came before the kind did. Members
// that the version does not know are ignored (spec §10), save where the text closes a document.
func Shape(kind Kind, minor int, v any) *Error {
	f := kind.form()
	if f == nil {
		return Errorf(CodeValidationError, "There is no kind of document called %q.", string(kind))
	}
	minor = min(max(minor, kind.since()), minorNewest)
	return f.check(v, minor).asError()
}

// since returns the first minor that has the kind.
func (k Kind) since() int {
	switch k {
	case KindMessage, KindResponse, KindSubmitAck, KindGetMessage:
		return minorOldest
	case KindCapability, KindError:
		return minorHardened
	case KindInboundMessage, KindAck, KindPresence:
		return MinorInbound
	default:
		return MinorInterAgent
	}
}

func (k Kind) form() form {
	switch k {
	case KindMessage:
		return messageForm
	case KindResolveRequest:
		return resolveForm
	case KindRegisterRequest:
		return registerForm
	case KindResponse:
		return responseForm
	case KindInboundMessage:
		return entryForm
	case KindAck:
		return ackForm
	case KindGetMessage:
		return readForm
	case KindSubmitAck:
		return submitAckForm
	case KindPresence:
		return presenceForm
	case KindSession:
		return sessionForm
	case KindSessionEnvelope:
		return sessionEnvelopeForm
	case KindSessionList:
		return sessionListForm
	case KindCapability:
		return capabilityForm
	case KindError:
		return errorForm
	}
	return nil
}

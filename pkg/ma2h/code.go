package ma2h

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Code is the machine-readable code of an error on the wire (spec §8.5).
type Code string

// The codes of spec §8.5, and those that HTTP itself needs and the spec leaves open (the last five).
const (
	CodeValidationError         Code = "validation_error"
	CodeVersionNotSupported     Code = "version_not_supported"
	CodeUnauthenticated         Code = "unauthenticated"
	CodeAgentIDMismatch         Code = "agent_id_mismatch"
	CodeNotAuthorized           Code = "not_authorized"
	CodeSessionClosedByOperator Code = "session_closed_by_operator"
	CodeNotFound                Code = "not_found"
	CodeIdempotencyConflict     Code = "idempotency_conflict"
	CodeAlreadyTerminal         Code = "already_terminal"
	CodeNotAcknowledgeable      Code = "not_acknowledgeable"
	CodeGone                    Code = "gone"
	CodeDestinationGone         Code = "destination_gone"
	CodeInvalidField            Code = "invalid_field"
	CodeUnknownDestination      Code = "unknown_destination"
	CodeRateLimited             Code = "rate_limited"

	CodeMethodNotAllowed Code = "method_not_allowed"
	CodeTooLarge         Code = "too_large"
	CodeInternalError    Code = "internal_error"
	CodeNotImplemented   Code = "not_implemented"
	CodeUnavailable      Code = "unavailable"
)

// codeStatuses maps each code to its HTTP status, first match first; a client reads it backwards (spec §8.5).
var codeStatuses = []struct {
	code   Code
	status int
}{
	{CodeValidationError, http.StatusBadRequest},
	{CodeVersionNotSupported, http.StatusBadRequest},
	{CodeUnauthenticated, http.StatusUnauthorized},
	{CodeNotAuthorized, http.StatusForbidden},
	{CodeAgentIDMismatch, http.StatusForbidden},
	{CodeNotFound, http.StatusNotFound},
	{CodeMethodNotAllowed, http.StatusMethodNotAllowed},
	{CodeAlreadyTerminal, http.StatusConflict},
	{CodeIdempotencyConflict, http.StatusConflict},
	{CodeNotAcknowledgeable, http.StatusConflict},
	{CodeGone, http.StatusGone},
	{CodeDestinationGone, http.StatusGone},
	{CodeSessionClosedByOperator, http.StatusGone},
	{CodeTooLarge, http.StatusRequestEntityTooLarge},
	{CodeInvalidField, http.StatusUnprocessableEntity},
	{CodeUnknownDestination, http.StatusUnprocessableEntity},
	{CodeRateLimited, http.StatusTooManyRequests},
	{CodeInternalError, http.StatusInternalServerError},
	{CodeNotImplemented, http.StatusNotImplemented},
	{CodeUnavailable, http.StatusServiceUnavailable},
}

// Status returns the HTTP status of the code, or 500 for one that is not ours.
func (c Code) Status() int {
	for _, cs := range codeStatuses {
		if cs.code == c {
			return cs.status
		}
	}
	return http.StatusInternalServerError
}

// BaseCode returns the code that a client reads for an HTTP status whose own code it does not know (spec §8.5,
// "Unknown-code fallback").
func BaseCode(status int) Code {
	for _, cs := range codeStatuses {
		if cs.status == status {
			return cs.code
		}
	}
	if status >= http.StatusInternalServerError {
		return CodeInternalError
	}
	return CodeValidationError
}

// Error is an error that a caller should see: a code of the spec and one plain sentence that says what to do (spec
// §8.5). Everything else is internal and says nothing outside.
type Error struct {
	Code    Code
	Field   string // JSON Pointer to the member at fault, or empty
	Message string // one plain sentence; never another account's facts

	RetryAfter time.Duration // of CodeRateLimited and CodeUnavailable
	HTTPStatus int           // where it is not the code's own, else zero
	Terminal   *Terminal     // of CodeAlreadyTerminal: what stands
	ID         string        // of CodeIdempotencyConflict: the message that holds the key
}

// Terminal is what a resolve or cancel that lost is told beside the error (spec §8.4, §8.8).
type Terminal struct {
	ID         string `json:"id"`
	Status     Status `json:"status"`
	Resolution Status `json:"resolution"`
}

// Error returns the code, the field and the sentence.
func (e *Error) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("%s at %s: %s", e.Code, e.Field, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Status returns the HTTP status to answer with.
func (e *Error) Status() int {
	if e.HTTPStatus != 0 {
		return e.HTTPStatus
	}
	return e.Code.Status()
}

// Errorf makes an Error without a field.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// FieldErrorf makes an Error about the member that field points to.
func FieldErrorf(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// AsError returns the Error in err's chain, or nil.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return nil
}

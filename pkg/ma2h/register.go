package ma2h

import (
	"encoding/json"
	"math"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
)

// Register is the body of a registration of a session (spec §16.1).
type Register struct {
	RunID   string            `json:"run_id"`
	Label   string            `json:"label"`
	Kind    string            `json:"kind"`
	Project string            `json:"project"`
	Labels  map[string]string `json:"labels"`

	TTLSeconds int `json:"-"` // as asked for; 0 for none

	invalid *Error
}

// maxRegisterBytes is how much of a session is kept: it is written again with every renewal.
const maxRegisterBytes = 16 << 10

// ReadRegister reads the body of a registration; an empty one asks for nothing in particular. What has not the shape of a
// registration is left to Check: whoever was stopped shall hear that first (spec §16.4.1).
func ReadRegister(body []byte) (*Register, *Error) {
	var r Register
	if len(body) == 0 {
		return &r, nil
	}
	if len(body) > maxRegisterBytes {
		r.invalid = FieldErrorf(CodeInvalidField, "", "The registration has %d bytes, and at most %d are taken.", len(body), maxRegisterBytes)
		return &r, nil
	}
	d, o, err := ParseObject(body)
	if err != nil {
		return nil, err
	}
	if err := Shape(KindRegisterRequest, minorNewest, d.Value); err != nil {
		err.Code = CodeInvalidField
		r.invalid = err
		return &r, nil
	}
	if err := jsonv2.Unmarshal(body, &r); err != nil {
		return nil, Errorf(CodeValidationError, "The body does not have the shape of a registration.")
	}
	if n, ok := o["ttl_seconds"].(json.Number); ok {
		seconds, _ := strconv.ParseFloat(string(n), 64) // an integer of at least 1, however it is spelled
		r.TTLSeconds = int(min(seconds, math.MaxInt32))
	}
	return &r, nil
}

// Check says what of the registration has not the shape of one; nil for nothing.
func (r *Register) Check() error {
	if r.invalid == nil {
		return nil
	}
	return r.invalid
}

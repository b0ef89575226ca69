package ma2h

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"
)

// MaxDepth is how deep arrays and objects of a body may be nested.
const MaxDepth = 64

// maxExactInteger is the largest integer whose neighbours a double still tells apart (spec §9.2).
const maxExactInteger = 1<<53 - 1

// Document is a JSON body that passed Parse.
type Document struct {
	Raw []byte // as it came

	// Value is the decoded body: map[string]any, []any, string, json.Number, bool or nil. Numbers keep their spelling.
	Value any

	// Inexact says that an integer beyond ±(2^53−1) occurs, which RFC 8785 rounds (spec §9.2).
	Inexact bool
}

// Parse reads one JSON value and refuses what Go's decoders would mend or merge in silence: doubled member names, halves
// of surrogate pairs, invalid UTF-8, numbers that no double can hold, too large or too small, and nesting beyond MaxDepth
// (spec §9.2 with RFC 8785 §3.1 and §3.2.2; RFC 7493). The error is a validation_error with the field's path.
func Parse(data []byte) (Document, *Error) {
	p := parser{dec: jsontext.NewDecoder(bytes.NewReader(data))}
	v, err := p.value()
	if err == nil {
		if _, tail := p.dec.ReadToken(); tail == nil {
			err = Errorf(CodeValidationError, "Send one JSON value; there is more after the first.")
		} else if !errors.Is(tail, io.EOF) {
			err = tail
		}
	}
	if err != nil {
		return Document{}, parseError(err, len(data))
	}
	return Document{Raw: data, Value: v, Inexact: p.inexact}, nil
}

// ParseObject is Parse for a body that must be an object (spec §8.5).
func ParseObject(data []byte) (Document, map[string]any, *Error) {
	d, err := Parse(data)
	if err != nil {
		return Document{}, nil, err
	}
	o, ok := d.Value.(map[string]any)
	if !ok {
		return Document{}, nil, Errorf(CodeValidationError, "Send a JSON object, not %s.", kindOf(d.Value))
	}
	return d, o, nil
}

// Canonical returns the RFC 8785 form of one JSON value. It is the one place where canonical JSON is made.
func Canonical(data []byte) ([]byte, error) { return jcs.Transform(data) }

// Pointer returns the JSON Pointer of the member or element named by token below parent.
func Pointer(parent, token string) string {
	return parent + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// Tokens returns what a JSON Pointer is made of, from the root on; nothing for the whole document.
func Tokens(pointer string) []string {
	tokens := strings.Split(pointer, "/")[1:]
	for i, t := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return tokens
}

type parser struct {
	dec     *jsontext.Decoder
	inexact bool
}

func (p *parser) value() (any, error) {
	tok, err := p.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		return tok.String(), nil
	case '0':
		return p.number(tok.String())
	case 't', 'f':
		return tok.Bool(), nil
	default:
		return nil, nil
	}
}

func (p *parser) object() (any, error) {
	if err := p.depth(); err != nil {
		return nil, err
	}
	o := map[string]any{}
	for p.dec.PeekKind() != '}' {
		name, err := p.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		if o[key], err = p.value(); err != nil {
			return nil, err
		}
	}
	_, err := p.dec.ReadToken()
	return o, err
}

func (p *parser) array() (any, error) {
	if err := p.depth(); err != nil {
		return nil, err
	}
	a := []any{}
	for p.dec.PeekKind() != ']' {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	_, err := p.dec.ReadToken()
	return a, err
}

func (p *parser) depth() error {
	if p.dec.StackDepth() > MaxDepth {
		return FieldErrorf(CodeValidationError, string(p.dec.StackPointer()),
			"Nest arrays and objects at most %d deep.", MaxDepth)
	}
	return nil
}

func (p *parser) number(s string) (any, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || f == 0 && !parseDecimal(s).zero() {
		return nil, FieldErrorf(CodeValidationError, string(p.dec.StackPointer()),
			"The number is outside the range of a double; send it as a string.")
	}
	if math.Abs(f) > maxExactInteger && f == math.Trunc(f) {
		p.inexact = true
	}
	return json.Number(s), nil
}

// parseError turns what the decoder said into a sentence for the sender. The decoder's own text may quote the body, so
// it is not passed on.
func parseError(err error, size int) *Error {
	if e := AsError(err); e != nil {
		return e
	}
	e := Errorf(CodeValidationError, "The body is not well-formed JSON; send one JSON object in UTF-8.")
	if size == 0 {
		e.Message = "The body is empty; send one JSON object."
	}
	var syntactic *jsontext.SyntacticError
	if !errors.As(err, &syntactic) {
		return e
	}
	e.Field = string(syntactic.JSONPointer)
	text := err.Error()
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		e.Message = "A member name occurs twice in one object; send each name once."
	case strings.Contains(text, "surrogate"):
		e.Message = "A string holds half of a surrogate pair; send both halves or none."
	case strings.Contains(text, "UTF-8"):
		e.Message = "A string holds bytes that are no UTF-8; send UTF-8."
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "The body ends in the middle of a JSON value; send it whole."
	}
	return e
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}

package ma2h

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// AnswerSchema is the compiled request.schema of an ask of mode input (spec §5.2).
type AnswerSchema struct {
	compiled *jsonschema.Schema
	cost     cost
}

// CompileAnswerSchema compiles a request.schema. One that does not compile can never be answered, so it is an
// invalid_field at submit, where its author sees it; so is one that would take too long. Formats that nobody knows are no
// constraint, and nothing is fetched.
func CompileAnswerSchema(raw []byte) (*AnswerSchema, *Error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, schemaError("")
	}
	bound, tooMuch := schemaCost(doc)
	if tooMuch != nil {
		return nil, tooMuch
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(jsonschema.SchemeURLLoader{}) // knows no scheme: nothing is loaded from anywhere
	const here = "mem:///request/schema"
	if err := c.AddResource(here, doc); err != nil {
		return nil, schemaError("")
	}
	s, err := c.Compile(here)
	if err != nil {
		return nil, schemaError(placeOf(err))
	}
	forgetFormats(reflect.ValueOf(s), map[*jsonschema.Schema]bool{})
	return &AnswerSchema{compiled: s, cost: bound}, nil
}

// forgetFormats keeps a schema and all that it refers to from asserting formats, as those of the older dialects would.
func forgetFormats(v reflect.Value, seen map[*jsonschema.Schema]bool) {
	switch v.Kind() {
	case reflect.Interface:
		forgetFormats(v.Elem(), seen)
	case reflect.Pointer:
		if s, ok := v.Interface().(*jsonschema.Schema); ok && s != nil {
			if seen[s] {
				return
			}
			seen[s], s.Format = true, nil
		}
		forgetFormats(v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				forgetFormats(v.Field(i), seen)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			forgetFormats(v.Index(i), seen)
		}
	case reflect.Map:
		for _, e := range v.Seq2() {
			forgetFormats(e, seen)
		}
	}
}

func schemaError(place string) *Error {
	return FieldErrorf(CodeInvalidField, "/request/schema"+place,
		"This is no JSON Schema that an answer could be held to; check its keywords, patterns and references.")
}

// placeOf returns where in the schema the compiler stumbled, as far as it says.
func placeOf(err error) string {
	var invalid *jsonschema.SchemaValidationError
	if !errors.As(err, &invalid) {
		return ""
	}
	v, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err)
	if !ok {
		return ""
	}
	return pointerOf(deepest(v).InstanceLocation)
}

// Check holds a value, JSON as sent, to the schema. The error is an invalid_field at the member at fault, below field.
// The value must be an object (spec §6).
func (s *AnswerSchema) Check(value []byte, field string) *Error {
	d, parseErr := Parse(value)
	if parseErr != nil {
		return parseErr
	}
	if _, ok := d.Value.(map[string]any); !ok {
		return FieldErrorf(CodeInvalidField, field, "Send an object that meets the request's schema, not %s.", kindOf(d.Value))
	}
	if at, ok := firstLong(d.Value, ""); ok {
		return longNumber(field + at)
	}
	if !s.cost.affordable(d.Value, len(value)) {
		return FieldErrorf(CodeInvalidField, field, "The answer is too large for so intricate a schema; send less.")
	}
	err := s.compiled.Validate(d.Value)
	if err == nil {
		return nil
	}
	v, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return FieldErrorf(CodeInvalidField, field, "The value does not meet the request's schema.")
	}
	v = deepest(v)
	return FieldErrorf(CodeInvalidField, field+pointerOf(v.InstanceLocation),
		"The value does not meet the request's schema: %s.", strings.TrimSuffix(reason(v.ErrorKind), "."))
}

// reason says what is wrong without the value, which may be a secret, and goes where errors go (spec §9.6).
func reason(k jsonschema.ErrorKind) string {
	bound := func(what string, want *big.Rat) string { return what + " " + want.RatString() }
	switch k := k.(type) {
	case *kind.Pattern:
		return fmt.Sprintf("it has to match the pattern '%s'", k.Want)
	case *kind.Minimum:
		return bound("it has to be at least", k.Want)
	case *kind.Maximum:
		return bound("it has to be at most", k.Want)
	case *kind.ExclusiveMinimum:
		return bound("it has to be more than", k.Want)
	case *kind.ExclusiveMaximum:
		return bound("it has to be less than", k.Want)
	case *kind.MultipleOf:
		return bound("it has to be a multiple of", k.Want)
	}
	return k.LocalizedString(message.NewPrinter(language.English))
}

// deepest follows the first causes down to what was really wrong.
func deepest(v *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	return v
}

func pointerOf(tokens []string) string {
	p := ""
	for _, t := range tokens {
		p = Pointer(p, t)
	}
	return p
}

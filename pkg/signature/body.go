package signature

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// object is the top level of a delivered body: its members exactly as spelled, by exact name. Absent and null are kept
// apart.
type object map[string]jsontext.Value

// read takes a body apart. It refuses what a decoder might mend or merge in silence: doubled names, halves of surrogate
// pairs, invalid UTF-8, numbers that no double can hold, and anything behind the object.
func read(body []byte) (object, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if dec.PeekKind() != '{' {
		return nil, errors.New("the body is no JSON object")
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, unreadable(err)
	}
	o := make(object, 12)
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, unreadable(err)
		}
		key, from := name.String(), dec.InputOffset()
		if err := skip(dec); err != nil {
			return nil, err
		}
		o[key] = bytes.TrimLeft(body[from:dec.InputOffset()], ": \t\r\n")
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, unreadable(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the body's object")
	}
	return o, nil
}

// skip reads one value and checks its numbers.
func skip(dec *jsontext.Decoder) error {
	for depth := dec.StackDepth(); ; {
		tok, err := dec.ReadToken()
		if err != nil {
			return unreadable(err)
		}
		if tok.Kind() == '0' {
			if _, err := strconv.ParseFloat(tok.String(), 64); err != nil {
				return errors.New("a number of the body is outside the range of a double")
			}
		}
		if dec.StackDepth() == depth {
			return nil
		}
	}
}

// unreadable hides the decoder's own text, which may quote the body.
func unreadable(err error) error {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return errors.New("a member name occurs twice in the body")
	}
	return errors.New("the body is not well-formed JSON in UTF-8")
}

// text returns the member as canonical JSON; it must be a string.
func (o object) text(name string) (jsontext.Value, error) {
	if o[name].Kind() != '"' {
		return nil, fmt.Errorf("the body's %s is no string", name)
	}
	plain, err := jsontext.AppendUnquote(nil, o[name])
	if err != nil {
		return nil, unreadable(err)
	}
	return quote(string(plain))
}

// quote returns s as canonical JSON.
func quote(s string) (jsontext.Value, error) {
	q, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return nil, errors.New("a string is no UTF-8")
	}
	return q, nil
}

// orNull returns the member as spelled, or null where it is absent.
func (o object) orNull(name string) jsontext.Value {
	if v, ok := o[name]; ok {
		return v
	}
	return jsontext.Value("null")
}

// fixed returns an object that has exactly these members, null where the body has none (spec §9.2, §9.8, §14.4).
func (o object) fixed(names ...string) []byte {
	var w writer
	for _, name := range names {
		w.member(name, o.orNull(name))
	}
	return w.end()
}

// wrapped returns an object with one member, label, that holds those of the named members that the body has (spec §9.7,
// §9.8).
func (o object) wrapped(label string, names ...string) []byte {
	var content, w writer
	for _, name := range names {
		if v, ok := o[name]; ok {
			content.member(name, v)
		}
	}
	w.member(label, content.end())
	return w.end()
}

// digest returns the lower-case hexadecimal SHA-256 of the canonical form of payload, as a JSON string.
func digest(payload []byte) (jsontext.Value, error) {
	canonical, err := ma2h.Canonical(payload)
	if err != nil {
		return nil, errors.New("the signed part of the body has no canonical form")
	}
	sum := sha256.Sum256(canonical)
	return quote(hex.EncodeToString(sum[:]))
}

// writer writes a JSON object of names that need no escaping.
type writer struct{ bytes.Buffer }

func (w *writer) member(name string, value jsontext.Value) {
	if w.Len() == 0 {
		w.WriteByte('{')
	} else {
		w.WriteByte(',')
	}
	w.WriteByte('"')
	w.WriteString(name)
	w.WriteString(`":`)
	w.Write(value)
}

func (w *writer) end() []byte {
	if w.Len() == 0 {
		w.WriteByte('{')
	}
	w.WriteByte('}')
	return w.Bytes()
}

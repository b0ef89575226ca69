package main

import (
	"math/big"
	"slices"
	"strings"
)

// example is something to write, which the schema admits where it is a simple one.
func (f *field) example() string {
	for i, word := range f.words() {
		if len(f.Default) == 0 && i == 0 || valueText(f.Default) == valueText(f.Enum[i]) && f.Default.Kind() == f.Enum[i].Kind() {
			return word
		}
	}
	if len(f.Default) > 0 && f.Default.Kind() != 'n' {
		return valueText(f.Default)
	}
	if len(f.Enum) > 0 {
		return f.words()[0]
	}
	types := f.types()
	if len(types) == 0 || slices.Contains(types, "string") {
		return f.exampleText()
	}
	switch types[0] {
	case "integer", "number":
		return f.exampleNumber()
	case "boolean":
		return "yes"
	case "array":
		return "[]"
	case "object":
		return "{}"
	}
	return "null"
}

func (f *field) exampleText() string {
	if text := exampleOfFormat(f.Format); text != "" {
		return text
	}
	text := "text"
	if f.MaxLength != nil {
		text = text[:min(len(text), max(*f.MaxLength, 0))]
	}
	return text + strings.Repeat("t", min(max(f.MinLength-len(text), 0), 1000))
}

// exampleNumber is the bound that is admitted itself, or a number beside the one that is not.
func (f *field) exampleNumber() string {
	for _, b := range f.bounds() {
		if !b.strict {
			return string(b.limit)
		}
	}
	for _, b := range f.bounds() {
		if limit, ok := new(big.Rat).SetString(string(b.limit)); ok {
			return new(big.Rat).Sub(limit, big.NewRat(int64(b.sign), 1)).FloatString(0)
		}
	}
	return "1"
}

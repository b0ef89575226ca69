package ma2h

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const maxTitle = 200 // code points (spec §4)

// The leaves of all documents.
var (
	text     = texts("a string", func(string) bool { return true })
	filled   = texts("a string that is not empty", func(s string) bool { return s != "" })
	title    = texts("a string of 1 to 200 characters", isTitle)
	instant  = texts("an RFC 3339 time, such as 2026-01-31T09:30:00Z", isInstant)
	identity = texts("an identity: human:<id>, agent:<id> or system:<id>", isIdentity)
	address  = texts("an address: agent:<id> or agent:<id>#<session>, where the session begins with sess_", isAddress)
	answer   = &leaf{"a string or an object", isAnswer}
	flag     = &leaf{"true or false", isBool}
	anything = &leaf{"any JSON value", isPresent}
	whole    = &leaf{"an integer that is not negative", func(v any, _ int) bool { return isInteger(v, 0) }}
	positive = &leaf{"an integer of at least 1", func(v any, _ int) bool { return isInteger(v, 1) }}

	sessionID = texts("a session id, which begins with sess_", begins(PrefixSession))

	version  = &leaf{`a version such as "0.6": 0, a dot, and a minor without leading zeros`, isVersion}
	since0_4 = texts("0.4 or later", func(s string) bool { return isSince(s, MinorInbound) })
	since0_5 = texts("0.5 or later", func(s string) bool { return isSince(s, MinorInterAgent) })

	priority = enum{"low", "normal", "high", "urgent"}
	labels   = formFunc(stringMap)
	strs     = &list{text}
	free     = &object{} // an object with any members
)

func begins(prefix string) func(string) bool {
	return func(s string) bool { return strings.HasPrefix(s, prefix) }
}

func isPresent(v any, _ int) bool {
	_, missing := v.(absent)
	return !missing
}

func isBool(v any, _ int) bool {
	_, ok := v.(bool)
	return ok
}

// isAnswer says whether v can be the value of an answer: the value of an option, or an object for mode input (spec §6).
func isAnswer(v any, _ int) bool {
	switch v.(type) {
	case string, map[string]any:
		return true
	}
	return false
}

func isTitle(s string) bool {
	return s != "" && (len(s) <= maxTitle || utf8.RuneCountInString(s) <= maxTitle)
}

func isInstant(s string) bool {
	_, ok := ParseTime(s)
	return ok
}

func isAddress(s string) bool {
	_, ok := ParseAddress(s)
	return ok
}

// isIdentity says whether s is <type>:<id> of a type there is (spec §9.1).
func isIdentity(s string) bool {
	kind, id, _ := strings.Cut(s, ":")
	return id != "" && (kind == "human" || kind == "agent" || kind == "system")
}

// isVersion says whether v is a version as the schemas of that minor spell it: until 0.3 with leading zeros, too (spec
// §10).
func isVersion(v any, minor int) bool {
	s, ok := v.(string)
	if !ok || !strings.HasPrefix(s, "0.") || !isDigits(s[2:]) {
		return false
	}
	return minor < MinorInbound || len(s) == 3 || s[2] != '0'
}

// isSince says whether s is a canonical version 0.minor or later; minor has one digit.
func isSince(s string, minor int) bool {
	if !isVersion(s, minorNewest) {
		return false
	}
	return len(s) > 3 || int(s[2]-'0') >= minor
}

// declares says whether a document is written in 0.minor or later.
func declares(o map[string]any, minor int) bool {
	s, ok := o["ma2h_version"].(string)
	return ok && isSince(s, minor)
}

// isInteger says whether v is an integer that is at least low, which is 0 or 1. As in JSON Schema, 3.0 and 3e0 are
// integers.
func isInteger(v any, low int) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	d := parseDecimal(string(n))
	return d.integer() && (d.zero() && low == 0 || !d.zero() && !d.negative)
}

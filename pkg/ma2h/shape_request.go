package ma2h

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// requestForm is what an ask wants to know (spec §5.2). The value of a default is Rules' concern; here only its type is.
var requestForm = &object{
	members: []member{
		{name: "mode", form: enum{"select", "input", "confirm"}, required: true},
		{name: "options", form: &list{optionForm}},
		{name: "permissions", form: permissionsForm},
		{name: "default_on_expire", form: &leaf{"a string, an object or null", isDefault}},
		{name: "allowed_resolvers", form: &list{resolver}},
		{name: "callback", form: callbackForm},
	},
	also: checkMode,
}

// actionForm is what a task wants done (spec §5.3).
var actionForm = &object{members: []member{
	{name: "instructions", form: filled, required: true},
	{name: "checklist", form: &list{stepForm}},
	{name: "verification", form: text},
	{name: "allowed_resolvers", form: &list{resolver}},
	{name: "callback", form: callbackForm},
}}

var (
	optionForm = &object{members: []member{
		{name: "value", form: text, required: true},
		{name: "label", form: text},
		{name: "description", form: text},
	}}
	permissionsForm = &object{members: []member{
		{name: "allow_accept", form: flag, until: MinorAllowEdit - 1},
		{name: "allow_edit", form: flag},
		{name: "allow_respond", form: flag},
		{name: "allow_ignore", form: flag},
	}}
	stepForm = &object{members: []member{
		{name: "text", form: text, required: true},
		{name: "done", form: flag},
	}}
	resolver = &leaf{"an identity: human:<id>, system:<id>, agent:<id> or agent:<id>#<session>", isResolver}
)

// callbackForm is how the sender wants the Response (spec §8.3).
var callbackForm = &object{
	members: []member{
		{name: "mode", form: enum{"push", "pull"}},
		{name: "url", form: filled},
		{name: "auth", form: authForm},
	},
	also: func(o map[string]any, _ int) *fault {
		if is(o, "mode", "push") {
			return want(o, "url", "the https address that the Response is posted to")
		}
		return nil
	},
}

var authForm = &object{
	members: []member{
		{name: "scheme", form: enum{SchemeHMAC, SchemeBearer, SchemeAPIKey}, required: true},
		{name: "secret_ref", form: filled},
		{name: "token_ref", form: filled},
	},
	also: checkAuth,
}

// checkAuth holds a scheme to the name of its credential (spec §8.3, §9.2). 0.1 did not say which goes with which.
func checkAuth(o map[string]any, minor int) *fault {
	switch {
	case minor < minorHardened:
		return nil
	case is(o, "scheme", SchemeHMAC):
		return first(
			want(o, "secret_ref", "a string that names the key"),
			refuse(o, "token_ref", "Leave out token_ref; scheme hmac names its key by secret_ref."))
	default:
		return first(
			want(o, "token_ref", "a string that names the token"),
			refuse(o, "secret_ref", "Leave out secret_ref; schemes bearer and apikey name their token by token_ref."))
	}
}

func isDefault(v any, minor int) bool { return v == nil || isAnswer(v, minor) }

// isResolver says whether v can stand in allowed_resolvers (spec §9.1): since 0.5 an agent is named by its address. 0.1
// had no such list.
func isResolver(v any, minor int) bool {
	s, ok := v.(string)
	switch {
	case !ok:
		return false
	case minor < minorHardened:
		return true
	case minor >= MinorInterAgent && strings.HasPrefix(s, AgentPrefix):
		return isAddress(s)
	}
	return isIdentity(s)
}

// checkMode holds a request to what its mode needs (spec §5.2).
func checkMode(o map[string]any, minor int) *fault {
	options, given := o["options"].([]any)
	switch o["mode"] {
	case "select":
		if len(options) == 0 {
			return wrong("/options", "Send options as an array of at least one option; mode select needs them.")
		}
	case "confirm":
		if given && len(options) != 2 {
			return wrong("/options", "Send exactly two options, or none for approve and deny; mode confirm has two.")
		}
	case "input":
		if f := checkAnswerSchema(o, minor); f != nil {
			return f.under("schema")
		}
	}
	if minor >= MinorAllowEdit && repeats(options) {
		return wrong("/options", "Send each option once; two of them are the same.")
	}
	return nil
}

// checkAnswerSchema holds the schema of an answer to what makes it answerable: it admits an object, and there is
// something to fill in (spec §5.2). Before 0.6 any object would do; Rules refuses the same at every minor.
func checkAnswerSchema(o map[string]any, minor int) *fault {
	schema, ok := o["schema"].(map[string]any)
	if !ok {
		return &fault{wants: "a JSON Schema that describes the answer, an object"}
	}
	if minor < MinorAllowEdit {
		return nil
	}
	if !admitsObject(schema) {
		return wrong("/type", `Send type as "object"; the answer is an object.`)
	}
	if len(part(schema, "properties")) == 0 {
		return wrong("/properties",
			"Send properties as an object with at least one member; the person needs something to fill in.")
	}
	return nil
}

// fewOptions is up to how many options each is compared with each.
const fewOptions = 16

// repeats says whether two options are wholly the same, as JSON: members in any order, numbers in any spelling.
func repeats(options []any) bool {
	if len(options) <= fewOptions && !valuesRepeat(options) {
		return false
	}
	seen := make(map[string]bool, len(options))
	for _, o := range options {
		key := string(appendPlain(nil, o))
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// valuesRepeat says whether two options share their value, without which they cannot be the same.
func valuesRepeat(options []any) bool {
	for i, a := range options {
		for _, b := range options[:i] {
			if a.(map[string]any)["value"] == b.(map[string]any)["value"] {
				return true
			}
		}
	}
	return false
}

// appendPlain writes a JSON value so that equal values are written alike. It is for comparing, not for sending.
func appendPlain(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return strconv.AppendQuote(b, v)
	case json.Number:
		return parseDecimal(string(v)).append(b)
	case []any:
		b = append(b, '[')
		for _, e := range v {
			b = append(appendPlain(b, e), ',')
		}
		return append(b, ']')
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		b = append(b, '{')
		for _, name := range names {
			b = append(strconv.AppendQuote(b, name), ':')
			b = append(appendPlain(b, v[name]), ',')
		}
		return append(b, '}')
	}
	return b
}

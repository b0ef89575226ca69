package controlapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// doc is a JSON object that a test writes.
type doc map[string]any

// sender stands for the id of whoever submits an envelope.
const sender = "(whoever submits)"

// edit changes an envelope.
type edit func(d doc)

// set writes a member, by JSON Pointer; objects on the way are made.
func set(pointer string, value any) edit {
	return func(d doc) {
		o, name := walk(d, pointer)
		o[name] = clone(value)
	}
}

// clone copies objects, so that one edit may change many envelopes.
func clone(v any) any {
	o, ok := v.(doc)
	if !ok {
		return v
	}
	c := doc{}
	for name, member := range o {
		c[name] = clone(member)
	}
	return c
}

// drop removes a member.
func drop(pointer string) edit {
	return func(d doc) {
		if lookUp(map[string]any(d), pointer) != (absent{}) {
			o, name := walk(d, pointer)
			delete(o, name)
		}
	}
}

func walk(d doc, pointer string) (doc, string) {
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for _, t := range tokens[:len(tokens)-1] {
		next, ok := d[t].(doc)
		if !ok {
			next = doc{}
			d[t] = next
		}
		d = next
	}
	return d, tokens[len(tokens)-1]
}

// several is edits as one.
func several(edits ...edit) edit {
	return func(d doc) {
		for _, e := range edits {
			e(d)
		}
	}
}

// version declares another minor.
func version(minor int) edit { return set("/ma2h_version", fmt.Sprintf("0.%d", minor)) }

// The envelopes of the three verbs, in the newest version, each with a key of its own. Whoever answers is alice.
func (s *suite) notify(edits ...edit) doc {
	return edited(doc{
		"ma2h_version": "0.6", "type": "notify", "created_at": "2026-03-14T11:59:00Z", "title": "The build is green",
		"agent": doc{"id": sender, "run_id": "run-1"}, "idempotency_key": s.key(),
	}, edits)
}

func (s *suite) ask(edits ...edit) doc {
	return edited(s.notify(set("/type", "ask"), set("/title", "Ship it?"),
		set("/request", doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice"}})), edits)
}

func (s *suite) task(edits ...edit) doc {
	return edited(s.notify(set("/type", "task"), set("/title", "Rotate the key"),
		set("/action", doc{"instructions": "Rotate it.", "allowed_resolvers": []string{"human:alice"}})), edits)
}

// choose makes an ask a select between ship and hold.
func choose() edit {
	return several(set("/request/mode", "select"), set("/request/options", []doc{
		{"value": "ship", "label": "Ship to prod now"}, {"value": "hold", "label": "Hold for review"},
	}))
}

// fillIn makes an ask one of mode input, whose answer has a reason.
func fillIn() edit {
	return several(set("/request/mode", "input"), set("/request/schema", doc{
		"type": "object", "properties": doc{"reason": doc{"type": "string"}}, "required": []string{"reason"},
	}))
}

// expires gives a deadline.
func expires(at string) edit { return set("/expires_at", at) }

// resolvers lists who may resolve an ask.
func resolvers(list ...string) edit {
	return set("/request/allowed_resolvers", append([]string{}, list...))
}

// callback wants the Response pushed.
func callback(url string) edit {
	return set("/request/callback", doc{"mode": "push", "url": url, "auth": doc{"scheme": "hmac", "secret_ref": "env:SECRET"}})
}

// editable permits answers that are none of the options.
func editable() edit { return set("/request/permissions/allow_edit", true) }

func edited(d doc, edits []edit) doc {
	for _, e := range edits {
		e(d)
	}
	return d
}

// rawJSON is JSON that is written as it stands.
func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a bug of the test
	}
	return b
}

// manyParts is a context of n parts.
func manyParts(n int) []doc {
	parts := make([]doc, n)
	for i := range parts {
		parts[i] = doc{"kind": "text", "text": "part"}
	}
	return parts
}

func mustParse(t *testing.T, body []byte) any {
	d, err := ma2h.Parse(body)
	if err != nil {
		t.Errorf("%q is no JSON: %v", body, err)
	}
	return d.Value
}

func keysOf(v any) []string {
	o, _ := v.(map[string]any)
	return slices.Sorted(maps.Keys(o))
}

func without(d doc, name string) doc {
	delete(d, name)
	return d
}

func contains(body []byte, text string) bool { return bytes.Contains(body, []byte(text)) }

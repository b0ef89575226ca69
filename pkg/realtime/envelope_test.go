package realtime_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// doc is a JSON object that a test writes.
type doc map[string]any

// sender stands for the id of whoever submits an envelope.
const sender = "(whoever submits)"

// lifespan is how long what a test asks waits unless it says otherwise, so that a hub that is used again does not fill up.
const lifespan = 3 * time.Minute

// edit changes an envelope.
type edit func(d doc)

// set writes a member, by JSON Pointer; objects on the way are made.
func set(pointer string, value any) edit {
	return func(d doc) {
		tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
		for _, t := range tokens[:len(tokens)-1] {
			next, ok := d[t].(doc)
			if !ok {
				next = doc{}
				d[t] = next
			}
			d = next
		}
		d[tokens[len(tokens)-1]] = value
	}
}

// drop removes a member at the top.
func drop(name string) edit { return func(d doc) { delete(d, name) } }

// expires gives a deadline.
func expires(at time.Time) edit { return set("/expires_at", ma2h.FormatTime(at)) }

// The envelopes of the three verbs, in the newest version, each with a key of its own. The owner may answer.
func (s *server) notify(edits ...edit) doc {
	return edited(doc{
		"ma2h_version": "0.6", "type": "notify", "created_at": "2026-03-14T11:59:00Z", "title": "The build is green",
		"agent": doc{"id": sender, "run_id": "run-1"}, "idempotency_key": unique("key"),
	}, edits)
}

func (s *server) ask(edits ...edit) doc {
	return edited(s.notify(set("/type", "ask"), set("/title", "Ship it?"), expires(time.Now().Add(lifespan)),
		set("/request", doc{"mode": "confirm", "allowed_resolvers": []string{s.owner.actor}})), edits)
}

func (s *server) task(edits ...edit) doc {
	return edited(s.notify(set("/type", "task"), set("/title", "Rotate the key"), expires(time.Now().Add(lifespan)),
		set("/action", doc{"instructions": "Rotate it.", "allowed_resolvers": []string{s.owner.actor}})), edits)
}

// choose makes an ask a select between ship and hold.
func choose(d doc) {
	set("/request/mode", "select")(d)
	set("/request/options", []doc{{"value": "ship", "label": "Ship to prod now"}, {"value": "hold", "label": "Hold"}})(d)
}

// fillIn makes an ask one of mode input, whose answer has a reason.
func fillIn(d doc) {
	set("/request/mode", "input")(d)
	set("/request/schema", doc{
		"type": "object", "properties": doc{"reason": doc{"type": "string"}}, "required": []string{"reason"},
	})(d)
}

func edited(d doc, edits []edit) doc {
	for _, e := range edits {
		e(d)
	}
	return d
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a bug of the test
	}
	return b
}

func mustParse(t *testing.T, body []byte) any {
	t.Helper()
	d, err := ma2h.Parse(body)
	if err != nil {
		t.Errorf("%q is no JSON: %v", body, err)
	}
	return d.Value
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not as wanted (-want +got):\n%s", what, diff)
	}
}

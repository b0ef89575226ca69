package ma2h_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/ma2h"
)

const fullAsk = `{
	"ma2h_version": "0.6", "type": "ask", "created_at": "2026-03-01T08:00:00Z", "to": "agent:day/worker#sess_d",
	"agent": {"id": "night/reporter", "run_id": "run-17", "runtime": "cli", "session": "sess_n", "project": "p", "labels": {"a": "b", "c": "d"}},
	"title": "Which region first?", "body": "Both are **idle**.", "priority": "high", "tags": ["backup", "region"],
	"context": [{"kind": "text", "text": "log"}, {"kind": "data", "data": {"free": 0.5}}, {"kind": "file", "file": {"uri": "https://f.example/"}}],
	"state": {"sealed": "c2VhbA"}, "client_ref": "r-1", "idempotency_key": "k", "expires_at": "2026-03-02T08:00:00Z", "sensitive": true,
	"request": {
		"mode": "select", "options": [{"value": "eu", "label": "Europe"}, {"value": "us", "label": "America"}],
		"permissions": {"allow_edit": true}, "default_on_expire": "eu", "allowed_resolvers": ["human:alice", "agent:day/worker"],
		"callback": {"mode": "push", "url": "https://a.example/", "auth": {"scheme": "hmac", "secret_ref": "env:KEY"}}
	}
}`

const fullResolve = `{"resolution": "completed", "comment": "done", "checklist": [{"text": "a", "done": true}, {"text": "b", "done": false}]}`

func parsed(t testing.TB, body string) any {
	t.Helper()
	d, err := ma2h.Parse([]byte(body))
	if err != nil {
		t.Fatalf("Parse(%s) = %v", body, err)
	}
	return d.Value
}

// What a server does for every request costs no garbage. Allocations cannot be counted in parallel.
func TestShapeAllocatesNothingForWhatIsRight(t *testing.T) {
	for kind, body := range map[ma2h.Kind]string{ma2h.KindMessage: fullAsk, ma2h.KindResolveRequest: fullResolve} {
		v := parsed(t, body)
		var err *ma2h.Error
		if n := testing.AllocsPerRun(100, func() { err = ma2h.Shape(kind, 6, v) }); n != 0 || err != nil {
			t.Errorf("Shape(%s) = %v with %.0f allocations, want nil with none", kind, err, n)
		}
	}
}

func BenchmarkShapeMessage(b *testing.B) {
	v := parsed(b, fullAsk)
	b.ReportAllocs()
	for b.Loop() {
		if err := ma2h.Shape(ma2h.KindMessage, 6, v); err != nil {
			b.Fatal(err)
		}
	}
}

// An error says where, and in one sentence what to do.
func TestShapeSaysWhatToDo(t *testing.T) {
	t.Parallel()
	const rest = `"created_at":"2026-03-01T08:00:00Z","agent":{"id":"a","run_id":"r"}`
	for _, tt := range []struct {
		name string
		kind ma2h.Kind
		body string
		want ma2h.Error
	}{
		{"no object", ma2h.KindMessage, `[]`, ma2h.Error{Message: "Send an object."}},
		{"a missing member", ma2h.KindMessage, `{"ma2h_version":"0.6","type":"notify",` + rest + `}`,
			ma2h.Error{Field: "/title", Message: "Send title as a string of 1 to 200 characters."}},
		{"a wrong member", ma2h.KindMessage, `{"ma2h_version":"0.6","type":"poll",` + rest + `}`,
			ma2h.Error{Field: "/type", Message: "Send type as one of notify, ask and task."}},
		{"a wrong member of a member", ma2h.KindMessage, `{"ma2h_version":"0.6","type":"notify","created_at":"2026-03-01T08:00:00Z","agent":{"id":""}}`,
			ma2h.Error{Field: "/agent/id", Message: "Send id as a string that is not empty."}},
		{"a wrong element", ma2h.KindMessage, `{"ma2h_version":"0.6","type":"notify",` + rest + `,"title":"t","tags":["a",1]}`,
			ma2h.Error{Field: "/tags/1", Message: "Send every element of tags as a string."}},
		{"a wrong member of an element", ma2h.KindMessage, `{"ma2h_version":"0.6","type":"notify",` + rest + `,"title":"t","context":[{"kind":"x"}]}`,
			ma2h.Error{Field: "/context/0/kind", Message: "Send kind as one of text, data and file."}},
		{"a name that is escaped in a pointer", ma2h.KindRegisterRequest, `{"labels":{"a/b~c":1}}`,
			ma2h.Error{Field: "/labels/a~1b~0c", Message: "Send every element of labels as a string."}},
		{"a member that must not be there", ma2h.KindMessage, `{"ma2h_version":"0.6","type":"notify",` + rest + `,"title":"t","request":{"mode":"confirm"}}`,
			ma2h.Error{Field: "/request", Message: "Leave out request; a notify asks for nothing."}},
		{"an answer without a value", ma2h.KindResolveRequest, `{"resolution":"answered"}`,
			ma2h.Error{Field: "/value", Message: "Send value as the value of an option, or an object for mode input."}},
		{"a closed document", ma2h.KindSubmitAck, `{"id":"msg_1","status":"open","poll_url":"u","x":1}`,
			ma2h.Error{Field: "/x", Message: "Leave out the members that this document does not have; it is closed."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.Code = ma2h.CodeValidationError
			got := ma2h.Shape(tt.kind, 6, parsed(t, tt.body))
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("Shape(%s) of %s (-want +got):\n%s", tt.kind, tt.body, diff)
			}
		})
	}
}

// A minor beyond those there are means the nearest one.
func TestShapeTakesTheNearestMinor(t *testing.T) {
	t.Parallel()
	ask := parsed(t, `{"ma2h_version":"0.1","type":"ask","created_at":"2026-03-01T08:00:00Z","agent":{"id":"a","run_id":"r"},"title":"t",
		"request":{"mode":"confirm"}}`)
	for minor, right := range map[int]bool{-1: true, 0: true, 1: true, 2: false, 6: false, 99: false} {
		if err := ma2h.Shape(ma2h.KindMessage, minor, ask); (err == nil) != right {
			t.Errorf("Shape(message, %d) of an ask without a key = %v, want right %t", minor, err, right)
		}
	}
	if err := ma2h.Shape(ma2h.KindResolveRequest, 1, parsed(t, fullResolve)); err != nil {
		t.Errorf("Shape(resolve-request, 1) = %v, want what 0.5 says", err)
	}
}

func TestShapeKnowsNoOtherKinds(t *testing.T) {
	t.Parallel()
	if err := ma2h.Shape("poem", 6, map[string]any{}); err == nil || err.Code != ma2h.CodeValidationError {
		t.Errorf("Shape(poem) = %v, want a validation_error", err)
	}
}

// FuzzShape: whatever the document, Shape returns, and what it lets through as a message decodes.
func FuzzShape(f *testing.F) {
	f.Add(6, fullAsk)
	f.Add(6, fullResolve)
	f.Add(1, `{"ma2h_version":"0.1","type":"task","action":{"instructions":"x"}}`)
	f.Add(4, `{"ma2h_version":"0.4","type":"directive","id":"d","from":"human:a","to":"agent:b"}`)
	kinds := []ma2h.Kind{
		ma2h.KindMessage, ma2h.KindResponse, ma2h.KindSubmitAck, ma2h.KindGetMessage, ma2h.KindInboundMessage, ma2h.KindAck, ma2h.KindPresence,
		ma2h.KindSession, ma2h.KindCapability, ma2h.KindResolveRequest, ma2h.KindError, ma2h.KindRegisterRequest, ma2h.KindSessionEnvelope,
		ma2h.KindSessionList,
	}
	f.Fuzz(func(t *testing.T, minor int, body string) {
		d, err := ma2h.Parse([]byte(body))
		if err != nil {
			return
		}
		for _, kind := range kinds {
			err := ma2h.Shape(kind, minor, d.Value)
			if err != nil && (err.Code != ma2h.CodeValidationError || err.Message == "") {
				t.Errorf("Shape(%s, %d) of %s = %v, want a validation_error with a sentence", kind, minor, body, err)
			}
			if err == nil && kind == ma2h.KindMessage {
				decode(t, body)
			}
		}
	})
}

func decode(t *testing.T, body string) {
	t.Helper()
	var m ma2h.Message
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Errorf("Unmarshal(%s) = %v, though Shape let it through", body, err)
	}
}

package controlapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// bad is one body that is refused, with what its sender is told.
type bad struct {
	body   any // doc, or string for raw bytes
	status int
	code   ma2h.Code
	field  string
}

func malformed(body any, field string) bad {
	return bad{body, http.StatusBadRequest, ma2h.CodeValidationError, field}
}

func invalid(body any, field string) bad {
	return bad{body, http.StatusUnprocessableEntity, ma2h.CodeInvalidField, field}
}

// TestBadInput_Submits: each gets its status, code, field and sentence, and leaves nothing behind.
func TestBadInput_Submits(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for what, b := range badSubmits(s) {
			s.run(what, func() {
				key := s.key()
				if d, ok := b.body.(doc); ok {
					if was, _ := d["idempotency_key"].(string); was != "" {
						d["idempotency_key"] = key
					}
				}
				s.writesNothing(func() {
					a := bot.submit(b.body).refused(b.status, b.code, b.field)
					if b.field == "" {
						a.lacks("/error/field")
					}
				})
				bot.submit(s.notify(set("/idempotency_key", key), set("/title", "The key is free"))).is(http.StatusAccepted)
			})
		}
		same(t, "what waits", alice.waiting(), []string{})
	})
}

func badSubmits(s *suite) map[string]bad {
	long := strings.Repeat("x", 201)
	ask := func(edits ...edit) doc { return s.ask(edits...) }
	return map[string]bad{
		"no JSON":                 malformed("hello", ""),
		"cut off":                 malformed(`{"ma2h_version":"0.6","title":"x`, "/title"),
		"two objects":             malformed("{}{}", ""),
		"a comma too many":        malformed(`{"ma2h_version":"0.6",}`, ""),
		"single quotes":           malformed(`{'ma2h_version':'0.6'}`, ""),
		"NaN":                     malformed(`{"ma2h_version":"0.6","state":{"a":NaN}}`, "/state/a"),
		"a leading zero":          malformed(`{"ma2h_version":"0.6","state":{"a":01}}`, "/state"),
		"a byte order mark":       malformed("\ufeff{}", ""),
		"UTF-16":                  malformed("\xff\xfe{\x00}\x00", ""),
		"a control character":     malformed("{\"ma2h_version\":\"0.6\",\"title\":\"a\x01b\"}", "/title"),
		"an empty object":         malformed("{}", "/ma2h_version"),
		"too deep":                malformed(`{"state":`+strings.Repeat(`{"a":`, 70)+"1"+strings.Repeat("}", 71), "/state"+strings.Repeat("/a", 63)),
		"too deep, in arrays":     malformed(`{"x":`+strings.Repeat("[", 100_000), "/x"+strings.Repeat("/0", 63)),
		"title of a number":       malformed(ask(set("/title", 7)), "/title"),
		"title null":              malformed(ask(set("/title", nil)), "/title"),
		"title missing":           malformed(ask(drop("/title")), "/title"),
		"title empty":             malformed(ask(set("/title", "")), "/title"),
		"title too long":          malformed(ask(set("/title", long)), "/title"),
		"type unknown":            malformed(ask(set("/type", "shout")), "/type"),
		"type missing":            malformed(ask(drop("/type")), "/type"),
		"created_at missing":      malformed(ask(drop("/created_at")), "/created_at"),
		"created_at no time":      malformed(ask(set("/created_at", "noon")), "/created_at"),
		"created_at no such day":  malformed(ask(set("/created_at", "2026-02-30T00:00:00Z")), "/created_at"),
		"agent missing":           malformed(ask(drop("/agent")), "/agent"),
		"agent a string":          malformed(ask(set("/agent", "bot")), "/agent"),
		"agent id missing":        malformed(ask(drop("/agent/id")), "/agent/id"),
		"agent id empty":          malformed(ask(set("/agent/id", "")), "/agent/id"),
		"run missing":             malformed(ask(drop("/agent/run_id")), "/agent/run_id"),
		"runtime unknown":         malformed(ask(set("/agent/runtime", "toaster")), "/agent/runtime"),
		"labels of numbers":       malformed(ask(set("/agent/labels", doc{"a/b~c": 1})), "/agent/labels/a~1b~0c"),
		"priority unknown":        malformed(ask(set("/priority", "asap")), "/priority"),
		"tags no array":           malformed(ask(set("/tags", "a")), "/tags"),
		"a tag no string":         malformed(ask(set("/tags", []any{"a", 7})), "/tags/1"),
		"body no string":          malformed(ask(set("/body", doc{})), "/body"),
		"sensitive no boolean":    malformed(ask(set("/sensitive", "yes")), "/sensitive"),
		"state no object":         malformed(ask(set("/state", "opaque")), "/state"),
		"key empty":               malformed(ask(set("/idempotency_key", "")), "/idempotency_key"),
		"key missing":             malformed(ask(drop("/idempotency_key")), "/idempotency_key"),
		"key missing of a task":   malformed(s.task(drop("/idempotency_key")), "/idempotency_key"),
		"key a number":            malformed(ask(set("/idempotency_key", 7)), "/idempotency_key"),
		"part of no kind":         malformed(ask(set("/context", []doc{{"text": "x"}})), "/context/0/kind"),
		"part of another kind":    malformed(ask(set("/context", []doc{{"kind": "text", "text": "x"}, {"kind": "image"}})), "/context/1/kind"),
		"part without its text":   malformed(ask(set("/context", []doc{{"kind": "text"}})), "/context/0/text"),
		"part of two kinds":       malformed(ask(set("/context", []doc{{"kind": "text", "text": "x", "data": 1}})), "/context/0/data"),
		"file without uri":        malformed(ask(set("/context", []doc{{"kind": "file", "file": doc{"name": "x"}}})), "/context/0/file/uri"),
		"context an object":       malformed(ask(set("/context", doc{})), "/context"),
		"ask without request":     malformed(ask(drop("/request")), "/request"),
		"ask with action":         malformed(ask(set("/action", doc{"instructions": "x"})), "/action"),
		"task with request":       malformed(s.task(set("/request", doc{"mode": "confirm"})), "/request"),
		"task without action":     malformed(s.task(drop("/action")), "/action"),
		"task without what to do": malformed(s.task(drop("/action/instructions")), "/action/instructions"),
		"notify with request":     malformed(s.notify(set("/request", doc{"mode": "confirm"})), "/request"),
		"mode missing":            malformed(ask(drop("/request/mode")), "/request/mode"),
		"mode unknown":            malformed(ask(set("/request/mode", "guess")), "/request/mode"),
		"select without options":  malformed(ask(set("/request/mode", "select")), "/request/options"),
		"select of none":          malformed(ask(set("/request/mode", "select"), set("/request/options", []doc{})), "/request/options"),
		"option without value":    malformed(ask(choose(), set("/request/options", []doc{{"value": "a"}, {"label": "b"}})), "/request/options/1/value"),
		"option value a number":   malformed(ask(choose(), set("/request/options", []doc{{"value": 1}})), "/request/options/0/value"),
		"input without schema":    malformed(ask(set("/request/mode", "input")), "/request/schema"),
		"permission no boolean":   malformed(ask(set("/request/permissions/allow_edit", "yes")), "/request/permissions/allow_edit"),
		"resolver of no form":     malformed(ask(resolvers("human:alice", "alice")), "/request/allowed_resolvers/1"),
		"resolvers a string":      malformed(ask(set("/request/allowed_resolvers", "human:alice")), "/request/allowed_resolvers"),
		"push without url":        malformed(ask(set("/request/callback", doc{"mode": "push"})), "/request/callback/url"),
		"default of a number":     malformed(ask(set("/request/default_on_expire", 7)), "/request/default_on_expire"),
		"expires_at no time":      malformed(ask(expires("soon")), "/expires_at"),
		"expires_at past":         invalid(ask(expires("2020-01-01T00:00:00Z")), "/expires_at"),
		"schema no schema":        invalid(ask(fillIn(), set("/request/schema/properties/reason/type", "text")), "/request/schema/properties/reason/type"),
		"schema of a bad pattern": invalid(ask(fillIn(), set("/request/schema/properties/reason/pattern", "(")), "/request/schema/properties/reason/pattern"),
		"schema from elsewhere":   invalid(ask(fillIn(), set("/request/schema/properties/reason", doc{"$ref": "https://example.com/s"})), "/request/schema/properties/reason/$ref"),
		"schema from a file":      invalid(ask(fillIn(), set("/request/schema/properties/reason", doc{"$ref": "file:///etc/passwd"})), "/request/schema/properties/reason/$ref"),
		"schema without end":      invalid(ask(fillIn(), set("/request/schema/properties/reason", doc{"$ref": "#"})), "/request/schema/properties/reason/$ref"),
		"seventeen parts":         invalid(ask(set("/context", manyParts(17))), "/context"),
		"a part too large":        invalid(ask(set("/context", []doc{{"kind": "text", "text": "x"}, partOf(128 << 10)})), "/context/1"),
		"an envelope too large":   invalid(ask(set("/body", strings.Repeat("x", 256<<10))), ""),
		"above the transport":     {ask(set("/body", strings.Repeat("x", 1<<20))), http.StatusRequestEntityTooLarge, ma2h.CodeTooLarge, ""},
		"another major":           {ask(set("/ma2h_version", "2.0")), http.StatusBadRequest, ma2h.CodeVersionNotSupported, "/ma2h_version"},
		"version malformed":       malformed(ask(set("/ma2h_version", "0.06")), "/ma2h_version"),
		"somebody else":           {ask(set("/agent/id", "other")), http.StatusForbidden, ma2h.CodeAgentIDMismatch, "/agent/id"},
	}
}

// partOf is a part of n bytes as it stands in the body.
func partOf(n int) doc {
	p := doc{"kind": "text", "text": ""}
	p["text"] = strings.Repeat("x", n+1-len(mustJSON(p)))
	return p
}

func TestBadInput_LimitsThemselvesAreAccepted(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		exactly := func(total int) doc {
			d := s.notify(set("/agent/id", "bot"), set("/body", ""))
			d["body"] = strings.Repeat("x", total-len(mustJSON(d)))
			return d
		}
		part := partOf(128<<10 - 1)
		for what, envelope := range map[string]doc{
			"sixteen parts":       s.notify(set("/context", manyParts(16))),
			"a part of 128 KiB":   s.notify(set("/context", []doc{part})),
			"a whole of 256 KiB":  exactly(256 << 10),
			"a title of 200":      s.notify(set("/title", strings.Repeat("é", 200))),
			"64 deep":             s.notify(set("/state", rawJSON(strings.Repeat(`{"a":`, 62)+"{}"+strings.Repeat("}", 62)))),
			"an unknown, at most": s.notify(set("/x", strings.Repeat("x", 200<<10))),
		} {
			s.run(what, func() {
				id := bot.accepted(envelope)
				bot.get(id).is(http.StatusOK).shows("/title", envelope["title"])
			})
		}
		bot.submit(exactly(256<<10+1)).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "")
	})
}

func TestBadInput_AnswersOverTheLimit(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask())
		body := doc{"resolution": "answered", "value": "approve", "comment": ""}
		body["comment"] = strings.Repeat("x", 64<<10+1-len(mustJSON(body)))
		s.writesNothing(func() {
			alice.resolve(id, body).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "")
			alice.resolve(id, strings.Repeat(" ", 1<<20+1)).refused(http.StatusRequestEntityTooLarge, ma2h.CodeTooLarge, "")
			bot.ack(id, strings.Repeat(" ", 1<<20+1)).refused(http.StatusRequestEntityTooLarge, ma2h.CodeTooLarge, "")
		})
		body["comment"] = body["comment"].(string)[1:]
		alice.resolve(id, body).is(http.StatusOK)
		bot.get(id).shows("/response/response/comment", body["comment"])
	})
}

// TestBadInput_QuotesNothing: a message that explains what is wrong must not carry what was sent into logs and pages.
func TestBadInput_QuotesNothing(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		const secret = "hunter2"
		for _, body := range []any{
			`{"ma2h_version":"0.6","state":{"a":"` + secret + `\ud800"}}`, `{"state":"` + secret + `"`, secret,
			s.ask(set("/state", secret)), s.ask(set("/title", doc{"t": secret})), s.ask(set("/priority", secret)),
			s.ask(set("/body", []string{secret})), s.ask(set("/created_at", secret)),
		} {
			a := bot.submit(body)
			if a.status != http.StatusBadRequest || contains(a.body, secret) {
				s.t.Errorf("%s = %d %s, want 400 that does not show what was sent", a.what, a.status, a.body)
			}
		}
	})
}

package realtime_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// TestBadInput_Submits: each gets its status, code, field and sentence, and its key stays free.
func TestBadInput_Submits(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		malformed := func(body any, field string) (any, int, ma2h.Code, string) {
			return body, http.StatusBadRequest, ma2h.CodeValidationError, field
		}
		invalid := func(body any, field string) (any, int, ma2h.Code, string) {
			return body, http.StatusUnprocessableEntity, ma2h.CodeInvalidField, field
		}
		check := func(body any, status int, code ma2h.Code, field string) {
			s.t.Helper()
			bot.submit(body).refused(status, code, field)
		}
		check(malformed("", ""))
		check(malformed("hello", ""))
		check(malformed("[]", ""))
		check(malformed(`{"ma2h_version":"0.6",}`, ""))
		check(malformed("\xff\xfe{\x00}\x00", ""))
		check(malformed(`{"ma2h_version":"0.6","title":"\ud800"}`, "/title"))
		check(malformed(s.ask(drop("title")), "/title"))
		check(malformed(s.ask(set("/title", strings.Repeat("x", 201))), "/title"))
		check(malformed(s.ask(set("/type", "shout")), "/type"))
		check(malformed(s.ask(drop("idempotency_key")), "/idempotency_key"))
		check(malformed(s.ask(set("/context", []doc{{"kind": "text"}})), "/context/0/text"))
		check(malformed(s.ask(set("/agent/labels", doc{"a/b~c": 1})), "/agent/labels/a~1b~0c"))
		check(malformed(s.ask(set("/request/mode", "guess")), "/request/mode"))
		check(malformed(s.ask(set("/ma2h_version", "0.06")), "/ma2h_version"))
		check(s.ask(set("/ma2h_version", "2.0")), http.StatusBadRequest, ma2h.CodeVersionNotSupported, "/ma2h_version")
		check(s.ask(set("/agent/id", "other")), http.StatusForbidden, ma2h.CodeAgentIDMismatch, "/agent/id")
		if !s.shared { // where another test may have let agents write to each other
			check(s.ask(set("/to", "agent:other")), http.StatusForbidden, ma2h.CodeNotAuthorized, "/to")
		}
		check(invalid(s.ask(set("/expires_at", "2020-01-01T00:00:00Z")), "/expires_at"))
		check(invalid(s.ask(choose, set("/request/default_on_expire", "other")), "/request/default_on_expire"))
		check(invalid(s.ask(fillIn, set("/request/schema/properties/reason", doc{"$ref": "https://example.com/s"})),
			"/request/schema/properties/reason/$ref"))

		once := s.ask(set("/request/mode", "guess"))
		bot.submit(once).is(http.StatusBadRequest)
		set("/request/mode", "confirm")(once)
		bot.submit(once).is(http.StatusAccepted)
	})
}

// TestBadInput_Sizes: what may be sent whole, what is refused with its field, and what is not read.
func TestBadInput_Sizes(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		whole := func(bytes int) doc {
			d := s.notify(set("/agent/id", bot.id), set("/body", ""))
			d["body"] = strings.Repeat("x", bytes-len(mustJSON(d)))
			return d
		}
		parts := func(n int) []doc {
			all := make([]doc, n)
			for i := range all {
				all[i] = doc{"kind": "text", "text": "part"}
			}
			return all
		}
		part := func(bytes int) []doc {
			p := doc{"kind": "text", "text": ""}
			p["text"] = strings.Repeat("x", bytes-len(mustJSON(p)))
			return []doc{p}
		}
		most := whole(256 << 10)
		bot.pull(bot.accepted(most), "").is(http.StatusOK).shows("/body", most["body"])
		bot.pull(bot.accepted(s.notify(set("/context", part(128<<10)))), "").is(http.StatusOK)
		bot.pull(bot.accepted(s.notify(set("/context", parts(16)))), "").is(http.StatusOK)
		bot.submit(whole(256<<10+1)).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "")
		bot.submit(s.notify(set("/context", part(128<<10+1)))).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/context/0")
		bot.submit(s.notify(set("/context", parts(17)))).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/context")
		bot.submit(whole(1<<20)).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "") // read, and too large
		bot.submit(whole(1<<20+1)).refused(http.StatusRequestEntityTooLarge, ma2h.CodeTooLarge, "")

		id := bot.accepted(s.ask())
		answer := doc{"resolution": "answered", "value": "approve", "comment": ""}
		answer["comment"] = strings.Repeat("x", 64<<10+1-len(mustJSON(answer)))
		s.owner.resolve(id, answer).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "")
		s.owner.resolve(id, strings.Repeat(" ", 1<<20+1)).refused(http.StatusRequestEntityTooLarge, ma2h.CodeTooLarge, "")
		answer["comment"] = answer["comment"].(string)[1:]
		s.owner.resolve(id, answer).is(http.StatusOK)
		bot.pull(id, "").shows("/response/response/comment", answer["comment"])
		bot.ack(id, doc{"note": strings.Repeat("x", 4<<10+1)}).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/note")
		bot.ack(id, doc{"note": strings.Repeat("x", 4<<10)}).is(http.StatusOK)
	})
}

// TestBodiesComeThroughWhateverTheirType: a gateway hands some types over as text and others in base64, and adds nothing.
func TestBodiesComeThroughWhateverTheirType(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		const title = "Größe 漢字 😀 \u202e \"quoted\" <b>&amp;</b>"
		for _, contentType := range []string{
			"application/json", "application/json; charset=utf-8", "text/plain", "application/octet-stream", "",
			"application/x-www-form-urlencoded",
		} {
			a := s.send(request{
				method: http.MethodPost, path: "/v1/messages", token: bot.token, body: bot.signed(s.notify(set("/title", title))),
				header: http.Header{"Content-Type": {contentType}},
			}).is(http.StatusAccepted)
			bot.pull(a.str("/id"), "").is(http.StatusOK).shows("/title", title)
		}
	})
}

// TestHeadersOfAnswers: nobody keeps an answer, and nobody guesses at its type.
func TestHeadersOfAnswers(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		for _, a := range []*answer{bot.submit(s.ask()), bot.submit("{"), bot.call(endpoint.Me, nil), s.nobody().call(endpoint.Discovery, nil)} {
			for name, want := range map[string]string{
				"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
			} {
				if got := a.header.Get(name); got != want {
					s.t.Errorf("%s: %s = %q, want %q", a.what, name, got, want)
				}
			}
		}
	})
}

package controlapi_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

const callbackURL = "https://agent.example/cb?x=1"

var signatureHeader = regexp.MustCompile(`^t=([0-9]+),jti=([^,]+),v1=([A-Za-z0-9_-]+)$`)

// verify recomputes the signature of a push from the text of the specification (§9.2), and nothing else of ours than
// canonical JSON. It returns the time and the nonce.
func verify(t *testing.T, p push) (seconds int64, jti string) {
	t.Helper()
	part := signatureHeader.FindStringSubmatch(p.Headers["MA2H-Signature"])
	if part == nil {
		t.Fatalf("MA2H-Signature = %q, want t=…,jti=…,v1=…", p.Headers["MA2H-Signature"])
	}
	if got := signed(t, p, part[1], part[2]); got != part[3] {
		t.Errorf("signature of %s = %s, want %s", p.Body, part[3], got)
	}
	seconds, _ = strconv.ParseInt(part[1], 10, 64)
	return seconds, part[2]
}

func signed(t *testing.T, p push, at, jti string) string {
	t.Helper()
	body, ok := mustParse(t, []byte(p.Body)).(map[string]any)
	if !ok {
		t.Fatalf("the body %q is no object", p.Body)
	}
	payload := sha256.Sum256(canonical(t, doc{"response": body["response"], "state": body["state"]}))
	var resolvedAt any
	if detail, ok := body["response"].(map[string]any); ok {
		resolvedAt = detail["resolved_at"]
	}
	mac := hmac.New(sha256.New, []byte(signingKey))
	mac.Write(canonical(t, doc{
		"ma2h_version": body["ma2h_version"], "callback_url": p.URL, "id": body["in_reply_to"],
		"in_reply_to": body["in_reply_to"], "jti": jti, "payload_sha256": hex.EncodeToString(payload[:]),
		"resolution": body["resolution"], "resolution_id": body["resolution_id"], "resolved_at": resolvedAt, "t": at,
	}))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func canonical(t *testing.T, v any) []byte {
	t.Helper()
	c, err := ma2h.Canonical(mustJSON(v))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// onePush returns the one push since the last look.
func (s *suite) onePush() push {
	s.t.Helper()
	pushes := s.pushes()
	if len(pushes) != 1 {
		s.t.Fatalf("%d pushes %v, want 1", len(pushes), pushes)
	}
	return pushes[0]
}

func TestB44_OneResolutionIDOnEveryChannel(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		push := callback(callbackURL)
		deadline := noon.Add(time.Hour)
		for what, end := range map[string]func(id string){
			"answered":  func(id string) { alice.answers(id, "approve").is(http.StatusOK) },
			"declined":  func(id string) { alice.resolve(id, doc{"resolution": "declined"}).is(http.StatusOK) },
			"cancelled": func(id string) { bot.cancel(id).is(http.StatusOK) },
			"expired": func(id string) {
				s.now = deadline.Add(time.Minute)
				s.settle(doc{"what": "message", "id": id})
			},
		} {
			s.run(what, func() {
				s.now = noon
				id := bot.accepted(s.ask(push, expires(stamp(deadline)), set("/state", doc{"n": 1.50})))
				end(id)
				sent := s.onePush()
				pushed := &answer{t: s.t, what: "the push", body: []byte(sent.Body)}
				resolution := pushed.shows("/in_reply_to", id, "/resolution", what).str("/resolution_id")
				if !strings.HasPrefix(resolution, "res_") {
					s.t.Errorf("resolution_id = %q, want one that begins with res_", resolution)
				}
				for range 2 {
					pulled := bot.get(id).is(http.StatusOK).shows("/response/resolution_id", resolution)
					same(s.t, "the pulled Response", pulled.at("/response"), pushed.json())
				}
				same(s.t, "the stored Response", s.outcome(id).at("/response"), pushed.json())
				alice.read(id).shows("/response/resolution_id", resolution)
				bot.ack(id, nil).is(http.StatusOK).shows("/resolution_id", resolution)
				same(s.t, "further pushes", len(s.pushes()), 0)
			})
		}
	})
}

func TestB44_TheReplyToTheResolverNamesItToo(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		first, second := bot.accepted(s.ask()), bot.accepted(s.ask())
		a := alice.answers(first, "approve").is(http.StatusOK).str("/resolution_id")
		b := alice.answers(second, "approve").is(http.StatusOK).str("/resolution_id")
		bot.get(first).shows("/response/resolution_id", a)
		bot.get(second).shows("/response/resolution_id", b)
		if a == b {
			s.t.Errorf("two messages share the resolution_id %s", a)
		}
	})
}

func TestB77_SignedContextOfAPush(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		taskCallback := set("/action/callback", doc{"mode": "push", "url": callbackURL,
			"auth": doc{"scheme": "hmac", "secret_ref": "env:SECRET"}})
		state := set("/state", doc{"n": rawJSON("1e2"), "s": "é\u2028 <&>", "deep": doc{"": []any{nil, true}}})
		s.later(700 * time.Millisecond)
		for what, c := range map[string]struct {
			envelope doc
			body     doc
		}{
			"all there":             {s.ask(callback(callbackURL), state), doc{"resolution": "answered", "value": "deny", "comment": "nö"}},
			"state null":            {s.ask(callback(callbackURL)), doc{"resolution": "answered", "value": "deny"}},
			"an object":             {s.ask(callback(callbackURL), fillIn()), doc{"resolution": "answered", "value": doc{"reason": "r", "n": 1.0}}},
			"no value":              {s.ask(callback(callbackURL), state), doc{"resolution": "declined"}},
			"response null":         {s.task(taskCallback, state), doc{"resolution": "completed"}},
			"response, state null":  {s.task(taskCallback), doc{"resolution": "dismissed"}},
			"a task with a comment": {s.task(taskCallback), doc{"resolution": "completed", "comment": "done"}},
		} {
			s.run(what, func() {
				id := bot.accepted(c.envelope)
				alice.resolve(id, c.body).is(http.StatusOK)
				p := s.onePush()
				seconds, _ := verify(s.t, p)
				// t is whole seconds of the hub's clock, which is past them by 700 ms.
				same(s.t, "t", seconds, noon.Unix())
				same(s.t, "what was pushed", []any{p.Message, p.Attempt, p.URL, p.Headers["Content-Type"]},
					[]any{id, 1, callbackURL, "application/json"})
			})
		}
	})
}

func TestB77_EveryPushHasANonceOfItsOwn(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		seen := map[string]bool{}
		for range 5 {
			bot.cancel(bot.accepted(s.ask(callback(callbackURL)))).is(http.StatusOK)
			_, jti := verify(s.t, s.onePush())
			if seen[jti] {
				s.t.Errorf("the nonce %s comes twice", jti)
			}
			seen[jti] = true
		}
	})
}

func TestB78_EverySchemeIsSigned(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for scheme, c := range map[string]struct {
			ref     string
			headers []string
		}{
			"hmac":   {"secret_ref", nil},
			"bearer": {"token_ref", []string{"Authorization"}},
			"apikey": {"token_ref", []string{"X-API-Key"}},
		} {
			s.run(scheme, func() {
				for _, minor := range []int{3, 6} {
					bot.cancel(bot.accepted(s.ask(version(minor), set("/request/callback",
						doc{"url": callbackURL, "auth": doc{"scheme": scheme, c.ref: "env:KEY"}})))).is(http.StatusOK)
					p := s.onePush()
					verify(s.t, p)
					for _, name := range c.headers {
						if p.Headers[name] == "" {
							s.t.Errorf("a push of scheme %s has no %s", scheme, name)
						}
					}
					same(s.t, "number of headers", len(p.Headers), 2+len(c.headers))
				}
			})
		}
	})
}

func TestB78_SchemesNameTheirKeyByTheRightRef(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for what, auth := range map[string]doc{
			"hmac without":        {"scheme": "hmac"},
			"hmac by token_ref":   {"scheme": "hmac", "token_ref": "env:A"},
			"hmac by both":        {"scheme": "hmac", "secret_ref": "env:A", "token_ref": "env:A"},
			"bearer without":      {"scheme": "bearer"},
			"bearer by secret":    {"scheme": "bearer", "secret_ref": "env:A"},
			"bearer by both":      {"scheme": "bearer", "secret_ref": "env:A", "token_ref": "env:A"},
			"apikey by secret":    {"scheme": "apikey", "secret_ref": "env:A"},
			"apikey by both":      {"scheme": "apikey", "secret_ref": "env:A", "token_ref": "env:A"},
			"an unknown scheme":   {"scheme": "basic", "token_ref": "env:A"},
			"no scheme":           {"secret_ref": "env:A"},
			"an empty secret_ref": {"scheme": "hmac", "secret_ref": ""},
		} {
			s.run(what, func() {
				a := bot.submit(s.ask(set("/request/callback", doc{"url": callbackURL, "auth": auth}))).
					refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
				if f := a.str("/error/field"); !strings.HasPrefix(f, "/request/callback/auth/") {
					s.t.Errorf("field = %q, want one below /request/callback/auth", f)
				}
			})
		}
		// No auth at all leaves nothing to sign with.
		bot.submit(s.ask(set("/request/callback", doc{"url": callbackURL}))).
			refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/callback/auth")
	})
}

func TestB78_APushStampsTheDelivery(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(callback(callbackURL)))
		alice.answers(id, "approve").is(http.StatusOK)
		delivered := doc{"state": "delivered-to-agent", "delivered_at": stamp(noon)}
		alice.read(id).shows("/delivery", delivered)
		s.later(time.Hour)
		bot.get(id).shows("/delivery", delivered)
		// Pull mode pushes nothing, whatever the url.
		id = bot.accepted(s.ask(callback(callbackURL), set("/request/callback/mode", "pull")))
		s.pushes()
		alice.answers(id, "approve").is(http.StatusOK)
		same(s.t, "pushes in pull mode", len(s.pushes()), 0)
		alice.read(id).lacks("/delivery")
	})
}

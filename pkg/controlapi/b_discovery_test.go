package controlapi_test

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"net/http"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/schema"
)

func TestChoice_DiscoveryAnswersUnderBothNames(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		first := s.send(request{method: "GET", path: "/.well-known/ma2h"}).is(http.StatusOK)
		second := s.send(request{method: "GET", path: "/.well-known/ma2h-capability"}).is(http.StatusOK)
		same(s.t, "the second document", string(second.body), string(first.body))
		same(s.t, "Content-Type", first.header.Get("Content-Type"), "application/json")
	})
}

func TestDiscovery_MeetsTheSchema(t *testing.T) {
	onStoresWith(t, doc{"retention_days": 7}, func(_ *testing.T, s *suite) {
		a := s.send(request{method: "GET", path: "/.well-known/ma2h"}).is(http.StatusOK)
		a.shaped(ma2h.KindCapability, ma2h.Newest)
		if err := compile(s.t, "capability").Validate(a.json()); err != nil {
			s.t.Errorf("GET /.well-known/ma2h = %s: %v", a.body, err)
		}
		a.shows("/ma2h_version", "0.6", "/retention_days", 7, "/replay_window_seconds", 120, "/max_body_bytes", 256<<10,
			"/max_part_bytes", 128<<10, "/max_context_parts", 16, "/ack", doc{"enabled": true}, "/auth_schemes", []string{"bearer", "apikey"})
		a.lacks("/rate_limit") // limits that a tenant has not
		a.shows("/inbound", doc{
			"enabled": true, "poll_url": "https://hub.example/v1/inbox", "ack_url": "https://hub.example/v1/inbox/ack", "max_batch": 32,
			"visibility_timeout_seconds": 60, "retention_days": 7, "signature_algs": []string{"hmac-sha256"}, "webhook_supported": true,
			"session_param": true, "stream_url": "https://hub.example/v1/inbox/stream", "stream_max_hold_seconds": 60,
		}, "/inter_agent", doc{"enabled": true, "entry_kinds": []string{"message", "response", "receipt"}, "sender_allowlists": true})
	})
}

// TestB60_NoHoldIsLongerThanTheFreshnessWindow: whatever of the two a tenant says.
func TestB60_NoHoldIsLongerThanTheFreshnessWindow(t *testing.T) {
	onStoresWith(t, doc{"freshness_seconds": 20}, func(_ *testing.T, s *suite) {
		s.send(request{method: "GET", path: "/.well-known/ma2h"}).is(http.StatusOK).
			shows("/presence/freshness_seconds", 20, "/inbound/stream_max_hold_seconds", 20)
		s.tenant = ""
		s.send(request{method: "POST", path: "/_conformance/tenants", body: doc{"freshness_seconds": 20, "stream_max_hold_seconds": 21}}).
			refused(http.StatusBadRequest, ma2h.CodeValidationError, "/stream_max_hold_seconds")
	})
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	err := fs.WalkDir(schema.Files(), "v0.6", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(schema.Files(), path)
		if err != nil {
			return err
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			return err
		}
		return c.AddResource(schema.Base+path, document)
	})
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(schema.Base + schema.Path("0.6", name))
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestDiscovery_JWKS(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		a := s.send(request{method: "GET", path: "/.well-known/jwks.json"}).is(http.StatusOK)
		keys, _ := a.at("/keys").([]any)
		if len(keys) == 0 {
			s.t.Errorf("GET /.well-known/jwks.json = %s, want a key", a.body)
		}
		for _, k := range keys {
			k := k.(map[string]any)
			same(s.t, "members", keysOf(k), []string{"alg", "crv", "kid", "kty", "use", "x"})
			same(s.t, "kind", []any{k["kty"], k["crv"], k["alg"], k["use"]}, []any{"OKP", "Ed25519", "EdDSA", "sig"})
			if x, err := base64.RawURLEncoding.DecodeString(k["x"].(string)); err != nil || len(x) != 32 {
				s.t.Errorf("x = %v has %d bytes, error %v; want 32", k["x"], len(x), err)
			}
		}
	})
}

func TestDiscovery_UnknownPathsAndMethods(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		for _, path := range []string{"/v1", "/v1/", "/v1/message", "/v1/messages/" + id + "/nothing", "/v2/messages", "/.well-known/x", "/v1/messages/"} {
			bot.send("GET", path, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		for path, allowed := range map[string]string{
			"/v1/messages": "POST", "/v1/messages/" + id: "GET, HEAD", "/v1/messages/" + id + "/cancel": "POST", "/v1/me": "GET, HEAD",
			"/.well-known/ma2h": "GET, HEAD", "/v1/messages/" + id + "/resolve": "POST", "/v1/messages/" + id + "/ack": "POST",
		} {
			for _, method := range []string{"DELETE", "PATCH", map[string]string{"GET, HEAD": "POST", "POST": "GET"}[allowed]} {
				a := bot.send(method, path, nil).refused(http.StatusMethodNotAllowed, ma2h.CodeMethodNotAllowed, "")
				same(s.t, "Allow of "+path, a.header.Get("Allow"), allowed)
			}
		}
		bot.get(id).shows("/status", "open")
	})
}

func TestLegs_MailBetweenAgentsIsOffAtFirst(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		s.owns("alice", "bot", "other")
		bot, alice := s.agent("bot"), s.person("alice")
		s.agent("other")
		s.writesNothing(func() {
			for _, to := range []string{"agent:other", "agent:nobody", "agent:other#sess_1", "agent:bot"} {
				for _, e := range []doc{s.ask(set("/to", to)), s.task(set("/to", to)), s.notify(set("/to", to))} {
					bot.submit(e).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "/to")
				}
			}
			bot.submit(s.ask(set("/agent/session", "sess_1"))).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/agent/session")
			for _, to := range []any{"human:alice", "agent:", "agent:x#y", "other", 7, ""} {
				bot.submit(s.ask(set("/to", to))).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/to")
			}
			for _, session := range []any{"s_1", "", nil, 7} {
				bot.submit(s.ask(set("/agent/session", session))).
					refused(http.StatusBadRequest, ma2h.CodeValidationError, "/agent/session")
			}
		})
		same(t, "what waits", alice.waiting(), []string{})
	})
}

// TestChoice_AddressedSubmitWithoutTheOptIn: until an account can opt in, all are without.
func TestChoice_AddressedSubmitWithoutTheOptIn(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "other")
		s.agent("bot").submit(s.notify(version(5), set("/to", "agent:other"))).
			refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "/to")
	})
}

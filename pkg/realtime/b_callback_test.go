package realtime_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// callbacksOf does once all that people do about where answers go.
func (s *server) callbacksOf(bot *caller) {
	s.t.Helper()
	s.owner.call(endpoint.HostBind, doc{"agent": bot.id, "host": "Callback.example:8443", "proof": "person"}).is(http.StatusCreated).
		shows("/host", "callback.example:8443", "/proof", "person", "/by", s.owner.actor)
	s.owner.call(endpoint.SecretAdd, doc{"agent": bot.id, "ref": "env:NEXT"}).is(http.StatusCreated).shows("/ref", "env:NEXT")
	s.owner.call(endpoint.SecretAdd, doc{"agent": bot.id, "ref": "env:NEXT", "value": "a-secret-of-mine"}).is(http.StatusCreated).lacks("/value")
	read := s.owner.readAgent(bot.id).is(http.StatusOK).shows("/id", bot.id)
	secrets, _ := read.at("/secrets").([]any)
	if len(secrets) != 3 || lookUp(secrets[1], "/until") != lookUp(secrets[2], "/from") || lookUp(secrets[2], "/state") != "next" {
		s.t.Errorf("the secrets are %v, want one of the agent's, and one that another will replace", secrets)
	}
	s.owner.call(endpoint.SecretUse, doc{"agent": bot.id, "ref": "env:NEXT"}).is(http.StatusNoContent)
	s.owner.call(endpoint.SecretRemove, doc{"agent": bot.id, "ref": "env:NEXT"}).is(http.StatusNoContent)
	s.owner.call(endpoint.HostUnbind, doc{"agent": bot.id, "host": "callback.example:8443"}).is(http.StatusNoContent)
	read = s.owner.readAgent(bot.id).is(http.StatusOK)
	same(s.t, "what is left", []any{read.at("/hosts"), read.at("/secret_refs")}, []any{[]any{}, []any{hub.PushSecretRef}})

	in := s.callback(404, 200)
	s.owner.call(endpoint.WebhookPut, doc{"agent": bot.id, "url": in.url()}).is(http.StatusNoContent)
	s.owner.readAgent(bot.id).is(http.StatusOK).shows("/webhook/url", in.url(), "/webhook/host", in.address, "/webhook/by", s.owner.actor)
	s.owner.call(endpoint.WebhookPut, doc{"agent": bot.id, "url": nil}).is(http.StatusNoContent)
	id := s.answered(bot, in)
	s.until("it is given up", func() bool { return s.read(id).at("/callback/state") == "given_up" })
	s.owner.call(endpoint.SendAgain, nil, id).is(http.StatusAccepted)
	s.until("it is taken", func() bool { return s.read(id).at("/callback/state") == "delivered" })
}

// credential is a callback of a scheme that carries a token.
func (in *inbound) credential(scheme string) edit {
	return set("/request/callback", doc{
		"mode": "push", "url": in.url(), "auth": doc{"scheme": scheme, "token_ref": "env:TOKEN"},
	})
}

// hubKeys are the keys of the hub's JWKS.
func (s *server) hubKeys() []ed25519.PublicKey {
	s.t.Helper()
	var keys []ed25519.PublicKey
	list, _ := s.nobody().call(endpoint.JWKS, nil).is(http.StatusOK).at("/keys").([]any)
	for _, k := range list {
		x, _ := lookUp(k, "/x").(string)
		key, err := base64.RawURLEncoding.DecodeString(x)
		if err != nil {
			s.t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// TestB78_EverySchemeIsSignedByItsKey: hmac by the agent's secret, the others by the hub, and their token goes with them.
func TestB78_EverySchemeIsSignedByItsKey(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, token := s.agent("bot"), "the-token-of-the-receiver"
		s.nobody().call(endpoint.Discovery, nil).is(http.StatusOK).
			shows("/callback_auth_schemes", []any{"hmac", "bearer", "apikey"}, "/signature_algs", []any{"hmac-sha256", "ed25519"})
		s.owner.call(endpoint.SecretAdd, doc{"agent": bot.id, "ref": "env:TOKEN", "value": token}).is(http.StatusCreated)
		for scheme, want := range map[string]http.Header{
			"bearer": {"Authorization": {"Bearer " + token}}, "apikey": {"X-Api-Key": {token}}, "hmac": {},
		} {
			s.run(scheme, func() {
				in := s.callback()
				callback, by := in.pushed(), &client.Verifier{Secrets: []string{bot.secret}, URL: in.url()}
				if scheme != ma2h.SchemeHMAC {
					callback, by = in.credential(scheme), &client.Verifier{PublicKeys: s.hubKeys(), URL: in.url()}
				}
				id := bot.accepted(s.ask(callback))
				s.owner.answers(id, "approve").is(http.StatusOK)
				s.until("it is taken", func() bool { return s.read(id).at("/callback/state") == "delivered" })
				got := in.attempts()[0]
				for _, name := range []string{"Authorization", "X-Api-Key"} {
					same(s.t, name, got.header.Values(name), want.Values(name))
				}
				if _, err := by.Verify(got.request()); err != nil {
					s.t.Errorf("the push under %s does not verify: %v", scheme, err)
				}
				s.read(id).shows("/callback/scheme", scheme, "/callback/host", in.address).lacks("/message/request/callback")
			})
		}
	})
}

// TestB78_ASecretIsReplacedWithOverlap: until its time the old one signs, and a receiver that has both misses nothing.
func TestB78_ASecretIsReplacedWithOverlap(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, in := s.agent("bot"), s.callback()
		next := s.owner.call(endpoint.SecretAdd, doc{"agent": bot.id, "ref": hub.PushSecretRef}).is(http.StatusCreated).str("/value")
		signers := func() []string {
			var by []string
			for _, a := range in.attempts() {
				for name, secret := range map[string]string{"old": bot.secret, "next": next} {
					if _, err := (&client.Verifier{Secrets: []string{secret}, URL: in.url()}).Verify(a.request()); err == nil {
						by = append(by, name)
					}
				}
			}
			return by
		}
		s.answered(bot, in)
		s.until("a push comes", func() bool { return len(in.attempts()) == 1 })
		s.owner.call(endpoint.SecretUse, doc{"agent": bot.id, "ref": hub.PushSecretRef}).is(http.StatusNoContent)
		s.answered(bot, in)
		s.until("another push comes", func() bool { return len(in.attempts()) == 2 })
		same(s.t, "who signed", signers(), []string{"old", "next"})
		both := &client.Verifier{Secrets: []string{next, bot.secret}, URL: in.url()}
		for _, a := range in.attempts() {
			if _, err := both.Verify(a.request()); err != nil {
				s.t.Errorf("a push does not verify under both secrets: %v", err)
			}
		}
	})
}

// TestB78_SentAgainIsTheSameResponse: a person who has mended what was wrong has the answer sent again.
func TestB78_SentAgainIsTheSameResponse(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, in := s.agent("bot"), s.callback(404, 503, 200)
		id := s.answered(bot, in)
		s.until("it is given up", func() bool { return s.read(id).at("/callback/state") == "given_up" })
		s.read(id).shows("/callback/send_again", true)
		bot.call(endpoint.SendAgain, nil, id).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		s.owner.call(endpoint.SendAgain, nil, "msg_unknown").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		s.owner.call(endpoint.SendAgain, nil, id).is(http.StatusAccepted)
		s.until("it is taken", func() bool { return s.read(id).at("/callback/state") == "delivered" })
		same(s.t, "what was tried", s.tried(id), []string{"404", "503", "200"}) // a round of its own, with retries
		in.verified(s.t, bot.secret)                                            // the same bytes each time
		s.owner.call(endpoint.SendAgain, nil, id).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "")
	})
}

// TestB79_CredentialsGoToBoundHostsOnly: a host is bound before anything is sent there, and what is taken away is not sent,
// though it was submitted before.
func TestB79_CredentialsGoToBoundHostsOnly(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		s.owner.call(endpoint.SecretAdd, doc{"agent": bot.id, "ref": "env:TOKEN"}).is(http.StatusCreated)
		callback := func(url string) edit {
			return set("/request/callback", doc{"url": url, "auth": doc{"scheme": "bearer", "token_ref": "env:TOKEN"}})
		}
		const host = "agent.callback.invalid" // which no DNS knows
		ask := func(url string) *answer { return bot.submit(s.ask(callback(url))) }
		ask("https://"+host+"/x").refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/callback/url")
		s.owner.call(endpoint.HostBind, doc{"agent": bot.id, "host": host, "proof": "well-known"}).
			refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/proof")
		s.owner.call(endpoint.HostBind, doc{"agent": bot.id, "host": host, "proof": "dns"}).
			refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/proof")
		s.owner.call(endpoint.HostBind, doc{"agent": bot.id, "host": host, "proof": "person"}).is(http.StatusCreated)
		for _, url := range []string{
			"https://" + host + ":8443/x", "https://x." + host + "/x", "https://callback.invalid/x", "https://" + host + "./x",
			"http://" + host + "/x", "https://" + host + "@evil.invalid/x",
		} {
			ask(url).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/callback/url")
		}
		for _, inside := range []string{"10.0.0.1", "127.0.0.1", "169.254.169.254", "[::ffff:10.0.0.1]", "localhost", "2130706433", host + "."} {
			s.owner.call(endpoint.HostBind, doc{"agent": bot.id, "host": inside, "proof": "person"}).
				refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/host")
		}
		id := ask("https://" + host + "/x").is(http.StatusAccepted).str("/id")
		s.owner.call(endpoint.HostUnbind, doc{"agent": bot.id, "host": host}).is(http.StatusNoContent)
		s.owner.answers(id, "approve").is(http.StatusOK)
		s.until("it is given up", func() bool { return s.read(id).at("/callback/state") == "given_up" })
		same(s.t, "what was tried", s.tried(id), []string{"unbound"})
		bot.pull(id, "").is(http.StatusOK).shows("/status", "answered") // the answer is not lost
	})
}

// TestB79_NothingInsideIsCalled: what is special is refused at once, and a name that is not known fails as that.
func TestB79_NothingInsideIsCalled(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		callback := func(url string) edit {
			return set("/request/callback", doc{"url": url, "auth": doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef}})
		}
		for _, url := range []string{
			"https://10.0.0.1/", "https://169.254.169.254/latest/meta-data/", "https://[fd00::1]/", "https://0x7f000001/", "https://127.1/",
			"https://localhost/", "https://[::ffff:127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "http://callback.invalid/",
			"https://user@callback.invalid/", "https://callback.invalid./", "https://127。0。0。1/",
		} {
			bot.submit(s.ask(callback(url))).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/request/callback/url")
		}
	})
}

// TestB78_EveryFailureIsToldApart: whoever looks why no answer arrives is told what the hub met with.
func TestB78_EveryFailureIsToldApart(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		for want, script := range map[string][]int{"302": {302}, "reset": {0, 200}, "410": {410}} {
			id := s.answered(bot, s.callback(script...))
			s.until("an attempt is noted", func() bool { return len(s.tried(id)) > 0 })
			if got := s.tried(id); !slices.Contains(got, want) {
				s.t.Errorf("what was tried = %v, want %s", got, want)
			}
		}
		s.owner.call(endpoint.SecretAdd, doc{"agent": bot.id, "ref": "env:SHORT"}).is(http.StatusCreated)
		in := s.callback()
		id := bot.accepted(s.ask(in.pushed(), set("/request/callback/auth/secret_ref", "env:SHORT")))
		s.owner.call(endpoint.SecretRemove, doc{"agent": bot.id, "ref": "env:SHORT"}).is(http.StatusNoContent)
		s.owner.answers(id, "approve").is(http.StatusOK)
		s.until("it is given up", func() bool { return s.read(id).at("/callback/state") == "given_up" })
		same(s.t, "what was tried", s.tried(id), []string{"no_key"})
		if at, ok := ma2h.ParseTime(s.read(id).str("/callback/given_up_at")); !ok || time.Since(at) > time.Hour {
			s.t.Errorf("it says that it was given up at %s", at)
		}
	})
}

package controlapi_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/controlapi"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// What hostile callers tried, each as a rule.

func TestAttack_AnIDThatReadsLikeASessionResolvesNothingThatNamesTheSession(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		x, twin := s.agent("x"), s.agent("x#sess_1")
		id := x.accepted(s.ask(set("/request/allowed_resolvers", []string{"agent:x#sess_1"})))
		s.writesNothing(func() { twin.answers(id, "approve").is(http.StatusNotFound) })
		x.get(id).shows("/status", "open")
	})
}

func TestAttack_AReadingHasNothingThatIsTheSubmittersOwn(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, envelope := range []doc{s.ask(set("/request/callback", doc{
			"mode": "push", "url": "https://agent.example/secret-path?token=t", "auth": doc{"scheme": "hmac", "secret_ref": "env:X"},
		})), s.task()} {
			envelope["state"], envelope["client_ref"] = doc{"k": "sealed-state"}, "own-label"
			id := bot.accepted(envelope)
			a := alice.read(id).is(http.StatusOK)
			for _, own := range []string{"secret-path", "secret_ref", "sealed-state", "own-label"} {
				if strings.Contains(string(a.body), own) {
					t.Errorf("%s shows %q: %s", a.what, own, a.body)
				}
			}
		}
	})
}

func TestAttack_ARefusedOwnershipLeavesThePersonWhereTheyWere(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask())
		s.control("POST", "owners", doc{"agent": "bot", "owner": "human:alice"}).is(http.StatusBadRequest)
		alice.answers(id, "approve").is(http.StatusOK)
	})
}

func TestAttack_PathsThatMeanAnotherGetTheErrorEnvelope(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for _, path := range []string{"/v1//messages", "/v1/./messages", "/v1/x/../messages", "/v1/messages/../messages"} {
			s.send(request{method: "POST", path: path, token: bot.token, body: s.ask()}).
				refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		bot.send("GET", "/v1/messages/msg_1?wait=Infinity", nil).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/wait")
	})
}

// Who shows no credential is answered before the body is there; a credential is no reason to wait for ever either, which
// the transport's own timeout sees to.
func TestAttack_NobodyWaitsForTheBodyOfAStranger(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		u, err := url.Parse(s.url)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprintf(conn, "POST /v1/messages HTTP/1.1\r\nHost: hub\r\n%s: %s\r\nContent-Length: 100\r\n\r\n{", controlapi.TenantHeader, s.tenant)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("a request without credential and half its body = %v, want an answer", err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("a request without credential and half its body = %d, want 401", resp.StatusCode)
		}
	})
}

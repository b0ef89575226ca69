package controlapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/controlapi"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// with sends GET /v1/me with these headers and no others.
func (s *suite) with(header http.Header) *answer {
	s.t.Helper()
	return s.send(request{method: "GET", path: "/v1/me", header: header})
}

func TestB83_SchemeWhateverItsCase(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		for _, c := range []*caller{bot, alice} {
			for _, scheme := range []string{"Bearer ", "bearer ", "BEARER ", "bEaReR ", "Bearer   "} {
				s.with(http.Header{"Authorization": {scheme + c.token}}).is(http.StatusOK).shows("/actor", c.actor)
			}
			s.with(http.Header{"X-Api-Key": {c.token}}).is(http.StatusOK).shows("/actor", c.actor)
		}
	})
}

func TestB83_TheTokenExactly(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice, other := s.agent("bot"), s.person("alice"), s.agent("other")
		for _, token := range []string{bot.token, alice.token} {
			last := strings.LastIndex(token, "_")
			for what, wrong := range map[string]string{
				"upper case":        strings.ToUpper(token),
				"one letter upper":  strings.Replace(token, "mash", "Mash", 1),
				"one short":         token[:len(token)-1],
				"one more":          token + "0",
				"another secret":    token[:last] + other.token[strings.LastIndex(other.token, "_"):],
				"no secret":         token[:last+1],
				"quoted":            `"` + token + `"`,
				"a word more":       token + " x",
				"a comma":           token + "," + token,
				"twice":             token + " " + token,
				"nothing":           "",
				"no form":           "secret",
				"somebody else":     elsewhere(token),
				"non-ASCII":         token[:len(token)-1] + "é",
				"Latin-1":           token[:len(token)-1] + "\xe9",
				"full width":        token + "\uff10",
				"of the other kind": swapKind(token),
			} {
				s.run(what, func() {
					for _, h := range []http.Header{{"Authorization": {"Bearer " + wrong}}, {"X-Api-Key": {wrong}}} {
						s.with(h).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
					}
				})
			}
			for _, header := range []string{"", "Bearer", "Bearer" + token, token, "Basic " + token, "Token " + token, "Bearer\t" + token} {
				a := s.with(http.Header{"Authorization": {header}}).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
				same(s.t, "WWW-Authenticate", a.header.Get("WWW-Authenticate"), "Bearer")
			}
		}
		s.with(http.Header{}).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
	})
}

// elsewhere makes a token name another agent or person.
func elsewhere(token string) string {
	parts := strings.Split(token, "_")
	parts[2] = strings.Repeat("0", len(parts[2]))
	return strings.Join(parts, "_")
}

// swapKind makes an agent's token look like a person's, and the other way.
func swapKind(token string) string {
	if rest, ok := strings.CutPrefix(token, "mashp_"); ok {
		return "mash_" + rest
	}
	return "mashp_" + strings.TrimPrefix(token, "mash_")
}

func TestB83_TwoCredentialsAreRefused(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, other := s.agent("bot"), s.agent("other")
		for what, header := range map[string]http.Header{
			"two bearers":       {"Authorization": {"Bearer " + bot.token, "Bearer " + other.token}},
			"the same twice":    {"Authorization": {"Bearer " + bot.token, "Bearer " + bot.token}},
			"one of each":       {"Authorization": {"Bearer " + bot.token}, "X-Api-Key": {other.token}},
			"two keys":          {"X-Api-Key": {bot.token, other.token}},
			"one good, one not": {"Authorization": {"Bearer " + bot.token, "Basic eDp5"}},
			"one empty":         {"Authorization": {"Bearer " + bot.token}, "X-Api-Key": {""}},
		} {
			s.run(what, func() { s.with(header).refused(http.StatusBadRequest, ma2h.CodeValidationError, "") })
		}
	})
}

// TestB83_RawBytesInTheToken sends what no HTTP client of Go sends.
func TestB83_RawBytesInTheToken(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		for _, token := range []string{bot.token + "\xff\xfe", "\xf0\x9f\x98\x80", bot.token[:10] + "\x80" + bot.token[11:]} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				s.t.Fatal(err)
			}
			fmt.Fprintf(conn, "GET /v1/me HTTP/1.1\r\nHost: hub\r\nConnection: close\r\n%s: %s\r\nAuthorization: Bearer %s\r\n\r\n",
				controlapi.TenantHeader, s.tenant, token)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				s.t.Fatal(err)
			}
			a := &answer{t: s.t, what: "GET /v1/me", status: resp.StatusCode, header: resp.Header}
			a.body, _ = io.ReadAll(resp.Body)
			_, _ = resp.Body.Close(), conn.Close()
			a.refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
		}
	})
}

func TestCredentials_EveryEndpointWantsOne(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		id := s.agent("bot").accepted(s.ask())
		for _, r := range []request{
			{method: "POST", path: "/v1/messages", body: s.ask()}, {method: "POST", path: "/v1/messages", body: "{"},
			{method: "GET", path: "/v1/messages/" + id}, {method: "POST", path: "/v1/messages/" + id + "/cancel"},
			{method: "POST", path: "/v1/messages/" + id + "/resolve", body: doc{"resolution": "declined"}},
			{method: "POST", path: "/v1/messages/" + id + "/ack"}, {method: "GET", path: "/v1/waiting"},
			{method: "GET", path: "/v1/waiting/" + id}, {method: "GET", path: "/v1/me"}, {method: "GET", path: "/v1/agents"},
			{method: "POST", path: "/v1/agents", body: doc{"id": "x"}}, {method: "PUT", path: "/v1/settings", body: doc{}},
		} {
			for _, token := range []string{"", "mash_000000000000_" + strings.Repeat("0", 26) + "_" + strings.Repeat("0", 26)} {
				r.token = token
				s.writesNothing(func() { s.send(r).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "") })
			}
		}
	})
}

func TestCredentials_TheTokenIsForOneAgentID(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot := s.agent("bot")
		s.agent("other")
		for _, id := range []string{"other", "Bot", "bot ", "bot/x", "nobody"} {
			s.writesNothing(func() {
				bot.submit(s.ask(set("/agent/id", id))).refused(http.StatusForbidden, ma2h.CodeAgentIDMismatch, "/agent/id")
			})
		}
		// All tokens of an agent are good.
		second := s.agent("bot")
		id := bot.accepted(s.ask())
		second.get(id).is(http.StatusOK)
	})
}

func TestCredentials_TenantsShareNothing(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		other := newSuite(t, engine{name: "SQLite", open: openSQLite}, doc{})
		bot, alice := s.agent("bot"), s.person("alice")
		theirs := other.agent("bot")
		id := bot.accepted(s.ask(set("/idempotency_key", "k")))
		if twin := theirs.accepted(other.ask(set("/idempotency_key", "k"))); twin == id {
			t.Errorf("two tenants share the message %s", id)
		}
		theirs.get(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		stray := other.send(request{method: "GET", path: "/v1/me", token: bot.token})
		stray.refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
		other.person("alice").answers(id, "approve").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		same(t, "what waits", alice.waiting(), []string{id})
	})
}

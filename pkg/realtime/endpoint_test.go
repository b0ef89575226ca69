package realtime_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/httpapi"
	"github.com/mash-hub/mash/pkg/inbox"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// TestEveryEndpointDoesWhatItIsFor goes once through the whole table. An endpoint that this does not call is a failure.
func TestEveryEndpointDoesWhatItIsFor(t *testing.T) {
	onEngines(t, func(s *server) {
		s.nobody().call(endpoint.Healthz, nil).is(http.StatusOK).shows("/status", "ok")
		capability := s.nobody().call(endpoint.Discovery, nil).is(http.StatusOK)
		capability.shaped(ma2h.KindCapability, ma2h.Newest)
		s.nobody().call(endpoint.DiscoveryAlias, nil).is(http.StatusOK).shows("", capability.json())
		s.jwks()
		s.nobody().call(endpoint.Readyz, nil).is(http.StatusOK).shows("/status", "ready")

		bot := s.agent("bot") // agent-add
		s.owner.call(endpoint.Me, nil).is(http.StatusOK).shows("/actor", s.owner.actor, "/owner", s.owner.actor)
		bot.call(endpoint.Me, nil).is(http.StatusOK).shows("/actor", bot.actor, "/agent_id", bot.id, "/owner", s.owner.actor)
		s.until("the agent is listed", func() bool { return s.listed(bot.id) != nil })

		id := bot.submit(s.ask()).is(http.StatusAccepted).str("/id")
		s.until("it waits", func() bool { return s.waits(id) })
		s.read(id).is(http.StatusOK).shows("/title", "Ship it?", "/agent_id", bot.id, "/may_resolve", true)
		bot.call(endpoint.Pull, nil, id).is(http.StatusOK).shows("/status", "open")
		s.owner.answers(id, "approve").is(http.StatusOK).shows("/status", "answered")
		s.until("it waits no longer", func() bool { return !s.waits(id) })
		bot.pull(id, "").is(http.StatusOK).shows("/status", "answered", "/response/response/actor", s.owner.actor)
		bot.ack(id, doc{"note": "Thanks."}).is(http.StatusOK).shows("/by", bot.actor, "/in_reply_to", id)
		bot.cancel(bot.accepted(s.ask())).is(http.StatusOK).shows("/status", "cancelled")

		made := s.owner.call(endpoint.AgentRotate, nil, bot.id).is(http.StatusCreated)
		made.shows("/id", bot.id, "/push_secret", bot.secret)
		s.callbacksOf(bot)
		s.mailOf(bot)
		s.streamsOf(bot)
		s.sessionsOf(bot)
		s.owner.call(endpoint.AgentRevoke, nil, bot.id).is(http.StatusNoContent)
		bot.call(endpoint.Me, nil).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
		link := s.owner.call(endpoint.Link, nil).is(http.StatusCreated).str("/url")
		if !strings.HasPrefix(link, s.url+"/in/") {
			s.t.Errorf("the link is %s, want one of %s", link, s.url)
		}
		s.owner.call(endpoint.SettingsPut, doc{"default_resolvers": []string{}}).is(http.StatusNoContent)
		s.owner.call(endpoint.SettingsRead, nil).is(http.StatusOK).shows("/default_resolvers", []any{})

		name := unique("grace")
		made = s.owner.call(endpoint.PersonInvite, doc{"name": name, "role": "member"}).is(http.StatusCreated)
		if join := made.str("/url"); !strings.HasPrefix(join, s.url+"/join/") {
			s.t.Errorf("the invitation is %s, want one of %s", join, s.url)
		}
		s.until("the invitation is listed", func() bool {
			return s.owner.call(endpoint.PersonList, nil).is(http.StatusOK).has("/invitations", "/id", made.str("/id"))
		})
		s.owner.call(endpoint.PersonRemove, nil, made.str("/id")).is(http.StatusNoContent)
		s.owner.call(endpoint.PersonRemove, nil, made.str("/id")).refused(http.StatusNotFound, ma2h.CodeNotFound, "")

		for _, e := range endpoint.All() {
			if s.called[e.Name] == 0 {
				s.t.Errorf("nothing has called %s (%s)", e.Name, e.Pattern())
			}
		}
	})
}

// nobody is a caller without a credential.
func (s *server) nobody() *caller { return &caller{server: s} }

// jwks holds the key set to what a verifier needs of it.
func (s *server) jwks() {
	s.t.Helper()
	answer := s.nobody().call(endpoint.JWKS, nil).is(http.StatusOK)
	if got, want := answer.header.Get("Cache-Control"), "public, max-age=300"; got != want {
		s.t.Errorf("the key set comes with Cache-Control %q, want %q", got, want)
	}
	keys, _ := answer.at("/keys").([]any)
	if len(keys) == 0 {
		s.t.Error("the key set is empty")
	}
	for _, k := range keys {
		x, _ := lookUp(k, "/x").(string)
		key, err := base64.RawURLEncoding.DecodeString(x)
		if lookUp(k, "/kty") != "OKP" || lookUp(k, "/crv") != "Ed25519" || err != nil || len(key) != 32 {
			s.t.Errorf("a key of the set is %v, want one of ed25519", k)
		}
	}
}

// listed is the row of an agent in the list of all, or nil.
func (s *server) listed(id string) any {
	s.t.Helper()
	rows, _ := s.owner.call(endpoint.AgentList, nil).is(http.StatusOK).at("/agents").([]any)
	for _, row := range rows {
		if lookUp(row, "/id") == id {
			return row
		}
	}
	return nil
}

// TestB83_CredentialsAreAskedForEverywhere: without one that is good, no endpoint but the open ones says anything.
func TestB83_CredentialsAreAskedForEverywhere(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		for _, e := range endpoint.All() {
			good := bot.token
			switch e.Caller {
			case endpoint.None:
				continue
			case endpoint.Person:
				good = s.owner.token
			}
			path := strings.NewReplacer("{id}", id, "{agent}", bot.id).Replace(e.Path)
			path = s.placeOf(e, path)
			for what, header := range badCredentials(good) {
				a := s.send(request{method: e.Method, path: path, header: header, body: doc{}})
				if a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != "Bearer" {
					s.t.Errorf("%s with %s = %d %s, WWW-Authenticate %q; want 401", a.what, what, a.status, a.body,
						a.header.Get("WWW-Authenticate"))
				}
			}
		}
	})
}

// badCredentials are ways to have no credential, made from one that is good.
func badCredentials(good string) map[string]http.Header {
	last := strings.LastIndex(good, "_") + 1
	return map[string]http.Header{
		"none":           {},
		"no scheme":      {"Authorization": {good}},
		"basic":          {"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("x:"+good))}},
		"another secret": {"Authorization": {"Bearer " + good[:last] + ma2h.NewTail()}},
		"cut short":      {"Authorization": {"Bearer " + good[:last]}},
		"of nobody":      {"X-Api-Key": {good[:strings.Index(good, "_")] + "_x_y_z"}},
	}
}

// TestB83_OneCredentialInWhateverCase: a gateway writes header names in its own way.
func TestB83_OneCredentialInWhateverCase(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		twice := http.Header{"Authorization": {"Bearer " + bot.token}, "X-Api-Key": {bot.token}}
		s.send(request{method: http.MethodGet, path: "/v1/me", header: twice}).
			refused(http.StatusBadRequest, ma2h.CodeValidationError, "")
		for _, header := range []http.Header{
			{"authorization": {"bearer " + bot.token}}, {"AUTHORIZATION": {"BEARER " + bot.token}},
			{"X-API-Key": {bot.token}}, {"x-api-key": {bot.token}},
		} {
			s.send(request{method: http.MethodGet, path: "/v1/me", header: header}).is(http.StatusOK).shows("/actor", bot.actor)
		}
	})
}

// TestCallersOfTheWrongKindAreRefused: agents do not manage the account, and people do not submit.
func TestCallersOfTheWrongKindAreRefused(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		for name, body := range map[endpoint.Name]any{
			endpoint.Waiting: nil, endpoint.AgentList: nil, endpoint.Link: nil, endpoint.AgentAdd: doc{"id": unique("x")},
			endpoint.SettingsPut: doc{"default_resolvers": []string{}}, endpoint.DirectiveSend: doc{"to": bot.actor, "title": "x"},
			endpoint.AllowlistPut: doc{"agent": bot.id, "senders": nil}, endpoint.WebhookPut: doc{"agent": bot.id, "url": nil},
		} {
			bot.call(name, body).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		}
		bot.call(endpoint.AgentRotate, nil, bot.id).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		bot.call(endpoint.AgentRevoke, nil, bot.id).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		s.owner.call(endpoint.Drain, nil).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		s.owner.call(endpoint.InboxAck, doc{"ids": []string{}}).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		envelope := s.ask(set("/agent/id", bot.id))
		s.owner.call(endpoint.Submit, envelope).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
	})
}

// TestWhereThereIsNothing: paths and methods that are no endpoint, for programs.
func TestWhereThereIsNothing(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		for _, path := range []string{
			"/v1", "/v1/", "/v1/nothing", "/v2/messages", "/v1/messages/", "/v1/messages/msg_1/nothing", "/nothing",
			"/.well-known/nothing", "/v1/inbox/nothing", "/_conformance/tenants",
		} {
			bot.get(path).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		for _, c := range []struct{ method, path, allow string }{
			{http.MethodGet, "/v1/messages", "POST"}, {http.MethodDelete, "/v1/messages/msg_1", "GET, HEAD"},
			{http.MethodPut, "/v1/messages/msg_1/resolve", "POST"}, {http.MethodPost, "/v1/me", "GET, HEAD"},
			{http.MethodPatch, "/v1/agents", "GET, HEAD, POST"}, {http.MethodPatch, "/v1/settings", "GET, HEAD, PUT"},
			{http.MethodPost, "/healthz", "GET, HEAD"}, {http.MethodPost, "/.well-known/ma2h", "GET, HEAD"},
			{http.MethodPut, "/v1/agents/bot/rotate", "POST"}, {http.MethodPatch, "/v1/agents/no%2Fpe/rotate", "POST"},
			{http.MethodDelete, "/v1/messages", "POST"}, {http.MethodPost, "/v1/agents/no%2Fpe", "DELETE"},
			{http.MethodPatch, "/v1/agents/bot", "DELETE"}, {http.MethodGet, "/v1/agents/no%2Fpe", "DELETE"},
			{http.MethodGet, "/v1/hosts", "POST"}, {http.MethodDelete, "/v1/secrets/use", "POST"},
			{http.MethodGet, "/v1/waiting/msg_1/send-again", "POST"}, {http.MethodPost, "/v1/inbox", "GET, HEAD"},
			{http.MethodGet, "/v1/inbox/ack", "POST"}, {http.MethodPut, "/v1/directives/dir_1", "GET, HEAD"},
			{http.MethodPatch, "/v1/sessions", "POST, GET, HEAD"}, {http.MethodPost, "/v1/sessions/sess_1", "GET, HEAD, DELETE"},
		} {
			a := s.send(request{method: c.method, path: c.path, token: bot.token}).
				refused(http.StatusMethodNotAllowed, ma2h.CodeMethodNotAllowed, "")
			if got := a.header.Get("Allow"); got != c.allow {
				s.t.Errorf("%s: Allow = %q, want %q", a.what, got, c.allow)
			}
		}
	})
}

// TestNothingLeadsElsewhere: a place that only has others below it answers as any place where there is nothing does,
// programs in JSON and people with a page. What serves it would by itself lead to the same place with a slash.
func TestNothingLeadsElsewhere(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, b := s.agent("bot"), s.browser()
		for _, mount := range httpapi.Paths() {
			path := strings.TrimSuffix(mount, "/")
			if path == mount {
				continue
			}
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete} {
				a := s.send(request{method: method, path: path, token: bot.token}).is(http.StatusNotFound)
				same(s.t, a.what, a.header.Get("Content-Type"), "application/json")
			}
			bot.get(path).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		for _, mount := range inbox.Paths()[1:] { // the first is / itself
			path, below := strings.CutSuffix(mount, "/")
			if a := b.page(path).says("<html"); below && a.status != http.StatusNotFound && a.status != http.StatusUnauthorized {
				s.t.Errorf("%s = %d, want 404, or 401 where there is a page", a.what, a.status)
			}
		}
		for _, path := range []string{"/v1//me", "/v1/./me", "/v1/x/../me", "/inbox/../v1/me", "/v1/me/", "/v1/me//"} {
			bot.get(path).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
	})
}

// has says whether a list in an answer has a row whose member is this.
func (a *answer) has(list, member string, want any) bool {
	a.t.Helper()
	rows, _ := a.at(list).([]any)
	for _, row := range rows {
		if lookUp(row, member) == want {
			return true
		}
	}
	return false
}

package controlapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// commits counts what a deed commits.
func (s *suite) commitsOf(deed func()) int64 {
	before := s.store.commits.Load()
	deed()
	return s.store.commits.Load() - before
}

func TestSettings_AreChangedTogetherOrApart(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		put := func(body any) *answer { return alice.send("PUT", "/v1/settings", body) }
		defaults := func() any {
			return bot.get(bot.accepted(s.ask(drop("/request/allowed_resolvers")))).at("/request/allowed_resolvers")
		}

		together := func() {
			put(doc{"default_resolvers": []string{"human:alice"}, "inter_agent_enabled": true}).is(http.StatusNoContent)
		}
		same(t, "commits of two settings", s.commitsOf(together), int64(1))
		same(t, "who may resolve", defaults(), any([]any{"human:alice"}))
		// What is not named stays as it is, and what is as it was is not written.
		s.writesNothing(func() { put(doc{"inter_agent_enabled": true}).is(http.StatusNoContent) })
		put(doc{"inter_agent_enabled": false}).is(http.StatusNoContent)
		same(t, "who may resolve", defaults(), any([]any{"human:alice"}))
		put(`{"default_resolvers":null}`).is(http.StatusNoContent)
		same(t, "who may resolve", defaults(), any(absent{}))
	})
}

func TestBadInput_Settings(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		for what, b := range map[string]bad{
			"nothing":            malformed("{}", ""),
			"no object":          malformed("[]", ""),
			"a string":           malformed(doc{"inter_agent_enabled": "true"}, "/inter_agent_enabled"),
			"null":               malformed(doc{"inter_agent_enabled": nil}, "/inter_agent_enabled"),
			"null beside a list": malformed(doc{"inter_agent_enabled": nil, "default_resolvers": []string{}}, "/inter_agent_enabled"),
			"a typo":             malformed(doc{"inter_agent": true}, "/inter_agent"),
			"a typo beside":      malformed(doc{"inter_agent_enabled": true, "default_resolver": []string{}}, "/default_resolver"),
			"a list of no form":  invalid(doc{"inter_agent_enabled": true, "default_resolvers": []string{"alice"}}, "/default_resolvers/0"),
		} {
			s.run(what, func() {
				s.writesNothing(func() { alice.send("PUT", "/v1/settings", b.body).refused(b.status, b.code, b.field) })
			})
		}
		bot.send("PUT", "/v1/settings", doc{"inter_agent_enabled": true}).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
	})
}

// senders is the allowlist of an agent as its owner reads it.
func (c *caller) senders(agent string) any {
	c.s.t.Helper()
	return c.send("GET", "/v1/agent?id="+agent, nil).is(http.StatusOK).at("/senders")
}

func TestAllowlist_IsReadAsItWasSet(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		s.owns("alice", "bot", "a/b")
		s.owns("eve", "other")
		bot, alice, eve := s.agent("bot"), s.person("alice"), s.person("eve")
		put := func(c *caller, senders any) *answer {
			return c.send("POST", "/v1/allowlists", doc{"agent": "a/b", "senders": senders})
		}
		same(t, "at first", alice.senders("a%2Fb"), any(absent{}))
		put(alice, []string{"x", "bot", "x"}).is(http.StatusNoContent)
		same(t, "what was set", alice.senders("a%2Fb"), any([]any{"bot", "x"}))
		s.writesNothing(func() { put(alice, []string{"bot", "x"}).is(http.StatusNoContent) })
		put(alice, []string{}).is(http.StatusNoContent)
		same(t, "an empty one", alice.senders("a%2Fb"), any([]any{}))
		s.writesNothing(func() {
			put(eve, []string{"other"}).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			put(bot, []string{"bot"}).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		})
		put(alice, nil).is(http.StatusNoContent)
		same(t, "none any more", alice.senders("a%2Fb"), any(absent{}))
		// By the control API it is the same list.
		s.control("POST", "allowlists", doc{"agent": "a/b", "senders": []string{"bot"}}).is(http.StatusNoContent)
		same(t, "what was provisioned", alice.senders("a%2Fb"), any([]any{"bot"}))
		s.control("POST", "allowlists", doc{"agent": "a/b", "senders": nil}).is(http.StatusNoContent)
		same(t, "what was provisioned last", alice.senders("a%2Fb"), any(absent{}))
	})
}

func TestBadInput_Allowlists(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		alice := s.person("alice")
		many := make([]string, 1001)
		for i := range many {
			many[i] = fmt.Sprint("agent ", i)
		}
		heavy := make([]string, 1000)
		for i := range heavy {
			heavy[i] = fmt.Sprint(strings.Repeat("x", 200), i)
		}
		for what, b := range map[string]bad{
			"no agent":        malformed(doc{"senders": []string{}}, "/agent"),
			"no senders":      malformed(doc{"agent": "bot"}, "/senders"),
			"senders a text":  malformed(doc{"agent": "bot", "senders": "a"}, "/senders"),
			"a number":        malformed(doc{"agent": "bot", "senders": []any{"a", 7}}, "/senders/1"),
			"a typo":          malformed(doc{"agent": "bot", "senders": []string{}, "x": 1}, "/x"),
			"an empty id":     invalid(doc{"agent": "bot", "senders": []string{"a", ""}}, "/senders/1"),
			"an id too long":  invalid(doc{"agent": "bot", "senders": []string{strings.Repeat("x", 257)}}, "/senders/0"),
			"too many":        invalid(doc{"agent": "bot", "senders": many}, "/senders"),
			"too many bytes":  invalid(doc{"agent": "bot", "senders": heavy}, "/senders"),
			"agent of nobody": {doc{"agent": "nobody", "senders": []string{}}, http.StatusNotFound, ma2h.CodeNotFound, ""},
		} {
			s.run(what, func() {
				s.writesNothing(func() {
					alice.send("POST", "/v1/allowlists", b.body).refused(b.status, b.code, b.field)
					s.control("POST", "allowlists", b.body).refused(b.status, b.code, b.field)
				})
			})
		}
		alice.send("POST", "/v1/allowlists", doc{"agent": "bot", "senders": many[:1000]}).is(http.StatusNoContent)
	})
}

func TestBadInput_Policies(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.writesNothing(func() {
			for what, b := range map[string]bad{
				"no owner":         malformed(doc{"inter_agent_enabled": true}, "/owner"),
				"an agent":         malformed(doc{"owner": "agent:x", "inter_agent_enabled": true}, "/owner"),
				"nobody":           malformed(doc{"owner": "human:", "inter_agent_enabled": true}, "/owner"),
				"nothing":          malformed(doc{"owner": "human:y"}, "/inter_agent_enabled"),
				"null":             malformed(doc{"owner": "human:y", "inter_agent_enabled": nil}, "/inter_agent_enabled"),
				"a string":         malformed(doc{"owner": "human:y", "inter_agent_enabled": "yes"}, "/inter_agent_enabled"),
				"an unknown field": malformed(doc{"owner": "human:y", "inter_agent_enabled": true, "x": 1}, "/x"),
			} {
				s.run(what, func() { s.control("POST", "policies", b.body).refused(b.status, b.code, b.field) })
			}
		})
		// Before the owner has anything and afterwards; again is a no-op.
		for range 2 {
			s.control("POST", "policies", doc{"owner": "human:y", "inter_agent_enabled": true}).is(http.StatusNoContent)
			s.owns("y", "x")
		}
	})
}

package controlapi_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

const webhookURL = "https://agent.example/told?x=1"

// hooked is an agent of alice's whose directives are pushed, with another that writes to it.
func (s *suite) hooked() (alice, bot, planner *caller) {
	s.t.Helper()
	s.fleet("bot", "planner")
	alice = s.person("alice")
	alice.webhook("bot", webhookURL).is(http.StatusNoContent)
	return alice, s.agent("bot"), s.agent("planner")
}

func (c *caller) webhook(agent string, url any) *answer {
	c.s.t.Helper()
	return c.send("POST", "/v1/webhooks", doc{"agent": agent, "url": url})
}

// tells sends a directive and returns its id.
func (c *caller) tells(to string, edits ...edit) string {
	c.s.t.Helper()
	return c.send("POST", "/v1/directives", edited(doc{"to": to, "title": "Do not deploy"}, edits)).is(http.StatusCreated).str("/id")
}

// TestWebhook_ADirectiveIsPushedAndStaysInTheMailbox: signed as a drained one, delivered by its 2xx, and there until it is
// acknowledged (spec §8.7, §9.7, §15.1).
func TestWebhook_ADirectiveIsPushedAndStaysInTheMailbox(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		alice, bot, _ := s.hooked()
		id := alice.tells("agent:bot", set("/body", "Not **today**."), set("/tags", []string{"a"}))
		sent := s.onePush()
		same(s.t, "where it went", sent.URL, webhookURL)
		pushed := &answer{t: s.t, what: "the push", body: []byte(sent.Body)}
		pushed.shows("/id", id, "/from", "human:alice", "/to", "agent:bot", "/body", "Not **today**.")
		bot.bare().verified(pushed, map[string]json.RawMessage{
			"directive": pushed.body, "signature": mustJSON("MA2H-Signature: " + sent.Headers["MA2H-Signature"]),
		})
		read := alice.send("GET", "/v1/directives/"+id, nil).is(http.StatusOK).shows("/mailbox/state", "delivered",
			"/mailbox/delivered_at", stamp(noon), "/webhook/state", "delivered", "/webhook/host", "agent.example", "/webhook/attempts/0/status", 200)
		read.lacks("/webhook/url")
		same(s.t, "what is drained", bot.opens(0).gets(id)[0].json(), pushed.json())
		bot.send("POST", "/v1/inbox/ack", doc{"ids": []string{id}, "note": "I will not."}).is(http.StatusOK).shows("/acked", 1)
		alice.send("GET", "/v1/directives/"+id, nil).shows("/mailbox/state", "acknowledged", "/mailbox/ack/note", "I will not.")
		s.now = s.now.Add(time.Hour)
		s.settle(doc{"what": "retention"})
		same(s.t, "further pushes", len(s.pushes()), 0)
	})
}

// TestWebhook_WhatWasPushedCanBeAcknowledged: without a drain, and even before the push is answered.
func TestWebhook_WhatWasPushedCanBeAcknowledged(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		alice, bot, _ := s.hooked()
		id := alice.tells("agent:bot")
		bot.send("POST", "/v1/inbox/ack", doc{"ids": []string{id}}).is(http.StatusOK).shows("/acked", 1)
		alice.send("GET", "/v1/directives/"+id, nil).shows("/mailbox/state", "acknowledged")
		same(s.t, "what is left", len(bot.opens(0).drain()), 0)
	})
}

// TestWebhook_CarriesDirectivesToTheAgentAlone: no other entries, and nothing that is for a session (spec §8.7.1, §13.2).
func TestWebhook_CarriesDirectivesToTheAgentAlone(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		alice, bot, planner := s.hooked()
		m := bot.opens(0)
		planner.accepted(s.notify(mailTo("agent:bot")))
		asked := planner.accepted(s.ask(mailTo(m.address())))
		alice.tells(m.address())
		alice.tells("agent:planner")
		own := bot.accepted(s.ask(m.as()))
		alice.answers(own, "approve").is(http.StatusOK)
		planner.cancel(asked)
		same(s.t, "pushes", len(s.pushes()), 0)
	})
}

// TestWebhook_IsItsOwnersWord: no agent sets one, nobody of another account, and none to nowhere.
func TestWebhook_IsItsOwnersWord(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		alice, bot, _ := s.hooked()
		mallory := s.person("mallory")
		bot.webhook("bot", webhookURL).refused(http.StatusForbidden, "not_authorized", "")
		mallory.webhook("bot", webhookURL).refused(http.StatusNotFound, "not_found", "")
		alice.webhook("nobody", webhookURL).refused(http.StatusNotFound, "not_found", "")
		alice.webhook("bot", "").refused(http.StatusUnprocessableEntity, "invalid_field", "/url")
		alice.send("POST", "/v1/webhooks", doc{"agent": "bot"}).refused(http.StatusBadRequest, "validation_error", "/url")
		alice.send("GET", "/v1/agent?id=bot", nil).is(http.StatusOK).shows("/webhook/url", webhookURL, "/webhook/bound", true)
		alice.webhook("bot", nil).is(http.StatusNoContent)
		alice.send("GET", "/v1/agent?id=bot", nil).is(http.StatusOK).lacks("/webhook")
		alice.tells("agent:bot")
		same(s.t, "pushes", len(s.pushes()), 0)
	})
}

package controlapi_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// directed sends a directive as this person and returns its id.
func (c *caller) directed(to, title string, edits ...edit) string {
	c.s.t.Helper()
	d := edited(doc{"to": to, "title": title}, edits)
	return c.send("POST", "/v1/directives", d).is(http.StatusCreated).str("/id")
}

// drained returns the titles of the directives that a drain of this agent gets.
func (c *caller) drainedTitles(query string) []string {
	c.s.t.Helper()
	titles := []string{}
	for _, m := range c.send("GET", "/v1/inbox"+query, nil).is(http.StatusOK).at("/messages").([]any) {
		titles = append(titles, lookUp(m, "/directive/title").(string))
	}
	return titles
}

// A bad max claims nothing, and no max is above the batch.
func TestB51_TheBatchIsBounded(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		batch := s.send(request{method: "GET", path: "/.well-known/ma2h"}).at("/inbound/max_batch")
		same(t, "the batch", batch, plain(t, 32))
		for range 33 {
			alice.directed("agent:bot", "x")
		}
		s.writesNothing(func() {
			for _, max := range []string{"0", "", "-1", "1.5", "many"} {
				bot.send("GET", "/v1/inbox?max="+max, nil).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/max")
			}
		})
		for query, want := range map[string]int{
			"": 32, "?max=1": 1, "?max=031": 31, "?max=32": 32, "?max=33": 32, "?max=100000000000000000000000": 32, "?max=" + url.QueryEscape("9223372036854775808"): 32,
		} {
			s.later(time.Hour) // past every claim
			same(t, "entries of "+query, len(bot.drainedTitles(query)), want)
		}
	})
}

// HEAD answers as GET does, and claims nothing.
func TestB47_HEADClaimsNothing(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		id := alice.directed("agent:bot", "Stop")
		bot.send("HEAD", "/v1/inbox", nil).is(http.StatusOK)
		alice.send("GET", "/v1/directives/"+id, nil).is(http.StatusOK).shows("/mailbox/state", "queued")
		same(t, "what is drained", bot.drainedTitles(""), []string{"Stop"})
		same(t, "what is drained then", bot.drainedTitles("?wait=60"), []string{})
	})
}

func TestB28_TheOwnersWordLetsAgentsWriteToEachOther(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "other")
		bot, alice := s.agent("bot"), s.person("alice")
		put := func(on bool) {
			alice.send("PUT", "/v1/settings", doc{"inter_agent_enabled": on}).is(http.StatusNoContent)
		}
		write := func() *answer { return bot.submit(s.notify(set("/to", "agent:other"))) }
		write().refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "/to")
		put(true)
		write().is(http.StatusAccepted).shows("/status", "queued")
		// The list of who may write to the other is its owner's.
		alice.send("POST", "/v1/allowlists", doc{"agent": "other", "senders": []string{"x"}}).is(http.StatusNoContent)
		write().refused(http.StatusUnprocessableEntity, ma2h.CodeUnknownDestination, "/to")
		alice.send("POST", "/v1/allowlists", doc{"agent": "other", "senders": []string{"x", "bot"}}).is(http.StatusNoContent)
		write().is(http.StatusAccepted)
		put(false)
		write().refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "/to")
		// By the control API it is the same word.
		s.control("POST", "policies", doc{"owner": "human:alice", "inter_agent_enabled": true}).is(http.StatusNoContent)
		write().is(http.StatusAccepted)
	})
}

func TestDirective_IsReadByPeopleOfTheAccount(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		s.owns("alice", "bot")
		s.owns("eve", "other")
		bot, alice, eve := s.agent("bot"), s.person("alice"), s.person("eve")
		sent := doc{"to": "agent:bot", "title": "Stop", "body": "Now.", "priority": "high", "tags": []string{"a"}, "sensitive": true,
			"context": []doc{{"kind": "data", "data": rawJSON(`{"n":1e3}`)}}, "expires_at": stamp(noon.Add(time.Hour))}
		a := alice.send("POST", "/v1/directives", sent).is(http.StatusCreated).
			shows("/status", "queued", "/destination", doc{"state": "unknown"})
		id := a.str("/id")
		read := alice.send("GET", "/v1/directives/"+id, nil).is(http.StatusOK).shows("/mailbox", doc{"state": "queued"}, "/from", "human:alice",
			"/type", "directive", "/id", id, "/ma2h_version", "0.6", "/created_at", stamp(noon))
		for name, v := range sent {
			read.shows("/"+name, v)
		}
		bot.drainedTitles("")
		bot.send("POST", "/v1/inbox/ack", doc{"ids": []string{id}, "note": "On it", "by": "human:alice"}).is(http.StatusOK).
			shows("/acked", 1)
		alice.send("GET", "/v1/directives/"+id, nil).shows("/mailbox/state", "acknowledged", "/mailbox/ack/note", "On it", "/mailbox/ack/by", "agent:bot")
		unknown := alice.send("GET", "/v1/directives/dir_"+"00000000000000000000000000", nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		foreign := eve.send("GET", "/v1/directives/"+id, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		same(t, "what a stranger is told", string(foreign.body), string(unknown.body))
		for _, malformed := range []string{"dir_", "dir_1", id[4:], "msg_" + id[4:], id + "0"} {
			alice.send("GET", "/v1/directives/"+malformed, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
	})
}

func TestB76_AnInexactNumberOfADirectiveIsWarnedOf(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		send := func(n string) *answer {
			return alice.send("POST", "/v1/directives", doc{"to": "agent:bot", "title": "x", "context": []doc{{"kind": "data", "data": rawJSON(n)}}})
		}
		same(t, "the warning", send("9007199254740992").is(http.StatusCreated).header.Get("Mash-Warning"), "inexact_number")
		same(t, "the warning", send("9007199254740991").is(http.StatusCreated).header.Get("Mash-Warning"), "")
		send("1e999").refused(http.StatusBadRequest, ma2h.CodeValidationError, "/context/0/data")
		if body := bot.send("GET", "/v1/inbox", nil).body; !contains(body, `"data":9007199254740992`) {
			t.Errorf("GET /v1/inbox = %s, want the number as it was sent", body)
		}
	})
}

// What a person sends is what the control API sends in their name, and its receipt is theirs alone.
func TestControl_DirectivesAndTheirReceipts(t *testing.T) {
	onStores(t, func(t *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		sent := s.control("POST", "directives", doc{"from": "human:zed", "to": "agent:bot", "title": "Stop", "body": "Now."}).is(http.StatusCreated)
		id := sent.str("/id")
		same(t, "the answer", sent.json(), plain(t, doc{"id": id}))
		receipt := func(c *caller) *answer {
			return s.send(request{method: "GET", path: "/_conformance/receipts?id=" + id, token: c.token})
		}
		zed := s.person("zed")
		s.writesNothing(func() { receipt(zed).is(http.StatusOK).shows("", doc{"state": "queued"}) })
		for _, c := range []*caller{alice, bot, s.person("eve")} {
			receipt(c).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		}
		bot.send("GET", "/v1/inbox", nil).is(http.StatusOK)
		receipt(zed).shows("", doc{"state": "delivered", "delivered_at": stamp(noon)})
		s.send(request{method: "GET", path: "/_conformance/receipts?id=" + id}).refused(http.StatusUnauthorized, ma2h.CodeUnauthenticated, "")
		for to, want := range map[string]ma2h.Code{"agent:nobody": ma2h.CodeUnknownDestination, "agent:bot#sess_1": ma2h.CodeUnknownDestination} {
			s.control("POST", "directives", doc{"from": "human:zed", "to": to, "title": "x"}).refused(http.StatusUnprocessableEntity, want, "/to")
			alice.send("POST", "/v1/directives", doc{"to": to, "title": "x"}).refused(http.StatusUnprocessableEntity, want, "/to")
		}
	})
}

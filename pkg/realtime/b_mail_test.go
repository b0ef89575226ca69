package realtime_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// mailOf goes once through what there is of mailboxes.
func (s *server) mailOf(bot *caller) {
	s.t.Helper()
	sent := s.owner.call(endpoint.DirectiveSend, doc{"to": bot.actor, "title": "Stop"}).is(http.StatusCreated).shows("/status", "queued")
	id := sent.str("/id")
	drained := bot.call(endpoint.Drain, nil).is(http.StatusOK)
	if first := lookUp(drained.json(), "/messages"); len(first.([]any)) != 1 || lookUp(first.([]any)[0], "/directive/id") != id {
		s.t.Errorf("the mailbox has %s, want the directive %s alone", drained.body, id)
	}
	s.owner.call(endpoint.DirectiveRead, nil, id).is(http.StatusOK).shows("/from", s.owner.actor, "/mailbox/state", "delivered")
	bot.call(endpoint.InboxAck, doc{"ids": []string{id}, "note": "On it."}).is(http.StatusOK).shows("/acked", 1)
	s.owner.call(endpoint.DirectiveRead, nil, id).is(http.StatusOK).shows("/mailbox/ack/note", "On it.")
	s.owner.call(endpoint.AllowlistPut, doc{"agent": bot.id, "senders": []string{"x"}}).is(http.StatusNoContent)
	s.owner.readAgent(bot.id).is(http.StatusOK).shows("/senders", []string{"x"})
	s.owner.call(endpoint.AllowlistPut, doc{"agent": bot.id, "senders": nil}).is(http.StatusNoContent)
}

// TestB47_ADrainThatWaitsGetsWhatArrivesMeanwhile: at once where the hub is told, soon where it looks.
func TestB47_ADrainThatWaitsGetsWhatArrivesMeanwhile(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		session := bot.call(endpoint.SessionAdd, nil).is(http.StatusCreated).str("/session/id")
		for _, query := range []string{"?wait=60", "?wait=60&session=" + session} {
			got := make(chan *answer)
			go func() {
				for end := time.Now().Add(patience); time.Now().Before(end); { // a hold is shorter than a machine may be slow
					a, err := s.try(request{method: http.MethodGet, path: "/v1/inbox" + query, token: bot.token})
					if err != nil || a.status != http.StatusOK || len(lookUp(mustParse(s.t, a.body), "/messages").([]any)) > 0 {
						got <- a
						return
					}
				}
				got <- nil
			}()
			s.owner.call(endpoint.DirectiveSend, doc{"to": bot.actor, "title": "Stop"}).is(http.StatusCreated)
			if a := <-got; a == nil || a.status != http.StatusOK {
				s.t.Errorf("GET /v1/inbox%s = %+v, want the directive", query, a)
			}
		}
	})
}

// TestB28_AgentsWriteToEachOtherOnceTheirOwnerSaysSo: that they may not at first shows on a hub of one's own only.
func TestB28_AgentsWriteToEachOtherOnceTheirOwnerSaysSo(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, other := s.agent("bot"), s.agent("other")
		if !s.shared {
			bot.submit(s.notify(set("/to", other.actor))).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "/to")
		}
		s.owner.call(endpoint.SettingsPut, doc{"inter_agent_enabled": true}).is(http.StatusNoContent)
		session := other.call(endpoint.SessionAdd, nil).is(http.StatusCreated).str("/session/id")
		id := bot.submit(s.ask(set("/to", other.actor+"#"+session), set("/request", doc{"mode": "confirm"}))).is(http.StatusAccepted).
			shows("/status", "open", "/destination/state", "unknown").str("/id")
		drained := other.get("/v1/inbox?session=" + session).is(http.StatusOK)
		if list := lookUp(drained.json(), "/messages").([]any); len(list) != 1 || lookUp(list[0], "/message/from") != bot.actor {
			s.t.Errorf("the mailbox has %s, want the ask of %s", drained.body, bot.actor)
		}
		other.answers(id, "approve").is(http.StatusOK)
		bot.pull(id, "").is(http.StatusOK).shows("/status", "answered", "/response/response/actor", other.actor, "/mailbox/state", "delivered")
		other.call(endpoint.InboxAck, doc{"ids": []string{id}}).is(http.StatusOK).shows("/acked", 1)
		bot.pull(id, "").is(http.StatusOK).shows("/mailbox/state", "acknowledged")
	})
}

// fetches drains the agent's mailbox without a session, and returns the ids of the directives in it.
func (c *caller) fetches() (ids []string) {
	c.t.Helper()
	list, _ := c.call(endpoint.Drain, nil).is(http.StatusOK).at("/messages").([]any)
	for _, m := range list {
		id, _ := lookUp(m, "/directive/id").(string)
		ids = append(ids, id)
	}
	return ids
}

package realtime_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/endpoint"
)

// tells sends a directive to an agent, and returns its id.
func (s *server) tells(bot *caller) string {
	s.t.Helper()
	return s.owner.call(endpoint.DirectiveSend, doc{"to": bot.actor, "title": "Stop"}).is(http.StatusCreated).str("/id")
}

// pushedTo is how far a directive has come to its agent's webhook.
func (s *server) pushedTo(id string) *answer {
	s.t.Helper()
	return s.owner.call(endpoint.DirectiveRead, nil, id).is(http.StatusOK)
}

// TestWebhook_IsTriedAgainUntilItIsTaken: signed anew each time, and what was taken waits in the mailbox until it is
// acknowledged.
func TestWebhook_IsTriedAgainUntilItIsTaken(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, in := s.agent("bot"), s.callback(503, 500, 202)
		s.owner.call(endpoint.WebhookPut, doc{"agent": bot.id, "url": in.url()}).is(http.StatusNoContent)
		id := s.tells(bot)
		s.until("it is taken", func() bool { return s.pushedTo(id).at("/webhook/state") == "delivered" })
		statuses := []any{}
		for _, a := range s.pushedTo(id).shows("/mailbox/state", "delivered").at("/webhook/attempts").([]any) {
			statuses = append(statuses, lookUp(a, "/status"))
		}
		same(s.t, "statuses", fmt.Sprint(statuses), "[503 500 202]")
		box := &client.Mailbox{Client: client.New(s.url, bot.token)}
		attempts := in.attempts()
		same(s.t, "attempts", len(attempts), 3)
		for _, a := range attempts {
			got, err := box.Receive(a.request())
			if err != nil || got.Key() != id || got.Title != "Stop" {
				s.t.Errorf("what was pushed = %+v, %v", got, err)
			}
			if _, err := box.Receive(a.request()); err == nil {
				s.t.Error("the same push counts twice")
			}
		}
		s.until("it is drained as well", func() bool { return len(bot.fetches()) == 1 })
		bot.call(endpoint.InboxAck, doc{"ids": []string{id}}).is(http.StatusOK).shows("/acked", 1)
		s.pushedTo(id).shows("/mailbox/state", "acknowledged")
	})
}

// TestWebhook_ARefusalIsFinalAndLosesNothing: after a 4xx, and to a host that is not the agent's any more, nothing is tried
// again, and the directive is drained all the same.
func TestWebhook_ARefusalIsFinalAndLosesNothing(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, in := s.agent("bot"), s.callback(404)
		s.owner.call(endpoint.WebhookPut, doc{"agent": bot.id, "url": "https://told.example/x"}).refused(http.StatusUnprocessableEntity, "invalid_field", "/url")
		s.owner.call(endpoint.WebhookPut, doc{"agent": bot.id, "url": in.url()}).is(http.StatusNoContent)
		refused := s.tells(bot)
		s.until("it is given up", func() bool { return s.pushedTo(refused).at("/webhook/state") == "given_up" })
		host := doc{"agent": bot.id, "host": "told.example"}
		s.owner.call(endpoint.HostBind, doc{"agent": bot.id, "host": "told.example", "proof": "person"}).is(http.StatusCreated)
		s.owner.call(endpoint.WebhookPut, doc{"agent": bot.id, "url": "https://told.example/x"}).is(http.StatusNoContent)
		s.owner.call(endpoint.HostUnbind, host).is(http.StatusNoContent)
		s.owner.readAgent(bot.id).is(http.StatusOK).shows("/webhook/bound", false)
		unbound := s.tells(bot)
		s.until("it is given up", func() bool { return s.pushedTo(unbound).at("/webhook/state") == "given_up" })
		tried := s.pushedTo(unbound).shows("/mailbox/state", "queued").at("/webhook/attempts").([]any)
		same(s.t, "why", lookUp(tried[0], "/failure"), any("unbound"))
		same(s.t, "attempts", len(in.attempts()), 1)
		same(s.t, "what is drained", bot.fetches(), []string{refused, unbound})
	})
}

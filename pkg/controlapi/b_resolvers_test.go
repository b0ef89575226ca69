package controlapi_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/recordtest"
)

// none removes the list of resolvers.
var none = several(drop("/request/allowed_resolvers"), drop("/action/allowed_resolvers"))

func TestB40_WithoutAListOnlyTheSenderResolves(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "other")
		bot, other, alice := s.agent("bot"), s.agent("other"), s.person("alice")
		for what, envelope := range map[string]doc{
			"ask": s.ask(drop("/request/allowed_resolvers")), "task": s.task(drop("/action/allowed_resolvers")),
		} {
			s.run(what, func() {
				id, body := bot.accepted(envelope), resolveOf(envelope)
				s.writesNothing(func() {
					other.resolve(id, body).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
					alice.resolve(id, body).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
				})
				bot.get(id).shows("/status", "open")
				bot.resolve(id, body).is(http.StatusOK)
				s.outcome(id).shows("/status", body["resolution"])
			})
		}
		id := bot.accepted(s.ask(drop("/request/allowed_resolvers")))
		bot.answers(id, "approve").is(http.StatusOK)
		bot.get(id).shows("/response/response/actor", "agent:bot")
	})
}

func TestB40_AListLeavesOutTheSender(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask())
		bot.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		alice.answers(id, "approve").is(http.StatusOK)
		// An empty list lists nobody.
		id = bot.accepted(s.ask(resolvers()))
		bot.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		alice.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		// A sender that lists itself may.
		id = bot.accepted(s.ask(resolvers("human:alice", "agent:bot")))
		bot.answers(id, "deny").is(http.StatusOK)
		bot.get(id).shows("/response/response/actor", "agent:bot")
	})
}

func TestB41_AListedAgentResolves(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "helper", "other")
		bot, helper, other := s.agent("bot"), s.agent("helper"), s.agent("other")
		id := bot.accepted(s.ask(resolvers("agent:helper")))
		other.answers(id, "approve").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		helper.answers(id, "approve").is(http.StatusOK)
		bot.get(id).shows("/response/response/actor", "agent:helper")
		// To resolve is not to read: the message stays its submitter's.
		helper.get(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		helper.cancel(id).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		helper.ack(id, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
	})
}

func TestB41_AnEntryWithASessionWantsThatSession(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "helper", "helper2")
		bot, helper := s.agent("bot"), s.agent("helper")
		id := bot.accepted(s.ask(resolvers("agent:helper#sess_1")))
		// The principal is listed, but not as it comes: it may know of the message, and not resolve it.
		helper.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		helper.send("POST", "/v1/messages/"+id+"/resolve?session=sess_1", doc{"resolution": "answered", "value": "approve"}).
			refused(http.StatusNotFound, ma2h.CodeNotFound, "") // no such session is its own
		s.agent("helper2").answers(id, "approve").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		bot.get(id).shows("/status", "open")
		// An entry for the principal beside it is enough.
		id = bot.accepted(s.ask(resolvers("agent:helper#sess_1", "agent:helper")))
		helper.answers(id, "approve").is(http.StatusOK)
	})
}

func TestB42_ActorsAreNamespaced(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "alice", "human:alice", "agent:alice")
		bot, person := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(resolvers("human:alice")))
		for _, name := range []string{"alice", "human:alice", "agent:alice"} {
			impostor := s.agent(name)
			impostor.answers(id, "approve").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			impostor.read(id).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
			impostor.send("GET", "/v1/waiting", nil).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		}
		bot.get(id).shows("/status", "open")
		person.answers(id, "approve").is(http.StatusOK)
		bot.get(id).shows("/response/response/actor", "human:alice")

		// And the other way: a person is not the agent of the same name, as resolver or as submitter.
		id = bot.accepted(s.ask(resolvers("agent:alice")))
		person.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		s.agent("alice").answers(id, "approve").is(http.StatusOK)
		bot.get(id).shows("/response/response/actor", "agent:alice")
		own := s.agent("alice").accepted(s.ask())
		person.get(own).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		person.cancel(own).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		person.ack(own, nil).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		person.submit(s.ask(set("/agent/id", "alice"))).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		member := s.person("dora") // of an account that is not theirs
		for _, list := range []edit{resolvers("human:dora"), resolvers("human:dora", "human:dora", "human:alice"), none} {
			member.submit(s.ask(set("/agent/id", "dora"), list)).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		}
	})
}

func TestB42_TheActorComesFromTheTokenAlone(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask())
		alice.resolve(id, doc{"resolution": "answered", "value": "approve", "actor": "human:bob", "by": "human:bob",
			"resolved_at": "2020-01-01T00:00:00Z", "resolution_id": "res_mine", "defaulted": true}).is(http.StatusOK)
		a := bot.get(id).shows("/response/response/actor", "human:alice", "/response/response/resolved_at", stamp(noon)).
			lacks("/response/defaulted")
		if a.str("/response/resolution_id") == "res_mine" {
			s.t.Error("the resolver gave the resolution_id")
		}
		bot.ack(id, doc{"note": "ok", "by": "human:alice", "acked_at": "2020-01-01T00:00:00Z"}).is(http.StatusOK).
			shows("/by", "agent:bot", "/acked_at", stamp(noon))
	})
}

func TestChoice_UnauthorisedResolversLearnNothing(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "other")
		s.owns("carol", "foreign")
		bot, alice := s.agent("bot"), s.person("alice")
		id := bot.accepted(s.ask(resolvers("human:dave")))
		unknown := "msg_00000000000000000000000000"
		body := doc{"resolution": "answered", "value": "approve"}
		for what, c := range map[string]*caller{
			"an agent of the account": s.agent("other"), "an agent of another": s.agent("foreign"), "a person of another": s.person("carol"),
		} {
			s.run(what, func() {
				for _, b := range []any{body, doc{"resolution": "answered", "value": 7}, doc{"resolution": "completed"}, "{"} {
					foreign, other := c.resolve(id, b), c.resolve(unknown, b)
					if foreign.status != other.status || !bytes.Equal(foreign.body, other.body) {
						s.t.Errorf("a foreign id gets %d %s, an unknown one %d %s; want the same",
							foreign.status, foreign.body, other.status, other.body)
					}
				}
				c.resolve(id, body).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			})
		}
		// These may know of it anyway.
		alice.resolve(id, body).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		bot.resolve(id, body).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		// Also once it is over.
		bot.cancel(id).is(http.StatusOK)
		alice.resolve(id, body).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		s.agent("other").resolve(id, body).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
	})
}

func TestChoice_AskWithoutResolversIsAcceptedAndMarked(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		warnings := func(envelope doc) []string {
			return bot.submit(envelope).is(http.StatusAccepted).header["Mash-Warning"]
		}
		marked, unmarked := []string{"no_human_resolver"}, []string(nil)
		same(s.t, "warnings of an ask", warnings(s.ask(none)), marked)
		same(s.t, "warnings of a task", warnings(s.task(none)), marked)
		same(s.t, "warnings of an empty list", warnings(s.ask(resolvers())), marked)
		same(s.t, "warnings of a listed ask", warnings(s.ask()), unmarked)
		same(s.t, "warnings of a notify", warnings(s.notify()), unmarked)
		id := bot.accepted(s.ask(none))
		alice.read(id).is(http.StatusOK).shows("/resolvers", []string{}, "/may_resolve", false)
	})
}

func TestChoice_AResolverWhoIsNobodyIsAcceptedAndMarked(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot", "helper")
		s.owns("carol", "foreign")
		bot := s.agent("bot")
		for list, want := range map[string][]string{
			"human:alice": nil, "agent:helper": nil, "agent:bot": nil, "human:alice agent:helper": nil,
			"human:nobody": {"unknown_resolver"}, "human:alice human:nobody human:nobody": {"unknown_resolver"},
			"human:carol": {"unknown_resolver"}, "agent:nobody": {"unknown_resolver"}, "human:helper": {"unknown_resolver"},
		} {
			envelope := s.ask(resolvers(strings.Fields(list)...))
			for range 2 { // a replay is told the same
				a := bot.submit(envelope).is(http.StatusAccepted)
				same(s.t, "warnings of "+list, a.header["Mash-Warning"], want)
			}
		}
		id := bot.accepted(s.task(set("/action/allowed_resolvers", []string{"human:nobody"})))
		s.person("alice").resolve(id, doc{"resolution": "completed"}).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		withdrawn := bot.accepted(s.ask(resolvers("human:nobody")))
		bot.cancel(withdrawn).is(http.StatusOK)
	})
}

func TestChoice_DefaultResolversAreTheAccountsToTurnOn(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.owns("alice", "bot")
		bot, alice := s.agent("bot"), s.person("alice")
		before := bot.accepted(s.ask(none))
		bot.send("PUT", "/v1/settings", doc{"default_resolvers": []string{"agent:bot"}}).
			refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		deeds := 0
		s.store.fails(func(writes []record.Write) recordtest.Fault { // nothing goes wrong, but the audit record is seen
			if recordtest.Putting(hub.KindDeed)(writes) {
				deeds++
			}
			return nil
		})
		alice.send("PUT", "/v1/settings", doc{"default_resolvers": []string{"human:alice"}}).is(http.StatusNoContent)
		same(s.t, "deeds on record", deeds, 1)

		envelope := s.ask(none)
		a := bot.submit(envelope).is(http.StatusAccepted)
		same(s.t, "warnings", a.header["Mash-Warning"], []string(nil))
		id := a.str("/id")
		bot.get(id).is(http.StatusOK).shows("/request/allowed_resolvers", []string{"human:alice"})
		bot.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		bot.submit(envelope).is(http.StatusAccepted).shows("/id", id) // the payload is still the sender's own
		alice.answers(id, "approve").is(http.StatusOK)
		task := bot.accepted(s.task(none))
		bot.get(task).shows("/action/allowed_resolvers", []string{"human:alice"})
		alice.resolve(task, doc{"resolution": "completed"}).is(http.StatusOK)

		// Neither what came before nor what has a list of its own changes.
		alice.answers(before, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		bot.get(before).lacks("/request/allowed_resolvers")
		listed := bot.accepted(s.ask(resolvers("human:bob")))
		alice.answers(listed, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		alice.send("PUT", "/v1/settings", doc{"default_resolvers": []string{}}).is(http.StatusNoContent)
		same(s.t, "warnings afterwards", bot.submit(s.ask(none)).header["Mash-Warning"], []string{"no_human_resolver"})
	})
}

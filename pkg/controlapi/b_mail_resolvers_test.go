package controlapi_test

import (
	"net/http"
	"testing"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// actor is who resolved a message, as its submitter reads it.
func (c *caller) actorOf(id string) any {
	c.s.t.Helper()
	return c.get(id).is(http.StatusOK).at("/response/response/actor")
}

func TestB40_MailWithoutAListIsTheAddresseesToResolve(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker", "other")
		bot, alice, other := s.agent("bot"), s.person("alice"), s.agent("other")
		worker := s.agent("worker").opens(0)
		sibling, sender, stranger := s.agent("worker").opens(0), bot.opens(0), other.opens(0)
		for _, to := range []string{"agent:worker", worker.address()} {
			for _, e := range []func(...edit) doc{s.ask, s.task} {
				envelope := func() doc { return e(mailTo(to), sender.as()) }
				id, body := bot.accepted(envelope()), resolveOf(envelope())
				s.writesNothing(func() {
					bot.resolve(id, body).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
					sender.resolveAs(id, body).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
					alice.resolve(id, body).refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
					other.resolve(id, body).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
					stranger.resolveAs(id, body).refused(http.StatusNotFound, ma2h.CodeNotFound, "")
				})
				bot.get(id).shows("/status", "open")
				worker.resolveAs(id, body).is(http.StatusOK)
				// The addressee is the agent, under whichever of its sessions, even where another was addressed.
				sibling.resolveAs(bot.accepted(envelope()), body).is(http.StatusOK)
				worker.bare().resolveAs(bot.accepted(envelope()), body).is(http.StatusOK)
			}
			for _, by := range []*mouth{worker, sibling, worker.bare()} {
				id := bot.accepted(s.ask(mailTo(to)))
				by.answersAs(id, "deny").is(http.StatusOK)
				same(s.t, "the actor", bot.actorOf(id), any(by.address()))
			}
		}
	})
}

func TestB40_AListTakesTheAddresseesPlace(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker", "other")
		bot, alice, other := s.agent("bot"), s.person("alice"), s.agent("other")
		worker := s.agent("worker").opens(0)
		list := func(list ...string) string { return bot.accepted(s.ask(mailTo(worker.address()), resolvers(list...))) }
		refused := func(m *mouth, id string) {
			s.t.Helper()
			m.answersAs(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "") // it may know of its own mail
		}
		id := list("human:alice")
		refused(worker, id)
		refused(worker.bare(), id)
		alice.answers(id, "approve").is(http.StatusOK)
		id = list("agent:other")
		refused(worker, id)
		alice.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		other.answers(id, "approve").is(http.StatusOK)
		id = list()
		refused(worker, id)
		alice.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		id = list("agent:bot") // a sender that lists itself may, here as anywhere
		bot.answers(id, "approve").is(http.StatusOK)
	})
}

// TestB40_TheAccountsListIsNotForMail: it stands in for people where an ask names nobody, not between agents.
func TestB40_TheAccountsListIsNotForMail(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice, worker := s.agent("bot"), s.person("alice"), s.agent("worker").opens(0)
		alice.send("PUT", "/v1/settings", doc{"default_resolvers": []string{"human:alice"}}).is(http.StatusNoContent)
		a := bot.submit(s.ask(mailTo("agent:worker"))).is(http.StatusAccepted)
		same(s.t, "warnings", a.header["Mash-Warning"], []string(nil))
		id := a.str("/id")
		worker.one("message").lacks("/request/allowed_resolvers")
		alice.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		worker.answersAs(id, "approve").is(http.StatusOK)
	})
}

func TestB41_SessionsMatchAsTheyAreListed(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker", "helper")
		bot := s.agent("bot")
		worker, helper := s.agent("worker").opens(0), s.agent("helper").opens(0)
		sibling := s.agent("helper").opens(0)
		for _, to := range []edit{several(), set("/to", "agent:worker")} {
			ask := func(list ...string) string { return bot.accepted(s.ask(to, resolvers(list...))) }
			// The principal is good for each of its sessions and for none.
			for _, by := range []*mouth{helper, sibling, helper.bare()} {
				id := ask("agent:helper")
				by.answersAs(id, "approve").is(http.StatusOK)
				same(s.t, "the actor", bot.actorOf(id), any(by.address()))
			}
			// A session is good for itself alone.
			id := ask(helper.address())
			s.writesNothing(func() {
				for _, by := range []*mouth{sibling, helper.bare()} {
					by.answersAs(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
				}
				worker.caller.under(helper.session).answersAs(id, "approve").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			})
			helper.answersAs(id, "approve").is(http.StatusOK)
			same(s.t, "the actor", bot.actorOf(id), any(helper.address()))
			// One of them is enough.
			sibling.answersAs(ask(helper.address(), "agent:helper"), "approve").is(http.StatusOK)
			sibling.answersAs(ask(helper.address(), sibling.address()), "approve").is(http.StatusOK)
		}
	})
}

func TestB41_APresentedSessionMustBeOnesOwnAndLive(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker", "helper")
		bot, alice := s.agent("bot"), s.person("alice")
		worker, left, killed := s.agent("worker"), s.agent("worker").opens(0), s.agent("worker").opens(0)
		helper := s.agent("helper").opens(0)
		id := bot.accepted(s.ask(mailTo("agent:worker")))
		body := doc{"resolution": "answered", "value": "approve"}
		unknown := worker.under("sess_00000000000000000000000000").resolveAs(id, body).
			refused(http.StatusNotFound, ma2h.CodeNotFound, "")
		for _, session := range []string{helper.session, "sess_1", "sess_", "nonsense"} {
			a := worker.under(session).resolveAs(id, body).is(http.StatusNotFound)
			same(s.t, "the answer for "+session, string(a.body), string(unknown.body))
		}
		left.closes().is(http.StatusOK)
		alice.send("DELETE", "/v1/sessions/"+killed.session, nil).is(http.StatusOK)
		left.resolveAs(id, body).refused(http.StatusGone, ma2h.CodeGone, "")
		killed.resolveAs(id, body).refused(http.StatusGone, ma2h.CodeSessionClosedByOperator, "")
		bot.get(id).shows("/status", "open")
		worker.bare().resolveAs(id, body).is(http.StatusOK) // its credential is as good as ever
	})
}

func TestB42_AnAgentOfAPersonsNameIsNoPerson(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		names := []string{"alice", "human:alice", "agent:alice"}
		s.fleet(append(names, "bot")...)
		bot, alice := s.agent("bot"), s.person("alice")
		for _, name := range names {
			m := s.agent(name).opens(0)
			id := bot.accepted(s.ask(mailTo("agent:" + name)))
			alice.answers(id, "approve").refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
			m.gets(id)[0].shows("/to", "agent:"+name, "/from", "agent:bot")
			m.answersAs(id, "approve").is(http.StatusOK)
			same(s.t, "the actor", bot.actorOf(id), any(m.address()))
			listed := bot.accepted(s.ask(mailTo("agent:bot"), resolvers("human:alice")))
			m.answersAs(listed, "approve").refused(http.StatusNotFound, ma2h.CodeNotFound, "")
			// What it sends is from the agent, whatever the person of that name may do.
			mine := m.accepted(s.notify(mailTo("agent:bot"), m.as()))
			found := false
			for _, e := range bot.opens(0).drain() {
				if found = found || e.key() == mine; e.key() == mine {
					e.shows("/from", m.address())
				}
			}
			same(s.t, "whether the mail arrived", found, true)
		}
		// And the person has no mailbox, whatever agent has its name.
		for _, a := range []*answer{
			alice.send("GET", "/v1/inbox", nil), alice.send("POST", "/v1/inbox/ack", doc{"ids": []string{"dir_1"}}),
			alice.send("POST", "/v1/sessions", doc{}),
		} {
			a.refused(http.StatusForbidden, ma2h.CodeNotAuthorized, "")
		}
	})
}

package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// ends are the ways for a session to end; each leaves the clock at its end.
func ends(s *suite, alice *caller) map[string]func(m *mouth) {
	return map[string]func(m *mouth){
		"self-closed": func(m *mouth) { m.closes().is(http.StatusOK) },
		"lapsed":      func(*mouth) { s.now = noon.Add(lease + time.Millisecond) },
		"operator-closed": func(m *mouth) {
			alice.send("DELETE", "/v1/sessions/"+m.session, nil).is(http.StatusOK).shows("/session/closed_by_operator", true)
		},
	}
}

func TestB25_ATerminalDestinationIsGoneOrUnknown(t *testing.T) {
	either(t, func(s *suite, sees bool) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		var bodies []string
		for what, end := range ends(s, alice) {
			s.run(what, func() {
				s.now = noon
				s.fleet(what)
				worker := s.agent(what).opens(0)
				end(worker)
				unknown := bot.submit(s.ask(mailTo("agent:"+what+"#sess_00000000000000000000000000"))).
					refused(http.StatusUnprocessableEntity, ma2h.CodeUnknownDestination, "/to")
				for _, e := range []func(...edit) doc{s.ask, s.notify, s.task} {
					a := bot.submit(e(mailTo(worker.address())))
					if sees {
						a.refused(http.StatusGone, ma2h.CodeDestinationGone, "/to")
						bodies = append(bodies, string(a.body))
					} else {
						same(s.t, "the answer", string(a.is(unknown.status).body), string(unknown.body))
					}
				}
				// A person sees all sessions of the account.
				s.tryDirect(worker.address()).refused(http.StatusGone, ma2h.CodeDestinationGone, "/to")
				alice.send("POST", "/v1/directives", doc{"to": worker.address(), "title": "T"}).
					refused(http.StatusGone, ma2h.CodeDestinationGone, "/to")
				// Past its retention it is as unknown as any.
				s.later(time.Hour + 2*time.Millisecond)
				a := bot.submit(s.ask(mailTo(worker.address())))
				same(s.t, "the answer after the retention", string(a.body), string(unknown.body))
				s.tryDirect(worker.address()).refused(http.StatusUnprocessableEntity, ma2h.CodeUnknownDestination, "/to")
			})
		}
		for _, b := range bodies { // who closed it is not for senders (behaviour 26)
			same(s.t, "the refusals", b, bodies[0])
		}
	})
}

// TestB25_TheCallersOwnSessionsAreNeverCollapsed: visibility or not, one knows of one's own.
func TestB25_TheCallersOwnSessionsAreNeverCollapsed(t *testing.T) {
	either(t, func(s *suite, _ bool) {
		alice := s.person("alice")
		for what, end := range ends(s, alice) {
			s.run(what, func() {
				s.now = noon
				s.fleet(what)
				own := s.agent(what).opens(0)
				end(own)
				s.agent(what).submit(s.ask(mailTo(own.address()))).refused(http.StatusGone, ma2h.CodeDestinationGone, "/to")
				s.later(time.Hour + 2*time.Millisecond)
				s.agent(what).submit(s.ask(mailTo(own.address()))).
					refused(http.StatusUnprocessableEntity, ma2h.CodeUnknownDestination, "/to")
			})
		}
	})
}

func TestB26_ToAnOperatorClosedSessionNamesNoOperator(t *testing.T) {
	onStoresWith(t, visible(), func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, worker, alice := s.agent("bot"), s.agent("worker"), s.person("alice")
		killed, left := worker.opens(0), worker.opens(0)
		left.closes().is(http.StatusOK)
		alice.send("DELETE", "/v1/sessions/"+killed.session, nil).is(http.StatusOK)
		want := bot.submit(s.ask(mailTo(left.address()))).refused(http.StatusGone, ma2h.CodeDestinationGone, "/to")
		for _, sender := range []*caller{bot, worker} { // the closed party itself too (spec §16.3)
			a := sender.submit(s.ask(mailTo(killed.address()))).is(http.StatusGone)
			same(s.t, "the answer", string(a.body), string(want.body))
		}
		// Only where it presents the session, or names it as its own, does it hear to stop.
		for _, a := range []*answer{
			worker.submit(s.ask(killed.as())), worker.send("GET", killed.at("/v1/inbox"), nil), killed.tryConsume(doc{"ids": []string{"dir_1"}}),
		} {
			a.refused(http.StatusGone, ma2h.CodeSessionClosedByOperator, "")
		}
		s.tryDirect(killed.address()).refused(http.StatusGone, ma2h.CodeDestinationGone, "/to")
	})
}

func TestB27_TheSessionOfASubmitIsOnesOwnAndLives(t *testing.T) {
	either(t, func(s *suite, _ bool) {
		s.fleet("bot", "worker")
		s.owns("carol", "foreign")
		bot, alice := s.agent("bot"), s.person("alice")
		sibling, foreign := s.agent("worker").opens(0), s.agent("foreign").opens(0)
		dead := s.agent("worker").opens(0)
		dead.closes().is(http.StatusOK)
		names := []string{sibling.session, foreign.session, dead.session, "sess_1", "sess_", "sess_" + sibling.session}
		for _, at := range []edit{several(), mailTo("agent:worker")} {
			s.writesNothing(func() {
				unknown := bot.submit(s.ask(at, set("/agent/session", "sess_00000000000000000000000000"))).
					refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/agent/session")
				for _, name := range names {
					a := bot.submit(s.ask(at, set("/agent/session", name))).is(unknown.status)
					same(s.t, "the answer for "+name, string(a.body), string(unknown.body))
				}
			})
		}
		for what, end := range ends(s, alice) {
			s.run(what, func() {
				s.now = noon
				s.fleet(what)
				sender := s.agent(what)
				own := sender.opens(0)
				end(own)
				want := ma2h.CodeDestinationGone
				if what == "operator-closed" {
					want = ma2h.CodeSessionClosedByOperator
				}
				for _, e := range []doc{s.ask(own.as()), s.notify(own.as()), s.ask(own.as(), mailTo("agent:worker"))} {
					sender.submit(e).refused(http.StatusGone, want, "")
				}
				s.later(time.Hour + 2*time.Millisecond)
				sender.submit(s.ask(own.as())).refused(http.StatusUnprocessableEntity, ma2h.CodeInvalidField, "/agent/session")
			})
		}
	})
}

// TestB27_AtTheEndOfItsLeaseASessionStillSubmits: the lease ends after its last instant, and a submit renews it.
func TestB27_AtTheEndOfItsLeaseASessionStillSubmits(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot")
		bot := s.agent("bot").opens(0)
		s.now = noon.Add(lease)
		bot.accepted(s.ask(bot.as()))
		s.now = noon.Add(2 * lease)
		bot.accepted(s.ask(bot.as()))
		s.now = noon.Add(3*lease + time.Millisecond)
		bot.submit(s.ask(bot.as())).refused(http.StatusGone, ma2h.CodeDestinationGone, "/agent/session")
	})
}

package controlapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// A tenant without the clock waits in real time (spec §8.7). Whatever the order in which these two get on with it, the drain
// must hear of the deed.

// meanwhile drains with a long wait in the one hand, and does something with the other.
func (m *mouth) meanwhile(deed func()) *answer {
	m.s.t.Helper()
	m.s.now = time.Time{}
	type outcome struct {
		a   *answer
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		a, err := m.s.try(request{method: "GET", path: m.at("/v1/inbox", "wait", "60"), token: m.token})
		done <- outcome{a, err}
	}()
	deed()
	o := <-done
	if o.err != nil {
		m.s.t.Fatal(o.err)
	}
	return o.a
}

func TestB47_ADrainThatWaitsHearsOfADirective(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		worker, id := s.agent("worker").bare(), ""
		a := worker.meanwhile(func() { id = s.direct("agent:worker") })
		a.is(http.StatusOK)
		same(s.t, "what comes", lookUp(a.at("/messages").([]any)[0], "/directive/id"), any(id))
	})
}

func TestB49_ADrainThatWaitsHearsOfEveryLane(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		s.now = time.Time{}
		bot, alice, worker := s.agent("bot"), s.person("alice"), s.agent("worker").opens(0)
		asked, doomed := worker.asked(), bot.opens(0)
		told := worker.accepted(s.notify(mailTo(doomed.address()), worker.as()))
		for kind, deed := range map[string]func() (pointer, want string){
			"directive": func() (string, string) { return "/id", s.direct(worker.address()) },
			"message":   func() (string, string) { return "/id", bot.accepted(s.notify(mailTo("agent:worker"))) },
			"response": func() (string, string) {
				return "/resolution_id", alice.answers(asked, "approve").str("/resolution_id")
			},
			"receipt": func() (string, string) { doomed.closes().is(http.StatusOK); return "/in_reply_to", told },
		} {
			s.run(kind, func() {
				var pointer, want string
				a := worker.meanwhile(func() { pointer, want = deed() }).is(http.StatusOK)
				same(s.t, "what comes", lookUp(a.at("/messages").([]any)[0], "/"+kind+pointer), any(want))
			})
		}
	})
}

func TestB48_ADrainThatWaitsEndsWithItsSession(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		s.now = time.Time{}
		alice := s.person("alice")
		worker := s.agent("worker").opens(0)
		worker.meanwhile(func() { worker.closes().is(http.StatusOK) }).refused(http.StatusGone, ma2h.CodeGone, "")
		killed := worker.opens(0)
		killed.meanwhile(func() { alice.send("DELETE", "/v1/sessions/"+killed.session, nil).is(http.StatusOK) }).
			refused(http.StatusGone, ma2h.CodeSessionClosedByOperator, "")
	})
}

func TestB49_ADrainThatWaitsTakesOverAClaimThatLapses(t *testing.T) {
	onStoresWith(t, doc{"visibility_timeout_seconds": 1}, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		s.now = time.Time{}
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		sibling := s.agent("worker").opens(0)
		id := bot.accepted(s.notify(mailTo("agent:worker")))
		worker.gets(id)
		a := sibling.meanwhile(func() {}).is(http.StatusOK)
		same(s.t, "what comes", lookUp(a.at("/messages").([]any)[0], "/message/id"), any(id))
	})
}

func TestB47_WaitUnderAVirtualClockCountsAsNone(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		worker := s.agent("worker").opens(0)
		for _, m := range []*mouth{worker, worker.bare()} {
			same(s.t, "what comes", len(m.drain("wait", "60")), 0)
			for _, bad := range []string{"soon", "", "-1", "NaN", "1s"} {
				m.send("GET", m.at("/v1/inbox", "wait", bad), nil).refused(http.StatusBadRequest, ma2h.CodeValidationError, "/wait")
			}
		}
	})
}

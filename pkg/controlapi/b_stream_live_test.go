package controlapi_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/controlapi"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// A tenant without the clock holds streams in real time (spec §8.7.2).

func TestB59_AStreamPushesWhatArrivesInEveryLane(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		s.now = time.Time{}
		bot, alice, worker := s.agent("bot"), s.person("alice"), s.agent("worker").opens(0)
		asked, doomed := worker.asked(), bot.opens(0)
		told := worker.accepted(s.notify(mailTo(doomed.address()), worker.as()))
		l := worker.listens()
		for kind, deed := range map[string]func() (pointer, want string){
			"directive": func() (string, string) { return "/directive/id", s.direct("agent:worker") },
			"message":   func() (string, string) { return "/message/id", bot.accepted(s.notify(mailTo("agent:worker"))) },
			"response": func() (string, string) {
				return "/response/resolution_id", alice.answers(asked, "approve").str("/resolution_id")
			},
			"receipt": func() (string, string) { doomed.closes().is(http.StatusOK); return "/receipt/in_reply_to", told },
		} {
			pointer, want := deed()
			e := l.hears(kind)
			same(s.t, "the kind of what comes", e.kind, kind)
			same(s.t, "what comes", lookUp(mustParse(s.t, []byte(e.data)), pointer), any(want))
			worker.consume(e.id).shows("/acked", 1)
		}
		worker.gets()
	})
}

// TestB59_WhatNobodyAcksIsPushedAgain: on the stream that is open, too, and signed anew.
func TestB59_WhatNobodyAcksIsPushedAgain(t *testing.T) {
	onStoresWith(t, doc{"visibility_timeout_seconds": 1}, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		s.now = time.Time{}
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		acked, left := bot.accepted(s.notify(mailTo(worker.address()))), bot.accepted(s.notify(mailTo(worker.address())))
		l := worker.listens()
		first := []event{l.hears("the first"), l.hears("the second")}
		same(s.t, "what is pushed", []string{first[0].id, first[1].id}, []string{acked, left})
		worker.consume(acked)
		again := l.hears("what was left")
		same(s.t, "what is pushed again", again.id, left)
		if again.data == first[1].data {
			s.t.Errorf("it is signed as before: %s", again.data)
		}
		bot.get(left).shows("/mailbox", doc{"state": "queued"})
	})
}

// TestB60_AStreamEndsBeforeItsLeaseAndReconnectingRenews: without another connection the lease ends when it would have ended.
func TestB60_AStreamEndsBeforeItsLeaseAndReconnectingRenews(t *testing.T) {
	onStoresWith(t, doc{"min_ttl_seconds": 1}, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		s.now = time.Time{}
		alice, bot, worker := s.person("alice"), s.agent("bot"), s.agent("worker").opens(4*time.Second)
		leased := func() time.Time {
			a := s.sessionAt(alice, worker.session).shows("/session/state", "active")
			at, err := time.Parse(time.RFC3339Nano, a.str("/session/expires_at"))
			if err != nil {
				s.t.Fatal(err)
			}
			return at
		}
		l := worker.listens()
		first := leased()
		id := bot.accepted(s.notify(mailTo("agent:worker")))
		l.hearsAll(id)
		l.ends()
		same(s.t, "its last words", l.said, ": it ends here; open it again")
		if now := time.Now(); !now.Before(first) {
			s.t.Errorf("the stream ended %s after the lease", now.Sub(first))
		}
		if got := leased(); !got.Equal(first) {
			s.t.Errorf("the lease ends at %s; what the stream did has moved it to %s", first, got)
		}
		worker.listens().leave() // at once, as a client does
		second := leased()
		if !second.After(first) {
			s.t.Errorf("the lease ends at %s after connecting again, and at %s before", second, first)
		}
		for !time.Now().After(second) { // nobody comes back
			<-time.After(time.Until(second) + time.Millisecond)
		}
		s.sessionAt(alice, worker.session).shows("/session/state", "expired", "/session/closed_at", stamp(second))
	})
}

// TestB60_TheHoldIsAsAdvertised: of a lease that lasts longer.
func TestB60_TheHoldIsAsAdvertised(t *testing.T) {
	onStoresWith(t, doc{"stream_max_hold_seconds": 1}, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		s.now = time.Time{}
		began := time.Now()
		same(s.t, "what comes", s.agent("worker").opens(0).listens().ends(), []string{})
		if took := time.Since(began); took < time.Second {
			s.t.Errorf("a stream that may be held for 1 s ended after %s", took)
		}
	})
}

// TestB48_AStreamEndsWithItsSession: whoever ends it, and however.
func TestB48_AStreamEndsWithItsSession(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.now = time.Time{}
		alice := s.person("alice")
		for what, kill := range killings(s, alice) {
			if strings.HasPrefix(what, "lapsed") {
				continue
			}
			s.run(what, func() {
				s.fleet("for " + what)
				m := s.agent("for " + what).opens(0)
				l := m.listens()
				kill(m)
				same(s.t, "what comes", l.ends(), []string{})
				same(s.t, "its last words, to who may not open it again", l.said, ": it ends here")
				s.direct("agent:for " + what)
				if a := m.send("GET", m.at("/v1/inbox/stream"), nil).is(http.StatusGone); what == "closed" {
					a.refused(http.StatusGone, ma2h.CodeGone, "")
				} else {
					a.refused(http.StatusGone, ma2h.CodeSessionClosedByOperator, "")
				}
			})
		}
	})
}

// TestB83_AStreamEndsWithItsToken: at once, and not only with its hold.
func TestB83_AStreamEndsWithItsToken(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		s.now = time.Time{}
		worker, alice := s.agent("worker").opens(0), s.person("alice")
		l := worker.listens()
		alice.send("DELETE", "/v1/agents/worker", nil).is(http.StatusNoContent)
		same(s.t, "what comes", l.ends(), []string{})
	})
}

// TestB59_ANewStreamEndsTheOneBefore: where a connection broke that nobody has noticed yet, nothing is pushed any more.
func TestB59_ANewStreamEndsTheOneBefore(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		s.now = time.Time{}
		worker := s.agent("worker").opens(0)
		sibling := worker.opens(0).listens()
		before := worker.listens()
		worker.send("HEAD", worker.at("/v1/inbox/stream"), nil).is(http.StatusOK) // which opens none
		first := s.direct(worker.address())
		before.hearsAll(first)
		l := worker.listens()
		same(s.t, "what comes to the one before", before.ends(), []string{})
		id := s.direct(worker.address())
		l.hearsAll(id)
		sibling.leave()
		same(s.t, "what comes to a sibling", sibling.ends(), []string{})
	})
}

// TestB59_NoMoreIsUnderWayThanOneDrainReturns: to whoever acknowledges nothing, so that a reader who is slow hides no more.
func TestB59_NoMoreIsUnderWayThanOneDrainReturns(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		s.now = time.Time{}
		worker := s.agent("worker").opens(0)
		sibling, all := worker.opens(0), []string{}
		for range 40 {
			all = append(all, s.direct("agent:worker"))
		}
		l := worker.listens()
		l.hearsAll(all[:32]...)
		sibling.consume(all[:3]...).shows("/acked", 3) // whoever does it
		l.hearsAll(all[32:35]...)
		sibling.gets(all[35:]...)
		worker.consume(all[3:35]...)
		last := s.direct("agent:worker")
		l.hearsAll(last)
	})
}

// TestB59_WhoNeverReadsLosesNothing: what was pushed there is for others after its window, and was never seen; and a stream
// that cannot be written to ends.
func TestB59_WhoNeverReadsLosesNothing(t *testing.T) {
	onStoresWith(t, doc{"visibility_timeout_seconds": 1, "stream_max_hold_seconds": 3}, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		s.now = time.Time{}
		bot, worker := s.agent("bot"), s.agent("worker").opens(0)
		sibling, all := worker.opens(0), map[string]bool{}
		own := bot.accepted(s.ask(mailTo(worker.address())))
		for range 20 { // 4 MB at once, more than lies between two ends of a connection
			all[bot.accepted(s.notify(mailTo("agent:worker"), set("/body", strings.Repeat("x", 220_000))))] = true
		}
		dead := worker.opensAndReadsNothing()
		<-time.After(8 * time.Second) // its hold, a second for what is being written, and time for a busy machine
		_ = dead.SetReadBuffer(8 << 20)
		resp, err := http.ReadResponse(bufio.NewReader(dead), nil)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) { // a slow store may use up the hold before the header
			s.t.Errorf("a stream that nobody read ends with %v; want it to have been cut off", err)
		}
		bot.get(own).shows("/mailbox", doc{"state": "queued"})
		for end := time.Now().Add(patience); len(all) > 0 && time.Now().Before(end); {
			drained := sibling.send("GET", sibling.at("/v1/inbox", "wait", "1"), nil).is(http.StatusOK)
			for _, e := range drained.at("/messages").([]any) {
				id := lookUp(e, "/message/id").(string)
				sibling.consume(id) // or it comes again before those behind it
				delete(all, id)
			}
		}
		same(s.t, "how much never came to a sibling", len(all), 0)
		worker.closes().is(http.StatusOK)
		bot.get(own).shows("/mailbox", doc{"state": "bounced", "prior": "queued"})
	})
}

// opensAndReadsNothing asks for a stream and is then as good as gone.
func (m *mouth) opensAndReadsNothing() *net.TCPConn {
	m.s.t.Helper()
	host := strings.TrimPrefix(m.s.url, "http://")
	dialed, err := (&net.Dialer{}).DialContext(m.s.t.Context(), "tcp", host)
	if err != nil {
		m.s.t.Fatal(err)
	}
	conn := dialed.(*net.TCPConn)
	m.s.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadBuffer(64 << 10); err != nil {
		m.s.t.Fatal(err)
	}
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s: %s\r\n\r\n",
		m.at("/v1/inbox/stream"), host, m.token, controlapi.TenantHeader, m.s.tenant)
	if err != nil {
		m.s.t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(2 * patience))
	return conn
}

package controlapi_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/recordtest"
)

// An entry that comes while its session dies must settle like any other (spec §14.2): whatever its sender was told, it is
// never left believing that somebody will yet see it.

// ended is how what cannot be delivered ends, by its type.
var ended = map[any]string{"notify": "bounced", "ask": "cancelled", "task": "dismissed"}

// settled holds a message, if there is one, to the bounce of a session that closed at noon.
func (s *suite) settled(bot *caller, a *answer) {
	s.t.Helper()
	if a.status == http.StatusGone || a.status == http.StatusUnprocessableEntity {
		return // its sender knows
	}
	id := a.is(http.StatusAccepted).str("/id")
	got := bot.get(id).is(http.StatusOK)
	got.shows("/status", ended[got.at("/type")], "/mailbox", doc{"state": "bounced", "prior": "queued"})
}

func TestB74_AnEntryPutWhileItsSessionDies(t *testing.T) {
	onStoresWith(t, visible(), func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		for what, end := range map[string]func(m *mouth){
			"closed":   func(m *mouth) { m.closes().is(http.StatusOK) },
			"stopped":  func(m *mouth) { alice.send("DELETE", "/v1/sessions/"+m.session, nil).is(http.StatusOK) },
			"followed": func(m *mouth) { m.closes().is(http.StatusOK); s.settle(doc{"what": "sessions"}) },
		} {
			for _, e := range []func(...edit) doc{s.notify, s.ask, s.task} {
				s.run(what, func() {
					s.now = noon
					alice.send("POST", "/v1/stops/lift", doc{"agent": "worker"})
					worker := s.agent("worker").opens(0)
					sender := bot.opens(0)
					envelope := e(mailTo(worker.address()), sender.as())
					// Between what the submit has read and what it commits, the session ends and is gone through.
					s.goesWrong(recordtest.Overtaken(func() { end(worker) }))
					a := bot.submit(envelope)
					if a.status == http.StatusAccepted { // it says what has become of it, and tells the session before anybody looks
						id := a.str("/id")
						a.shows("/status", ended[envelope["type"]], "/destination", doc{"state": "offline", "last_seen": stamp(noon)})
						sender.one("receipt").shows("/in_reply_to", id, "/prior", "queued", "/session", worker.session)
						bot.submit(envelope).is(http.StatusAccepted).shows("/id", id)
					}
					s.settled(bot, a)
					sender.closes().is(http.StatusOK)
				})
			}
		}
	})
}

func TestB74_ADirectivePutWhileItsSessionDies(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("worker")
		alice, worker := s.person("alice"), s.agent("worker").opens(0)
		s.overtaken(hub.KindRow, func() { worker.closes().is(http.StatusOK) })
		a := alice.send("POST", "/v1/directives", doc{"to": worker.address(), "title": "Stop"})
		if a.status == http.StatusGone {
			return
		}
		a.is(http.StatusCreated).shows("/status", "bounced", "/destination", doc{"state": "offline", "last_seen": stamp(noon)})
		same(s.t, "the track", alice.track(a.str("/id")).json(), plain(s.t, doc{"state": "bounced", "prior": "queued"}))
	})
}

// crashes lets a Commit be made after the session has died, and the request die with it before it can look again. It tells
// the id of the message.
func crashes(first func(), id *string) recordtest.Fault {
	return func(ctx context.Context, st record.Store, writes []record.Write) error {
		first()
		for _, w := range writes {
			if tail, ok := strings.CutPrefix(w.Record.Key.Part, "m#"); ok {
				*id = ma2h.PrefixMessage + tail
			}
		}
		if err := st.Commit(ctx, writes...); err != nil {
			return err
		}
		return recordtest.ErrTimeout
	}
}

// TestB74_ASenderThatDiesBetweenItsTwoSteps: nobody looks again for it, and yet the entry settles, by whoever looks.
func TestB74_ASenderThatDiesBetweenItsTwoSteps(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot"), s.person("alice")
		for what, look := range map[string]func(id string){
			"a read":        func(id string) { bot.get(id).is(http.StatusOK) },
			"the owner":     func(id string) { alice.read(id).is(http.StatusOK) },
			"the sweep":     func(string) { s.later(2 * time.Minute); s.settle(doc{"what": "sessions"}) },
			"the message's": func(id string) { s.settle(doc{"what": "message", "id": id}) },
			"the retry":     func(string) {},
			"nobody, long":  func(string) { s.later(3 * time.Hour); s.settle(doc{"what": "sessions"}) },
			"a sweep at one": func(string) {
				s.settle(doc{"what": "sessions"})
				s.later(2 * time.Minute)
				s.settle(doc{"what": "sessions"})
			},
		} {
			s.run(what, func() {
				s.now = noon
				worker := s.agent("worker").opens(0)
				envelope := s.ask(mailTo(worker.address()))
				var id string
				s.goesWrong(crashes(func() { worker.closes().is(http.StatusOK) }, &id))
				bot.submit(envelope).refused(http.StatusInternalServerError, ma2h.CodeInternalError, "")
				if what != "the retry" {
					look(id)
					s.outcome(id).shows("/status", "cancelled", "/response/response/actor", undeliverable)
				}
				bot.submit(envelope).is(http.StatusAccepted).shows("/id", id, "/status", "cancelled")
				bot.get(id).shows("/status", "cancelled", "/mailbox", doc{"state": "bounced", "prior": "queued"},
					"/response/response", doc{"actor": undeliverable, "resolved_at": stamp(noon)})
			})
		}
	})
}

// TestB75_ABounceThatBrokeOffIsDoneAfterwards: the end of the session stands, and every entry of it settles.
func TestB75_ABounceThatBrokeOffIsDoneAfterwards(t *testing.T) {
	onStores(t, func(_ *testing.T, s *suite) {
		s.fleet("bot", "worker")
		bot, alice := s.agent("bot").opens(time.Hour), s.person("alice")
		for broken := range 6 {
			s.now = noon
			worker := s.agent("worker").opens(0)
			var ids []string
			for range 4 {
				ids = append(ids, bot.accepted(s.ask(mailTo(worker.address()), bot.as())))
			}
			directive := s.direct(worker.address())
			var commits atomic.Int64
			s.store.fails(func([]record.Write) recordtest.Fault {
				if commits.Add(1) > int64(broken) { // the process has died
					return recordtest.Throttled
				}
				return nil
			})
			worker.closes() // whatever it says
			s.store.fails(func([]record.Write) recordtest.Fault { return nil })
			worker.closes().is(http.StatusOK).shows("/session/state", "closed")
			s.later(5 * time.Minute)
			s.settle(doc{"what": "sessions"})
			for _, id := range ids {
				s.outcome(id).shows("/status", "cancelled", "/response/response", doc{"actor": undeliverable, "resolved_at": stamp(noon)})
				bot.get(id).shows("/mailbox", doc{"state": "bounced", "prior": "queued"})
			}
			same(s.t, "the directive's track", alice.track(directive).json(), plain(s.t, doc{"state": "bounced", "prior": "queued"}))
			same(s.t, "what the sender is sent", len(bot.drain()), 8)
		}
	})
}

package conform

import (
	"net/http"
	"net/url"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// maxHold is for how long a stream is held at most.
func (t *trial) maxHold() time.Duration { return seconds(t.can.Inbound.MaxHold) }

// streamTries is how often a clause opens a stream anew that was over before it had shown anything, as those of a slow hub are.
const streamTries = 8

func zombieSocket(t *trial) {
	a, b := t.streams("a", "b")
	var m *mouth
	var s *stream
	var connected, id string
	for try, pushed := 0, false; !pushed; try++ {
		if try == streamTries {
			t.notApplicable("each of %d streams was over before anything could be pushed", try)
		}
		m = b.opensBriefly()
		s = m.opensStream()
		connected = m.state().str("/session/expires_at")
		id = a.accepted(notifies(m.address()))
		pushed = t.home.virtual() || s.pushes(id) // where no time passes, a stream ends before anything can come
	}
	m.state().shows("/session/expires_at", connected, "what is pushed renews nothing (spec §8.7.2)")
	m.lapses()
	t.soon(func() bool { return a.pull(id).str("/mailbox/state") == "bounced" }, "and its mail bounces (spec §14.2)")
	read := m.state().shows("/session/expires_at", connected, "an open stream renews nothing (spec §8.7.2)")
	seen, _ := ma2h.ParseTime(read.str("/session/last_seen"))
	opened := t.home.now()
	if !t.home.virtual() {
		opened = s.since
	}
	t.hold(seen.Sub(opened) < patience, "nor is it a sign of life (spec §15.1)")
}

func reconnectRenews(t *trial) {
	_, b := t.streams("a", "b")
	m := b.opens()
	before := m.state().str("/session/expires_at")
	for range 2 {
		t.pass(2 * pollPause)
		m.opensStream()
		after := m.state().str("/session/expires_at")
		t.hold(later(before, after), "to open a stream, and to open it again, renews the lease (spec §16.2)")
		before = after
	}
}

func boundedHold(t *trial) {
	_, b := t.streams("a", "b")
	m := b.opens()
	if t.home.virtual() {
		ms := t.holdBound(m)
		t.hold(ms > 0 && ms <= t.maxHold(), "a hold of %v at most, not %v (spec §8.7.2)", t.maxHold(), ms)
		return
	}
	t.mayTake(t.maxHold())
	s := m.opensStream()
	t.after(t.maxHold(), func() bool { _, over := s.isOver(); return over }, "a stream that ends after %v (spec §8.7.2)", t.maxHold())
	t.hold(!s.till.IsZero() && s.till.Sub(s.since) < t.maxHold()+5*time.Second,
		"an end at stream_max_hold_seconds, not after %v (spec §8.7.2)", s.till.Sub(s.since))
	m.opensStream()
}

func holdBeforeLease(t *trial) {
	_, b := t.streams("a", "b")
	if t.home.virtual() {
		m := b.opensFor(t.lease())
		t.pass(seconds(t.lease()) - 5*time.Second)
		ms := t.holdBound(m)
		t.hold(ms > 0 && ms < 5*time.Second, "a hold that ends before the 5 s that are left of the lease, not %v (spec §8.7.2)", ms)
		return
	}
	t.mayTake(t.maxHold())
	m := b.opensFor(t.lease())
	s := m.opensStream()
	ends, _ := ma2h.ParseTime(m.state().str("/session/expires_at"))
	t.after(min(t.maxHold(), seconds(t.lease())), func() bool { _, over := s.isOver(); return over }, "a stream that ends (spec §8.7.2)")
	t.hold(s.till.Before(ends), "an end before that of the lease (spec §8.7.2)")
	if time.Now().Before(ends) { // else it was this side that was slow
		m.opensStream()
		t.hold(later(ma2h.FormatTime(ends), m.state().str("/session/expires_at")), "a reconnect that renews the lease (spec §8.7.2)")
	}
}

// holdBound is for how long a stream of a session would be held that is opened now, by the control API.
func (t *trial) holdBound(m *mouth) time.Duration {
	a := t.send(m.caller, http.MethodGet, "/_conformance/hold-bound?session="+url.QueryEscape(m.session), nil).
		is(http.StatusOK, "the control API's word for how long")
	var ms struct {
		MS int64 `json:"ms"`
	}
	a.decode(&ms)
	return time.Duration(ms.MS) * time.Millisecond
}

func provisional(t *trial) {
	a, b := t.streams("a", "b")
	m := b.opens()
	var id string
	var s *stream
	hidden := false
	for try := 0; !hidden; try++ {
		if try == streamTries {
			t.notApplicable("in %d tries the hub took longer for its answers than the %v that this is about", try, t.can.visibility())
		}
		var sent time.Time // before the push, and so before its visibility timeout began
		var pushed bool
		id, s, sent, pushed = pushedOn(a, m)
		if !pushed {
			continue
		}
		again := m.find(id)
		hidden = again == nil
		t.hold(hidden || !t.home.virtual() && time.Since(sent) >= t.can.visibility(), "what was pushed is hidden for the visibility timeout (spec §8.7.2)")
	}
	a.pull(id).shows("/mailbox/state", "queued", "a push delivers nothing (spec §8.7.2)")
	s.leave() // or it pushes again what comes again, and hides it from a drain
	wait := t.can.visibility()
	if !t.home.virtual() {
		wait += t.maxHold() + t.can.visibility() // which a hub may take that does not notice who has left
	}
	m.getsAfter(wait, id)
	a.pull(id).shows("/mailbox/state", "delivered", "a drain delivers what comes again (spec §8.7.2)")
}

// pushedOn is a message that a stream of its addressee pushes, if it does before it is over. The stream is open before the
// message is sent, but for where no time passes: there it ends before anything could come.
func pushedOn(from *caller, to *mouth) (id string, s *stream, sent time.Time, pushed bool) {
	if to.t.home.virtual() {
		id = from.accepted(notifies(to.address()))
		s = to.opensStream()
		s.gets(id)
		return id, s, to.t.home.now(), true
	}
	s = to.opensStream()
	sent = time.Now()
	id = from.accepted(notifies(to.address()))
	return id, s, sent, s.pushes(id)
}

func ackOfPushed(t *trial) {
	a, b := t.streams("a", "b")
	m := b.opens()
	id := a.accepted(notifies(m.address()))
	m.opensStream().gets(id)
	m.consume(id)
	a.pull(id).shows("/mailbox/state", "acknowledged", "the ack of what was pushed (spec §8.7.2)")
	t.throughout(t.can.visibility(), func() bool { return m.find(id) == nil }, "what was acked never comes again (spec §8.7)")
	lost := a.accepted(notifies(m.address()))
	m.opensStream().gets(lost)
	m.closes()
	t.soon(func() bool { return a.pull(lost).str("/mailbox/state") == "bounced" }, "unacked mail of an ended session bounces (spec §14.2)")
	a.pull(lost).shows("/mailbox/prior", "queued", "what was pushed and not acked was never delivered (spec §8.7.2)")
}

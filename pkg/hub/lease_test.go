package hub_test

import (
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// registered is a session with a lease of fifteen minutes, its id and where it lies.
func (d *desk) registered(t *testing.T) (id string, at record.Key) {
	t.Helper()
	made, err := d.Register(t.Context(), d.agent, &ma2h.Register{TTLSeconds: 900})
	if err != nil {
		t.Fatal(err)
	}
	key, _ := hub.SessionKey(made.Session.ID)
	return made.Session.ID, key
}

// drained is a sign of life of a session.
func (d *desk) drained(t *testing.T, id string) {
	t.Helper()
	if _, err := d.Drain(t.Context(), d.agent, hub.DrainOptions{Session: id}); err != nil {
		t.Fatal(err)
	}
}

func (d *desk) lease(t *testing.T, at record.Key) (record.Record, *hub.Timer) {
	t.Helper()
	recs, err := d.Store.Get(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	timer, err := hub.TimerOf(recs[0])
	if err != nil {
		t.Fatal(err)
	}
	return recs[0], timer
}

// TestALeaseHasOneTimer: from its registration on, and no renewal asks for another, since what it calls looks anew.
func TestALeaseHasOneTimer(t *testing.T) {
	t.Parallel()
	d, _ := newGracefulDesk(t)
	id, at := d.registered(t)
	rec, timer := d.lease(t, at)
	first := noon.Add(15*time.Minute + time.Millisecond)
	if timer == nil || timer.Kind != hub.TimerLease || timer.Key != at || !timer.At.Equal(first) {
		t.Fatalf("the timer of a session that was registered = %+v, want one at %s", timer, first)
	}
	if !rec.Due.Equal(first.Add(grace)) {
		t.Errorf("it is due at %s, want %s", rec.Due, first.Add(grace))
	}
	d.at(noon.Add(10 * time.Minute))
	d.drained(t, id)
	if _, timer := d.lease(t, at); timer != nil {
		t.Errorf("a renewal asks for %+v", timer)
	}
	d.at(first)
	renewed := noon.Add(25*time.Minute + time.Millisecond)
	if again, err := d.Expire(t.Context(), at); err != nil || !again.Equal(renewed) {
		t.Errorf("at the end of the first lease = %v, %v, want again at %s", again, err, renewed)
	}
}

// TestAnEndedLeaseBouncesItsMail: at its end and once more a minute later; the erasure is a sweep's.
func TestAnEndedLeaseBouncesItsMail(t *testing.T) {
	t.Parallel()
	d, _ := newGracefulDesk(t)
	id, at := d.registered(t)
	sent, err := d.Direct(t.Context(), d.owner, &ma2h.Directive{To: "agent:bot#" + id, Title: "Stop"})
	if err != nil {
		t.Fatal(err)
	}
	key, _ := hub.LetterKey(sent.ID)
	d.at(noon.Add(15*time.Minute + time.Millisecond))
	again, err := d.Expire(t.Context(), at)
	if want := noon.Add(16*time.Minute + time.Millisecond); err != nil || !again.Equal(want) {
		t.Errorf("at the end of the lease = %v, %v, want again at %s", again, err, want)
	}
	recs, err := d.Store.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	var s hub.State
	if err := hub.Decode(recs[0], &s); err != nil || s.Mail.Track != ma2h.TrackBounced {
		t.Errorf("its mail is %+v, %v, want bounced", s.Mail, err)
	}
	d.at(again)
	if again, err = d.Expire(t.Context(), at); err != nil || !again.IsZero() {
		t.Errorf("the second time = %v, %v, want the end", again, err)
	}
	d.at(noon.AddDate(0, 0, 3))
	if again, err = d.Expire(t.Context(), at); err != nil || !again.IsZero() {
		t.Errorf("days later = %v, %v, want the end", again, err)
	}
}

// TestALeaseThatIsRenewedForEverIsLeftToTheSweep: which then looks without delay.
func TestALeaseThatIsRenewedForEverIsLeftToTheSweep(t *testing.T) {
	t.Parallel()
	d, _ := newGracefulDesk(t)
	id, at := d.registered(t)
	for now := noon; !now.After(noon.Add(hub.TimerHorizon)); now = now.Add(10 * time.Minute) {
		d.at(now)
		d.drained(t, id)
	}
	if again, err := d.Expire(t.Context(), at); err != nil || !again.IsZero() {
		t.Errorf("a day later = %v, %v, want the end", again, err)
	}
	again, err := d.Fire(t.Context(), at)
	rec, _ := d.lease(t, at)
	if err != nil || !rec.Due.Equal(again) {
		t.Errorf("it is due at %s, and ends at %s, %v", rec.Due, again, err)
	}
}

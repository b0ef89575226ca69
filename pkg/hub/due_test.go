package hub_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// grace is how long others have for what a Timer is for.
const grace = 2 * time.Minute

// receiver is a Pusher that fails as often as it is told to, and counts.
type receiver struct {
	quiet
	fail, got int
}

func (r *receiver) Push(context.Context, hub.Push) hub.PushResult {
	if r.got++; r.got <= r.fail {
		return hub.PushResult{Status: 503}
	}
	return hub.PushResult{Status: 200}
}

// newGracefulDesk is a desk at noon whose sweep leaves time to others, and its receiver.
func newGracefulDesk(t *testing.T) (*desk, *receiver) {
	d, r := newDesk(t), &receiver{}
	d.Settings.Grace, d.Settings.SigningKey, d.Pusher = grace, []byte("key"), r
	d.at(noon)
	return d, r
}

func (d *desk) at(now time.Time) { d.Now = func() time.Time { return now } }

// submit submits a confirm that expires so long after noon, never for 0, with a callback or without. To do so again is a
// replay.
func (d *desk) submit(t *testing.T, lasts time.Duration, callback bool) ma2h.SubmitAck {
	t.Helper()
	expires, back := "", ""
	if lasts > 0 {
		expires = fmt.Sprintf(`"expires_at":%q,`, ma2h.FormatTime(noon.Add(lasts)))
	}
	if callback {
		back = `,"callback":{"mode":"push","url":"https://bot.example/","auth":{"scheme":"hmac","secret_ref":"x"}}`
	}
	e, invalid := ma2h.ReadMessage(fmt.Appendf(nil, `{"ma2h_version":"0.6","type":"ask","created_at":"2026-01-31T12:00:00Z",`+
		`"agent":{"id":"bot","run_id":"r"},"title":"Ship?","idempotency_key":"k",%s`+
		`"request":{"mode":"confirm","allowed_resolvers":["human:alice"]%s}}`, expires, back))
	if invalid != nil {
		t.Fatal(invalid)
	}
	s, err := d.Submit(t.Context(), d.agent, e)
	if err != nil {
		t.Fatal(err)
	}
	return s.Ack
}

func (d *desk) decline(t *testing.T, id string) {
	t.Helper()
	if _, err := d.Resolve(t.Context(), d.owner, id, "", &ma2h.Resolve{Resolution: ma2h.StatusDeclined}); err != nil {
		t.Fatal(err)
	}
}

// stored is the record of a message's state as it lies there, without anything being settled.
func (d *desk) stored(t *testing.T, id string) record.Record {
	t.Helper()
	recs, err := d.Store.Get(t.Context(), key(id))
	if err != nil {
		t.Fatal(err)
	}
	return recs[0]
}

func key(id string) record.Key {
	k, _ := hub.StateKey(id)
	return k
}

func TestWhichTimerAndWhenTheSweepLooks(t *testing.T) {
	t.Parallel()
	const day, ms = 24 * time.Hour, time.Millisecond
	for name, c := range map[string]struct {
		lasts    time.Duration
		callback bool
		answered bool
		want     *hub.Timer
		due      time.Time
	}{
		"nothing to tell anybody": {lasts: time.Hour, due: noon.Add(time.Hour + ms)},
		"no deadline":             {callback: true},
		"a deadline within a day": {
			lasts: day, callback: true, due: noon.Add(day + ms + grace),
			want: &hub.Timer{Kind: hub.TimerExpiry, At: noon.Add(day + ms)},
		},
		"a deadline beyond": {lasts: day + ms, callback: true, due: noon.Add(day + 2*ms)},
		"a callback is owed": {
			lasts: time.Hour, callback: true, answered: true, due: noon.Add(grace),
			want: &hub.Timer{Kind: hub.TimerCallback, At: noon},
		},
		"an answer to be fetched": {lasts: time.Hour, answered: true, due: noon.AddDate(0, 0, 30).Add(ms)},
	} {
		d, _ := newGracefulDesk(t)
		id := d.submit(t, c.lasts, c.callback).ID
		if c.answered {
			d.decline(t, id)
		}
		rec := d.stored(t, id)
		if !rec.Due.Equal(c.due) {
			t.Errorf("%s: due %s, want %s", name, rec.Due, c.due)
		}
		got, err := hub.TimerOf(rec)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got != nil && c.want != nil {
			if !regexp.MustCompile(`^[A-Za-z0-9-]{1,79}$`).MatchString(got.Name) {
				t.Errorf("%s: the timer is called %q", name, got.Name)
			}
			c.want.Name, c.want.Key = got.Name, key(id)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: timer (-want +got)\n%s", name, diff)
		}
	}
}

// TestATimerKeepsItsName: over the attempts of a callback there is one, and another for each obligation.
func TestATimerKeepsItsName(t *testing.T) {
	t.Parallel()
	d, r := newGracefulDesk(t)
	r.fail = 1
	id := d.submit(t, time.Hour, true).ID
	names := map[string]int{}
	name := func() {
		timer, err := hub.TimerOf(d.stored(t, id))
		if err != nil || timer == nil {
			t.Fatalf("timer %v, %v", timer, err)
		}
		names[timer.Name]++
	}
	name()
	d.at(noon.Add(time.Second))
	d.decline(t, id)
	name()
	again, err := d.Deliver(t.Context(), key(id), "")
	if err != nil || again.IsZero() {
		t.Fatalf("a failed attempt = %v, %v, want another", again, err)
	}
	name()
	if len(names) != 2 {
		t.Errorf("names of one expiry and one callback: %v", names)
	}
	d.at(again)
	if again, err := d.Deliver(t.Context(), key(id), ""); err != nil || !again.IsZero() || r.got != 2 {
		t.Errorf("the second attempt of %d = %v, %v, want the end", r.got, again, err)
	}
	if timer, err := hub.TimerOf(d.stored(t, id)); err != nil || timer != nil {
		t.Errorf("the timer of what was delivered = %v, %v", timer, err)
	}
}

func TestARecordOfNoTimer(t *testing.T) {
	t.Parallel()
	due, k := noon, record.Key{Part: "m#1", Sort: "state"}
	for name, r := range map[string]record.Record{
		"of another kind": {Key: k, Kind: hub.KindContent, Body: []byte("{"), Due: due},
		"never due":       {Key: k, Kind: hub.KindState, Body: []byte("{")},
	} {
		if timer, err := hub.TimerOf(r); timer != nil || err != nil {
			t.Errorf("%s: %v, %v", name, timer, err)
		}
	}
	foreign := `{"id":"msg_0","status":"answered","push":{"next":"2026-03-14T12:00:00Z"}}`
	for _, body := range []string{"{", foreign} {
		if timer, err := hub.TimerOf(record.Record{Key: k, Kind: hub.KindState, Body: []byte(body), Due: due}); err == nil {
			t.Errorf("%s is read as %v", body, timer)
		}
	}
}

// TestReadsSettleAtTheDeadline: whatever Due says, what is asked of an overdue message is answered as it then stands.
func TestReadsSettleAtTheDeadline(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(d *desk, id string) error{
		"pull": func(d *desk, id string) error {
			_, err := d.Pull(t.Context(), d.agent, id, hub.PullOptions{})
			return err
		},
		"read": func(d *desk, id string) error {
			_, err := d.Read(t.Context(), d.owner, id)
			return err
		},
		"replay": func(d *desk, _ string) error {
			if got := d.submit(t, time.Hour, true).Status; got != ma2h.StatusExpired {
				return fmt.Errorf("it is %s", got)
			}
			return nil
		},
		"resolve": func(d *desk, id string) error {
			_, err := d.Resolve(t.Context(), d.owner, id, "", &ma2h.Resolve{Resolution: ma2h.StatusDeclined})
			return ended(err)
		},
		"cancel": func(d *desk, id string) error {
			_, err := d.Cancel(t.Context(), d.agent, id)
			return ended(err)
		},
	} {
		d, r := newGracefulDesk(t)
		id := d.submit(t, time.Hour, true).ID
		d.at(noon.Add(time.Hour + time.Millisecond))
		if due, err := d.Store.Due(t.Context(), d.Now(), record.Entry{}, 10); err != nil || len(due) > 0 {
			t.Errorf("Due = %v, %v, want nothing within the grace", due, err)
		}
		if err := ask(d, id); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		o, err := d.Outcome(t.Context(), id)
		if err != nil || o.Status != ma2h.StatusExpired || o.Response.Response.ResolvedAt != ma2h.FormatTime(noon.Add(time.Hour)) {
			t.Errorf("%s leaves %+v, %v, want it expired at the deadline", name, o, err)
		}
		if r.got > 0 {
			t.Errorf("%s waited for %d pushes", name, r.got)
		}
	}
}

// ended is nil for the error of what came too late.
func ended(err error) error {
	if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeAlreadyTerminal {
		return nil
	}
	return fmt.Errorf("taken, with %w", err)
}

func TestExpireEndsWithoutMakingTheCallback(t *testing.T) {
	t.Parallel()
	d, r := newGracefulDesk(t)
	id := d.submit(t, time.Hour, true).ID
	for _, early := range []time.Duration{0, time.Hour} {
		d.at(noon.Add(early))
		again, err := d.Expire(t.Context(), key(id))
		if want := noon.Add(time.Hour + time.Millisecond); err != nil || !again.Equal(want) {
			t.Errorf("Expire %s after noon = %v, %v, want to be asked again at %v", early, again, err, want)
		}
	}
	d.at(noon.Add(time.Hour + time.Second))
	for range 2 {
		if again, err := d.Expire(t.Context(), key(id)); err != nil || !again.IsZero() {
			t.Errorf("Expire = %v, %v, want the end", again, err)
		}
	}
	if r.got > 0 {
		t.Errorf("%d pushes, which have a Timer of their own", r.got)
	}
	if got := d.stored(t, id).Due; !got.Equal(d.Now().Add(grace)) {
		t.Errorf("the push is due %s, want the grace after %s", got, d.Now())
	}
}

func TestTheSweepLeavesACallbackToItsTimer(t *testing.T) {
	t.Parallel()
	d, r := newGracefulDesk(t)
	r.fail = 1
	id := d.submit(t, time.Hour, true).ID
	d.at(noon.Add(time.Hour + grace)) // nobody has seen to the expiry
	took := func(want int) {
		t.Helper()
		if err := d.TakeOver(t.Context(), key(id)); err != nil || r.got != want {
			t.Errorf("TakeOver at %s: %v and %d pushes, want %d", d.Now(), err, r.got, want)
		}
	}
	took(0)
	if o, err := d.Outcome(t.Context(), id); err != nil || o.Status != ma2h.StatusExpired {
		t.Fatalf("the sweep leaves %+v, %v", o, err)
	}
	pushed := d.Now()
	d.at(pushed.Add(grace - time.Millisecond))
	took(0)
	d.at(pushed.Add(grace))
	took(1)
	timer, err := hub.TimerOf(d.stored(t, id))
	if err != nil || timer == nil || !timer.At.After(d.Now()) {
		t.Fatalf("the next attempt: %+v, %v", timer, err)
	}
	d.at(timer.At)
	took(1)
	d.at(timer.At.Add(grace))
	took(2)
	if due, err := d.Store.Due(t.Context(), d.Now().AddDate(0, 0, 29), record.Entry{}, 10); err != nil || len(due) > 0 {
		t.Errorf("Due = %v, %v, want nothing until the retention ends", due, err)
	}
}

// TestWhatWasWrittenWithoutGraceIsWrittenAnew is about records of the time before there were timers.
func TestWhatWasWrittenWithoutGraceIsWrittenAnew(t *testing.T) {
	t.Parallel()
	d, r := newGracefulDesk(t)
	id := d.submit(t, time.Hour, true).ID
	d.Settings.Grace = 0
	d.decline(t, id)
	d.Settings.Grace = grace
	if err := d.TakeOver(t.Context(), key(id)); err != nil || r.got > 0 {
		t.Errorf("TakeOver = %v and %d pushes, want none yet", err, r.got)
	}
	if due, err := d.Store.Due(t.Context(), d.Now(), record.Entry{}, 10); err != nil || len(due) > 0 {
		t.Errorf("Due = %v, %v, want nothing within the grace", due, err)
	}
}

// TestFireKnowsNoGrace: who has armed a key is called at the time it was armed for, and told the true time of the next.
func TestFireKnowsNoGrace(t *testing.T) {
	t.Parallel()
	d, r := newGracefulDesk(t)
	r.fail = 1
	id := d.submit(t, time.Hour, true).ID
	if again, err := d.Fire(t.Context(), key(id)); err != nil || !again.Equal(noon.Add(time.Hour+time.Millisecond)) {
		t.Errorf("Fire before the deadline = %v, %v", again, err)
	}
	d.decline(t, id)
	again, err := d.Fire(t.Context(), key(id))
	if err != nil || r.got != 1 || !again.After(noon) || again.After(noon.Add(3*time.Second)) {
		t.Errorf("Fire of a push that fails = %v, %v after %d, want the time of the next attempt", again, err, r.got)
	}
}

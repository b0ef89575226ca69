package hub_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// quiet is a Bell, Clockwork and Pusher of a hub whose time a test moves by hand.
type quiet struct{}

func (quiet) Ring(context.Context, string)                                {}
func (quiet) Listen(context.Context, ...string) (<-chan struct{}, func()) { return nil, func() {} }
func (quiet) Forget(context.Context, string)                              {}
func (quiet) Arm(context.Context, record.Key, time.Time)                  {}
func (quiet) Check(string) error                                          { return nil }
func (quiet) Push(context.Context, hub.Push) hub.PushResult               { return hub.PushResult{Status: 200} }

// desk is a hub with an owner and an agent.
type desk struct {
	*hub.Hub
	owner, agent *hub.Caller
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	store, err := sqlitestore.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	d := &desk{Hub: hub.New(store, keyring.Ephemeral(), quiet{}, quiet{}, quiet{}, hub.DefaultSettings())}
	if d.owner, err = d.EnsureAccount(t.Context(), "alice"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.AddAgent(t.Context(), d.owner, "bot"); err != nil {
		t.Fatal(err)
	}
	d.agent = &hub.Caller{Account: d.owner.Account, Agent: &hub.Agent{
		ID: "bot", Account: d.owner.Account.Ref, Ref: d.AgentRef(d.owner.Account.Ref, "bot"),
	}}
	return d
}

// ask submits a confirm that alice may answer until the deadline.
func (d *desk) ask(t *testing.T, deadline time.Time) string {
	t.Helper()
	e, invalid := ma2h.ReadMessage(fmt.Appendf(nil, `{"ma2h_version":"0.6","type":"ask","created_at":"2026-01-31T12:00:00Z",`+
		`"agent":{"id":"bot","run_id":"r"},"title":"Ship?","idempotency_key":"k","expires_at":%q,`+
		`"request":{"mode":"confirm","allowed_resolvers":["human:alice"]}}`, ma2h.FormatTime(deadline)))
	if invalid != nil {
		t.Fatal(invalid)
	}
	s, err := d.Submit(t.Context(), d.agent, e)
	if err != nil {
		t.Fatal(err)
	}
	return s.Ack.ID
}

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// Whoever is found in time is dated in time, even if the clock goes on between the look and the deed.
func TestAResolveIsDecidedAtOneInstant(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Now = func() time.Time { return noon }
	id := d.ask(t, noon.Add(time.Minute))
	ticks := 0
	d.Now = func() time.Time {
		ticks++
		return noon.Add(time.Minute).Add(time.Duration(ticks-1) * time.Second)
	}
	if _, err := d.Resolve(t.Context(), d.owner, id, "", &ma2h.Resolve{Resolution: ma2h.StatusDeclined}); err != nil {
		t.Fatalf("Resolve at the deadline = %v, want it taken", err)
	}
	o, err := d.Outcome(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := o.Response.Response.ResolvedAt, ma2h.FormatTime(noon.Add(time.Minute)); got != want {
		t.Errorf("resolved_at = %s, want the deadline %s", got, want)
	}
}

// A due time may lose its meaning, as when the retention is prolonged. It must not be fired for ever.
func TestADueTimeThatMeansNothingAnyMoreIsWrittenAnew(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Now = func() time.Time { return noon }
	id := d.ask(t, noon.Add(time.Hour))
	if _, err := d.Resolve(t.Context(), d.owner, id, "", &ma2h.Resolve{Resolution: ma2h.StatusDeclined}); err != nil {
		t.Fatal(err)
	}
	d.Settings.RetentionDays = 60
	d.Now = func() time.Time { return noon.AddDate(0, 0, 31) }
	key, _ := hub.StateKey(id)
	again, err := d.Fire(t.Context(), key)
	if err != nil || !again.After(noon.AddDate(0, 0, 59)) {
		t.Errorf("Fire at the end of the old retention = %s, %v, want the end of the new one", again, err)
	}
	if due, err := d.Store.Due(t.Context(), d.Now(), record.Entry{}, 10); err != nil || len(due) > 0 {
		t.Errorf("Due = %v, %v, want nothing due", due, err)
	}
}

func TestDefaultResolversAreBoundedAndWellFormed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, list := range [][]string{{"human:"}, {"alice"}, {"agent:a#b"}, make([]string, 101)} {
		if err := d.SetDefaultResolvers(t.Context(), d.owner, list); ma2h.AsError(err) == nil {
			t.Errorf("SetDefaultResolvers(%.1q of %d) = %v, want invalid_field", list, len(list), err)
		}
	}
	if err := d.SetDefaultResolvers(t.Context(), d.owner, []string{"human:alice", "agent:a/b"}); err != nil {
		t.Errorf("SetDefaultResolvers = %v", err)
	}
}

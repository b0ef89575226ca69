package client_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestAsksOfAgentsNeedAPolicy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy *client.Policy
		why    error
	}{
		"not declared": {nil, client.ErrNoPolicy},
		"no agent":     {client.AllowAgents(), client.ErrNotAllowed},
		"team/helper":  {client.AllowAgents("team/helper"), client.ErrNotAllowed},
		"asker":        {client.AllowAgents("asker"), nil},
		"agent:asker":  {client.AllowAgents("agent:asker"), nil},
		"every agent":  {client.AllowEveryAgent(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startPair(t)
			id := p.ask(t, "agent:team/helper")
			p.helperMail.Policy = c.policy
			if c.policy.String() != name {
				t.Errorf("String = %s", c.policy)
			}
			got, err := p.helperMail.Drain(t.Context(), client.DrainOptions{Wait: time.Second})
			if err != nil || len(got.Refused) > 0 || len(got.Entries)+len(got.Withheld) != 1 {
				t.Fatalf("Drain = %+v, %v", got, err)
			}
			if c.why == nil {
				if len(got.Entries) != 1 || got.Entries[0].Key() != id {
					t.Errorf("Drain = %+v, want %s handed over", got, id)
				}
				return
			}
			if len(got.Withheld) != 1 {
				t.Fatalf("Drain = %+v, want %s withheld", got, id)
			}
			w := got.Withheld[0]
			if w.ID != id || w.From != "agent:asker#"+p.askerSession.ID || w.Type != ma2h.TypeAsk || !errors.Is(w.Why, c.why) {
				t.Errorf("Withheld = %+v, want %s and %v", w, id, c.why)
			}
		})
	}
}

func TestWhatIsOnlyToldNeedsNoPolicy(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	p.helperMail.Policy = nil
	ack, err := p.asker.Notify(t.Context(), ma2h.Message{To: "agent:team/helper", Title: "It is deployed"})
	if err != nil {
		t.Fatal(err)
	}
	if e := only[*client.MessageEntry](t, p.helperMail); e.Key() != ack.ID {
		t.Errorf("Drain = %s, want %s", e.Key(), ack.ID)
	}
}

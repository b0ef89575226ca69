package hub_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// raceRounds is how often a race is run: RACE_ROUNDS of the environment, or a few.
func raceRounds() int {
	if n, err := strconv.Atoi(os.Getenv("RACE_ROUNDS")); err == nil {
		return n
	}
	return 3
}

// TestMailToASessionThatIsBeingClosedIsNeverLeftUnsettled lets 64 write to a session while it is closed. A third of them die
// after their message was committed, before they look at the session again.
func TestMailToASessionThatIsBeingClosedIsNeverLeftUnsettled(t *testing.T) {
	inHouses(t, func(h *house) {
		h.must(h.SetInterAgent(t.Context(), h.ada, true))
		h.Settings.RequestsPerMinute, h.Settings.PairPerMinute, h.Settings.InboxDepth = 0, 0, 0
		alpha, beta := h.agent("alpha"), h.agent("beta")
		for round := range raceRounds() {
			made, err := h.Register(t.Context(), beta, &ma2h.Register{})
			h.must(err)
			sent := h.race(alpha, beta, made.Session.ID, round)
			h.settledAll(made.Session.ID, sent)
		}
	})
}

// What is committed is accepted, though the look at its destination afterwards fails: an error would have it sent twice.
func TestWhatIsCommittedIsAcceptedThoughALookFails(t *testing.T) {
	inHouses(t, func(h *house) {
		h.must(h.SetInterAgent(t.Context(), h.ada, true))
		alpha, beta := h.agent("alpha"), h.agent("beta")
		made, err := h.Register(t.Context(), beta, &ma2h.Register{})
		h.must(err)
		mine := *h.Hub
		mine.Store = stumblingOn(h.Store)
		sent, err := mine.Submit(t.Context(), alpha, h.addressed("once", made.Session.ID))
		h.must(err)
		if d := sent.Ack.Destination; d == nil || d.State != "unknown" {
			t.Errorf("the destination is %+v, want it unknown", d)
		}
		mine.Store = stumblingOn(h.Store)
		told, err := mine.Direct(t.Context(), h.ada, &ma2h.Directive{To: "agent:beta#" + made.Session.ID, Title: "Stop"})
		h.must(err)
		if told.Destination.State != "unknown" {
			t.Errorf("the destination is %+v, want it unknown", told.Destination)
		}
		drained, err := h.Drain(t.Context(), beta, hub.DrainOptions{Session: made.Session.ID})
		h.must(err)
		for _, id := range []string{sent.Ack.ID, told.ID} {
			if !strings.Contains(string(drained), id) {
				t.Errorf("%s was accepted and does not come: %s", id, drained)
			}
		}
	})
}

// agent adds an agent, and returns it as a caller of an account whose agents may write to each other.
func (h *house) agent(id string) *hub.Caller {
	h.t.Helper()
	_, err := h.AddAgent(h.t.Context(), h.ada, id)
	h.must(err)
	account := h.ada.Account
	account.InterAgent = true
	return &hub.Caller{Account: account, Agent: &hub.Agent{Ref: h.AgentRef(account.Ref, id), ID: id, Account: account.Ref}}
}

// addressed is a message from alpha to a session of beta.
func (h *house) addressed(key, session string) *ma2h.Envelope {
	e, err := ma2h.ReadMessage(fmt.Appendf(nil, `{"ma2h_version":"0.6","type":"ask","created_at":"2026-03-04T14:20:00Z",`+
		`"agent":{"id":"alpha","run_id":"run_1"},"to":"agent:beta#%s","title":"t","idempotency_key":%q,"request":{"mode":"confirm"}}`, session, key))
	if err != nil {
		h.t.Error(err)
	}
	return e
}

// race sends 64 messages to a session and closes it in the midst of them; it returns the ids of those that were accepted.
func (h *house) race(alpha, beta *hub.Caller, session string, round int) []string {
	h.t.Helper()
	const senders = 64
	ids, start, through := make([]string, senders), make(chan struct{}), make(chan struct{}, senders)
	var all sync.WaitGroup
	for i := range senders {
		all.Go(func() {
			defer func() { through <- struct{}{} }()
			key := fmt.Sprintf("%d-%d", round, i)
			<-start
			mine := *h.Hub
			if i%3 == 0 {
				mine.Store = stumblingOn(h.Store)
			}
			made, err := mine.Submit(h.t.Context(), alpha, h.addressed(key, session))
			if errors.Is(err, errStumbled) {
				made, err = h.Submit(h.t.Context(), alpha, h.addressed(key, session))
			}
			if err == nil {
				ids[i] = made.Ack.ID
			} else if e := ma2h.AsError(err); e == nil || e.Code != ma2h.CodeUnknownDestination {
				h.t.Errorf("a message to a session that is closed: %v", err)
			}
		})
	}
	all.Go(func() {
		<-start
		for range round * 13 % (senders - 16) { // so that the close falls into the midst of them
			<-through
		}
		if _, err := h.CloseSession(h.t.Context(), beta, session); err != nil {
			h.t.Error(err)
		}
	})
	close(start)
	all.Wait()
	return ids
}

// settledAll goes through the lane as the hub does after an end, and finds nothing there, and every message bounced.
func (h *house) settledAll(session string, sent []string) {
	h.t.Helper()
	key, _ := hub.SessionKey(session)
	for range 2 {
		_, err := h.Fire(h.t.Context(), key)
		h.must(err)
		h.pass(61 * time.Second)
	}
	left, err := h.Store.List(h.t.Context(), "q#s."+session[len(ma2h.PrefixSession):], "", 100)
	h.must(err)
	if len(left) > 0 {
		h.t.Errorf("%d entries are left in the lane of a session that has ended", len(left))
	}
	accepted := 0
	for _, id := range sent {
		if id == "" {
			continue
		}
		accepted++
		o, err := h.Outcome(h.t.Context(), id)
		h.must(err)
		if o.Status != ma2h.StatusCancelled || o.Response.Response.Actor != ma2h.ActorUndeliverable {
			body, _ := json.Marshal(o)
			h.t.Errorf("a message to a session that has ended is %s", body)
		}
	}
	h.t.Logf("%d of %d were accepted", accepted, len(sent))
}

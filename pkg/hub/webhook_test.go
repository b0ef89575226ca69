package hub_test

import (
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/signature"
)

const toldAt = "https://agent.example/told"

// hooked is a desk whose agent has a webhook, what answers there, and a directive that has not been attempted yet.
func hooked(t *testing.T, script ...hub.PushResult) (d *desk, s *scripted, id string) {
	t.Helper()
	d, s = newDesk(t), &scripted{script: script}
	d.Pusher, d.Settings.Grace = s, grace
	d.at(noon)
	d.bind(t, "agent.example")
	d.webhook(t, toldAt)
	return d, s, d.tell(t, 0)
}

func (d *desk) webhook(t *testing.T, url string) {
	t.Helper()
	if err := d.SetWebhook(t.Context(), d.owner, "bot", url); err != nil {
		t.Fatal(err)
	}
}

// tell sends a directive that lasts so long, without a deadline of its own for 0.
func (d *desk) tell(t *testing.T, lasts time.Duration) string {
	t.Helper()
	told := &ma2h.Directive{To: "agent:bot", Title: "Stop"}
	if lasts > 0 {
		told.ExpiresAt = ma2h.FormatTime(d.Now().Add(lasts))
	}
	sent, err := d.Direct(t.Context(), d.owner, told)
	if err != nil {
		t.Fatal(err)
	}
	return sent.ID
}

func (d *desk) told(t *testing.T, id string) *hub.DirectiveView {
	t.Helper()
	v, err := d.DirectiveAt(t.Context(), d.owner, id)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func told(id string) record.Key {
	k, _ := hub.LetterKey(id)
	return k
}

// attempt lets the clock do what is due of a directive, and returns when it wants to be asked again.
func (d *desk) attempt(t *testing.T, id string) time.Time {
	t.Helper()
	again, err := d.Fire(t.Context(), told(id))
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func (d *desk) ackTold(t *testing.T, id string) {
	t.Helper()
	if _, err := d.AckMail(t.Context(), d.agent, "", &ma2h.InboxAckRequest{IDs: []string{id}}); err != nil {
		t.Error(err)
	}
}

// TestAWebhookIsTriedAsCallbacksAre: again after what may pass, no sooner than it was asked for, never for ever, and signed
// anew each time (spec §8.3, §9.7).
func TestAWebhookIsTriedAsCallbacksAre(t *testing.T) {
	t.Parallel()
	d, s, id := hooked(t, hub.PushResult{Status: 503, RetryAfter: 10 * time.Minute}, hub.PushResult{Failure: hub.FailureReset})
	again := d.attempt(t, id)
	if again.Before(noon.Add(10 * time.Minute)) {
		t.Errorf("tried again at %s, though asked not to for ten minutes", again)
	}
	d.at(again.Add(-time.Second))
	if d.attempt(t, id); len(s.got) != 1 {
		t.Errorf("%d attempts before it is time for the second", len(s.got))
	}
	for range 100 {
		if v := d.told(t, id); v.Webhook.State != hub.CallbackTries {
			break
		}
		d.at(d.told(t, id).Webhook.Next)
		d.attempt(t, id)
	}
	v := d.told(t, id)
	if len(s.got) != d.Settings.Retry.MaxAttempts || v.Webhook.State != hub.CallbackGivenUp || v.Mailbox.State != ma2h.TrackQueued {
		t.Errorf("%d attempts, webhook %+v, mailbox %+v; want it given up and queued", len(s.got), v.Webhook, v.Mailbox)
	}
	signatures := map[string]bool{}
	for _, p := range s.got {
		signatures[p.Headers[signature.HeaderName]] = true
	}
	if len(signatures) != len(s.got) {
		t.Errorf("%d attempts have %d signatures", len(s.got), len(signatures))
	}
}

// TestWhatIsOverIsNotPushed: between one attempt and the next the way of a directive ends, or who is called.
func TestWhatIsOverIsNotPushed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends func(t *testing.T, d *desk, id string)
		why  hub.Failure // of the attempt that is not made; empty where there is none
	}{
		"acknowledged":       {func(t *testing.T, d *desk, id string) { t.Helper(); d.ackTold(t, id) }, ""},
		"expired":            {func(_ *testing.T, d *desk, _ string) { d.at(noon.Add(2 * time.Hour)) }, ""},
		"without a webhook":  {func(t *testing.T, d *desk, _ string) { t.Helper(); d.webhook(t, "") }, hub.FailureNoWebhook},
		"of another's host":  {func(t *testing.T, d *desk, _ string) { t.Helper(); d.unbind(t, "agent.example") }, hub.FailureUnbound},
		"of a revoked agent": {func(t *testing.T, d *desk, _ string) { t.Helper(); d.revoke(t) }, hub.FailureRevoked},
		"of a stopped agent": {func(t *testing.T, d *desk, _ string) { t.Helper(); d.stop(t) }, hub.FailureStopped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s, _ := hooked(t, hub.PushResult{Status: 503})
			id := d.tell(t, time.Hour)
			again := d.attempt(t, id)
			d.at(again)
			c.ends(t, d, id)
			d.attempt(t, id)
			v := d.told(t, id).Webhook
			last := v.Attempts[len(v.Attempts)-1].Failure
			if len(s.got) != 1 || v.State != hub.CallbackGivenUp || last != c.why {
				t.Errorf("%d attempts, webhook %+v; want one, and given up for %q", len(s.got), v, c.why)
			}
		})
	}
}

func (d *desk) unbind(t *testing.T, host string) {
	t.Helper()
	if err := d.UnbindHost(t.Context(), d.owner, "bot", host); err != nil {
		t.Fatal(err)
	}
}

func (d *desk) revoke(t *testing.T) {
	t.Helper()
	if err := d.RevokeAgent(t.Context(), d.owner, "bot"); err != nil {
		t.Fatal(err)
	}
}

func (d *desk) stop(t *testing.T) {
	t.Helper()
	if err := d.StopAgent(t.Context(), d.owner, "bot", "enough"); err != nil {
		t.Fatal(err)
	}
}

// TestAWebhookThatWasReplacedIsCalledWhereItIsNow: an attempt goes where the agent's owner wants it by then.
func TestAWebhookThatWasReplacedIsCalledWhereItIsNow(t *testing.T) {
	t.Parallel()
	d, s, id := hooked(t, hub.PushResult{Status: 503}, hub.PushResult{Status: 200})
	d.at(d.attempt(t, id))
	d.bind(t, "other.example")
	d.webhook(t, "https://other.example/told")
	d.attempt(t, id)
	if v := d.told(t, id).Webhook; len(s.got) != 2 || s.got[1].URL != "https://other.example/told" || v.Host != "other.example" {
		t.Errorf("attempts %+v, webhook %+v", s.got, v)
	}
}

// TestATakenPushIsNoSignOfLife: it shows that the directive came, and nothing about the agent's sessions or drains (spec §15.1).
func TestATakenPushIsNoSignOfLife(t *testing.T) {
	t.Parallel()
	d, _, id := hooked(t, hub.PushResult{Status: 200})
	before, err := d.Presence(t.Context(), d.owner, "bot")
	if err != nil {
		t.Fatal(err)
	}
	d.attempt(t, id)
	if v := d.told(t, id); v.Mailbox.State != ma2h.TrackDelivered {
		t.Fatalf("mailbox %+v, want it delivered", v.Mailbox)
	}
	after, err := d.Presence(t.Context(), d.owner, "bot")
	if err != nil || *after != *before {
		t.Errorf("presence = %+v, %v, want %+v as before", after, err, before)
	}
}

// TestWhatComesBetweenAnAttemptAndItsAnswer: a drain beside it keeps its claim, and an ack is the end all the same.
func TestWhatComesBetweenAnAttemptAndItsAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		during func(t *testing.T, d *desk, id string)
		want   ma2h.Track
	}{
		"a drain": {func(t *testing.T, d *desk, _ string) { t.Helper(); d.drained(t, "") }, ma2h.TrackDelivered},
		"an ack":  {func(t *testing.T, d *desk, id string) { t.Helper(); d.ackTold(t, id) }, ma2h.TrackAcknowledged},
	} {
		for _, status := range []int{200, 503} {
			d, s, id := hooked(t, hub.PushResult{Status: status})
			s.during = func() { c.during(t, d, id) }
			d.attempt(t, id)
			v := d.told(t, id)
			if v.Mailbox.State != c.want || v.Mailbox.DeliveredAt == "" || len(v.Webhook.Attempts) != 1 {
				t.Errorf("%s during an attempt answered %d: mailbox %+v, webhook %+v; want %s", name, status, v.Mailbox, v.Webhook, c.want)
			}
			d.at(noon.Add(time.Second)) // within the window of the claim
			if again, err := d.Drain(t.Context(), d.agent, hub.DrainOptions{}); err != nil || string(again) != `{"messages":[]}` {
				t.Errorf("%s during an attempt answered %d: drained again %s, %v", name, status, again, err)
			}
		}
	}
}

// TestTheAddressOfAWebhookIsShownToOwnersAlone: others of the account see its host, for the rest may be a secret.
func TestTheAddressOfAWebhookIsShownToOwnersAlone(t *testing.T) {
	inHouses(t, func(h *house) {
		_, err := h.AddAgent(t.Context(), h.ada, "bot")
		h.must(err)
		_, err = h.BindHost(t.Context(), h.ada, "bot", "agent.example", hub.ProofPerson)
		h.must(err)
		h.must(h.SetWebhook(t.Context(), h.ada, "bot", toldAt+"?key=1"))
		bob, _ := h.join("bob", hub.RoleMember, "")
		for who, c := range map[*hub.Caller]string{h.ada: toldAt + "?key=1", bob: ""} {
			d, err := h.AgentDetail(t.Context(), who, "bot")
			h.must(err)
			if d.Webhook == nil || d.Webhook.URL != c || d.Webhook.Host != "agent.example" {
				t.Errorf("%s sees %+v, want the address %q", who.Actor(), d.Webhook, c)
			}
		}
	})
}

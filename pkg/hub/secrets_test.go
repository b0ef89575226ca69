package hub_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

func (d *desk) secret(t *testing.T, r hub.SecretRequest) *hub.NewSecret {
	t.Helper()
	made, err := d.SetSecret(t.Context(), d.owner, "bot", r)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// states are the names of the agent's secrets and their states.
func (d *desk) states(t *testing.T) []string {
	t.Helper()
	got := []string{}
	for _, s := range d.detail(t).Secrets {
		got = append(got, s.Ref+" "+string(s.State))
	}
	return got
}

func TestASecretIsReplacedWithOverlap(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.at(noon)
	first := d.secret(t, hub.SecretRequest{Ref: "env:A"})
	if !first.From.Equal(noon) || !strings.HasPrefix(first.Value, "mashs_") {
		t.Errorf("the first secret = %+v, want one from now on", first)
	}
	second := d.secret(t, hub.SecretRequest{Ref: "env:A"})
	tomorrow := noon.Add(24 * time.Hour)
	if !second.From.Equal(tomorrow) || second.Value == first.Value {
		t.Errorf("the second secret = %+v, want another one from tomorrow on", second)
	}
	want := []hub.SecretView{
		{Ref: "env:A", State: hub.SecretCurrent, CreatedAt: noon, Until: tomorrow},
		{Ref: "env:A", State: hub.SecretNext, CreatedAt: noon, From: tomorrow},
		{Ref: hub.PushSecretRef, State: hub.SecretCurrent},
	}
	ignore := cmpopts.IgnoreFields(hub.SecretView{}, "CreatedAt")
	if diff := cmp.Diff(want, d.detail(t).Secrets, ignore); diff != "" {
		t.Errorf("secrets (-want +got)\n%s", diff)
	}
	d.at(tomorrow)
	if diff := cmp.Diff([]string{"env:A current", hub.PushSecretRef + " current"}, d.states(t)); diff != "" {
		t.Errorf("secrets a day later (-want +got)\n%s", diff)
	}
}

func TestWhoSignsAtWhatTime(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.at(noon)
	caught := &catcher{}
	d.Pusher = caught
	old := d.secret(t, hub.SecretRequest{Ref: "env:A"}).Value
	soon := d.secret(t, hub.SecretRequest{Ref: "env:A", From: noon.Add(time.Hour)}).Value
	given := "a-secret-of-a-person"
	if made := d.secret(t, hub.SecretRequest{Ref: "env:A", Value: given, From: noon.Add(2 * time.Hour)}); made.Value != "" {
		t.Errorf("a person's secret is shown again: %q", made.Value)
	}
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{0, old}, {time.Hour, old}, {2*time.Hour - time.Second, old}, {2 * time.Hour, given}, {24 * time.Hour, given}} {
		d.at(noon.Add(c.after))
		if got := d.signer(t, caught, old, soon, given); got != c.want {
			t.Errorf("after %s a push is signed by %q, want %q", c.after, got, c.want)
		}
	}
}

func TestASecretIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.at(noon)
	caught := &catcher{}
	d.Pusher = caught
	old := d.secret(t, hub.SecretRequest{Ref: "env:A"}).Value
	next := d.secret(t, hub.SecretRequest{Ref: "env:A"}).Value
	for range 2 { // a second time changes nothing
		if err := d.UseSecretNow(t.Context(), d.owner, "bot", "env:A"); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.signer(t, caught, old, next); got != next {
		t.Errorf("a push is signed by %q, want the one that is to be used now", got)
	}
	now := d.secret(t, hub.SecretRequest{Ref: "env:A", From: noon}).Value
	if got := d.signer(t, caught, old, next, now); got != now {
		t.Errorf("a push is signed by %q, want the one that was made to be used now", got)
	}
	if diff := cmp.Diff([]string{"env:A current", hub.PushSecretRef + " current"}, d.states(t)); diff != "" {
		t.Errorf("secrets (-want +got)\n%s", diff)
	}
}

func TestSecretsAreRemoved(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.at(noon)
	for range 2 {
		d.secret(t, hub.SecretRequest{Ref: "env:A"})
	}
	remove := func(ref string, only hub.SecretState) error {
		return d.RemoveSecret(t.Context(), d.owner, "bot", ref, only)
	}
	for _, c := range []struct {
		ref  string
		only hub.SecretState
		code ma2h.Code
		left []string
	}{
		{"env:B", "", ma2h.CodeNotFound, []string{"env:A current", "env:A next", hub.PushSecretRef + " current"}},
		{"env:A", hub.SecretCurrent, ma2h.CodeInvalidField, []string{"env:A current", "env:A next", hub.PushSecretRef + " current"}},
		{"env:A", hub.SecretNext, "", []string{"env:A current", hub.PushSecretRef + " current"}},
		{"env:A", hub.SecretNext, ma2h.CodeNotFound, []string{"env:A current", hub.PushSecretRef + " current"}},
		{"env:A", "", "", []string{hub.PushSecretRef + " current"}},
		{hub.PushSecretRef, "", "", []string{}},
	} {
		var code ma2h.Code
		if e := ma2h.AsError(remove(c.ref, c.only)); e != nil {
			code = e.Code
		}
		if code != c.code {
			t.Errorf("RemoveSecret(%s, %q) = %q, want %q", c.ref, c.only, code, c.code)
		}
		if diff := cmp.Diff(c.left, d.states(t)); diff != "" {
			t.Errorf("after RemoveSecret(%s, %q) (-want +got)\n%s", c.ref, c.only, diff)
		}
	}
	made, err := d.RotateAgent(t.Context(), d.owner, "bot") // goes without
	if err != nil || made.Token == "" || made.PushSecret != "" || made.SecretRef != "" {
		t.Errorf("RotateAgent = %+v, %v, want a token and no secret", made, err)
	}
}

func TestSecretsThatAreNone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.at(noon)
	for _, r := range []hub.SecretRequest{
		{}, {Ref: "a b"}, {Ref: "a\n"}, {Ref: "ä"}, {Ref: strings.Repeat("x", 201)},
		{Ref: "a", Value: "short"}, {Ref: "a", Value: "with a blank"}, {Ref: "a", Value: "line\r\nX: y----"},
		{Ref: "a", Value: strings.Repeat("x", 4097)}, {Ref: "a", Value: "größe-größe"},
		{Ref: "a", From: noon.AddDate(1, 0, 0)},
	} {
		_, err := d.SetSecret(t.Context(), d.owner, "bot", r)
		if e := ma2h.AsError(err); e == nil || e.Code != ma2h.CodeInvalidField || strings.Contains(e.Message, r.Value) && r.Value != "" {
			t.Errorf("SetSecret(%+.40q) = %v, want a refusal that does not say it", r, err)
		}
	}
	for i := range 19 {
		d.secret(t, hub.SecretRequest{Ref: fmt.Sprint("env:", i)})
	}
	if _, err := d.SetSecret(t.Context(), d.owner, "bot", hub.SecretRequest{Ref: "one more"}); ma2h.AsError(err) == nil {
		t.Errorf("SetSecret of one name too many = %v, want a refusal", err)
	}
	d.secret(t, hub.SecretRequest{Ref: "env:0"}) // one that is there can still be replaced
}

// catcher is a Pusher that keeps the last push.
type catcher struct {
	quiet
	last hub.Push
}

func (c *catcher) Push(_ context.Context, p hub.Push) hub.PushResult {
	c.last = p
	return hub.PushResult{Status: 200}
}

// signer has a message answered whose callback names env:A, and returns which of the secrets signs the push.
func (d *desk) signer(t *testing.T, caught *catcher, secrets ...string) string {
	t.Helper()
	id := d.pushed(t, "hmac", "env:A")
	d.decline(t, id)
	if _, err := d.Fire(t.Context(), key(id)); err != nil {
		t.Fatal(err)
	}
	ctx, err := signature.Response(caught.last.Body, caught.last.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range secrets {
		if _, err := ctx.Verify(caught.last.Headers[signature.HeaderName], d.Now(), time.Hour, signature.HMAC(s)); err == nil {
			return s
		}
	}
	return "another"
}

// pushed submits a confirm whose answer is to be pushed under this scheme.
func (d *desk) pushed(t *testing.T, scheme, ref string) string {
	t.Helper()
	e := pushedAsk(t, scheme, ref)
	s, err := d.Submit(t.Context(), d.asAgent(t), e)
	if err != nil {
		t.Fatal(err)
	}
	return s.Ack.ID
}

func pushedAsk(t *testing.T, scheme, ref string) *ma2h.Envelope {
	t.Helper()
	member := "token_ref"
	if scheme == ma2h.SchemeHMAC {
		member = "secret_ref"
	}
	e, invalid := ma2h.ReadMessage(fmt.Appendf(nil, `{"ma2h_version":"0.6","type":"ask","created_at":"2026-01-31T12:00:00Z",`+
		`"agent":{"id":"bot","run_id":"r"},"title":"Ship?","idempotency_key":%q,"request":{"mode":"confirm",`+
		`"allowed_resolvers":["human:alice"],"callback":{"mode":"push","url":"https://bot.example/cb","auth":{"scheme":%q,%q:%q}}}}`,
		ma2h.NewTail(), scheme, member, ref))
	if invalid != nil {
		t.Fatal(invalid)
	}
	return e
}

// asAgent is the agent as it stands now.
func (d *desk) asAgent(t *testing.T) *hub.Caller {
	t.Helper()
	rec, err := d.Store.Get(t.Context(), hub.AgentKey(d.agent.Agent.Ref))
	if err != nil {
		t.Fatal(err)
	}
	var a hub.Agent
	if err := hub.Decode(rec[0], &a); err != nil {
		t.Fatal(err)
	}
	return &hub.Caller{Account: d.owner.Account, Agent: &a}
}

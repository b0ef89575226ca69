package hub_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// scripted is a Pusher that answers by a script, and then with the last of it.
type scripted struct {
	quiet
	mu     sync.Mutex
	script []hub.PushResult
	got    []hub.Push
	during func() // is called during an attempt
}

func (s *scripted) Push(_ context.Context, p hub.Push) hub.PushResult {
	s.mu.Lock()
	s.got = append(s.got, p)
	r := s.script[min(len(s.got), len(s.script))-1]
	during := s.during
	s.during = nil
	s.mu.Unlock()
	if during != nil {
		during()
	}
	return r
}

// owing is a desk that owes a callback which has not been attempted yet, and its receiver.
func owing(t *testing.T, script ...hub.PushResult) (d *desk, s *scripted, id string) {
	t.Helper()
	d, s = newDesk(t), &scripted{script: script}
	d.Pusher, d.Settings.Grace = s, grace
	d.at(noon)
	id = d.pushed(t, ma2h.SchemeHMAC, hub.PushSecretRef)
	d.decline(t, id)
	return d, s, id
}

func (d *desk) callback(t *testing.T, id string) *hub.CallbackView {
	t.Helper()
	r, err := d.Read(t.Context(), d.owner, id)
	if err != nil {
		t.Fatal(err)
	}
	return r.Callback
}

// exhaust makes attempts, each when it is due, until there is none to be made.
func (d *desk) exhaust(t *testing.T, id string) {
	t.Helper()
	for range 100 {
		again, err := d.Fire(t.Context(), key(id))
		if err != nil {
			t.Fatal(err)
		}
		if v := d.callback(t, id); v.State != hub.CallbackTries {
			return
		}
		d.at(again)
	}
	t.Fatal("attempts go on for ever")
}

func TestTheAccountOfACallback(t *testing.T) {
	t.Parallel()
	d, _, id := owing(t, hub.PushResult{Status: 503}, hub.PushResult{Failure: hub.FailureReset}, hub.PushResult{Status: 404})
	want := &hub.CallbackView{Host: "bot.example", Scheme: "hmac", State: hub.CallbackTries, Next: noon}
	if diff := cmp.Diff(want, d.callback(t, id)); diff != "" {
		t.Errorf("before the first attempt (-want +got)\n%s", diff)
	}
	d.exhaust(t, id)
	got := d.callback(t, id)
	var codes []any
	for _, a := range got.Attempts {
		codes = append(codes, a.Status, string(a.Failure))
	}
	if diff := cmp.Diff([]any{503, "", 0, "reset", 404, ""}, codes); diff != "" {
		t.Errorf("attempts (-want +got)\n%s", diff)
	}
	if got.State != hub.CallbackGivenUp || !got.GivenUpAt.Equal(d.Now()) || !got.Next.IsZero() || !got.SendAgain {
		t.Errorf("given up = %+v, want since %s, and that it can be sent again", got, d.Now())
	}
}

func TestSendAgainIsANewRoundOfTheSameResponse(t *testing.T) {
	t.Parallel()
	d, s, id := owing(t, hub.PushResult{Status: 400})
	d.exhaust(t, id)
	s.script = []hub.PushResult{{Status: 500}}
	d.at(noon.Add(time.Hour))
	for range 2 { // a second press changes nothing
		if err := d.SendAgain(t.Context(), d.owner, id); err != nil {
			t.Fatal(err)
		}
	}
	if v := d.callback(t, id); v.State != hub.CallbackTries || v.SendAgain || !v.Next.Equal(d.Now()) {
		t.Errorf("sent again = %+v, want an attempt now", v)
	}
	d.exhaust(t, id)
	most := d.Settings.Retry.MaxAttempts
	if got := len(s.got); got != 1+most {
		t.Errorf("%d attempts, want one and %d", got, most)
	}
	for i, p := range s.got {
		if string(p.Body) != string(s.got[0].Body) || p.Attempt != i+1 {
			t.Errorf("attempt %d is number %d of %s, want the same Response each time", i+1, p.Attempt, p.Body)
		}
	}
	s.script = []hub.PushResult{{Status: 200}}
	if err := d.SendAgain(t.Context(), d.owner, id); err != nil {
		t.Fatal(err)
	}
	d.exhaust(t, id)
	v := d.callback(t, id)
	if v.State != hub.CallbackDelivered || v.SendAgain || v.Earlier+len(v.Attempts) != 2+most {
		t.Errorf("after it was taken = %+v, want %d attempts", v, 2+most)
	}
	if err := d.SendAgain(t.Context(), d.owner, id); ma2h.AsError(err) == nil {
		t.Errorf("SendAgain of what was delivered = %v, want a refusal", err)
	}
}

func TestWhatCannotBeSentAgain(t *testing.T) {
	t.Parallel()
	d, _, id := owing(t, hub.PushResult{Status: 400})
	d.exhaust(t, id)
	stranger, err := d.EnsureAccount(t.Context(), "mallory")
	if err != nil {
		t.Fatal(err)
	}
	open := d.pushed(t, ma2h.SchemeHMAC, hub.PushSecretRef)
	fetched := d.ask(t, noon.Add(time.Hour))
	d.decline(t, fetched)
	refused := func(what string, c *hub.Caller, id string, code ma2h.Code) {
		t.Helper()
		if e := ma2h.AsError(d.SendAgain(t.Context(), c, id)); e == nil || e.Code != code {
			t.Errorf("SendAgain of %s = %v, want %s", what, e, code)
		}
	}
	refused("another account's", stranger, id, ma2h.CodeNotFound)
	refused("an unknown one", d.owner, "msg_"+strings.Repeat("a", ma2h.TailLength), ma2h.CodeNotFound)
	refused("an agent's own", d.agent, id, ma2h.CodeNotAuthorized)
	refused("one that is open", d.owner, open, ma2h.CodeInvalidField)
	refused("one that is fetched", d.owner, fetched, ma2h.CodeInvalidField)
	if _, err := d.Pull(t.Context(), d.agent, id, hub.PullOptions{}); err != nil {
		t.Fatal(err)
	}
	refused("one that the agent has fetched", d.owner, id, ma2h.CodeInvalidField)
}

// TestSendAgainBesideAnAttempt: somebody presses the button while a worker attempts. The attempt counts for the round
// before, whatever comes of it.
func TestSendAgainBesideAnAttempt(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]hub.CallbackState{200: hub.CallbackDelivered, 404: hub.CallbackTries, 503: hub.CallbackTries} {
		d, s, id := owing(t, hub.PushResult{Status: 503}, hub.PushResult{Status: status}, hub.PushResult{Status: 503})
		again, err := d.Fire(t.Context(), key(id))
		if err != nil {
			t.Fatal(err)
		}
		d.at(again)
		s.during = func() {
			if err := d.SendAgain(t.Context(), d.owner, id); err != nil {
				t.Error(err)
			}
		}
		if _, err := d.Fire(t.Context(), key(id)); err != nil {
			t.Fatal(err)
		}
		if v := d.callback(t, id); v.State != want || len(v.Attempts) != 2 {
			t.Errorf("sent again during an attempt that is answered %d = %+v, want %s after 2", status, v, want)
		}
		d.exhaust(t, id)
		most := 2
		if want == hub.CallbackTries {
			most += d.Settings.Retry.MaxAttempts
		}
		if len(s.got) != most {
			t.Errorf("sent again during an attempt that is answered %d: %d attempts, want %d", status, len(s.got), most)
		}
	}
}

func TestASentAgainCallbackHasATimerOfItsOwn(t *testing.T) {
	t.Parallel()
	d, s, id := owing(t, hub.PushResult{Status: 503})
	timer := func() *hub.Timer {
		got, err := hub.TimerOf(d.stored(t, id))
		if err != nil || got == nil {
			t.Fatalf("TimerOf = %v, %v, want one", got, err)
		}
		return got
	}
	first := timer()
	if _, err := d.Deliver(t.Context(), key(id), first.Name); err != nil {
		t.Fatal(err)
	}
	d.at(noon.Add(time.Second))
	if err := d.SendAgain(t.Context(), d.owner, id); err != nil {
		t.Fatal(err)
	}
	second := timer()
	if second.Name == first.Name || second.Kind != hub.TimerCallback || !second.At.Equal(d.Now()) || len(second.Name) > 79 {
		t.Errorf("the timer of what is sent again = %+v, the first was %+v", second, first)
	}
	made := len(s.got)
	for _, name := range []string{first.Name, ""} { // the first execution wakes up
		if again, err := d.Deliver(t.Context(), key(id), name); err != nil || !again.IsZero() || len(s.got) != made {
			t.Errorf("Deliver(%q) = %s, %v with %d attempts, want none by a timer that is over", name, again, err, len(s.got)-made)
		}
	}
	again, err := d.Deliver(t.Context(), key(id), second.Name)
	if err != nil || !again.After(d.Now()) || len(s.got) != made+1 {
		t.Errorf("Deliver(%q) = %s, %v with %d attempts, want one", second.Name, again, err, len(s.got)-made)
	}
}

func TestAttemptsAreKeptUpToABound(t *testing.T) {
	t.Parallel()
	d, s, id := owing(t, hub.PushResult{Status: 503})
	rounds := 5
	for range rounds {
		d.exhaust(t, id)
		if err := d.SendAgain(t.Context(), d.owner, id); err != nil {
			t.Fatal(err)
		}
	}
	v := d.callback(t, id)
	if len(v.Attempts) > 50 || v.Earlier+len(v.Attempts) != len(s.got) || len(s.got) != rounds*d.Settings.Retry.MaxAttempts {
		t.Errorf("%d attempts kept and %d dropped of %d", len(v.Attempts), v.Earlier, len(s.got))
	}
	sorted := slices.IsSortedFunc(v.Attempts, func(a, b hub.Attempt) int { return a.At.Compare(b.At) })
	if last := v.Attempts[len(v.Attempts)-1]; !sorted || !last.At.Equal(d.Now()) {
		t.Errorf("the last attempt kept is of %s, want the latest, of %s", last.At, d.Now())
	}
	if size := len(d.stored(t, id).Body); size > 8<<10 {
		t.Errorf("the record has %d bytes", size)
	}
}

func TestCredentialsGoToBoundHostsOnly(t *testing.T) {
	t.Parallel()
	for scheme, header := range map[string]string{ma2h.SchemeBearer: "Authorization", ma2h.SchemeAPIKey: "X-API-Key"} {
		d, l := provingDesk(t, nil)
		s := &scripted{script: []hub.PushResult{{Status: 200}}}
		d.Pusher = s
		token := "the-token-of-the-receiver"
		d.secret(t, hub.SecretRequest{Ref: "env:T", Value: token})
		_, err := d.Submit(t.Context(), d.asAgent(t), pushedAsk(t, scheme, "env:T"))
		if e := ma2h.AsError(err); e == nil || e.Field != "/request/callback/url" {
			t.Errorf("Submit of %s to a host that is not bound = %v, want a refusal", scheme, err)
		}
		d.bind(t, "bot.example:8443") // another port is another host
		if _, err := d.Submit(t.Context(), d.asAgent(t), pushedAsk(t, scheme, "env:T")); ma2h.AsError(err) == nil {
			t.Errorf("Submit of %s to another port than the bound one = %v, want a refusal", scheme, err)
		}
		d.bind(t, "bot.example")
		if _, err := d.Submit(t.Context(), d.asAgent(t), pushedAsk(t, scheme, "env:U")); ma2h.AsError(err) == nil ||
			ma2h.AsError(err).Field != "/request/callback/auth/token_ref" {
			t.Errorf("Submit of %s by an unknown token = %v, want a refusal", scheme, err)
		}
		id := d.pushed(t, scheme, "env:T")
		d.decline(t, id)
		unbound, keyless := d.pushed(t, scheme, "env:T"), d.pushed(t, scheme, "env:T")
		d.exhaust(t, id)
		want := token
		if scheme == ma2h.SchemeBearer {
			want = "Bearer " + token
		}
		if got := s.got[0].Headers[header]; got != want {
			t.Errorf("%s of a push = %q, want %q", header, got, want)
		}
		d.refusedAs(t, unbound, hub.FailureUnbound, func() error { return d.UnbindHost(t.Context(), d.owner, "bot", "bot.example") })
		l.vouched = "https://bot.example/" // by the operator, for every agent
		d.refusedAs(t, keyless, hub.FailureNoKey, func() error { return d.RemoveSecret(t.Context(), d.owner, "bot", "env:T", "") })
		if len(s.got) != 1 {
			t.Errorf("%d pushes were made, want the one that was allowed", len(s.got))
		}
		d.secret(t, hub.SecretRequest{Ref: "env:T", Value: token})
		for _, id := range []string{unbound, keyless} { // once it is mended, it can be sent again
			if err := d.SendAgain(t.Context(), d.owner, id); err != nil {
				t.Fatal(err)
			}
			d.exhaust(t, id)
			if v := d.callback(t, id); v.State != hub.CallbackDelivered {
				t.Errorf("sent again = %+v, want it delivered", v)
			}
		}
	}
}

// TestARevokedAgentIsPushedNothing: whoever stole its token may have asked in its name, to be called elsewhere.
func TestARevokedAgentIsPushedNothing(t *testing.T) {
	t.Parallel()
	d, s, _ := owing(t, hub.PushResult{Status: 200})
	answered, open := d.pushed(t, ma2h.SchemeHMAC, hub.PushSecretRef), d.pushed(t, ma2h.SchemeHMAC, hub.PushSecretRef)
	d.refusedAs(t, answered, hub.FailureRevoked, func() error { return d.RevokeAgent(t.Context(), d.owner, "bot") })
	d.refusedAs(t, open, hub.FailureRevoked, func() error { return nil }) // answered when the agent was revoked already
	if len(s.got) != 0 {
		t.Errorf("%d pushes were made to a revoked agent", len(s.got))
	}
	if _, err := d.AddAgent(t.Context(), d.owner, "bot"); err != nil {
		t.Fatal(err)
	}
	if err := d.SendAgain(t.Context(), d.owner, open); err != nil {
		t.Fatal(err)
	}
	d.exhaust(t, open)
	if v := d.callback(t, open); v.State != hub.CallbackDelivered || len(s.got) != 1 {
		t.Errorf("sent again to the agent that was added again = %+v, %d pushes", v, len(s.got))
	}
}

func (d *desk) bind(t *testing.T, host string) {
	t.Helper()
	if _, err := d.BindHost(t.Context(), d.owner, "bot", host, hub.ProofPerson); err != nil {
		t.Fatal(err)
	}
}

// refusedAs answers a message after something has been taken away, and holds its callback to end with this failure.
func (d *desk) refusedAs(t *testing.T, id string, want hub.Failure, takeAway func() error) {
	t.Helper()
	d.decline(t, id)
	if err := takeAway(); err != nil {
		t.Fatal(err)
	}
	d.exhaust(t, id)
	v := d.callback(t, id)
	if v.State != hub.CallbackGivenUp || len(v.Attempts) != 1 || v.Attempts[0].Failure != want || !v.SendAgain {
		t.Errorf("the callback = %+v, want it given up for %s", v, want)
	}
}

package inbox_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/hub"
)

// receiving is a Pusher that is told what to answer.
type receiving struct {
	still
	mu     sync.Mutex
	answer hub.PushResult
	got    int
}

func (r *receiving) Push(context.Context, hub.Push) hub.PushResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got++
	return r.answer
}

// owed has an ask answered whose answer is pushed, and attempts that once.
func (r *rig) owed(answer hub.PushResult) (id string, to *receiving) {
	r.t.Helper()
	to = &receiving{answer: answer}
	r.hub.Pusher = to
	id = r.ask("Ship?", `"mode":"confirm","callback":{"url":"https://bot.example/secret-path","auth":{"scheme":"hmac","secret_ref":"`+hub.PushSecretRef+`"}}`)
	r.reply(id, url.Values{"do": {"option:0"}}).is(http.StatusSeeOther)
	r.fire(id)
	return id, to
}

func (r *rig) fire(id string) {
	r.t.Helper()
	key, _ := hub.StateKey(id)
	if _, err := r.hub.Fire(r.t.Context(), key); err != nil {
		r.t.Fatal(err)
	}
}

// TestB78_ThePageSaysWhyAnAnswerDoesNotArrive: in words, for each way to fail.
func TestB78_ThePageSaysWhyAnAnswerDoesNotArrive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer hub.PushResult
		why    string
		gaveUp bool
	}{
		{hub.PushResult{Status: 503}, "answered 503", false},
		{hub.PushResult{Status: 404}, "answered 404", true},
		{hub.PushResult{Status: 302}, "answered 302, which sends the hub elsewhere, and that is not followed", true},
		{hub.PushResult{Failure: hub.FailureDNS}, "leads nowhere", false},
		{hub.PushResult{Failure: hub.FailureConnect}, "nobody listens", false},
		{hub.PushResult{Failure: hub.FailureTLS}, "certificate", false},
		{hub.PushResult{Failure: hub.FailureTimeout}, "did not answer in time", false},
		{hub.PushResult{Failure: hub.FailureReset}, "broke off", false},
		{hub.PushResult{Failure: hub.FailureTooLong}, "had no end", false},
		{hub.PushResult{Failure: hub.FailureMalformed}, "no whole answer", false},
		{hub.PushResult{Failure: hub.FailureNetwork}, "could not be reached", false},
		{hub.PushResult{Failure: hub.FailureGuarded}, "must not call", false},
		{hub.PushResult{Failure: hub.FailureRefused}, "not allowed", true},
		{hub.PushResult{Failure: hub.FailureUnbound}, "not bound to the agent any more", true},
		{hub.PushResult{Failure: hub.FailureNoKey}, "secret for it is gone", true},
		{hub.PushResult{Failure: hub.FailureRevoked}, "the agent had been revoked", true},
	} {
		r := signedIn(t)
		id, _ := r.owed(c.answer)
		page := r.get("/inbox/" + id).is(http.StatusOK)
		state := "The next attempt to push the answer to bot.example comes in 2 s"
		if c.gaveUp {
			state = "The hub gave up pushing the answer to bot.example at 14:20 UTC."
		}
		page.says(c.why, state, "Push 1:", "Send again").lacks("secret-path")
	}
}

// What happened to an answer stands in the order in which it did, whichever way it took.
func TestTheStoryOfAnAnswerIsInOrder(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id, _ := r.owed(hub.PushResult{Status: 503})
	r.pass(time.Minute)
	r.pulled(id)
	r.pass(time.Hour)
	r.fire(id)
	got := []string{}
	for _, step := range r.story(id) {
		for _, what := range []string{"Push 1", "Push 2", "Delivered"} {
			if strings.HasPrefix(step, what) {
				got = append(got, what)
			}
		}
	}
	if diff := cmp.Diff([]string{"Push 1", "Delivered", "Push 2"}, got); diff != "" {
		t.Errorf("steps (-want +got)\n%s\nof %q", diff, r.story(id))
	}
}

func TestAPersonSendsAnAnswerAgain(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id, to := r.owed(hub.PushResult{Status: 404})
	if p := r.get("/inbox/" + id + "/send-again"); p.status != http.StatusMethodNotAllowed && p.status != http.StatusNotFound {
		t.Errorf("GET = %d, want that it does nothing", p.status)
	}
	again := func() *answer { return r.post("/settings", "/inbox/"+id+"/send-again", url.Values{}) }
	again().is(http.StatusSeeOther)
	r.get("/inbox/" + id).says("is being pushed to bot.example").lacks("Send again")
	to.answer = hub.PushResult{Status: 204}
	r.pass(time.Second)
	r.fire(id)
	r.get("/inbox/"+id).says("was pushed to bot.example", "Push 2:").lacks("Send again")
	if to.got != 2 {
		t.Errorf("%d attempts, want 2", to.got)
	}
	if p := again(); p.status != http.StatusUnprocessableEntity {
		t.Errorf("to send again what was delivered = %d, want 422", p.status)
	}
}

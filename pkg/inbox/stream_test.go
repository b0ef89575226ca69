package inbox_test

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/inbox"
	"github.com/mash-hub/mash/pkg/localhub"
)

// liveRig is a rig whose pages are told of what changes.
func liveRig(t *testing.T, c inbox.Config) *rig {
	t.Helper()
	c.Stream = true
	r := newRigWith(t, c)
	r.hub.Bell = &localhub.Bell{}
	r.get(r.newLink()).is(http.StatusOK)
	return r
}

// stream opens a stream and returns its events, of which the channel's end is the stream's.
func (r *rig) stream(browser *http.Client) (events <-chan string, status int) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server.URL+"/live/events", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	resp, err := browser.Do(req) //nolint:bodyclose // by who reads it, below
	if err != nil {
		r.t.Fatal(err)
	}
	told := make(chan string, 100)
	go func() {
		defer close(told)
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				told <- event
			}
		}
	}()
	return told, resp.StatusCode
}

func mustEnd(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// next is the next event but beats, or none when the stream ends.
func next(t *testing.T, events <-chan string) string {
	t.Helper()
	for {
		select {
		case e := <-events:
			if e != "beat" {
				return e
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the stream says nothing and does not end")
		}
	}
}

func TestAStreamRingsWhenSomethingChanges(t *testing.T) {
	t.Parallel()
	r := liveRig(t, inbox.Config{})
	events, status := r.stream(r.browser)
	if first := next(t, events); status != http.StatusOK || first != "look" {
		t.Fatalf("the stream is %d and begins with %q", status, first)
	}
	r.hub.Bell.Ring(t.Context(), hub.AccountLane(r.owner.Account.Ref))
	if got := next(t, events); got != "look" {
		t.Errorf("a change is told as %q, want look", got)
	}
}

func TestAStreamEndsWithItsSession(t *testing.T) {
	t.Parallel()
	r := liveRig(t, inbox.Config{})
	for _, how := range []string{"signed out", "signed out everywhere"} {
		r.get(r.newLink()).is(http.StatusOK)
		events, _ := r.stream(r.browser)
		next(t, events)
		if how == "signed out" {
			r.post("/settings", "/signout", url.Values{}).is(http.StatusSeeOther)
		} else {
			mustEnd(t, r.hub.SignOutEverywhere(t.Context(), r.owner))
		}
		if got := next(t, events); got != "out" {
			t.Errorf("%s: the stream says %q, want out", how, got)
		}
		if got := next(t, events); got != "" {
			t.Errorf("%s: the stream goes on with %q", how, got)
		}
	}
	if _, status := r.stream(r.newBrowser()); status != http.StatusUnauthorized {
		t.Errorf("a stranger's stream is %d, want 401", status)
	}
}

func TestAStreamEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	stopping := make(chan struct{})
	r := liveRig(t, inbox.Config{Stopping: stopping})
	events, _ := r.stream(r.browser)
	next(t, events)
	close(stopping)
	if got := next(t, events); got != "" {
		t.Errorf("the stream goes on with %q", got)
	}
}

func TestASessionHoldsFewStreams(t *testing.T) {
	t.Parallel()
	r := liveRig(t, inbox.Config{})
	var all []<-chan string
	for range 5 {
		events, _ := r.stream(r.browser)
		next(t, events)
		all = append(all, events)
	}
	if got := next(t, all[0]); got != "full" {
		t.Errorf("the oldest of five is told %q, want full", got)
	}
	r.hub.Bell.Ring(t.Context(), hub.AccountLane(r.owner.Account.Ref))
	for _, events := range all[1:] {
		if got := next(t, events); got != "look" {
			t.Errorf("a later one is told %q, want look", got)
		}
	}
}

func TestWhereNoStreamIsHeldPagesLookAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page := r.get(r.newLink()).is(http.StatusOK)
	if strings.Contains(page.body, "data-events") || !strings.Contains(page.body, `data-look="/inbox?live=1"`) {
		t.Error("the page waits for a stream, or does not look again")
	}
	if _, status := r.stream(r.browser); status != http.StatusNoContent {
		t.Errorf("the stream is %d, want 204", status)
	}
}

func TestALookAgainIsShortWhileNothingChanged(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("One?", `"mode":"confirm"`)
	for _, path := range []string{"/inbox?live=1", "/inbox/" + id + "?live=1"} {
		_, tag := r.look(path, "")
		r.pass(30 * time.Second) // in which words for times change, and nothing else
		if status, _ := r.look(path, tag); status != http.StatusNotModified {
			t.Errorf("%s, unchanged = %d, want 304", path, status)
		}
		r.ask("Another?", `"mode":"confirm"`)
		if status, _ := r.look(path, tag); status != http.StatusOK {
			t.Errorf("%s, changed = %d, want 200", path, status)
		}
	}
}

// look asks for a page as our script does.
func (r *rig) look(path, tag string) (status int, newTag string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.server.URL+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	resp, err := r.browser.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("ETag")
}

package localhub_test

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/localhub"
)

// pushed opens a stream, and returns once it is open. The ack keys of what it pushes come by the channel, which is closed at
// its end.
func pushed(t *testing.T, url, token, session string) <-chan string {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	t.Cleanup(leave)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v1/inbox/stream?session="+session, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := here.Do(req) //nolint:bodyclose // below, at the end of the stream
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("a stream = %+v, %v; want 200", resp, err)
	}
	keys := make(chan string, 100)
	go func() {
		defer close(keys)
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if key, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				keys <- key
			}
		}
	}()
	return keys
}

// comes waits for what a stream pushes next, or for its end.
func comes(t *testing.T, keys <-chan string) (key string, open bool) {
	t.Helper()
	select {
	case key, open = <-keys:
	case <-time.After(30 * time.Second):
		t.Fatal("the stream neither pushes anything nor ends")
	}
	return key, open
}

// TestBudget_OfStreams: a stream costs what a drain does when it is opened, nothing while it is idle, and a look with what it
// brings each time that something happens in its lanes.
func TestBudget_OfStreams(t *testing.T) {
	counting(t, 0, func(s *server, c *counted) {
		helper, other, alice := s.agent("helper").Token, s.agent("other").Token, s.person("alice")
		session := s.session(helper)
		var keys <-chan string
		var key string
		direct := func(to string) func() {
			return func() { s.send("POST", "/v1/directives", alice, doc{"to": to, "title": "t"}, http.StatusCreated) }
		}
		for _, o := range []struct {
			operation string
			deed      func()
			want      cost
		}{
			{"a stream", func() { keys = pushed(s.t, s.url, helper, session) }, cost{4, 1}},
			{"what is for somebody else", direct("agent:other"), cost{2, 4}},
			{"and is taken there", func() { s.send("GET", "/v1/inbox", other, nil, http.StatusOK) }, cost{3, 2}},
			{"what is pushed", func() { direct("agent:helper#" + session)(); key, _ = comes(s.t, keys) }, cost{3 + 5, 4 + 1}},
			{"the ack of it", func() {
				s.send("POST", "/v1/inbox/ack?session="+session, helper, doc{"ids": []string{key}}, http.StatusOK)
			}, cost{3, 3}},
			{"its end", func() {
				s.send("DELETE", "/v1/sessions/"+session, helper, nil, http.StatusOK)
				comes(s.t, keys)
			}, cost{2 + 1, 2}}, // the lane is empty
		} {
			same(s.t, "the cost of "+o.operation, c.spent(o.deed), o.want)
		}
	})
}

// TestStop_EndsStreams: so that a process that is to end waits for none.
func TestStop_EndsStreams(t *testing.T) {
	t.Parallel()
	w := newWeb(t, plain)
	stopping := make(chan struct{})
	web := httptest.NewServer(localhub.Web{
		Hub: w.hub, BaseURL: "http://hub", Log: slog.New(slog.DiscardHandler), Stopping: stopping,
	}.Handler())
	t.Cleanup(web.Close)
	bot, err := w.hub.AddAgent(t.Context(), w.owner, "bot")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, url: web.URL, hub: w.hub, owner: w.owner, client: newClient(t)}
	keys := pushed(t, web.URL, bot.Token, s.session(bot.Token))
	close(stopping)
	if key, open := comes(t, keys); open {
		t.Errorf("a stream of a hub that is to end pushes %q, want its end", key)
	}
}

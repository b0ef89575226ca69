package localhub_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

func maxWait(d time.Duration) func(*hub.Settings) {
	return func(s *hub.Settings) { s.MaxWait = d }
}

var confirm = doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice"}}

func TestB32_WaitIsCappedAndATimeoutIs200Open(t *testing.T) {
	const most = 300 * time.Millisecond
	onStores(t, maxWait(most), nil, func(s *server) {
		bot := s.agent("bot")
		id := s.send("POST", "/v1/messages", bot.Token, ask("k", confirm, time.Time{}), http.StatusAccepted)["id"]
		for _, c := range []struct {
			wait  string
			least time.Duration
		}{{"3600", most}, {"60", most}, {"0.1", 100 * time.Millisecond}, {"0", 0}} {
			began := time.Now()
			got := s.send("GET", messagePath(id, "?wait="+c.wait), bot.Token, nil, http.StatusOK)
			took := time.Since(began)
			same(s.t, "status after wait="+c.wait, got["status"], any("open"))
			if took < c.least || took > patience {
				s.t.Errorf("wait=%s took %s, want %s and not much more", c.wait, took, c.least)
			}
		}
	})
}

func TestB32_TheCapIsAtMostAMinute(t *testing.T) {
	onStores(t, func(*hub.Settings) {}, nil, func(s *server) {
		if most := s.hub.Settings.MaxWait; most <= 0 || most > time.Minute {
			s.t.Errorf("MaxWait = %s, want more than 0 and at most 1 m", most)
		}
	})
}

// listened is a Bell that tells when somebody begins to wait.
type listened struct {
	hub.Bell
	began chan struct{}
}

func (l *listened) Listen(ctx context.Context, lane string) (<-chan struct{}, func()) {
	defer func() { l.began <- struct{}{} }()
	return l.Bell.Listen(ctx, lane)
}

func TestB32_WaitEndsWithTheOutcome(t *testing.T) {
	onStores(t, maxWait(time.Minute), nil, func(s *server) {
		bot, alice := s.agent("bot"), s.person("alice")
		bell := &listened{s.hub.Bell, make(chan struct{}, 10)}
		s.hub.Bell = bell
		for status, end := range map[string]func(id any){
			"answered": func(id any) {
				s.send("POST", messagePath(id, "/resolve"), alice, doc{"resolution": "answered", "value": "deny"}, http.StatusOK)
			},
			"cancelled": func(id any) { s.send("POST", messagePath(id, "/cancel"), bot.Token, nil, http.StatusOK) },
		} {
			id := s.send("POST", "/v1/messages", bot.Token, ask(status, confirm, time.Time{}), http.StatusAccepted)["id"]
			var waiting sync.WaitGroup
			began := time.Now()
			waiting.Go(func() {
				r, err := s.try("GET", messagePath(id, "?wait=60"), bot.Token, nil)
				if err != nil || r.status != http.StatusOK {
					s.t.Errorf("GET = %d %s, error %v", r.status, r.body, err)
					return
				}
				got := r.doc(s.t)
				same(s.t, "status", got["status"], any(status))
				same(s.t, "track", got.at("delivery", "state"), any("delivered-to-agent"))
			})
			<-bell.began
			end(id)
			waiting.Wait()
			if took := time.Since(began); took > patience {
				s.t.Errorf("the wait ended after %s, not with the outcome", took)
			}
		}
	})
}

func TestB32_WaitEndsWithTheExpiry(t *testing.T) {
	onStores(t, maxWait(time.Minute), nil, func(s *server) {
		bot := s.agent("bot")
		deadline := time.Now().Add(700 * time.Millisecond)
		request := doc{"mode": "confirm", "default_on_expire": "deny"}
		id := s.send("POST", "/v1/messages", bot.Token, ask("k", request, deadline), http.StatusAccepted)["id"]
		got := s.send("GET", messagePath(id, "?wait=60"), bot.Token, nil, http.StatusOK)
		same(s.t, "status", got["status"], any("expired"))
		same(s.t, "value", got.at("response", "response", "value"), any("deny"))
		same(s.t, "resolved_at", got.at("response", "response", "resolved_at"), got["expires_at"])
		if now := time.Now(); now.Before(deadline) || now.After(deadline.Add(patience)) {
			s.t.Errorf("the wait ended %s after the deadline", now.Sub(deadline))
		}
	})
}

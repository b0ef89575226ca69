package localhub_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/recordtest"
)

// postOffice is a life with an account whose agents may mail each other.
type postOffice struct {
	*life
	owner, bot, worker string // tokens
}

func newPostOffice(t *testing.T) *postOffice {
	t.Helper()
	p := &postOffice{life: &life{t: t, folder: t.TempDir(), now: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), patience: time.Minute}}
	p.restart()
	t.Cleanup(p.stop)
	owner, _, err := p.hub.EnsureOwner(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	if p.owner, err = p.hub.NewLogin(t.Context(), owner, hub.LoginToken, 0); err != nil {
		t.Fatal(err)
	}
	for id, token := range map[string]*string{"bot": &p.bot, "worker": &p.worker} {
		made, err := p.hub.AddAgent(t.Context(), owner, id)
		if err != nil {
			t.Fatal(err)
		}
		*token = made.Token
	}
	p.is(204, p.owner, "PUT", "/v1/settings", `{"inter_agent_enabled":true}`)
	return p
}

// is sends a request, and holds its answer to a status.
func (p *postOffice) is(status int, token, method, path, body string) []byte {
	p.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	answer := httptest.NewRecorder()
	p.handler.ServeHTTP(answer, r)
	if answer.Code != status {
		p.t.Fatalf("%s %s = %d %s, want %d", method, path, answer.Code, answer.Body, status)
	}
	return answer.Body.Bytes()
}

// session registers one of worker.
func (p *postOffice) session() string {
	p.t.Helper()
	var registered ma2h.SessionEnvelope
	if err := json.Unmarshal(p.is(201, p.worker, "POST", "/v1/sessions", `{"ttl_seconds":900}`), &registered); err != nil {
		p.t.Fatal(err)
	}
	return registered.Session.ID
}

// asks sends an ask of bot to a session of worker.
func (p *postOffice) asks(session, key string) string {
	p.t.Helper()
	var ack struct{ ID string }
	body := p.is(202, p.bot, "POST", "/v1/messages", fmt.Sprintf(`{"ma2h_version":"0.6","type":"ask","created_at":"2026-03-01T10:00:00Z",`+
		`"agent":{"id":"bot","run_id":"r"},"to":"agent:worker#%s","title":"Ship?","idempotency_key":%q,"request":{"mode":"confirm"}}`, session, key))
	if err := json.Unmarshal(body, &ack); err != nil {
		p.t.Fatal(err)
	}
	return ack.ID
}

// stands is how bot sees its ask: the status, who ended it and when, and the state of its mailbox track.
func (p *postOffice) stands(id string) string {
	p.t.Helper()
	var m struct {
		Status   string
		Mailbox  struct{ State, Prior string }
		Response struct {
			Response struct{ Actor, ResolvedAt string }
		}
	}
	body := p.is(200, p.bot, "GET", "/v1/messages/"+id, "")
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(body), "resolved_at", "ResolvedAt")), &m); err != nil {
		p.t.Fatal(err)
	}
	return strings.Join([]string{m.Status, m.Response.Response.Actor, m.Response.Response.ResolvedAt, m.Mailbox.State, m.Mailbox.Prior}, " ")
}

// sweep fires whatever is due.
func (p *postOffice) sweep() {
	p.t.Helper()
	due, err := p.hub.Store.Due(p.t.Context(), p.now, record.Entry{}, record.MaxListLimit)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range due {
		if _, err := p.hub.Fire(p.t.Context(), e.Key); err != nil {
			p.t.Fatal(err)
		}
	}
}

// TestB75_LiveLeasesSurviveARestart: neither the lease nor what was drained and not acked is forgotten, and the lease ends
// when it would have.
func TestB75_LiveLeasesSurviveARestart(t *testing.T) {
	t.Parallel()
	p := newPostOffice(t)
	session := p.session()
	id := p.asks(session, "k")
	p.now = p.now.Add(15 * time.Minute) // the very end of the lease
	p.restart()
	p.sweep()
	if got := string(p.is(200, p.worker, "GET", "/v1/inbox?session="+session, "")); !strings.Contains(got, id) {
		t.Errorf("after a restart the drain is %s, want %s in it", got, id)
	}
	end := p.now.Add(15 * time.Minute)
	p.now = end
	p.restart()
	p.sweep()
	if got, want := p.stands(id), "open   delivered "; got != want {
		t.Errorf("at the end of its lease, after a restart, the message is %q, want %q", got, want)
	}
	p.now = end.Add(time.Hour)
	p.restart()
	if got, want := p.stands(id), "cancelled system:undeliverable "+ma2h.FormatTime(end)+" bounced delivered"; got != want {
		t.Errorf("after its lease and a restart the message is %q, want %q", got, want)
	}
	p.is(http.StatusGone, p.worker, "GET", "/v1/inbox?session="+session, "")
}

// TestB75_PendingBouncesSurviveARestart: a hub that died while it went through the mail of a session goes on with it in its
// next life, whoever looks, or nobody but the sweep.
func TestB75_PendingBouncesSurviveARestart(t *testing.T) {
	t.Parallel()
	for _, look := range []string{"sender", "sweep"} {
		for commits := 1; commits < 4; commits++ {
			t.Run(fmt.Sprintf("%d commits, then the %s", commits, look), func(t *testing.T) {
				t.Parallel()
				p := newPostOffice(t)
				session := p.session()
				ids := []string{p.asks(session, "a"), p.asks(session, "b"), p.asks(session, "c")}
				closed := p.now
				var made atomic.Int64
				p.hub.Store = &recordtest.Faulty{Store: p.store, Pick: func([]record.Write) recordtest.Fault {
					if made.Add(1) > int64(commits) {
						return recordtest.Throttled
					}
					return nil
				}}
				r := httptest.NewRequest("DELETE", "/v1/sessions/"+session, http.NoBody)
				r.Header.Set("Authorization", "Bearer "+p.worker)
				p.handler.ServeHTTP(httptest.NewRecorder(), r) // whatever it says
				p.restart()
				if look == "sweep" {
					p.now = p.now.Add(2 * time.Minute)
					p.sweep()
				}
				for _, id := range ids {
					if o, err := p.hub.Outcome(t.Context(), id); look == "sweep" && (err != nil || o.Status != ma2h.StatusCancelled) {
						t.Errorf("the sweep left a message at %+v, %v, want it cancelled", o, err)
					}
					if got, want := p.stands(id), "cancelled system:undeliverable "+ma2h.FormatTime(closed)+" bounced queued"; got != want {
						t.Errorf("after the restart a message is %q, want %q", got, want)
					}
				}
			})
		}
	}
}

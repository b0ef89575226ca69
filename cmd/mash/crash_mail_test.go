//go:build crash

package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// postOffice is what agents that write to each other, and drain, were told by a hub that is killed again and again.
type postOffice struct {
	*harness
	senders, readers int // agents with the first numbers send, the others drain
	visibility       time.Duration
	killed           time.Time // last

	mu       sync.Mutex
	letters  map[string]*letter
	sessions map[string]*life
	wrong    []string
}

// letter is a message that was accepted.
type letter struct {
	sender  int
	session string    // that it is for, or empty for any of its agent's
	drained time.Time // when the drain began that delivered it last
	acked   bool
}

// life is a session that was registered.
type life struct {
	reader  int
	expires time.Time // at least
	closed  bool
}

// TestCrash_MailboxesLoseAndDoubleNothing kills a hub in the middle of drains, acks and closes. Whatever was answered stands in
// its next life: what was accepted ends in one way or is delivered again, what was acknowledged never is, nothing comes twice
// within a window, leases live on, and what a close owed is done.
func TestCrash_MailboxesLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	loseAndDoubleNothing(t, newHarness(t, ""), 500*time.Millisecond, 50)
}

// loseAndDoubleNothing has everybody work for so long at least in a round, and wants at least so many messages of it, or else it
// shows nothing.
func loseAndDoubleNothing(t *testing.T, h *harness, moment time.Duration, least int) {
	t.Helper()
	p := newPostOffice(t, h)
	rounds := crashRounds()
	for range rounds {
		p.work(t, moment)
	}
	p.start(t)
	delivered := p.ends()
	if len(p.wrong) > 0 {
		t.Errorf("%d wrong: %q", len(p.wrong), p.wrong[:min(len(p.wrong), 20)])
	}
	tracks := map[string]int{}
	for id, l := range p.letters {
		tracks[p.track(id, l, delivered[id])]++
	}
	fmt.Printf("%d rounds: %d messages accepted, %d sessions, tracks %v, %d wrong\n", rounds, len(p.letters), len(p.sessions), tracks, len(p.wrong))
	if len(p.wrong) > 0 {
		t.Errorf("wrong in the end: %q", p.wrong[:min(len(p.wrong), 20)])
	}
	if len(p.letters) < least*rounds || tracks["acknowledged"] < least*rounds/10 || tracks["bounced"] == 0 || tracks["delivered"] == 0 {
		t.Errorf("the harness did too little to mean anything")
	}
}

func newPostOffice(t *testing.T, h *harness) *postOffice {
	t.Helper()
	p := &postOffice{
		harness: h, senders: writers / 2, readers: writers / 2, letters: map[string]*letter{}, sessions: map[string]*life{},
	}
	p.start(t)
	var can struct {
		Inbound struct {
			Visibility int `json:"visibility_timeout_seconds"`
		}
	}
	if status, err := p.call("GET", "/.well-known/ma2h", p.owner, nil, &can); status != http.StatusOK || can.Inbound.Visibility == 0 {
		t.Fatalf("discovery: %d %v", status, err)
	}
	p.visibility = time.Duration(can.Inbound.Visibility) * time.Second
	if status, err := p.call("PUT", "/v1/settings", p.owner, map[string]any{"inter_agent_enabled": true}, nil); status != http.StatusNoContent {
		t.Fatalf("settings: %d %v", status, err)
	}
	p.stop(t)
	return p
}

func (p *postOffice) token(reader int) string { return p.agents[p.senders+reader] }

// violates notes what must not be.
func (p *postOffice) violates(format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

// work lets everybody write and read for a moment, kills the hub in the middle, and looks at what is left.
func (p *postOffice) work(t *testing.T, moment time.Duration) {
	t.Helper()
	p.interrupted(t, moment, writers, func(ctx context.Context, i int) {
		if i < p.senders {
			p.send(ctx, i)
		} else {
			p.read(ctx, i-p.senders)
		}
	})
	p.killed = time.Now()
	p.lives()
	p.kill()
}

// send writes to agents and their sessions until the hub is gone.
func (p *postOffice) send(ctx context.Context, i int) {
	for n := 0; ctx.Err() == nil; n++ {
		reader := rand.N(p.readers)
		session := ""
		if n%2 == 0 {
			session = p.liveSession(reader)
		}
		to := ma2h.Address{AgentID: p.agentID(p.senders + reader), Session: session}
		var ack struct{ ID string }
		status, err := p.call("POST", "/v1/messages", p.agents[i], map[string]any{
			"ma2h_version": "0.6", "type": "notify", "created_at": "2026-01-31T12:00:00Z", "title": "Hear", "to": to.String(),
			"agent": map[string]any{"id": p.agentID(i), "run_id": "r"}, "idempotency_key": ma2h.NewTail(),
		}, &ack)
		switch {
		case status == 0:
			return
		case status == http.StatusTooManyRequests:
			time.Sleep(20 * time.Millisecond)
		case status == http.StatusAccepted && err == nil:
			p.note(func() { p.letters[ack.ID] = &letter{sender: i, session: session} })
		}
	}
}

// note remembers what the hub has answered.
func (p *postOffice) note(remember func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	remember()
}

// liveSession is a session of a reader that was not closed, or empty.
func (p *postOffice) liveSession(reader int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, s := range p.sessions {
		if s.reader == reader && !s.closed {
			return id
		}
	}
	return ""
}

// read drains under a session, acknowledges half of what comes, and begins a new session now and then.
func (p *postOffice) read(ctx context.Context, reader int) {
	session := p.liveSession(reader)
	for n := 1; ctx.Err() == nil; n++ {
		if session == "" {
			if session = p.register(reader); session == "" {
				return
			}
		}
		ids, ok := p.drain(reader, session, "&wait=1")
		if !ok || !p.ack(reader, session, ids[:len(ids)/2]) {
			return
		}
		if n%7 == 0 {
			if !p.end(reader, session) {
				return
			}
			session = ""
		}
	}
}

func (p *postOffice) register(reader int) string {
	var made struct {
		Session struct {
			ID      string
			Expires time.Time `json:"expires_at"`
		}
	}
	if status, err := p.call("POST", "/v1/sessions", p.token(reader), map[string]any{}, &made); status != http.StatusCreated || err != nil {
		return ""
	}
	p.note(func() { p.sessions[made.Session.ID] = &life{reader: reader, expires: made.Session.Expires} })
	return made.Session.ID
}

// drain returns the ids that came, and holds them to what was told before.
func (p *postOffice) drain(reader int, session, query string) (ids []string, ok bool) {
	var got struct {
		Messages []struct {
			Message struct{ ID string } `json:"message"`
		} `json:"messages"`
	}
	began := time.Now()
	status, err := p.call("GET", "/v1/inbox?session="+session+query, p.token(reader), nil, &got)
	if status != http.StatusOK || err != nil {
		return nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range got.Messages {
		id := m.Message.ID
		ids = append(ids, id)
		l := p.letters[id]
		if l == nil {
			continue // its sender was not told any more
		}
		if l.acked {
			p.violates("%s came again after it was acknowledged", id)
		}
		if !l.drained.IsZero() && time.Since(l.drained) < p.visibility {
			p.violates("%s came twice within %v", id, time.Since(l.drained))
		}
		l.drained = began
	}
	return ids, true
}

func (p *postOffice) ack(reader int, session string, ids []string) bool {
	if len(ids) == 0 {
		return true
	}
	var done struct{ Acks []ma2h.Ack }
	status, err := p.call("POST", "/v1/inbox/ack?session="+session, p.token(reader), map[string]any{"ids": ids}, &done)
	if status != http.StatusOK || err != nil {
		return false
	}
	p.note(func() {
		for _, a := range done.Acks {
			if l := p.letters[a.InReplyTo]; l != nil {
				l.acked = true
			}
		}
	})
	return true
}

func (p *postOffice) end(reader int, session string) bool {
	status, err := p.call("DELETE", "/v1/sessions/"+session, p.token(reader), nil, &struct{}{})
	if status != http.StatusOK || err != nil {
		return false
	}
	p.note(func() { p.sessions[session].closed = true })
	return true
}

// lives holds every session to what was told of it: a restart forgets no lease, and undoes no close.
func (p *postOffice) lives() {
	for id, s := range p.sessions {
		var got struct {
			Session struct {
				State   string
				Expires time.Time `json:"expires_at"`
			}
		}
		status, err := p.call("GET", "/v1/sessions/"+id, p.token(s.reader), nil, &got)
		if status != http.StatusOK || err != nil {
			p.violates("session %s = %d %v", id, status, err)
			continue
		}
		if s.closed && got.Session.State != "closed" {
			p.violates("session %s is %s, and was closed", id, got.Session.State)
		}
		if got.Session.State == "closed" {
			s.closed = true // by a request whose answer was lost
		} else if got.Session.Expires.Before(s.expires) {
			p.violates("the lease of %s ends at %s, and was told to end at %s", id, got.Session.Expires, s.expires)
		}
	}
}

// ends closes all sessions, waits until what was claimed is there again, and drains the rest under new ones. It returns what
// came.
func (p *postOffice) ends() map[string]bool {
	for id, s := range p.sessions {
		if !s.closed && !p.end(s.reader, id) {
			p.violates("session %s cannot be closed", id)
		}
	}
	time.Sleep(time.Until(p.killed.Add(p.visibility + time.Second)))
	came := map[string]bool{}
	for reader := range p.readers {
		session := p.register(reader)
		for {
			ids, ok := p.drain(reader, session, "")
			if !ok {
				p.violates("reader %d cannot drain", reader)
			}
			for _, id := range ids {
				if came[id] {
					p.violates("%s came twice in the end", id)
				}
				came[id] = true
			}
			if len(ids) == 0 {
				break
			}
		}
	}
	return came
}

// track is how a letter has ended, by its sender's account, held to what was told of it.
func (p *postOffice) track(id string, l *letter, came bool) string {
	var got struct{ Mailbox struct{ State, Prior string } }
	if status, err := p.call("GET", "/v1/messages/"+id, p.agents[l.sender], nil, &got); status != http.StatusOK || err != nil {
		p.violates("%s = %d %v", id, status, err)
		return "lost"
	}
	state := got.Mailbox.State
	switch {
	case l.acked && state != "acknowledged":
		p.violates("%s was acknowledged, and is %s", id, state)
	case state == "acknowledged" && came, state == "bounced" && came:
		p.violates("%s is %s, and came", id, state)
	case state == "bounced" && l.session == "":
		p.violates("%s bounced, and was for no session", id)
	case state == "delivered" && !came, state == "queued", state == "expired":
		p.violates("%s is %s, and nobody gets it", id, state)
	case state == "delivered" && l.session != "":
		p.violates("%s is still there, and its session has ended", id)
	}
	return state
}

package hub_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// modelEntry is a directive or message to beta, and what has happened to it.
type modelEntry struct {
	id       string
	kind     ma2h.Type
	to       *modelSession // nil for the agent
	from     *modelSession
	expires  time.Time
	keep     time.Time
	claims   int
	till     time.Time // hidden until then
	seen     time.Time
	acked    bool
	answered bool
}

// end is how the entry ended by now without an ack (spec §14.2).
func (e *modelEntry) end(now time.Time) (track ma2h.Track, at time.Time) {
	if e.acked {
		return "", at
	}
	consider := func(t ma2h.Track, when time.Time) {
		if track == "" || when.Before(at) {
			track, at = t, when
		}
	}
	if e.seen.IsZero() && !e.expires.IsZero() && now.After(e.expires) {
		consider(ma2h.TrackExpired, e.expires)
	}
	if e.to != nil {
		if when, over := e.to.over(now); over {
			consider(ma2h.TrackBounced, when)
		}
	}
	if now.After(e.keep) && e.seen.IsZero() {
		consider(ma2h.TrackExpired, e.keep)
	} else if now.After(e.keep) {
		consider(ma2h.TrackBounced, e.keep)
	}
	return track, at
}

// track is what its sender should be told.
func (e *modelEntry) track(now time.Time) ma2h.Track {
	if track, _ := e.end(now); track != "" {
		return track
	}
	switch {
	case e.acked:
		return ma2h.TrackAcknowledged
	case !e.seen.IsZero():
		return ma2h.TrackDelivered
	}
	return ma2h.TrackQueued
}

func (e *modelEntry) prior() ma2h.Track {
	if e.seen.IsZero() {
		return ma2h.TrackQueued
	}
	return ma2h.TrackDelivered
}

// status is the resolution of an ask or task (spec §7).
func (e *modelEntry) status(now time.Time) ma2h.Status {
	if e.answered {
		if e.kind == ma2h.TypeTask {
			return ma2h.StatusCompleted
		}
		return ma2h.StatusAnswered
	}
	track, at := e.end(now)
	expired := !e.expires.IsZero() && now.After(e.expires)
	switch {
	case expired && (track == "" || !at.Before(e.expires)):
		return ma2h.StatusExpired
	case track != "" && e.kind == ma2h.TypeTask:
		return ma2h.StatusDismissed
	case track != "":
		return ma2h.StatusCancelled
	}
	return ma2h.StatusOpen
}

// shows says whether a drain under this session (nil for none) may return the entry now.
func (e *modelEntry) shows(s *modelSession, now time.Time) bool {
	track, _ := e.end(now)
	if e.acked || track != "" || now.Before(e.till) || !e.expires.IsZero() && now.After(e.expires) {
		return false
	}
	return e.to == nil && (s != nil || e.kind == ma2h.TypeDirective) || e.to != nil && e.to == s
}

// draft draws what an entry has that its sender decides.
func (m *mailModel) draft(rt *rapid.T) (e *modelEntry, to string, gone bool) {
	e = &modelEntry{keep: m.now.Add(modelRetention), to: m.pick(rt, m.beta, true)}
	if d := rapid.SampledFrom([]time.Duration{0, 0, 30 * time.Second, 10 * time.Minute}).Draw(rt, "expires in"); d > 0 {
		e.expires = m.now.Add(d)
	}
	to = "agent:beta"
	if e.to != nil {
		to += "#" + e.to.id
		_, gone = e.to.over(m.now)
	}
	return e, to, gone
}

func (m *mailModel) send(rt *rapid.T) {
	e, to, gone := m.draft(rt)
	e.kind = rapid.SampledFrom([]ma2h.Type{ma2h.TypeNotify, ma2h.TypeAsk, ma2h.TypeTask}).Draw(rt, "kind")
	e.from = m.pick(rt, m.alpha, true)
	if e.from != nil {
		if _, over := e.from.over(m.now); over {
			e.from = nil
		}
	}
	sent, err := m.submit(e, to, rapid.Bool().Draw(rt, "dies"))
	if gone {
		if e := ma2h.AsError(err); e == nil || e.Code != ma2h.CodeDestinationGone && e.Code != ma2h.CodeUnknownDestination {
			rt.Fatalf("a message to a session that has ended: %v", err)
		}
		return
	}
	m.must(rt, err)
	if sent.Ack.Destination == nil {
		rt.Fatalf("the ack of an addressed message has no destination")
	}
	e.id = sent.Ack.ID
	m.entries = append(m.entries, e)
}

// submit sends a message, and again where the process died after it was committed.
func (m *mailModel) submit(e *modelEntry, to string, dies bool) (*hub.Submitted, error) {
	agent := map[string]any{"id": "alpha", "run_id": "run_1"}
	body := map[string]any{
		"ma2h_version": "0.6", "type": e.kind, "created_at": ma2h.FormatTime(m.now), "agent": agent, "to": to, "title": "t",
		"idempotency_key": fmt.Sprintf("%d-%d", len(m.entries), m.now.UnixNano()),
	}
	if e.from != nil {
		agent["session"] = e.from.id
		e.from.renew(m.now)
	}
	if !e.expires.IsZero() {
		body["expires_at"] = ma2h.FormatTime(e.expires)
	}
	switch e.kind {
	case ma2h.TypeAsk:
		body["request"] = map[string]any{"mode": "confirm"}
	case ma2h.TypeTask:
		body["action"] = map[string]any{"instructions": "do it"}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	envelope, invalid := ma2h.ReadMessage(raw)
	if invalid != nil {
		return nil, invalid
	}
	m.store.armed.Store(dies)
	sent, err := m.hub.Submit(m.ctx, m.alpha, envelope)
	if errors.Is(err, errStumbled) {
		sent, err = m.hub.Submit(m.ctx, m.alpha, envelope)
	}
	m.store.armed.Store(false)
	m.store.falls.Store(false)
	return sent, err
}

func (m *mailModel) direct(rt *rapid.T) {
	e, to, gone := m.draft(rt)
	e.kind = ma2h.TypeDirective
	d := &ma2h.Directive{To: to, Title: "t"}
	if !e.expires.IsZero() {
		d.ExpiresAt = ma2h.FormatTime(e.expires)
	}
	sent, err := m.hub.Direct(m.ctx, m.ada, d)
	if gone {
		if err == nil {
			rt.Fatalf("a directive to a session that has ended was accepted")
		}
		return
	}
	m.must(rt, err)
	e.id = sent.ID
	m.entries = append(m.entries, e)
}

func (m *mailModel) answer(rt *rapid.T) {
	var all []*modelEntry
	for _, e := range m.entries {
		if e.kind == ma2h.TypeAsk || e.kind == ma2h.TypeTask {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		rt.Skip("nothing to answer")
	}
	e := rapid.SampledFrom(all).Draw(rt, "entry")
	r := &ma2h.Resolve{Resolution: ma2h.StatusAnswered, Value: []byte(`"approve"`)}
	if e.kind == ma2h.TypeTask {
		r = &ma2h.Resolve{Resolution: ma2h.StatusCompleted}
	}
	_, err := m.hub.Resolve(m.ctx, m.beta, e.id, "", r)
	if e.status(m.now) == ma2h.StatusOpen {
		m.must(rt, err)
		e.answered = true
		return
	}
	if code := ma2h.AsError(err); code == nil || !slices.Contains([]ma2h.Code{ma2h.CodeAlreadyTerminal, ma2h.CodeGone}, code.Code) {
		rt.Fatalf("an answer to what is %s: %v", e.status(m.now), err)
	}
}

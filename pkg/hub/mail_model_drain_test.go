package hub_test

import (
	"encoding/json"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// modelDrained is what the tests read of one element of a drain.
type modelDrained struct {
	Directive, Message struct{ ID string }
	Response           struct {
		InReplyTo    string `json:"in_reply_to"`
		ResolutionID string `json:"resolution_id"`
	}
	Receipt struct {
		ID        string
		InReplyTo string `json:"in_reply_to"`
		Prior     string
	}
}

func (m *mailModel) drained(rt *rapid.T, c *hub.Caller, s *modelSession, most int) []modelDrained {
	o := hub.DrainOptions{Max: most}
	if s != nil {
		o.Session = s.id
	}
	body, err := m.hub.Drain(m.ctx, c, o)
	if s != nil {
		if at, over := s.over(m.now); over {
			want := ma2h.CodeGone
			if m.now.After(at.Add(m.hub.Settings.TerminalRetention)) {
				want = ma2h.CodeNotFound
			}
			if code := ma2h.AsError(err); code != nil && code.Code == ma2h.CodeSessionClosedByOperator && want == ma2h.CodeGone {
				return nil
			}
			refused(rt, "a drain under a session that has ended", err, want)
			return nil
		}
		s.renew(m.now)
	}
	m.must(rt, err)
	var got struct{ Messages []modelDrained }
	m.must(rt, json.Unmarshal(body, &got))
	return got.Messages
}

// drain holds a drain of beta's to the very entries that the model says, in order.
func (m *mailModel) drain(rt *rapid.T) {
	s, most := m.pick(rt, m.beta, true), rapid.IntRange(1, 5).Draw(rt, "max")
	var want, got []string
	var taken []*modelEntry
	over := false
	if s != nil {
		_, over = s.over(m.now)
	}
	for _, e := range m.entries {
		if !over && len(taken) < most && e.shows(s, m.now) {
			want, taken = append(want, e.id), append(taken, e)
		}
	}
	for _, d := range m.drained(rt, m.beta, s, most) {
		got = append(got, d.Directive.ID+d.Message.ID)
	}
	if !slices.Equal(got, want) {
		rt.Fatalf("a drain returns %v, want %v", got, want)
	}
	for _, e := range taken {
		e.claims++
		e.till = m.now.Add(modelWindow)
		if e.seen.IsZero() {
			e.seen = m.now
		}
	}
}

// drainAsSender holds what alpha is told to what has become of its messages, each once a window.
func (m *mailModel) drainAsSender(rt *rapid.T) {
	s := m.pick(rt, m.alpha, false)
	var ids []string
	for _, d := range m.drained(rt, m.alpha, s, 0) {
		key := d.Response.ResolutionID + d.Receipt.ID
		e := m.entry(d.Response.InReplyTo + d.Receipt.InReplyTo)
		if e == nil || e.from != s {
			rt.Fatalf("a session is told of what it did not send: %+v", d)
		}
		if m.now.Before(m.told[key]) {
			rt.Fatalf("%s is delivered twice within a window", key)
		}
		m.told[key] = m.now.Add(modelWindow)
		ids = append(ids, key)
		if d.Receipt.ID == "" {
			if e.status(m.now) == ma2h.StatusOpen {
				rt.Fatalf("a response to an open message: %+v", d)
			}
			continue
		}
		if track, _ := e.end(m.now); track != ma2h.TrackBounced || d.Receipt.Prior != string(e.prior()) {
			rt.Fatalf("a receipt of %s with prior %s, and the entry is %s with %s", d.Receipt.InReplyTo, d.Receipt.Prior, track, e.prior())
		}
		if was, again := m.bounced[e.id]; again && was != d.Receipt.ID {
			rt.Fatalf("two receipts of one bounce: %s and %s", was, d.Receipt.ID)
		}
		m.bounced[e.id] = d.Receipt.ID
	}
	if rapid.Bool().Draw(rt, "ack") && len(ids) > 0 {
		_, err := m.hub.AckMail(m.ctx, m.alpha, s.id, &ma2h.InboxAckRequest{IDs: ids})
		m.must(rt, err)
		s.renew(m.now)
		for _, id := range ids {
			m.told[id] = m.now.Add(1000 * time.Hour)
		}
	}
}

func (m *mailModel) entry(id string) *modelEntry {
	for _, e := range m.entries {
		if e.id == id {
			return e
		}
	}
	return nil
}

// ack acknowledges any entries, presented or not.
func (m *mailModel) ack(rt *rapid.T) {
	if len(m.entries) == 0 {
		rt.Skip("nothing to acknowledge")
	}
	chosen := rapid.SliceOfNDistinct(rapid.IntRange(0, len(m.entries)-1), 1, min(len(m.entries), 4), rapid.ID).Draw(rt, "entries")
	var ids []string
	for _, i := range chosen {
		ids = append(ids, m.entries[i].id)
	}
	_, err := m.hub.AckMail(m.ctx, m.beta, "", &ma2h.InboxAckRequest{IDs: ids})
	m.must(rt, err)
	for _, i := range chosen {
		e := m.entries[i]
		track, _ := e.end(m.now)
		if track == "" && e.claims > 0 && (e.expires.IsZero() || !m.now.After(e.expires)) {
			e.acked = true
		}
	}
}

// look holds what the sender is told of some entries to the model.
func (m *mailModel) look(rt *rapid.T) {
	if len(m.entries) == 0 {
		return
	}
	for range 2 {
		m.compare(rt, rapid.SampledFrom(m.entries).Draw(rt, "entry"))
	}
}

func (m *mailModel) compare(rt *rapid.T, e *modelEntry) {
	var box *ma2h.Mailbox
	var err error
	var got struct {
		Status  ma2h.Status
		Mailbox *ma2h.Mailbox
	}
	if e.kind == ma2h.TypeDirective {
		box, err = m.hub.DirectiveTrack(m.ctx, m.ada, e.id)
	} else {
		var body []byte
		if body, err = m.hub.Pull(m.ctx, m.alpha, e.id, hub.PullOptions{}); err == nil {
			err = json.Unmarshal(body, &got)
			box = got.Mailbox
		}
	}
	if code := ma2h.AsError(err); code != nil && code.Code == ma2h.CodeGone && m.now.After(e.keep.Add(modelRetention)) {
		return // deleted at the end of its retention
	}
	m.must(rt, err)
	if want := e.track(m.now); box == nil || box.State != want {
		rt.Fatalf("%s %s is %+v, want %s", e.kind, e.id, box, want)
	}
	if box.State == ma2h.TrackBounced && box.Prior != e.prior() || box.State != ma2h.TrackBounced && box.Prior != "" {
		rt.Fatalf("%s %s has prior %q, want %q", e.kind, e.id, box.Prior, e.prior())
	}
	want := ma2h.Status(e.track(m.now))
	if e.kind == ma2h.TypeAsk || e.kind == ma2h.TypeTask {
		want = e.status(m.now)
	}
	if e.kind != ma2h.TypeDirective && got.Status != want {
		rt.Fatalf("%s %s is %s, want %s", e.kind, e.id, got.Status, want)
	}
}

// end lets the retention of everything pass, and holds every entry to one terminal of its track.
func (m *mailModel) end(rt *rapid.T) {
	m.now = m.now.Add(modelRetention + time.Hour)
	if rapid.Bool().Draw(rt, "swept") {
		m.settle()
	}
	for _, e := range m.entries {
		switch track := e.track(m.now); track {
		case ma2h.TrackAcknowledged, ma2h.TrackBounced, ma2h.TrackExpired:
		default:
			rt.Fatalf("%s %s has no end: %s", e.kind, e.id, track)
		}
		m.compare(rt, e)
	}
}

package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// post is what else than its state decides about mail on its way: its row, and the sessions at both ends.
type post struct {
	row   record.Record // Rev "" once it has ended
	entry Row
	to    *session // that it is addressed to; nil where there is none, or none any more
	from  *session // the submitter's, likewise
}

// lives says whether the entry has a row, so that the track has not ended.
func (m *Mail) lives() bool { return m != nil && m.Track == "" }

// next is when the clock decides something about an entry, whatever has been claimed; zero for never.
func (m *Mail) next() time.Time {
	if !m.ExpiresAt.IsZero() && !m.Overdue && m.ExpiresAt.Before(m.KeepUntil) {
		return m.ExpiresAt
	}
	return m.KeepUntil
}

// postKeys are those of what decides about the mail of a state.
func (s *State) postKeys() []record.Key {
	keys := []record.Key{s.Mail.Row}
	for _, id := range []string{s.Mail.Session, s.Session} {
		if key, ok := SessionKey(id); ok && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// loadPost reads with one request what decides about the mail of m, but for what was read before, and ends the leases among
// it that have lapsed.
func (h *Hub) loadPost(ctx context.Context, read *Caller, m *message, now time.Time) (*post, error) {
	read, err := h.along(ctx, read, m.state.postKeys()...)
	if err != nil {
		return nil, fmt.Errorf("read the row of %s: %w", m.state.ID, err)
	}
	p := &post{}
	p.row, _ = read.seen(m.state.Mail.Row)
	if err := decodeAny(p.row, &p.entry); err != nil {
		return nil, err
	}
	var failed, alsoFailed error
	p.to, failed = h.settledSession(ctx, read, m.state.Mail.Session, now)
	p.from, alsoFailed = h.settledSession(ctx, read, m.state.Session, now)
	return p, errors.Join(failed, alsoFailed)
}

// settledSession is the session with this id as it stands at now, whoever's it is and however long ago it ended; nil for none.
func (h *Hub) settledSession(ctx context.Context, read *Caller, id string, now time.Time) (*session, error) {
	key, ok := SessionKey(id)
	if !ok {
		return nil, nil
	}
	read, err := h.along(ctx, read, key)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	rec, _ := read.seen(key)
	s, err := sessionOf(rec)
	if s == nil || err != nil {
		return nil, err
	}
	return s, h.settleSession(ctx, s, now)
}

// live says whether a session is there and has not ended.
func (s *session) live() bool { return s != nil && !s.ended() }

// end says how the track has ended by now. A session that is gone ended before the mail came.
func (p *post) end(m *Mail, now time.Time) (lifecycle.MailEnd, bool) {
	d := lifecycle.Post{Delivered: !p.entry.DeliveredAt.IsZero(), ExpiresAt: m.ExpiresAt, KeepUntil: m.KeepUntil}
	switch {
	case m.Session == "":
	case p.to == nil:
		d.EndedAt = now
	case p.to.ended():
		d.EndedAt = p.to.endedAt()
	}
	return d.End(now)
}

// settleMail ends the mailbox track of a message or directive as the clock and its sessions have decided, and its resolution
// with it, in the order in which that happened (spec §7, §14.2, §16.3).
func (h *Hub) settleMail(ctx context.Context, m *message, now time.Time) error {
	for m.state.Mail.lives() {
		p, err := h.loadPost(ctx, &Caller{}, m, now)
		if err != nil {
			return err
		}
		if p.row.Rev == "" { // it has ended since the state was read
			if err := h.reload(ctx, m); err != nil {
				return err
			}
			continue
		}
		m.row, m.entry = p.row, &p.entry
		end, over := p.end(m.state.Mail, now)
		if m.expiresFirst(end, over, now) {
			err = h.expire(ctx, m, now)
		} else if over {
			err = h.endMail(ctx, m, p, end, now)
		} else {
			return h.noteOverdue(ctx, m, now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// expiresFirst says whether an open message ended at its deadline before its mail did.
func (m *message) expiresFirst(end lifecycle.MailEnd, over bool, now time.Time) bool {
	deadline := m.state.ExpiresAt
	return m.state.Status == ma2h.StatusOpen && lifecycle.Overdue(deadline, now) && (!over || !end.At.Before(deadline))
}

// reload reads a message anew whose row is gone. If its state still says that it has one, neither can be trusted.
func (h *Hub) reload(ctx context.Context, m *message) error {
	was := m.rec.Rev
	if err := h.afresh(ctx, m); err != nil {
		return err
	}
	if m.rec.Rev == was {
		return fmt.Errorf("the row of %s is missing", m.state.ID)
	}
	return nil
}

// noteOverdue writes down that the time of an entry is over that was seen before, so that it does not fall due for it again.
func (h *Hub) noteOverdue(ctx context.Context, m *message, now time.Time) error {
	mail := m.state.Mail
	if mail.Overdue || !lifecycle.Overdue(mail.ExpiresAt, now) {
		return nil
	}
	return h.change(ctx, m, nil, func(s *State) bool {
		if !s.Mail.lives() || s.Mail.Overdue {
			return false
		}
		noted := *s.Mail
		noted.Overdue = true
		s.Mail = &noted
		return true
	})
}

// endMail commits the end of a track: the row goes, an open ask or task is undeliverable, and the sender's session is told
// (spec §7, §14.2). Whoever was faster is read, to be decided about anew.
func (h *Hub) endMail(ctx context.Context, m *message, p *post, end lifecycle.MailEnd, now time.Time) error {
	next, mail := m.state, *m.state.Mail
	mail.Track, mail.Prior, mail.At, mail.DeliveredAt = end.Track, end.Prior, end.At, p.entry.DeliveredAt
	next.Mail = &mail
	writes := []record.Write{record.Erase(p.row.Key, p.row.Rev)}
	var rung []string
	if next.Status == ma2h.StatusOpen {
		row := h.responseRow(&next, p.from, now)
		writes = append(writes, row.writes()...)
		next.decide(lifecycle.Undeliverable(next.Type, end.At), ma2h.NewID(ma2h.PrefixResolution+m.tail), row.at(), now)
		rung = append(rung, MessageLane(m.tail))
	} else if next.oneWay() {
		next.Status, next.StatusAt = ma2h.Status(end.Track), end.At
	}
	if end.Track == ma2h.TrackBounced {
		writes = append(writes, h.receipt(&next, p, now)...)
	}
	for _, w := range writes[1:] {
		rung = append(rung, w.Record.Part)
	}
	put := record.Put(h.stateRecord(m.tail, &next), m.rec.Rev)
	err := h.Store.Commit(ctx, append([]record.Write{put}, writes...)...)
	if record.AsConflict(err) != nil {
		return h.afresh(ctx, m)
	}
	if err != nil {
		return fmt.Errorf("end the mail of %s: %w", m.state.ID, err)
	}
	decided := next.Response != nil && m.state.Response == nil
	m.rec, m.state = put.Record, next
	for _, lane := range append(rung, AccountLane(next.Account)) {
		h.Bell.Ring(ctx, lane)
	}
	if decided {
		h.observe(&m.state, false)
		h.announce(ctx, m)
	}
	return nil
}

// afresh reads a message after a Commit that lost, be it over its state or over its row alone.
func (h *Hub) afresh(ctx context.Context, m *message) error {
	recs, err := h.Store.Get(ctx, m.rec.Key, m.contentKey())
	if err != nil {
		return fmt.Errorf("read message %s: %w", m.state.ID, err)
	}
	m.content, m.envelope = recs[1], nil
	return m.take(recs[0])
}

// oneWay says whether the mailbox track is all there is to a message: it is a directive, or an addressed notify (spec §5.1).
func (s *State) oneWay() bool {
	return s.Type == ma2h.TypeDirective || s.Type == ma2h.TypeNotify && s.Mail != nil
}

// newRow is a row to be written, or none.
type newRow struct{ rec *record.Record }

func (r newRow) writes() []record.Write {
	if r.rec == nil {
		return nil
	}
	return []record.Write{record.Put(*r.rec, "")}
}

func (r newRow) at() *record.Key {
	if r.rec == nil {
		return nil
	}
	return &r.rec.Key
}

// row is a new entry at the end of a lane.
func (h *Hub) row(lane string, r Row) newRow {
	return newRow{&record.Record{Key: record.Key{Part: lane, Sort: h.sequence()}, Kind: KindRow, Body: Encode(&r)}}
}

// responseRow is the entry by which the submitter's session gets the Response (spec §6); none where it does not live. Its id
// is filled in by decide.
func (h *Hub) responseRow(s *State, from *session, now time.Time) newRow {
	if !from.live() {
		return newRow{}
	}
	return h.row(sessionLane(from.tail()), Row{Kind: EntryResponse, ID: s.ID, KeepUntil: now.Add(h.retention())})
}

// receipt returns the write of the entry that tells the sender's session of a bounce (spec §8.7.1), and notes in s where it
// lies. A sender without a live session finds the bounce where it pulls.
func (h *Hub) receipt(s *State, p *post, now time.Time) []record.Write {
	if !p.from.live() || s.Type == ma2h.TypeDirective {
		return nil
	}
	died := s.Mail.Session
	if died == "" {
		died = p.entry.Claimant
	}
	to := ma2h.Address{AgentID: s.AgentID, Session: p.from.ID}
	s.ReceiptID = ma2h.NewID(ma2h.PrefixReceipt + s.ID[len(ma2h.PrefixMessage):])
	row := h.row(sessionLane(p.from.tail()), Row{
		Kind: EntryReceipt, ID: s.ReceiptID, KeepUntil: now.Add(h.retention()),
		Receipt: &ma2h.Receipt{
			Version: h.Settings.Version, Type: "receipt", ID: s.ReceiptID, InReplyTo: s.ID, Event: string(ma2h.TrackBounced),
			Prior: s.Mail.Prior, At: ma2h.FormatTime(s.Mail.At), Session: died, To: to.String(),
		},
	})
	s.ReceiptRow = row.at()
	return row.writes()
}

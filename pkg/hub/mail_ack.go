package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// MailAcked is the answer to an ack of mailbox entries: how many of the ids the caller has consumed, now or before, and the
// acks that there are of them (spec §8.7).
type MailAcked struct {
	Acked int         `json:"acked"`
	Acks  []*ma2h.Ack `json:"acks"`
}

// AckMail consumes entries of the caller's mailbox, named by their ack keys (spec §8.7.1). An id that is unknown, another's,
// or of an entry that was never presented has no effect and reveals nothing. A session is presented for its lease alone; the
// errors are those of one that cannot be.
func (h *Hub) AckMail(ctx context.Context, c *Caller, session string, r *ma2h.InboxAckRequest) (*MailAcked, error) {
	if err := agentOnly(c); err != nil {
		return nil, err
	}
	now := h.now()
	if session != "" {
		s, err := h.presented(ctx, c, session, now)
		if err != nil {
			return nil, err
		}
		if err := h.renew(ctx, s, now); err != nil {
			return nil, err
		}
	}
	letters, err := h.addressedBy(ctx, r.IDs)
	if err != nil {
		return nil, err
	}
	letters = slices.DeleteFunc(letters, func(k keyed) bool { return !k.mayConsume(c) })
	read, err := h.rowsOf(ctx, letters)
	if err != nil {
		return nil, err
	}
	consumed, acks := make([]bool, len(letters)), make([]*ma2h.Ack, len(letters))
	err = parallel(len(letters), func(i int) (err error) {
		consumed[i], acks[i], err = h.consume(ctx, consumer{c, read, r.Note, now}, letters[i])
		return err
	})
	answer := &MailAcked{Acks: []*ma2h.Ack{}}
	for i := range letters {
		if consumed[i] {
			answer.Acked++
		}
		if acks[i] != nil {
			answer.Acks = append(answer.Acks, acks[i])
		}
	}
	return answer, err
}

// keyed is a message or directive that an ack key leads to.
type keyed struct {
	id string // the ack key
	*message
}

// addressedBy reads the states of what these ack keys lead to, each once. A key that leads nowhere is left out.
func (h *Hub) addressedBy(ctx context.Context, ids []string) ([]keyed, error) {
	var all []keyed
	var keys []record.Key
	seen := map[string]bool{}
	for _, id := range ids {
		tail, directive, ok := ackKey(id)
		if !ok || seen[id] {
			continue
		}
		seen[id] = true
		m := &message{tail: tail, directive: directive}
		all, keys = append(all, keyed{id, m}), append(keys, m.stateKey())
	}
	read, err := h.along(ctx, &Caller{}, keys...)
	if err != nil {
		return nil, fmt.Errorf("read what is acknowledged: %w", err)
	}
	there := all[:0]
	for _, k := range all {
		rec, _ := read.seen(k.stateKey())
		switch err := k.take(rec); {
		case err == nil:
			there = append(there, k)
		case ma2h.AsError(err) == nil: // it is there, and cannot be read
			return nil, fmt.Errorf("read what is acknowledged: %w", err)
		}
	}
	return there, nil
}

// ackKey reads the form of an ack key: that of a directive or message, of a resolution or of a receipt.
func ackKey(id string) (tail string, directive, ok bool) {
	if tail, directive, ok := letterOf(id); ok {
		return tail, directive, true
	}
	tail, ok = ma2h.MessageTail(id)
	return tail, false, ok
}

// mayConsume says whether the ack key is of an entry for the caller.
func (k keyed) mayConsume(c *Caller) bool {
	own := k.state.AgentRef == c.Agent.Ref
	switch {
	case k.state.Deleted:
		return false
	case strings.HasPrefix(k.id, ma2h.PrefixReceipt):
		return own && k.state.ReceiptID == k.id && k.state.ReceiptRow != nil
	case strings.HasPrefix(k.id, ma2h.PrefixResolution):
		return own && k.state.Response != nil && k.state.Response.ResolutionID == k.id
	}
	return k.state.Mail != nil && k.state.Mail.ToRef == c.Agent.Ref
}

// rowsOf reads what decides about these entries.
func (h *Hub) rowsOf(ctx context.Context, letters []keyed) (*Caller, error) {
	var keys []record.Key
	for _, k := range letters {
		switch {
		case strings.HasPrefix(k.id, ma2h.PrefixReceipt):
			keys = append(keys, *k.state.ReceiptRow)
		case strings.HasPrefix(k.id, ma2h.PrefixResolution):
			if k.state.ResponseRow != nil {
				keys = append(keys, *k.state.ResponseRow)
			}
		case k.state.Mail.lives():
			keys = append(keys, k.state.postKeys()...)
		}
	}
	read, err := h.along(ctx, &Caller{}, keys...)
	if err != nil {
		return nil, fmt.Errorf("read rows: %w", err)
	}
	return read, nil
}

// consumer is who acknowledges, with what was read for it.
type consumer struct {
	*Caller
	read *Caller // good for the first try
	note string
	now  time.Time
}

// consume ends one entry of the caller's, and says whether it did, now or before, and by which ack.
func (h *Hub) consume(ctx context.Context, c consumer, k keyed) (bool, *ma2h.Ack, error) {
	switch {
	case strings.HasPrefix(k.id, ma2h.PrefixReceipt):
		consumed, err := h.consumeReceipt(ctx, c, *k.state.ReceiptRow)
		return consumed, nil, err
	case strings.HasPrefix(k.id, ma2h.PrefixResolution):
		return h.consumeResponse(ctx, c, k.message)
	}
	return h.consumeMail(ctx, c, k.message)
}

// consumeReceipt takes a receipt that was presented out of its lane. A receipt has no track.
func (h *Hub) consumeReceipt(ctx context.Context, c consumer, at record.Key) (bool, error) {
	for {
		rec, row, err := h.rowAt(ctx, c.read, at)
		if err != nil || row.Claims == 0 {
			return false, err
		}
		err = h.Store.Commit(ctx, record.Erase(rec.Key, rec.Rev))
		if err == nil {
			h.Bell.Ring(ctx, ackLane(row.Claimant))
			return true, nil
		}
		if record.AsConflict(err) == nil {
			return false, err
		}
		c.read = &Caller{}
	}
}

// rowAt reads a row, unless it was read before; the zero Row where there is none any more.
func (h *Hub) rowAt(ctx context.Context, read *Caller, at record.Key) (record.Record, Row, error) {
	var row Row
	read, err := h.along(ctx, read, at)
	if err != nil {
		return record.Record{}, row, fmt.Errorf("read a row: %w", err)
	}
	rec, _ := read.seen(at)
	return rec, row, decodeAny(rec, &row)
}

// consumeMail acknowledges a directive or an addressed message that was presented (spec §14.3). One whose time is over is
// acknowledged no more (spec §13.3).
func (h *Hub) consumeMail(ctx context.Context, c consumer, m *message) (bool, *ma2h.Ack, error) {
	for m.state.Mail.lives() {
		p, err := h.loadPost(ctx, c.read, m, c.now)
		if err != nil {
			return false, nil, err
		}
		_, over := p.end(m.state.Mail, c.now)
		switch {
		case p.row.Rev == "": // it has ended since the state was read
			err = h.reload(ctx, m)
		case over:
			err = h.settleWhole(ctx, m, c.now)
		case p.entry.Claims == 0 && m.state.Push == nil || p.entry.over(c.now): // a webhook may be at it while it acknowledges
			return false, nil, nil
		default:
			err = h.commitMailAck(ctx, c, m, p)
		}
		if err != nil {
			return false, nil, err
		}
		c.read = &Caller{}
	}
	mail := m.state.Mail
	if mail == nil {
		return false, nil, nil // a message that was deleted meanwhile
	}
	return mail.Track == ma2h.TrackAcknowledged, mail.Ack, nil
}

// commitMailAck ends the track of m by the caller's ack. Whoever was faster is read, to be decided about anew.
func (h *Hub) commitMailAck(ctx context.Context, c consumer, m *message, p *post) error {
	next, mail := m.state, *m.state.Mail
	mail.Track, mail.At, mail.AcknowledgedAt = ma2h.TrackAcknowledged, c.now, c.now
	mail.DeliveredAt, mail.Ack = p.entry.DeliveredAt, h.ackOf(c.Caller, &next, c.note, c.now)
	if mail.DeliveredAt.IsZero() {
		mail.DeliveredAt = c.now // a stream pushed it, and only now is it known that somebody was there (spec §8.7.2)
	}
	next.Mail = &mail
	if next.oneWay() {
		next.Status, next.StatusAt = ma2h.StatusAcknowledged, c.now
	}
	put := record.Put(h.stateRecord(m.tail, &next), m.rec.Rev)
	err := h.Store.Commit(ctx, put, record.Erase(p.row.Key, p.row.Rev))
	if record.AsConflict(err) != nil {
		return h.afresh(ctx, m)
	}
	if err != nil {
		return fmt.Errorf("acknowledge %s: %w", next.ID, err)
	}
	m.rec, m.state = put.Record, next
	for _, lane := range []string{MessageLane(m.tail), AccountLane(next.Account), ackLane(p.entry.Claimant)} {
		h.Bell.Ring(ctx, lane)
	}
	return nil
}

// consumeResponse acknowledges a Response by its entry, which equals the ack of the message without a note (spec §8.7.1).
// What was never presented is left alone, and a track that has expired stays so.
func (h *Hub) consumeResponse(ctx context.Context, c consumer, m *message) (bool, *ma2h.Ack, error) {
	for m.state.ResponseRow != nil {
		rec, row, err := h.rowAt(ctx, c.read, *m.state.ResponseRow)
		if err != nil || rec.Rev != "" && row.Claims == 0 {
			return false, nil, err
		}
		if rec.Rev == "" {
			break // it went with its session
		}
		next := m.state
		next.ResponseRow = nil
		next.deliver(c.now) // unless a drain or a push was known to have brought it (spec §8.7.2)
		next.acknowledge(h.ackOfResponse(c.Caller, &next, "", c.now), c.now)
		put := record.Put(h.stateRecord(m.tail, &next), m.rec.Rev)
		err = h.Store.Commit(ctx, put, record.Erase(rec.Key, rec.Rev))
		if err == nil {
			m.rec, m.state = put.Record, next
			h.announce(ctx, m)
			h.Bell.Ring(ctx, AccountLane(next.Account))
			h.Bell.Ring(ctx, ackLane(row.Claimant))
			return true, m.responseAck(), nil
		}
		if record.AsConflict(err) == nil {
			return false, nil, fmt.Errorf("acknowledge the response of %s: %w", next.ID, err)
		}
		c.read = &Caller{}
		if err := h.afresh(ctx, m); err != nil {
			return false, nil, err
		}
	}
	ack := m.responseAck()
	return ack != nil, ack, nil
}

func (m *message) responseAck() *ma2h.Ack {
	if m.state.Delivery == nil {
		return nil
	}
	return m.state.Delivery.Ack
}

// ackOf is the caller's ack of a message or directive (spec §14.1), and ackOfResponse that of a Response.
func (h *Hub) ackOf(c *Caller, s *State, note string, now time.Time) *ma2h.Ack {
	return &ma2h.Ack{
		Version: h.Settings.Version, Type: "ack", InReplyTo: s.ID, By: c.Actor(), AckedAt: ma2h.FormatTime(now), Note: note,
	}
}

func (h *Hub) ackOfResponse(c *Caller, s *State, note string, now time.Time) *ma2h.Ack {
	ack := h.ackOf(c, s, note, now)
	ack.ResolutionID = s.Response.ResolutionID
	return ack
}

// acknowledge ends the response track by an ack of what was delivered, and says whether it was the first.
func (s *State) acknowledge(ack *ma2h.Ack, now time.Time) bool {
	if s.Delivery == nil {
		return false
	}
	next, changed, lawful := lifecycle.Acknowledge(s.Delivery.State)
	if !changed || !lawful {
		return false
	}
	d := *s.Delivery
	d.State, d.AcknowledgedAt, d.Ack = next, now, ack
	s.Delivery = &d
	return true
}

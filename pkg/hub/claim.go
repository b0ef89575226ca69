package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/signature"
)

// letter is an entry in its delivered form, not yet claimed.
type letter struct {
	pending
	body    jsontext.Value
	message *message // of a response
}

// delivered is an entry as it stands in an answer.
type delivered struct {
	kind      EntryKind
	key       string // what an ack names it by
	body      jsontext.Value
	signature string // with the name of its header
}

// maxDrained is how many bytes of bodies one drain returns, so that the answer fits into what a function may send; the first
// entry is returned whatever its size.
const maxDrained = 4 << 20

// lettersRead are those that fit into one answer, and whether some did not.
type lettersRead struct {
	all []letter
	cut bool
}

// letters reads what the rows stand for and composes it, as far as it fits into one answer. What cannot be composed is left
// out: it must not hold up the others.
func (h *Hub) letters(ctx context.Context, rows []pending) (lettersRead, error) {
	var read lettersRead
	messages, err := h.lettersOf(ctx, rows)
	if err != nil {
		return read, err
	}
	var failed error
	size := 0
	for i, p := range rows {
		body, err := h.deliveredForm(p, messages[i])
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if size += len(body); size > maxDrained && len(read.all) > 0 {
			read.cut = true
			break
		}
		read.all = append(read.all, letter{pending: p, body: body, message: messages[i]})
	}
	if len(read.all) == 0 {
		return read, failed
	}
	return read, nil
}

// lettersOf reads the messages and directives of rows with one request, nil where a row says everything itself or has ended
// meanwhile.
func (h *Hub) lettersOf(ctx context.Context, rows []pending) ([]*message, error) {
	messages, keys := make([]*message, len(rows)), []record.Key{}
	for i, p := range rows {
		tail, directive, ok := letterOf(p.row.ID)
		if !ok || p.row.Kind == EntryReceipt {
			continue
		}
		messages[i] = &message{tail: tail, directive: directive}
		keys = append(keys, messages[i].contentKey())
		if p.row.Kind == EntryResponse {
			keys = append(keys, messages[i].stateKey())
		}
	}
	read, err := h.along(ctx, &Caller{}, keys...)
	if err != nil {
		return nil, fmt.Errorf("read entries: %w", err)
	}
	for i, m := range messages {
		if m == nil {
			continue
		}
		m.content, _ = read.seen(m.contentKey())
		if state, ok := read.seen(m.stateKey()); ok && m.take(state) != nil {
			messages[i] = nil
		}
	}
	return messages, nil
}

// deliveredForm is an entry as the agent gets it (spec §8.7.1, §13.1).
func (h *Hub) deliveredForm(p pending, m *message) (jsontext.Value, error) {
	if p.row.Kind == EntryReceipt {
		return Encode(p.row.Receipt), nil
	}
	if m == nil || m.content.Rev == "" {
		return nil, fmt.Errorf("what the row %s stands for is gone", p.rec.Key)
	}
	if p.row.Kind == EntryResponse {
		r, err := m.response()
		if err != nil || r == nil {
			return nil, errors.Join(err, fmt.Errorf("the row %s stands for no response", p.rec.Key))
		}
		return Encode(r), nil
	}
	var c Content
	if err := Decode(m.content, &c); err != nil {
		return nil, err
	}
	if p.row.Kind == EntryDirective {
		return c.Envelope, nil
	}
	return ma2h.DeliveredForm(c.Envelope, p.row.ID)
}

// claim claims letters, each by a Commit of its own, and signs those of which it was the first.
func (h *Hub) claim(ctx context.Context, d *drainer, letters []letter, now time.Time) ([]delivered, error) {
	ours := make([]*delivered, len(letters))
	err := parallel(len(letters), func(i int) error {
		won, err := h.claimOne(ctx, d, &letters[i], now)
		if err != nil || !won {
			return err
		}
		signed, err := h.signEntry(ctx, d, letters[i])
		if err != nil {
			return fmt.Errorf("sign an entry: %w", err)
		}
		ours[i] = &delivered{letters[i].row.Kind, letters[i].key(), letters[i].body, signed}
		return nil
	})
	var all []delivered
	for _, o := range ours {
		if o != nil {
			all = append(all, *o)
		}
	}
	if len(all) > 0 {
		if !d.stream {
			h.Bell.Ring(ctx, AccountLane(d.agent.Account)) // whose pages say what was fetched
		}
		return all, nil // what could not be claimed is there for the next drain
	}
	return nil, err
}

// key is what an ack names the entry by (spec §8.7.1).
func (l *letter) key() string {
	if l.row.Kind == EntryResponse {
		return l.message.state.Response.ResolutionID
	}
	return l.row.ID
}

// claimOne hides an entry from others for a while, and says whether it was the first to. That a drain returns it is evidence
// that the agent got it (spec §15.1); that a stream pushes it is none (spec §8.7.2).
func (h *Hub) claimOne(ctx context.Context, d *drainer, l *letter, now time.Time) (bool, error) {
	r := l.row
	r.Claims++
	r.ClaimedTill, r.Claimant = now.Add(h.Settings.VisibilityTimeout), ""
	if d.session != nil {
		r.Claimant = d.session.ID
	}
	if !d.stream && r.DeliveredAt.IsZero() {
		r.DeliveredAt = now
	}
	row := l.rec
	row.Body = Encode(&r)
	writes := []record.Write{record.Put(row, l.rec.Rev)}
	next, changed := State{}, false
	if !d.stream && l.row.Kind == EntryResponse {
		next = l.message.state
		if changed = next.deliver(now); changed {
			writes = append(writes, record.Put(h.stateRecord(l.message.tail, &next), l.message.rec.Rev))
		}
	}
	err := h.Store.Commit(ctx, writes...)
	if record.AsConflict(err) != nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("claim an entry: %w", err)
	}
	l.row = r
	if changed {
		h.Bell.Ring(ctx, AccountLane(next.Account))
	}
	return true, nil
}

// signEntry makes the detached signature of one delivery (spec §9.7, §9.8).
func (h *Hub) signEntry(ctx context.Context, d *drainer, l letter) (string, error) {
	var signed signature.Context
	var err error
	to := ma2h.Address{AgentID: d.agent.ID}
	if d.session != nil {
		to.Session = d.session.ID
	}
	switch l.row.Kind {
	case EntryDirective:
		signed, err = signature.Directive(l.body)
	case EntryMessage:
		signed, err = signature.Message(l.body)
	case EntryResponse:
		signed, err = signature.EntryResponse(l.body, to.String())
	case EntryReceipt:
		signed, err = signature.Receipt(l.body, to.String())
	}
	if err != nil {
		return "", err
	}
	header, err := signed.Sign(h.mailSigner(ctx), h.now(), ma2h.NewID(ma2h.PrefixNonce))
	return signature.HeaderName + ": " + header, err
}

// mailSigner signs entries with the hub's own key, which stands in the JWKS.
func (h *Hub) mailSigner(ctx context.Context) signature.Signer {
	if h.Settings.SigningKey != nil {
		return signature.HMAC(h.Settings.SigningKey)
	}
	return hubSigner{ctx, h.Keys}
}

// drained is the body of a drain's answer.
func drained(entries []delivered) []byte {
	size := 16
	for _, e := range entries {
		size += len(e.body) + len(e.signature) + 64
	}
	b := append(make([]byte, 0, size), `{"messages":[`...)
	for i, e := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.appendTo(b)
	}
	return append(b, `]}`...)
}

// appendTo writes one element of a drain's messages. Header values need no escaping.
func (e delivered) appendTo(b []byte) []byte {
	b = append(b, `{"`...)
	b = append(b, e.kind...)
	b = append(b, `":`...)
	b = append(b, e.body...)
	b = append(b, `,"signature":"`...)
	b = append(b, e.signature...)
	return append(b, `"}`...)
}

// parallel runs f for 0 to n-1, sixteen at a time, so that a store can commit what comes at once as one group. It returns
// the first error that it met.
func parallel(n int, f func(i int) error) error {
	if n == 1 {
		return f(0)
	}
	var all sync.WaitGroup
	places, errs := make(chan struct{}, 16), make(chan error, n)
	for i := range n {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			if err := f(i); err != nil {
				errs <- err
			}
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}

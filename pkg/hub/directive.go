package hub

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Directed is the answer to a directive that was accepted: how soon it may be picked up stands in its destination.
type Directed struct {
	ID          string           `json:"id"`
	Status      ma2h.Track       `json:"status"`
	Destination ma2h.Destination `json:"destination"`
}

// DirectiveView is a directive with what became of it, as people see it.
type DirectiveView struct {
	ma2h.Directive
	Mailbox *ma2h.Mailbox `json:"mailbox"`
	Webhook *CallbackView `json:"webhook,omitzero"` // how far it has come to the agent's webhook, where it had one
}

// Direct sends a person's directive to an agent of the account, or to one of its sessions (spec §13). The errors are
// unknown_destination, destination_gone, and invalid_field of a time that is over.
func (h *Hub) Direct(ctx context.Context, c *Caller, d *ma2h.Directive) (*Directed, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	return h.direct(ctx, c, c.Account.Ref, d)
}

// DirectFrom is Direct for an author who is taken at their word, whatever account the agent is of. It is for those who
// test the hub.
func (h *Hub) DirectFrom(ctx context.Context, from string, d *ma2h.Directive) (*Directed, error) {
	address, _ := ma2h.ParseAddress(d.To)
	rec, err := h.get(ctx, AgentKey(h.AgentRef("", address.AgentID)))
	if err != nil {
		return nil, err
	}
	var agent Agent
	if err := decodeAny(rec, &agent); err != nil {
		return nil, err
	}
	person := from[len(ma2h.HumanPrefix):]
	return h.direct(ctx, &Caller{Account: Account{Ref: agent.Account}, Person: &Person{ID: person}}, agent.Account, d)
}

func (h *Hub) direct(ctx context.Context, c *Caller, account string, d *ma2h.Directive) (*Directed, error) {
	now := h.now()
	expires, invalid := d.CheckExpiry(now)
	if invalid != nil {
		return nil, invalid
	}
	to, err := h.addressee(ctx, c, account, d.To, now)
	if err != nil {
		return nil, err
	}
	if err := h.limitMailbox(ctx, to.lane(EntryDirective)); err != nil {
		return nil, err
	}
	tail := ma2h.NewTail()
	d.Version, d.Type, d.ID = h.Settings.Version, string(ma2h.TypeDirective), ma2h.PrefixDirective+tail
	d.From, d.CreatedAt = c.Actor(), ma2h.FormatTime(now)
	m, err := h.putDirective(ctx, c, to, d, tail, expires, now)
	if err != nil {
		return nil, err
	}
	// From here on it is accepted. What cannot be read any more is not known: an error would have it sent twice.
	sent := &Directed{ID: d.ID, Destination: ma2h.Destination{State: lifecycle.Unknown}}
	session, err := h.arrived(ctx, m, now)
	sent.Status = m.track()
	if err != nil {
		return sent, nil
	}
	if session != nil {
		to.session = session
	}
	if reach, err := h.reachOf(ctx, to, now); err == nil {
		sent.Destination = reach
	}
	return sent, nil
}

// putDirective commits a directive, its row, and the deed.
func (h *Hub) putDirective(
	ctx context.Context, c *Caller, to *addressee, d *ma2h.Directive, tail string, expires, now time.Time,
) (*message, error) {
	m := &message{tail: tail, directive: true}
	mail, row := h.post(to, EntryDirective, d.ID, expires, now)
	m.state = State{
		ID: d.ID, Account: to.agent.Account, From: d.From, Version: d.Version, Type: ma2h.TypeDirective, Title: d.Title,
		Priority: d.Priority, AcceptedAt: now, Status: ma2h.StatusQueued, StatusAt: now, Mail: mail, Push: to.webhookWork(now),
	}
	body, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode a directive: %w", err)
	}
	m.content = record.Record{Key: m.contentKey(), Kind: KindContent, Body: Encode(Content{Envelope: body})}
	put := record.Put(h.stateRecord(tail, &m.state), "")
	err = h.Store.Commit(ctx, put, record.Put(m.content, ""), row, h.deed(c, "direct", d.ID, now))
	if err != nil {
		return nil, fmt.Errorf("write directive %s: %w", d.ID, err)
	}
	m.rec = put.Record
	h.Bell.Ring(ctx, AccountLane(m.state.Account))
	if m.state.Push != nil {
		h.Clockwork.Arm(ctx, m.rec.Key, h.next(&m.state))
	}
	return m, nil
}

// errNoDirective is what everybody gets who may not know of a directive.
func errNoDirective() error {
	return ma2h.Errorf(ma2h.CodeNotFound, "There is no directive with this id.")
}

// directiveOf reads a directive for a person who may know of it: its author, and whoever is of the agent's account.
func (h *Hub) directiveOf(ctx context.Context, c *Caller, id string) (*message, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	tail, directive, ok := letterOf(id)
	if !ok || !directive {
		return nil, errNoDirective()
	}
	m, err := h.loadLetter(ctx, c, &message{tail: tail, directive: true})
	if e := ma2h.AsError(err); e != nil {
		return nil, errNoDirective()
	}
	if err != nil {
		return nil, err
	}
	if m.state.From != c.Actor() && m.state.Account != c.Account.Ref {
		return nil, errNoDirective()
	}
	now := h.now()
	if err := h.settle(ctx, m, now); err != nil {
		return nil, err
	}
	if e := ma2h.AsError(gone(&m.state, now)); e != nil && e.Code == ma2h.CodeNotFound {
		return nil, errNoDirective()
	} else if e != nil {
		return nil, ma2h.Errorf(e.Code, "The directive was deleted at the end of its retention.")
	}
	return m, nil
}

// DirectiveAt returns a directive and its track for its author, or anybody of the agent's account.
func (h *Hub) DirectiveAt(ctx context.Context, c *Caller, id string) (*DirectiveView, error) {
	m, err := h.directiveOf(ctx, c, id)
	if err != nil {
		return nil, err
	}
	return m.view()
}

// view is a directive as it was sent, with its track.
func (m *message) view() (*DirectiveView, error) {
	var content Content
	if err := Decode(m.content, &content); err != nil {
		return nil, err
	}
	v := &DirectiveView{Mailbox: m.mailbox(), Webhook: m.state.pushed()}
	if json.Unmarshal(content.Envelope, &v.Directive) != nil {
		return nil, fmt.Errorf("directive %s does not decode", m.state.ID) // the error itself may quote it
	}
	return v, nil
}

// DirectiveTrack returns the track of a directive for its author alone (spec §14.4).
func (h *Hub) DirectiveTrack(ctx context.Context, c *Caller, id string) (*ma2h.Mailbox, error) {
	m, err := h.directiveOf(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if m.state.From != c.Actor() {
		return nil, errNoDirective()
	}
	return m.mailbox(), nil
}

package hub

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/lifecycle"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Summary is one row of a person's list. It carries nothing that resolvers may not see (spec §9.1).
type Summary struct {
	ID         string        `json:"id"`
	Type       ma2h.Type     `json:"type"`
	Title      string        `json:"title"`
	Priority   ma2h.Priority `json:"priority,omitzero"`
	AgentID    string        `json:"agent_id"` // attested
	RunID      string        `json:"run_id"`   // what the agent says
	Status     ma2h.Status   `json:"status"`
	AcceptedAt time.Time     `json:"accepted_at"`
	ExpiresAt  time.Time     `json:"expires_at,omitzero"`
	Resolvers  []string      `json:"resolvers"` // who may resolve; empty means nobody but the sender
	MayResolve bool          `json:"may_resolve"`
}

// Reading is a message as a person of the account sees it: what was asked, and what became of it. It has neither the
// submitter's state nor its client_ref (spec §8.8, §9.1).
type Reading struct {
	Summary
	Message  ma2h.Message   `json:"message"`
	Response *ma2h.Response `json:"response,omitzero"`
	Delivery *ma2h.Delivery `json:"delivery,omitzero"`
	Attempts []Attempt      `json:"attempts,omitzero"` // of Callback
	Callback *CallbackView  `json:"callback,omitzero"` // where the agent wants its answer pushed
	SeenAt   time.Time      `json:"seen_at,omitzero"`  // when a person first opened it
	SeenBy   string         `json:"seen_by,omitzero"`  // human:<id>
	EndedAt  time.Time      `json:"ended_at,omitzero"` // when the outcome came about
	EndedBy  string         `json:"ended_by,omitzero"` // the attested actor, of a task too, whose Response may not say

	// Of a message from one agent to another: what became of it on its way, and when that ended.
	Mailbox     *ma2h.Mailbox `json:"mailbox,omitzero"`
	MailEndedAt time.Time     `json:"mail_ended_at,omitzero"`

	// Withheld are JSON Pointers to what Discreet took out of the answer or, before there is an outcome, of the default.
	Withheld []string `json:"withheld,omitzero"`
}

// Discreet returns the reading as it may be shown: without what the schema of the ask calls secret, which is for the agent
// alone (spec §9.6), in the answer, in the one that applies when nobody gives any, and in what the schema suggests.
func (r *Reading) Discreet() *Reading {
	q := r.Message.Request
	if q == nil || !ma2h.SecrecyOf(q.Schema).Hides() {
		return r
	}
	shown, request := *r, *q
	shown.Message.Request = &request
	if q.HasDefault() {
		request.DefaultOnExpire, shown.Withheld = ma2h.Withhold(q.DefaultOnExpire, q.Schema)
	}
	request.Schema = ma2h.WithholdPresets(q.Schema)
	if r.Response == nil {
		return &shown
	}
	shown.Withheld = nil
	if r.Response.Response != nil && len(r.Response.Response.Value) > 0 {
		response, detail := *r.Response, *r.Response.Response
		detail.Value, shown.Withheld = ma2h.Withhold(detail.Value, q.Schema)
		shown.Response, response.Response = &response, &detail
	}
	return &shown
}

// Waiting returns up to limit asks and tasks of the account that are open, oldest first. The list may lag behind by a
// moment; what is past its deadline is left out.
func (h *Hub) Waiting(ctx context.Context, c *Caller, limit int) ([]Summary, error) {
	return h.summaries(ctx, c, "open#", limit, func(s *State) bool {
		return s.Status == ma2h.StatusOpen && !lifecycle.Overdue(s.ExpiresAt, h.now())
	})
}

// maxReadings is how many messages ReadAll reads, so that one request to the store is enough.
const maxReadings = record.MaxReads / 2

// ReadAll returns the messages of a list, the first fifty, with one request to the store. Those that are gone meanwhile
// are left out.
func (h *Hub) ReadAll(ctx context.Context, c *Caller, list []Summary) ([]*Reading, error) {
	list = list[:min(len(list), maxReadings)]
	var keys []record.Key
	for _, s := range list {
		keys = append(keys, h.MessageKeys(s.ID)...)
	}
	recs, err := h.Store.Get(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	informed := *c
	informed.Read = recs
	out := make([]*Reading, 0, len(list))
	for _, s := range list {
		m, err := h.Read(ctx, &informed, s.ID)
		switch {
		case ma2h.AsError(err) != nil:
		case err != nil:
			return nil, err
		default:
			out = append(out, m)
		}
	}
	return out, nil
}

// forPeople leaves out what is the submitter's own: its state, its label, and where and how it is called back (spec §8.7.1,
// §9.1, §9.3).
func forPeople(m *ma2h.Message) ma2h.Message {
	out := *m
	out.State, out.ClientRef = jsontext.Value(nil), ""
	if m.Request != nil {
		r := *m.Request
		r.Callback = nil
		out.Request = &r
	}
	if m.Action != nil {
		a := *m.Action
		a.Callback = nil
		out.Action = &a
	}
	return out
}

// Told returns up to limit notifies of the account, newest first.
func (h *Hub) Told(ctx context.Context, c *Caller, limit int) ([]Summary, error) {
	return h.summaries(ctx, c, "told#", limit, func(s *State) bool { return !s.Deleted })
}

// Ended returns up to limit asks and tasks of the account that have an outcome, latest first.
func (h *Hub) Ended(ctx context.Context, c *Caller, limit int) ([]Summary, error) {
	return h.summaries(ctx, c, "done#", limit, func(s *State) bool { return !s.Deleted && lifecycle.Terminal(s.Status) })
}

// summaries pages through a list until it has limit rows that are to be kept, or there are no more.
func (h *Hub) summaries(
	ctx context.Context, c *Caller, list string, limit int, keep func(*State) bool,
) ([]Summary, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	out, after := []Summary{}, record.Entry{}
	for {
		recs, last, err := h.indexed(ctx, 1, list+c.Account.Ref, after, record.MaxReads)
		if err != nil {
			return nil, err
		}
		for _, r := range recs {
			var s State
			if err := Decode(r, &s); err != nil {
				return nil, err
			}
			if keep(&s) {
				out = append(out, s.summary(c))
			}
			if len(out) == limit {
				return out, nil
			}
		}
		if last == (record.Entry{}) {
			return out, nil
		}
		after = last
	}
}

func (s *State) summary(c *Caller) Summary {
	resolvers := slices.Clone(s.Resolvers)
	if s.Mail != nil && !s.ResolversListed && s.Type != ma2h.TypeNotify {
		to, _ := ma2h.ParseAddress(s.Mail.To)
		resolvers = []string{ma2h.AgentPrefix + to.AgentID} // who is asked (spec §9.1)
	}
	return Summary{
		ID: s.ID, Type: s.Type, Title: s.Title, Priority: s.Priority, AgentID: s.AgentID, RunID: s.RunID,
		Status: s.Status, AcceptedAt: s.AcceptedAt, ExpiresAt: s.ExpiresAt,
		Resolvers: resolvers, MayResolve: s.Type != ma2h.TypeNotify && s.allows(c),
	}
}

// Read returns a message of the person's account. It stamps nothing: the person is not the agent (spec §14.2).
func (h *Hub) Read(ctx context.Context, c *Caller, id string) (*Reading, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	m, err := h.load(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if m.state.Account != c.Account.Ref {
		return nil, errUnknown()
	}
	now := h.now()
	if err := h.settle(ctx, m, now); err != nil {
		return nil, err
	}
	if err := gone(&m.state, now); err != nil {
		return nil, err
	}
	return m.reading(c)
}

// reading is a message as the caller, a person, sees it.
func (m *message) reading(c *Caller) (*Reading, error) {
	envelope, err := m.message()
	if err != nil {
		return nil, err
	}
	r := &Reading{
		Summary: m.state.summary(c), Message: forPeople(envelope), Response: m.state.outcome(),
		Delivery: m.state.Delivery.wire(), SeenAt: m.state.SeenAt, SeenBy: m.state.SeenBy,
	}
	if m.state.Response != nil {
		r.EndedAt, r.EndedBy = m.state.StatusAt, m.state.EndedBy
	}
	if m.state.Mail != nil {
		r.Status, r.Mailbox, r.MailEndedAt = m.status(), m.mailbox(), m.state.Mail.At
	}
	if m.state.Push != nil {
		r.Attempts, r.Callback = m.state.Push.Attempts, m.state.callback(c)
	}
	return r, nil
}

// get reads one record.
func (h *Hub) get(ctx context.Context, k record.Key) (record.Record, error) {
	recs, err := h.Store.Get(ctx, k)
	if err != nil {
		return record.Record{}, fmt.Errorf("read %s: %w", k, err)
	}
	return recs[0], nil
}

// agent reads an agent by its ref.
func (h *Hub) agent(ctx context.Context, ref string) (*Agent, error) {
	rec, err := h.get(ctx, AgentKey(ref))
	if err != nil {
		return nil, err
	}
	var a Agent
	if rec.Rev == "" {
		return &a, nil
	}
	return &a, Decode(rec, &a)
}

// indexed reads up to limit records (MaxReads at most) that an index lists after an entry, in its order, and returns the
// last entry, or none at the end of the list.
func (h *Hub) indexed(
	ctx context.Context, place int, name string, after record.Entry, limit int,
) (recs []record.Record, last record.Entry, _ error) {
	entries, err := h.Store.Index(ctx, place, name, after, limit)
	if err != nil {
		return nil, last, fmt.Errorf("list %s: %w", name, err)
	}
	keys := make([]record.Key, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	got, err := h.Store.Get(ctx, keys...)
	if err != nil {
		return nil, last, fmt.Errorf("list %s: %w", name, err)
	}
	for _, r := range got {
		if r.Rev != "" { // the index may lag behind
			recs = append(recs, r)
		}
	}
	if len(entries) == limit {
		last = entries[limit-1]
	}
	return recs, last, nil
}

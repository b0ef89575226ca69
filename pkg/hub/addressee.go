package hub

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// addressee is where mail goes: an agent, or one of its sessions that lives.
type addressee struct {
	address ma2h.Address
	agent   *Agent
	live    Live
	session *session // nil for the agent as such
}

// errNoDestination is what every sender gets to whom a destination is unknown, of another account, or closed by an
// allowlist: they cannot be told apart (spec §4, §8.0).
func errNoDestination() error {
	return ma2h.FieldErrorf(ma2h.CodeUnknownDestination, "/to", "There is no agent or session of this address that you can write to.")
}

// destinationKeys are what an address leads to, to be read with the sender's credential.
func (h *Hub) destinationKeys(account, to string) []record.Key {
	a, ok := ma2h.ParseAddress(to)
	if !ok {
		return nil
	}
	ref := h.AgentRef(account, a.AgentID)
	keys := []record.Key{AgentKey(ref), LiveKey(ref)}
	if key, ok := SessionKey(a.Session); ok {
		keys = append(keys, key)
	}
	return keys
}

// addressee finds where an address of an account leads (spec §4, §13.2). That a session has ended is destination_gone to who
// may know of it, and to any other sender it is unknown, as is an agent that does not let this one write to it.
func (h *Hub) addressee(ctx context.Context, c *Caller, account, to string, now time.Time) (*addressee, error) {
	address, ok := ma2h.ParseAddress(to)
	if !ok {
		return nil, errNoDestination()
	}
	read, err := h.along(ctx, c, h.destinationKeys(account, to)...)
	if err != nil {
		return nil, fmt.Errorf("look for the destination: %w", err)
	}
	d := &addressee{address: address, agent: &Agent{}}
	ref := h.AgentRef(account, address.AgentID)
	agent, _ := read.seen(AgentKey(ref))
	if agent.Rev == "" {
		standInAgent()
		standInLive() // which is read with it, and longer than nothing
		return nil, errNoDestination()
	}
	if err := Decode(agent, d.agent); err != nil {
		return nil, err
	}
	if d.agent.Account != account || d.agent.Revoked || h.ownerless(account) || !d.agent.admits(c.Agent) {
		return nil, errNoDestination()
	}
	live, _ := read.seen(LiveKey(ref))
	if err := decodeAny(live, &d.live); err != nil || address.Session == "" {
		return d, err
	}
	d.session, err = h.settledSession(ctx, read, address.Session, now)
	switch {
	case err != nil:
		return nil, err
	case d.session == nil || d.session.AgentRef != ref || h.purged(&d.session.Session, now):
		return nil, errNoDestination()
	case !d.session.ended():
		return d, nil
	case h.sees(c, ref):
		return nil, ma2h.FieldErrorf(ma2h.CodeDestinationGone, "/to", "The session has ended; write to the agent, or to a session that lives.")
	}
	return nil, errNoDestination()
}

// ownerless says whether an account is that of a tenant's agents without an owner, which nobody can write to.
func (h *Hub) ownerless(account string) bool {
	return h.Settings.OneNamespace && account == h.AccountRef("")
}

// along returns a caller with whom these records were read, each once: those that came with the credential as they are, the
// others by one more read, or one for each MaxReads of them.
func (h *Hub) along(ctx context.Context, c *Caller, keys ...record.Key) (*Caller, error) {
	read, missing := &Caller{}, []record.Key{}
	for _, k := range keys {
		if r, ok := c.seen(k); ok {
			read.Read = append(read.Read, r)
		} else if !slices.Contains(missing, k) {
			missing = append(missing, k)
		}
	}
	for part := range slices.Chunk(missing, record.MaxReads) {
		recs, err := h.Store.Get(ctx, part...)
		if err != nil {
			return nil, err
		}
		read.Read = append(read.Read, recs...)
	}
	return read, nil
}

// admits says whether an agent lets this one write to it (spec §8.0); a person, who is no agent, always may.
func (a *Agent) admits(sender *Agent) bool {
	return sender == nil || a.Senders == nil || slices.Contains(a.Senders.Agents, sender.ID)
}

// lane is where mail of a kind for the addressee is put.
func (d *addressee) lane(kind EntryKind) string {
	if d.session != nil {
		return sessionLane(d.session.tail())
	}
	if kind == EntryDirective {
		return directiveLane(d.agent.Ref)
	}
	return messageLane(d.agent.Ref)
}

// post returns the mail that goes to an addressee and its row, with which it begins.
func (h *Hub) post(d *addressee, kind EntryKind, id string, expires, now time.Time) (*Mail, record.Write) {
	keep := now.Add(h.retention())
	row := h.row(d.lane(kind), Row{Kind: kind, ID: id, ExpiresAt: expires, KeepUntil: keep})
	m := &Mail{To: d.address.String(), ToRef: d.agent.Ref, Session: d.address.Session, Row: row.rec.Key, ExpiresAt: expires, KeepUntil: keep}
	return m, row.writes()[0]
}

// arrived tells whoever waits for the mail that was committed, and looks once more at the session that it is for: what was
// put into its lane as it ended has bounced then (spec §14.2). It returns that session as it stands now, nil for none, so
// that no sender is told of one that has ended that it is there.
func (h *Hub) arrived(ctx context.Context, m *message, now time.Time) (*session, error) {
	mail := m.state.Mail
	h.Bell.Ring(ctx, mail.Row.Part)
	if mail.Session == "" {
		return nil, nil
	}
	s, err := h.settledSession(ctx, &Caller{}, mail.Session, now)
	if err != nil || s.live() {
		return s, err
	}
	return s, h.settle(ctx, m, now)
}

// having is the caller with a session as it was read once more, nil for none.
func (c *Caller) having(s *session) *Caller {
	if s == nil {
		return c
	}
	again := *c
	again.Read = append([]record.Record{s.rec}, c.Read...)
	return &again
}

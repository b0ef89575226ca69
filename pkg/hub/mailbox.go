package hub

import (
	"fmt"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// The kinds of record of mailboxes and sessions.
const (
	KindLive    = "live"
	KindSeen    = "seen"
	KindSession = "session"
	KindRow     = "row"
)

// Session is an addressing scope of an agent that ends with its lease (spec §16).
type Session struct {
	ID       string            `json:"id"`
	Account  string            `json:"account"`
	AgentRef string            `json:"agent_ref"`
	AgentID  string            `json:"agent_id"`
	RunID    string            `json:"run_id,omitzero"`
	Label    string            `json:"label,omitzero"`
	Kind     string            `json:"kind,omitzero"`
	Project  string            `json:"project,omitzero"`
	Labels   map[string]string `json:"labels,omitzero"`

	TTL       int       `json:"ttl"` // seconds, as clamped
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"` // the end of the lease
	LastSeen  time.Time `json:"last_seen"`

	Stream string `json:"stream,omitzero"` // names the stream that was opened last; those before it end

	State      ma2h.SessionState `json:"state"`
	ClosedAt   time.Time         `json:"closed_at,omitzero"`
	ClosedBy   string            `json:"closed_by,omitzero"`   // the actor who closed it
	ByOperator bool              `json:"by_operator,omitzero"` // on the winning close only (spec §16.4)

	// Bounced is how often its lane was gone through since it ended: twice is enough, the second time past the life of any
	// request that may have died between its two steps.
	Bounced int `json:"bounced,omitzero"`
}

// Live is which sessions of an agent live, and whether a person has stopped it (spec §16.4.1). It is written when sessions
// begin and end, so that cap and stop are exact.
type Live struct {
	Sessions []string  `json:"sessions,omitzero"`  // ids of those that have not been ended
	LastSeen time.Time `json:"last_seen,omitzero"` // of sessions that have ended
	Stop     *Stop     `json:"stop,omitzero"`
}

// Stop is a person's word that an agent may not register until a person lifts it.
type Stop struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason string    `json:"reason,omitzero"`
}

// EntryKind is what a row of a mailbox stands for (spec §8.7.1).
type EntryKind string

// The kinds of entry.
const (
	EntryDirective EntryKind = "directive"
	EntryMessage   EntryKind = "message"
	EntryResponse  EntryKind = "response"
	EntryReceipt   EntryKind = "receipt"
)

// Row is an entry in its lane, for as long as it lives there: the Commit that ends it erases the row. What is in force of
// an entry stands here; its content lies where the id says.
type Row struct {
	Kind EntryKind `json:"kind"`
	ID   string    `json:"id"` // of the directive, message or receipt; of a response, the message's

	Claims      int       `json:"claims,omitzero"`       // how often it was claimed
	ClaimedTill time.Time `json:"claimed_till,omitzero"` // hidden until then
	Claimant    string    `json:"claimant,omitzero"`     // session of the last claim, or empty for one without
	DeliveredAt time.Time `json:"delivered_at,omitzero"` // of the first drain; a stream's push does not count (spec §8.7.2)

	ExpiresAt time.Time `json:"expires_at,omitzero"` // not delivered after it
	KeepUntil time.Time `json:"keep_until"`          // the end of its retention

	Receipt *ma2h.Receipt `json:"receipt,omitzero"` // whole, of a receipt
}

// Mail is the outbound mailbox track of a directive or an addressed message (spec §14.2). While it has no Track its row
// decides whether it is queued or delivered.
type Mail struct {
	To      string     `json:"to"`               // as it was addressed
	ToRef   string     `json:"to_ref"`           // the agent's
	Session string     `json:"session,omitzero"` // the id of the session it is addressed to
	Row     record.Key `json:"row"`

	ExpiresAt time.Time `json:"expires_at,omitzero"`
	KeepUntil time.Time `json:"keep_until"`
	Overdue   bool      `json:"overdue,omitzero"` // its ExpiresAt came when it had been delivered

	Track          ma2h.Track `json:"track,omitzero"` // the terminal
	At             time.Time  `json:"at,omitzero"`    // when it ended
	Prior          ma2h.Track `json:"prior,omitzero"` // of bounced
	DeliveredAt    time.Time  `json:"delivered_at,omitzero"`
	AcknowledgedAt time.Time  `json:"acknowledged_at,omitzero"`
	Ack            *ma2h.Ack  `json:"ack,omitzero"`
}

// LiveKey is where the Live of the agent with this ref lies.
func LiveKey(agentRef string) record.Key { return record.Key{Part: "g#" + agentRef, Sort: "live"} }

// SeenKey is where the last sign of life of the agent with this ref lies that it gave without a session.
func SeenKey(agentRef string) record.Key { return record.Key{Part: "g#" + agentRef, Sort: "seen"} }

// SessionKey returns where the session with this id lies, and whether the id has the form of one minted here.
func SessionKey(id string) (record.Key, bool) {
	tail, ok := sessionTail(id)
	return record.Key{Part: "s#" + tail, Sort: "session"}, ok
}

func sessionTail(id string) (string, bool) {
	if len(id) != len(ma2h.PrefixSession)+ma2h.TailLength || id[:len(ma2h.PrefixSession)] != ma2h.PrefixSession {
		return "", false
	}
	tail := id[len(ma2h.PrefixSession):]
	return tail, ma2h.Minted(tail, ma2h.TailLength)
}

// The lanes of a mailbox: what is addressed to an agent, apart for directives and messages, and to one session. A lane is the
// part in which its rows lie, and the name under which its bell rings.
func directiveLane(agentRef string) string { return "q#d." + agentRef }
func messageLane(agentRef string) string   { return "q#m." + agentRef }
func sessionLane(tail string) string       { return "q#s." + tail }

// ackLane is no lane of rows, but a name that rings when something was acknowledged that this session had claimed.
func ackLane(session string) string { return "k#" + session }

// ticks is the latest sequence of a process.
type ticks struct {
	sync.Mutex
	last int64
}

// sequence is the place of a new row in its lane: by the real clock, which in a process never stands still nor goes back, not
// by the hub's, which in a test does both.
func (h *Hub) sequence() string {
	h.ticks.Lock()
	defer h.ticks.Unlock()
	h.ticks.last = max(time.Now().UnixMicro(), h.ticks.last+1)
	return fmt.Sprintf("%019d%s", h.ticks.last, ma2h.NewTail()[:4])
}

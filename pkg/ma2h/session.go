package ma2h

// SessionState is where a session is in its life (spec §16.3).
type SessionState string

// The states of a session. The latter two are terminal.
const (
	SessionActive  SessionState = "active"
	SessionClosed  SessionState = "closed"
	SessionExpired SessionState = "expired"
)

// Session is a session as a hub returns it (spec §16.1, §16.4).
type Session struct {
	ID               string            `json:"id"`
	AgentID          string            `json:"agent_id"`
	State            SessionState      `json:"state"`
	CreatedAt        string            `json:"created_at"`
	ExpiresAt        string            `json:"expires_at"`
	LastSeen         string            `json:"last_seen,omitzero"`
	ClosedAt         string            `json:"closed_at,omitzero"`
	ClosedByOperator bool              `json:"closed_by_operator,omitzero"` // true, or absent
	RunID            string            `json:"run_id,omitzero"`
	Label            string            `json:"label,omitzero"`
	Kind             string            `json:"kind,omitzero"`
	Project          string            `json:"project,omitzero"`
	Labels           map[string]string `json:"labels,omitzero"`
	TTLSeconds       int               `json:"ttl_seconds,omitzero"`
}

// SessionEnvelope is the answer to a registration, a read and a close.
type SessionEnvelope struct {
	Session Session `json:"session"`
}

// SessionList is the answer to a listing. Scope says whose sessions it was drawn from (spec §16.4).
type SessionList struct {
	Sessions []Session `json:"sessions"`
	Scope    string    `json:"scope,omitzero"` // own or account
}

// Presence is whether an agent is reachable (spec §15.3).
type Presence struct {
	AgentID          string `json:"agent_id"`
	State            string `json:"state"` // online, offline or unknown
	LastSeen         string `json:"last_seen,omitzero"`
	FreshnessSeconds int    `json:"freshness_seconds"`
}

// Receipt tells a sender what became of its message (spec §8.7.1).
type Receipt struct {
	Version   string `json:"ma2h_version"`
	Type      string `json:"type"` // always receipt
	ID        string `json:"id"`
	InReplyTo string `json:"in_reply_to"`
	Event     string `json:"event"` // bounced
	Prior     Track  `json:"prior"` // queued or delivered
	At        string `json:"at"`
	Session   string `json:"session"` // the one that has ended
	To        string `json:"to"`      // the session-qualified address it is delivered to
}

// Mailbox is the outbound mailbox track of an addressed message, as its sender sees it (spec §8.2, §14.2).
type Mailbox struct {
	State          Track  `json:"state"`
	DeliveredAt    string `json:"delivered_at,omitzero"`
	AcknowledgedAt string `json:"acknowledged_at,omitzero"`
	Ack            *Ack   `json:"ack,omitzero"`
	Prior          Track  `json:"prior,omitzero"` // of bounced
}

// InboxAckRequest is the body of an ack of mailbox entries (spec §8.7).
type InboxAckRequest struct {
	IDs  []string `json:"ids"`
	Note string   `json:"note,omitzero"`
}

// Directive is what a person sends to an agent, as delivered (spec §13.1). On a submit the hub fills in Version to
// CreatedAt.
type Directive struct {
	Version   string   `json:"ma2h_version"`
	Type      string   `json:"type"` // always directive
	ID        string   `json:"id"`
	From      string   `json:"from"` // attested by the hub
	To        string   `json:"to"`
	CreatedAt string   `json:"created_at"`
	Title     string   `json:"title"`
	Body      string   `json:"body,omitzero"`
	Priority  Priority `json:"priority,omitzero"`
	Tags      []string `json:"tags,omitzero"`
	Context   []Part   `json:"context,omitzero"`
	ExpiresAt string   `json:"expires_at,omitzero"`
	Sensitive bool     `json:"sensitive,omitzero"`

	// Inexact says that an integer beyond ±(2^53−1) occurs, which signatures see rounded (spec §9.2).
	Inexact bool `json:"-"`
}

// TypeDirective is the type of a Directive. No message that is submitted has it.
const TypeDirective Type = "directive"

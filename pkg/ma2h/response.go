package ma2h

import "github.com/go-json-experiment/json/jsontext"

// Status is the phase of a message's life: open, delivered, or a terminal (spec §7). The terminal of an ask or task is
// its resolution.
type Status string

// The statuses of spec §7 and, for addressed notifies, §14.2.
const (
	StatusOpen         Status = "open"
	StatusDelivered    Status = "delivered"
	StatusAnswered     Status = "answered"
	StatusDeclined     Status = "declined"
	StatusCancelled    Status = "cancelled"
	StatusExpired      Status = "expired"
	StatusCompleted    Status = "completed"
	StatusDismissed    Status = "dismissed"
	StatusQueued       Status = "queued"
	StatusAcknowledged Status = "acknowledged"
	StatusBounced      Status = "bounced"
)

// Track is a state of a delivery track (spec §14.2).
type Track string

// The states of the response track of an ask or task, and of the mailbox track of a directive or an addressed message. An
// answer not yet seen by the agent has none of them.
const (
	TrackDeliveredToAgent Track = "delivered-to-agent" // of a response
	TrackQueued           Track = "queued"             // of mail
	TrackDelivered        Track = "delivered"          // of mail
	TrackBounced          Track = "bounced"            // of mail
	TrackAcknowledged     Track = "acknowledged"
	TrackExpired          Track = "expired"
)

// Response is the outcome of an ask or task (spec §6).
type Response struct {
	Version      string         `json:"ma2h_version"` // that of the message it answers
	InReplyTo    string         `json:"in_reply_to"`
	ResolutionID string         `json:"resolution_id"`
	Agent        ResponseAgent  `json:"agent"` // routing only, not signed
	Resolution   Status         `json:"resolution"`
	Response     *Detail        `json:"response,omitzero"`
	Defaulted    bool           `json:"defaulted,omitzero"` // advisory; the signed actor says it
	State        jsontext.Value `json:"state,omitzero"`
}

// ResponseAgent is the Caller that a Response goes to.
type ResponseAgent struct {
	ID    string `json:"id"`
	RunID string `json:"run_id"`
}

// Detail is what was decided, by whom and when (spec §6). All of it is signed (spec §9.2).
type Detail struct {
	Value      jsontext.Value  `json:"value,omitzero"`  // a string, or an object for mode input; never of a task
	Edited     bool            `json:"edited,omitzero"` // Value is none of the options
	Actor      string          `json:"actor"`           // attested by the hub
	ResolvedAt string          `json:"resolved_at"`
	Comment    string          `json:"comment,omitzero"` // untrusted (spec §9.6)
	Checklist  []ChecklistItem `json:"checklist,omitzero"`
}

// Resolve is the body of a resolve (spec §8.8).
type Resolve struct {
	Resolution Status          `json:"resolution"`
	Value      jsontext.Value  `json:"value,omitzero"`
	Comment    string          `json:"comment,omitzero"`
	Checklist  []ChecklistItem `json:"checklist,omitzero"`

	// Inexact says that an integer beyond ±(2^53−1) occurs, which signatures see rounded (spec §9.2).
	Inexact bool `json:"-"`

	invalid *Error // what contradicts itself, for CheckAnswer
}

// Resolved is the answer to a resolve (spec §8.8). It carries none of the submitter's state.
type Resolved struct {
	ID           string `json:"id"`
	Status       Status `json:"status"`
	ResolutionID string `json:"resolution_id"`
}

// Cancelled is the answer to a cancel (spec §8.4).
type Cancelled struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
}

// SubmitAck is the 202 of a submit (spec §8.1).
type SubmitAck struct {
	ID          string       `json:"id"`
	Status      Status       `json:"status"`
	PollURL     string       `json:"poll_url"`
	ReviewURL   string       `json:"review_url,omitzero"`
	Destination *Destination `json:"destination,omitzero"`
}

// Destination is the reachability of an addressed message's destination when it was sent (spec §8.1, §15.2).
type Destination struct {
	State    string `json:"state"`
	LastSeen string `json:"last_seen,omitzero"`
}

// Delivery is the response track of an ask or task (spec §14.2).
type Delivery struct {
	State          Track  `json:"state"`
	DeliveredAt    string `json:"delivered_at,omitzero"`
	AcknowledgedAt string `json:"acknowledged_at,omitzero"`
	Ack            *Ack   `json:"ack,omitzero"`
}

// Ack is the one-shot confirmation that a party got what the other sent (spec §14.1).
type Ack struct {
	Version      string `json:"ma2h_version"`
	Type         string `json:"type"` // always ack
	InReplyTo    string `json:"in_reply_to"`
	By           string `json:"by"` // attested by the hub
	AckedAt      string `json:"acked_at"`
	Note         string `json:"note,omitzero"` // untrusted
	ResolutionID string `json:"resolution_id,omitzero"`
}

// AckRequest is the body of a message ack (spec §14.3).
type AckRequest struct {
	Note         string `json:"note,omitzero"`
	ResolutionID string `json:"resolution_id,omitzero"`
}

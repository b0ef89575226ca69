package hub

import "github.com/mash-hub/mash/pkg/signature"

// Inbound is the mailbox of agents (spec §8.0, §8.7).
type Inbound struct {
	Enabled                  bool     `json:"enabled"`
	PollURL                  string   `json:"poll_url"`
	AckURL                   string   `json:"ack_url"`
	MaxBatch                 int      `json:"max_batch"`
	VisibilityTimeoutSeconds int      `json:"visibility_timeout_seconds"`
	RetentionDays            int      `json:"retention_days"`
	SignatureAlgs            []string `json:"signature_algs"` // of entries
	WebhookSupported         bool     `json:"webhook_supported"`
	SessionParam             bool     `json:"session_param"`
	StreamURL                string   `json:"stream_url,omitzero"`
	StreamMaxHoldSeconds     int      `json:"stream_max_hold_seconds,omitzero"`
}

// InterAgent is mail between agents (spec §8.0): enabled says that an account may have it, not that one does.
type InterAgent struct {
	Enabled          bool        `json:"enabled"`
	EntryKinds       []EntryKind `json:"entry_kinds"` // beside directives
	SenderAllowlists bool        `json:"sender_allowlists"`
}

func (h *Hub) inbound() Inbound {
	s := h.Settings
	algorithm := signature.AlgEd25519
	if s.SigningKey != nil {
		algorithm = signature.AlgHMAC
	}
	in := Inbound{
		Enabled: true, PollURL: s.BaseURL + "/v1/inbox", AckURL: s.BaseURL + "/v1/inbox/ack", MaxBatch: s.MaxBatch,
		VisibilityTimeoutSeconds: seconds(s.VisibilityTimeout), RetentionDays: s.RetentionDays,
		SignatureAlgs: []string{algorithm}, SessionParam: true, WebhookSupported: true,
	}
	if s.StreamURL != "" {
		in.StreamURL, in.StreamMaxHoldSeconds = s.StreamURL, seconds(s.StreamMaxHold)
	}
	return in
}

func (h *Hub) interAgent() InterAgent {
	return InterAgent{Enabled: true, EntryKinds: []EntryKind{EntryMessage, EntryResponse, EntryReceipt}, SenderAllowlists: true}
}

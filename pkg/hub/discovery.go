package hub

import (
	"encoding/base64"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// Capability is the discovery document (spec §8.0). Legs that are not built are absent from it.
type Capability struct {
	Version             string           `json:"ma2h_version"`
	MaxBodyBytes        int              `json:"max_body_bytes"` // of one message
	MaxPartBytes        int              `json:"max_part_bytes"`
	MaxContextParts     int              `json:"max_context_parts"`
	AuthSchemes         []string         `json:"auth_schemes"`
	CallbackAuthSchemes []string         `json:"callback_auth_schemes"`
	SignatureAlgs       []string         `json:"signature_algs"`
	RateLimit           *RateLimit       `json:"rate_limit,omitzero"`
	RetentionDays       int              `json:"retention_days"`
	ReplayWindowSeconds int              `json:"replay_window_seconds"`
	CallbackRetry       CallbackRetry    `json:"callback_retry"`
	Ack                 CapabilityOfAcks `json:"ack"`

	Presence   CapabilityOfPresence `json:"presence"`
	Sessions   CapabilityOfSessions `json:"sessions"`
	Inbound    Inbound              `json:"inbound"`
	InterAgent InterAgent           `json:"inter_agent"`
}

// RateLimit is what one agent may do (spec §8.6).
type RateLimit struct {
	RequestsPerMinute int `json:"requests_per_minute,omitzero"`
	InboxDepth        int `json:"inbox_depth,omitzero"`
}

// CallbackRetry advertises the caps on callbacks (spec §8.3, §8.6).
type CallbackRetry struct {
	MaxAttempts        int `json:"max_attempts"`
	MaxDurationSeconds int `json:"max_duration_seconds"`
}

// CapabilityOfAcks says that messages can be acknowledged. No ack is pushed, so none is signed (spec §14.4).
type CapabilityOfAcks struct {
	Enabled bool `json:"enabled"`
}

// CapabilityOfPresence says how long an agent counts as present after a sign of life (spec §15.2).
type CapabilityOfPresence struct {
	Enabled          bool `json:"enabled"`
	FreshnessSeconds int  `json:"freshness_seconds"`
}

// CapabilityOfSessions says what sessions there may be (spec §16). AgentListVisibility is what any account may have at most,
// not what a caller has; OperatorHardStop says that a person's stop holds until a person lifts it.
type CapabilityOfSessions struct {
	Enabled                  bool `json:"enabled"`
	MinTTLSeconds            int  `json:"min_ttl_seconds"`
	MaxTTLSeconds            int  `json:"max_ttl_seconds"`
	MaxLivePerAgent          int  `json:"max_live_per_agent"`
	AgentListVisibility      bool `json:"agent_list_visibility"`
	TerminalRetentionSeconds int  `json:"terminal_retention_seconds"`
	OperatorHardStop         bool `json:"operator_hard_stop"`
}

// Capability returns what this hub offers and enforces.
func (h *Hub) Capability() Capability {
	s := h.Settings
	c := Capability{
		Version:             s.Version,
		MaxBodyBytes:        s.Limits.EnvelopeBytes,
		MaxPartBytes:        s.Limits.PartBytes,
		MaxContextParts:     s.Limits.Parts,
		AuthSchemes:         []string{"bearer", "apikey"},
		CallbackAuthSchemes: []string{ma2h.SchemeHMAC, ma2h.SchemeBearer, ma2h.SchemeAPIKey},
		SignatureAlgs:       []string{signature.AlgHMAC, signature.AlgEd25519},
		RetentionDays:       s.RetentionDays,
		ReplayWindowSeconds: int(signature.Window.Seconds()),
		CallbackRetry: CallbackRetry{
			MaxAttempts: s.Retry.MaxAttempts, MaxDurationSeconds: int(s.Retry.MaxDuration.Seconds()),
		},
		Ack:      CapabilityOfAcks{Enabled: true},
		Presence: CapabilityOfPresence{Enabled: true, FreshnessSeconds: seconds(s.Freshness)},
		Sessions: CapabilityOfSessions{
			Enabled: true, MinTTLSeconds: seconds(s.MinTTL), MaxTTLSeconds: seconds(s.MaxTTL),
			MaxLivePerAgent: s.MaxLivePerAgent, AgentListVisibility: s.AgentListVisibility,
			TerminalRetentionSeconds: seconds(s.TerminalRetention), OperatorHardStop: s.HardStop,
		},
		Inbound:    h.inbound(),
		InterAgent: h.interAgent(),
	}
	if s.SigningKey != nil {
		c.SignatureAlgs = []string{signature.AlgHMAC} // it signs everything
	}
	if s.RequestsPerMinute > 0 || s.InboxDepth > 0 {
		c.RateLimit = &RateLimit{RequestsPerMinute: s.RequestsPerMinute, InboxDepth: s.InboxDepth}
	}
	return c
}

func seconds(d time.Duration) int { return int(d / time.Second) }

// JWKSMaxAge is how long whoever verifies may keep a copy of the key set. A new key stands in it for longer than that
// before it signs.
const JWKSMaxAge = 5 * time.Minute

// JWKS is the set of the hub's public keys (RFC 7517, RFC 8037).
type JWKS struct {
	Keys []JWK `json:"keys"`
}

// JWK is one ed25519 key.
type JWK struct {
	KeyType   string `json:"kty"`
	Curve     string `json:"crv"`
	ID        string `json:"kid"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	X         string `json:"x"`
}

// JWKS returns the hub's public signing keys.
func (h *Hub) JWKS() JWKS {
	set := JWKS{Keys: []JWK{}}
	for _, k := range h.Keys.Public() {
		set.Keys = append(set.Keys, JWK{
			KeyType: "OKP", Curve: "Ed25519", ID: k.ID, Use: "sig", Algorithm: "EdDSA",
			X: base64.RawURLEncoding.EncodeToString(k.Key),
		})
	}
	return set
}

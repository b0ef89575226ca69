package client

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// Capability is what a hub says of itself (spec §8.0). Only the version is sure to be there.
type Capability struct {
	Version             string         `json:"ma2h_version"`
	MaxBodyBytes        int            `json:"max_body_bytes"`
	MaxPartBytes        int            `json:"max_part_bytes"`
	MaxContextParts     int            `json:"max_context_parts"`
	AuthSchemes         []string       `json:"auth_schemes"`
	CallbackAuthSchemes []string       `json:"callback_auth_schemes"`
	SignatureAlgs       []string       `json:"signature_algs"`
	RateLimit           RateLimit      `json:"rate_limit"`
	RetentionDays       int            `json:"retention_days"`
	ReplayWindowSeconds int            `json:"replay_window_seconds"`
	Ack                 Leg            `json:"ack"`
	Inbound             Leg            `json:"inbound"`
	Presence            Leg            `json:"presence"`
	Sessions            Leg            `json:"sessions"`
	InterAgent          Leg            `json:"inter_agent"`
	Raw                 jsontext.Value `json:"-"` // the whole document
}

// RateLimit is what one agent may do (spec §8.6). Zero means that the hub states no limit.
type RateLimit struct {
	RequestsPerMinute int `json:"requests_per_minute"`
	InboxDepth        int `json:"inbox_depth"`
}

// Leg says whether the hub offers a part of the protocol. What else it says of it is in Capability.Raw.
type Leg struct {
	Enabled bool `json:"enabled"`
}

// Discover returns what the hub offers (spec §8.0). It sends no credential.
func (c *Client) Discover(ctx context.Context) (*Capability, error) {
	var raw jsontext.Value
	if err := c.call(ctx, request{name: endpoint.Discovery, into: &raw, repeat: true}); err != nil {
		return nil, err
	}
	var capability Capability
	if err := decode(raw, &capability); err != nil {
		return nil, err
	}
	capability.Raw = raw
	return &capability, nil
}

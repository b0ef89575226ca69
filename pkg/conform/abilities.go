package conform

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// abilities is what a hub says of itself, as far as clauses depend on it (spec §8.0).
type abilities struct {
	Version string `json:"ma2h_version"`
	Replay  int    `json:"replay_window_seconds"`
	Inbound struct {
		Enabled    bool   `json:"enabled"`
		Visibility int    `json:"visibility_timeout_seconds"`
		Retention  int    `json:"retention_days"`
		Webhook    bool   `json:"webhook_supported"`
		Stream     string `json:"stream_url"`
		MaxHold    int    `json:"stream_max_hold_seconds"`
	} `json:"inbound"`
	Presence struct {
		Enabled   bool `json:"enabled"`
		Freshness int  `json:"freshness_seconds"`
	} `json:"presence"`
	Sessions struct {
		Enabled    bool `json:"enabled"`
		MinTTL     int  `json:"min_ttl_seconds"`
		MaxTTL     int  `json:"max_ttl_seconds"`
		MaxLive    int  `json:"max_live_per_agent"`
		ListOthers bool `json:"agent_list_visibility"`
		Retention  int  `json:"terminal_retention_seconds"`
		HardStop   bool `json:"operator_hard_stop"`
	} `json:"sessions"`
	InterAgent struct {
		Enabled bool `json:"enabled"`
	} `json:"inter_agent"`
}

func readAbilities(raw jsontext.Value) (*abilities, error) {
	a := &abilities{Replay: 120}
	return a, json.Unmarshal(raw, a)
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// visibility is how long a claim hides an entry.
func (a *abilities) visibility() time.Duration { return seconds(a.Inbound.Visibility) }

// freshness is how long a sign of life counts.
func (a *abilities) freshness() time.Duration { return seconds(a.Presence.Freshness) }

package hub

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
)

// written is how Settings are written down: one member for each that a deployment may decide.
type written struct {
	Version           string        `json:"version"`
	Limits            writtenLimits `json:"limits"`
	RequestsPerMinute int           `json:"requests_per_minute"`
	InboxDepth        int           `json:"inbox_depth"`
	PairPerMinute     int           `json:"pair_per_minute"`
	MaxWait           duration      `json:"max_wait"`
	RetentionDays     int           `json:"retention_days"`
	Retry             writtenRetry  `json:"retry"`
	Grace             duration      `json:"grace"`

	MaxBatch            int      `json:"max_batch"`
	VisibilityTimeout   duration `json:"visibility_timeout"`
	Freshness           duration `json:"freshness"`
	MinTTL              duration `json:"min_ttl"`
	DefaultTTL          duration `json:"default_ttl"`
	MaxTTL              duration `json:"max_ttl"`
	MaxLivePerAgent     int      `json:"max_live_per_agent"`
	TerminalRetention   duration `json:"terminal_retention"`
	StreamMaxHold       duration `json:"stream_max_hold"`
	AgentListVisibility bool     `json:"agent_list_visibility"`
	ListAccount         bool     `json:"list_account"`
	HardStop            bool     `json:"hard_stop"`
}

type writtenLimits struct {
	EnvelopeBytes int `json:"envelope_bytes"`
	PartBytes     int `json:"part_bytes"`
	Parts         int `json:"parts"`
	AnswerBytes   int `json:"answer_bytes"`
	NoteBytes     int `json:"note_bytes"`
}

type writtenRetry struct {
	MaxAttempts int      `json:"max_attempts"`
	First       duration `json:"first"`
	Longest     duration `json:"longest"`
	MaxDuration duration `json:"max_duration"`
}

// duration is written as in 1m30s.
type duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = duration(parsed)
	return err
}

// Text writes down what differs from DefaultSettings, as JSON for ParseSettings; nothing when nothing does. BaseURL stands
// elsewhere, and what only a conformance tenant has stands nowhere.
func (s Settings) Text() string {
	defaults, differ := members(write(DefaultSettings())), map[string]jsontext.Value{}
	for name, value := range members(write(s)) {
		if !bytes.Equal(value, defaults[name]) {
			differ[name] = value
		}
	}
	if len(differ) == 0 {
		return ""
	}
	text, err := json.Marshal(differ, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("hub: settings do not encode: %v", err)) // a bug: they are JSON already
	}
	return string(text)
}

func members(w written) map[string]jsontext.Value {
	var m map[string]jsontext.Value
	if err := json.Unmarshal(Encode(w), &m); err != nil {
		panic(fmt.Sprintf("hub: settings do not decode: %v", err)) // a bug
	}
	return m
}

// ParseSettings reads what Text wrote: DefaultSettings, but for what text says otherwise. The empty text says nothing. A
// name that no setting has, and a value that none can have, are errors.
func ParseSettings(text string) (Settings, error) {
	w := write(DefaultSettings())
	if text != "" {
		if err := json.Unmarshal([]byte(text), &w, json.RejectUnknownMembers(true)); err != nil {
			return Settings{}, fmt.Errorf("read settings: %w", err)
		}
	}
	if err := w.check(); err != nil {
		return Settings{}, fmt.Errorf("read settings: %w", err)
	}
	return w.settings(), nil
}

func write(s Settings) written {
	return written{
		Version: s.Version, Limits: writtenLimits(s.Limits),
		RequestsPerMinute: s.RequestsPerMinute, InboxDepth: s.InboxDepth, PairPerMinute: s.PairPerMinute,
		MaxWait: duration(s.MaxWait), RetentionDays: s.RetentionDays,
		Retry: writtenRetry{
			MaxAttempts: s.Retry.MaxAttempts, First: duration(s.Retry.First),
			Longest: duration(s.Retry.Longest), MaxDuration: duration(s.Retry.MaxDuration),
		},
		Grace: duration(s.Grace),

		MaxBatch: s.MaxBatch, VisibilityTimeout: duration(s.VisibilityTimeout), Freshness: duration(s.Freshness),
		MinTTL: duration(s.MinTTL), DefaultTTL: duration(s.DefaultTTL), MaxTTL: duration(s.MaxTTL),
		MaxLivePerAgent: s.MaxLivePerAgent, TerminalRetention: duration(s.TerminalRetention), StreamMaxHold: duration(s.StreamMaxHold),
		AgentListVisibility: s.AgentListVisibility, ListAccount: s.ListAccount, HardStop: s.HardStop,
	}
}

func (w written) settings() Settings {
	s := DefaultSettings()
	s.Version, s.Limits = w.Version, ma2h.Limits(w.Limits)
	s.RequestsPerMinute, s.InboxDepth, s.PairPerMinute = w.RequestsPerMinute, w.InboxDepth, w.PairPerMinute
	s.MaxWait, s.RetentionDays, s.Grace = time.Duration(w.MaxWait), w.RetentionDays, time.Duration(w.Grace)
	s.Retry = RetryPolicy{
		MaxAttempts: w.Retry.MaxAttempts, First: time.Duration(w.Retry.First),
		Longest: time.Duration(w.Retry.Longest), MaxDuration: time.Duration(w.Retry.MaxDuration),
	}
	s.MaxBatch, s.VisibilityTimeout, s.Freshness = w.MaxBatch, time.Duration(w.VisibilityTimeout), time.Duration(w.Freshness)
	s.MinTTL, s.DefaultTTL, s.MaxTTL = time.Duration(w.MinTTL), time.Duration(w.DefaultTTL), time.Duration(w.MaxTTL)
	s.MaxLivePerAgent, s.TerminalRetention, s.StreamMaxHold = w.MaxLivePerAgent, time.Duration(w.TerminalRetention), time.Duration(w.StreamMaxHold)
	s.AgentListVisibility, s.ListAccount, s.HardStop = w.AgentListVisibility, w.ListAccount, w.HardStop
	return s
}

// wrong gathers what cannot be.
type wrong []error

func (w *wrong) atLeast(name string, value, least int) {
	if value < least {
		*w = append(*w, fmt.Errorf("%s is %d; it must be at least %d", name, value, least))
	}
}

func (w *wrong) atMost(name string, value, most int) {
	if value > most {
		*w = append(*w, fmt.Errorf("%s is %d; it must be at most %d", name, value, most))
	}
}

func (w *wrong) lasts(name string, value, least duration) {
	if value < least {
		*w = append(*w, fmt.Errorf("%s is %s; it must be at least %s", name, time.Duration(value), time.Duration(least)))
	}
}

// check says what cannot be, all of it at once.
func (w written) check() error {
	var no wrong
	if _, invalid := ma2h.ParseVersion(w.Version); invalid != nil {
		no = append(no, fmt.Errorf("version is %q, which this hub does not speak", w.Version))
	}
	no.atLeast("limits.envelope_bytes", w.Limits.EnvelopeBytes, 1)
	no.atLeast("limits.part_bytes", w.Limits.PartBytes, 1)
	no.atLeast("limits.parts", w.Limits.Parts, 1)
	no.atLeast("limits.answer_bytes", w.Limits.AnswerBytes, 1)
	no.atLeast("limits.note_bytes", w.Limits.NoteBytes, 1)
	no.atLeast("requests_per_minute", w.RequestsPerMinute, 0)
	no.atLeast("inbox_depth", w.InboxDepth, 0)
	no.atLeast("pair_per_minute", w.PairPerMinute, 0)
	no.atLeast("retention_days", w.RetentionDays, 1)
	no.atMost("retention_days", w.RetentionDays, MaxRetentionDays)
	no.atLeast("retry.max_attempts", w.Retry.MaxAttempts, 1)
	no.lasts("retry.first", w.Retry.First, duration(time.Millisecond))
	no.lasts("retry.longest", w.Retry.Longest, w.Retry.First)
	no.lasts("retry.max_duration", w.Retry.MaxDuration, w.Retry.First)
	no.lasts("max_wait", w.MaxWait, 0)
	no.lasts("grace", w.Grace, 0)
	w.checkMail(&no)
	return errors.Join(no...)
}

// checkMail is check for mailboxes and sessions. What is advertised is in whole seconds.
func (w written) checkMail(no *wrong) {
	const second = duration(time.Second)
	no.atLeast("max_batch", w.MaxBatch, 1)
	no.lasts("visibility_timeout", w.VisibilityTimeout, second)
	no.lasts("freshness", w.Freshness, second)
	no.lasts("min_ttl", w.MinTTL, second)
	no.lasts("default_ttl", w.DefaultTTL, w.MinTTL)
	no.lasts("max_ttl", w.MaxTTL, w.DefaultTTL)
	no.atLeast("max_live_per_agent", w.MaxLivePerAgent, 1)
	no.lasts("terminal_retention", w.TerminalRetention, 0)
	no.lasts("stream_max_hold", w.StreamMaxHold, second)
	no.lasts("freshness", w.Freshness, w.StreamMaxHold) // spec §8.0
	if w.ListAccount && !w.AgentListVisibility {
		*no = append(*no, errors.New("list_account is true; it needs agent_list_visibility"))
	}
}

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
	MaxWait           duration      `json:"max_wait"`
	RetentionDays     int           `json:"retention_days"`
	Retry             writtenRetry  `json:"retry"`
	Grace             duration      `json:"grace"`
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
		RequestsPerMinute: s.RequestsPerMinute, InboxDepth: s.InboxDepth,
		MaxWait: duration(s.MaxWait), RetentionDays: s.RetentionDays,
		Retry: writtenRetry{
			MaxAttempts: s.Retry.MaxAttempts, First: duration(s.Retry.First),
			Longest: duration(s.Retry.Longest), MaxDuration: duration(s.Retry.MaxDuration),
		},
		Grace: duration(s.Grace),
	}
}

func (w written) settings() Settings {
	s := DefaultSettings()
	s.Version, s.Limits = w.Version, ma2h.Limits(w.Limits)
	s.RequestsPerMinute, s.InboxDepth = w.RequestsPerMinute, w.InboxDepth
	s.MaxWait, s.RetentionDays, s.Grace = time.Duration(w.MaxWait), w.RetentionDays, time.Duration(w.Grace)
	s.Retry = RetryPolicy{
		MaxAttempts: w.Retry.MaxAttempts, First: time.Duration(w.Retry.First),
		Longest: time.Duration(w.Retry.Longest), MaxDuration: time.Duration(w.Retry.MaxDuration),
	}
	return s
}

// check says what cannot be, all of it at once.
func (w written) check() error {
	var wrong []error
	atLeast := func(name string, value, least int64) {
		if value < least {
			wrong = append(wrong, fmt.Errorf("%s is %d; it must be at least %d", name, value, least))
		}
	}
	lasts := func(name string, value duration, least time.Duration) {
		if time.Duration(value) < least {
			wrong = append(wrong, fmt.Errorf("%s is %s; it must be at least %s", name, time.Duration(value), least))
		}
	}
	if _, invalid := ma2h.ParseVersion(w.Version); invalid != nil {
		wrong = append(wrong, fmt.Errorf("version is %q, which this hub does not speak", w.Version))
	}
	atLeast("limits.envelope_bytes", int64(w.Limits.EnvelopeBytes), 1)
	atLeast("limits.part_bytes", int64(w.Limits.PartBytes), 1)
	atLeast("limits.parts", int64(w.Limits.Parts), 1)
	atLeast("limits.answer_bytes", int64(w.Limits.AnswerBytes), 1)
	atLeast("limits.note_bytes", int64(w.Limits.NoteBytes), 1)
	atLeast("requests_per_minute", int64(w.RequestsPerMinute), 0)
	atLeast("inbox_depth", int64(w.InboxDepth), 0)
	atLeast("retention_days", int64(w.RetentionDays), 1)
	if w.RetentionDays > MaxRetentionDays {
		wrong = append(wrong, fmt.Errorf("retention_days is %d; it must be at most %d", w.RetentionDays, MaxRetentionDays))
	}
	atLeast("retry.max_attempts", int64(w.Retry.MaxAttempts), 1)
	lasts("retry.first", w.Retry.First, time.Millisecond)
	lasts("retry.longest", w.Retry.Longest, time.Duration(w.Retry.First))
	lasts("retry.max_duration", w.Retry.MaxDuration, time.Duration(w.Retry.First))
	lasts("max_wait", w.MaxWait, 0)
	lasts("grace", w.Grace, 0)
	return errors.Join(wrong...)
}

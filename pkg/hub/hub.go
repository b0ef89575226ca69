package hub

import (
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/password"
	"github.com/mash-hub/mash/pkg/record"
)

// Hub is MA2H as use cases over its ports. A copy with another Now is the same hub at another time, which is how
// virtual time is made.
type Hub struct {
	Store     record.Store
	Keys      Keys
	Pusher    Pusher
	Prover    Prover // nil where hosts are known by nobody but a person
	Bell      Bell
	Clockwork Clockwork
	Now       func() time.Time
	Settings  Settings

	// Observe, when set, is told after each Commit that accepts or ends a message. It must not block.
	Observe func(Event)

	still     bool // its clock stands, so that nothing can be waited for
	limiter   *limiter
	ticks     *ticks
	passwords *password.Hasher
}

// Settings is what a deployment decides.
type Settings struct {
	BaseURL   string // public address without a trailing slash, as in poll_url
	StreamURL string // where streams are served (spec §8.7.2); empty where there are none
	Version   string // ma2h_version of the objects that the hub itself mints
	Limits    ma2h.Limits

	RequestsPerMinute int           // submits of one agent, 0 for no limit (spec §8.6)
	InboxDepth        int           // open asks and tasks of one agent, and entries in a lane of a mailbox; 0 for no limit (spec §8.6)
	PairPerMinute     int           // messages of one agent to another, 0 for no limit
	MaxWait           time.Duration // longest hold of a pull with wait (spec §8.2)
	RetentionDays     int           // how long a message stays fully served after its end, up to MaxRetentionDays (spec §8.2)
	Retry             RetryPolicy   // of callbacks (spec §8.3)

	PasswordCost password.Parameters // of passwords to come

	// Grace is how far a record's Due lies behind what a Timer is meant to do promptly, so that a sweep takes over only
	// what was left. Zero where one Clockwork does both.
	Grace time.Duration

	// Mailboxes and sessions (spec §8.7, §15, §16).
	MaxBatch          int           // entries of one drain
	VisibilityTimeout time.Duration // how long a claim hides an entry
	Freshness         time.Duration // how long after a sign of life an agent is online
	MinTTL            time.Duration // of a session's lease
	DefaultTTL        time.Duration
	MaxTTL            time.Duration
	MaxLivePerAgent   int           // live sessions
	TerminalRetention time.Duration // how long a session stays readable after its end
	StreamMaxHold     time.Duration // of a stream, at most Freshness

	// AgentListVisibility lets agents of an account learn of each other's sessions by submitting; ListAccount lets them list
	// and read those, too, which needs the former (spec §16.4).
	AgentListVisibility bool
	ListAccount         bool
	HardStop            bool // a person's close of a session stops its agent until a person lifts it (spec §16.4.1)

	// SigningKey, when set, signs every push whatever the callback's secret_ref or token_ref names, and all callback
	// schemes are taken, as if every host were proven. Only a conformance tenant has one.
	SigningKey []byte

	// OneNamespace makes agent ids unique over all accounts, so that an agent may get its owner after its first
	// credential. Only a conformance tenant has it.
	OneNamespace bool
}

// MaxRetentionDays is the longest retention, a hundred years: twice that can still be reckoned with.
const MaxRetentionDays = 36_500

// DefaultSettings is what a hub does unless told otherwise.
func DefaultSettings() Settings {
	return Settings{
		Version:           ma2h.Newest,
		Limits:            ma2h.DefaultLimits(),
		RequestsPerMinute: 600,
		InboxDepth:        1000,
		PairPerMinute:     120,
		MaxWait:           60 * time.Second,
		RetentionDays:     30,
		Retry:             DefaultRetry(),
		PasswordCost:      password.Today(),

		MaxBatch:          32,
		VisibilityTimeout: time.Minute,
		Freshness:         90 * time.Second,
		MinTTL:            time.Minute,
		DefaultTTL:        15 * time.Minute,
		MaxTTL:            time.Hour,
		MaxLivePerAgent:   16,
		TerminalRetention: 24 * time.Hour,
		StreamMaxHold:     time.Minute,
		HardStop:          true,
	}
}

// ServeAt sets the public address of a hub that serves everything in one place.
func (s *Settings) ServeAt(baseURL string) {
	s.BaseURL, s.StreamURL = baseURL, baseURL+"/v1/inbox/stream"
}

// New returns a hub over its ports, on the real clock. Settings are taken as they are; begin with DefaultSettings.
func New(store record.Store, keys Keys, pusher Pusher, bell Bell, clockwork Clockwork, settings Settings) *Hub {
	return &Hub{
		Store: store, Keys: keys, Pusher: pusher, Bell: bell, Clockwork: clockwork,
		Now: time.Now, Settings: settings, limiter: newLimiter(), ticks: &ticks{},
		passwords: password.New(settings.PasswordCost),
	}
}

// At returns the same hub whose clock stands at now, with another clockwork.
func (h *Hub) At(now time.Time, clockwork Clockwork) *Hub {
	c := *h
	c.Now = func() time.Time { return now }
	c.Clockwork, c.still = clockwork, true
	return &c
}

// now is the hub's clock, which counts in milliseconds. It is read once a request or transition.
func (h *Hub) now() time.Time { return h.Now().UTC().Truncate(time.Millisecond) }

func (h *Hub) retention() time.Duration {
	return time.Duration(h.Settings.RetentionDays) * 24 * time.Hour
}

// tombstone is how long a deleted message still answers "gone" rather than "unknown".
const tombstone = 90 * 24 * time.Hour

// AccountRef names the part of an account by its owner (human:<id>, or empty for the account of those without one). Refs
// are keyed hashes, since ids may be anything and keys may not.
func (h *Hub) AccountRef(owner string) string {
	sum := h.Keys.Hash("account", owner)
	return ma2h.Tail(sum[:])[:AccountRefLength]
}

// AccountRefLength is the number of characters of an account's ref.
const AccountRefLength = 12

// AgentRef names the part of an agent by its account's ref and its id.
func (h *Hub) AgentRef(account, id string) string {
	if h.Settings.OneNamespace {
		account = ""
	}
	sum := h.Keys.Hash("agent", account, id)
	return ma2h.Tail(sum[:])
}

// PersonRef names the part of a person by the id, without human:.
func (h *Hub) PersonRef(id string) string {
	sum := h.Keys.Hash("person", id)
	return ma2h.Tail(sum[:])
}

// messageTail is where a message with an idempotency key lies: known before anything is read (spec §8.1).
func (h *Hub) messageTail(agentRef, key string) string {
	sum := h.Keys.Hash("message", agentRef, key)
	return ma2h.Tail(sum[:])
}

package hub

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// The kinds of record that the hub keeps.
const (
	KindOwner    = "owner"
	KindAccount  = "account"
	KindAgent    = "agent"
	KindPerson   = "person"
	KindLogin    = "login"
	KindPassword = "password"
	KindTries    = "tries"
	KindContent  = "content"
	KindState    = "state"
	KindDeed     = "deed"
)

// Account is what one owner and the agents and people with them share.
type Account struct {
	Ref              string   `json:"ref"`
	Owner            string   `json:"owner"`                      // human:<id>, or empty for a tenant's common account
	DefaultResolvers []string `json:"default_resolvers,omitzero"` // of asks to come that list none

	// InterAgent is the owner's word that agents of the account may write to each other (spec §8.0). An older hub that writes
	// the account loses it, which turns it off.
	InterAgent bool `json:"inter_agent,omitzero"`
}

// Agent is a principal that sends. Only people change it.
type Agent struct {
	Format      int          `json:"format,omitzero"` // 2 to 4 where older hubs would lose what stands here
	Ref         string       `json:"ref"`             // names its part
	ID          string       `json:"id"`
	Account     string       `json:"account"`
	CreatedAt   time.Time    `json:"created_at"`
	Revoked     bool         `json:"revoked,omitzero"`
	Credentials []Credential `json:"credentials,omitzero"` // newest first
	Secrets     []PushSecret `json:"secrets,omitzero"`     // newest first

	// Hosts are the agent's own, in the order in which they were bound. Format 2.
	Hosts []CallbackHost `json:"hosts,omitzero"`

	// Webhook is where what people tell it is pushed as well. Format 4.
	Webhook *Webhook `json:"webhook,omitzero"`

	// Senders, when there, are the ids of the agents that may write to this one, and no others may (spec §8.0). Format 3.
	Senders *Allowlist `json:"senders,omitzero"`
}

// Allowlist is who may write to an agent.
type Allowlist struct {
	Agents []string `json:"agents"` // ids
}

// Credential is one token of an agent, of which only the hash is kept.
type Credential struct {
	Hash      []byte    `json:"hash"` // SHA-256 of the whole token
	CreatedAt time.Time `json:"created_at"`
}

// PushSecret is a key under which pushes to an agent are signed, or a token that goes with them, wrapped.
type PushSecret struct {
	Ref       string    `json:"ref"` // the secret_ref or token_ref of its callbacks
	Wrapped   []byte    `json:"wrapped"`
	CreatedAt time.Time `json:"created_at"`
	From      time.Time `json:"from,omitzero"` // when it is used from, where that is not at once. Format 2
}

// Person is somebody who answers.
type Person struct {
	Format  int    `json:"format,omitzero"` // 2 from the first Epoch on: an older hub would let in who was signed out
	Ref     string `json:"ref"`             // names its part
	ID      string `json:"id"`              // without human:
	Account string `json:"account"`

	Role      Role      `json:"role,omitzero"`       // empty for an owner of before there were roles
	InvitedBy string    `json:"invited_by,omitzero"` // human:<id>
	JoinedAt  time.Time `json:"joined_at,omitzero"`

	// Epoch counts what ends all sessions and links at once: they are good in the epoch that they were made in. Tokens
	// outlive it, but for those of before TokensFrom: who is removed loses them too.
	Epoch      int       `json:"epoch,omitzero"`
	TokensFrom int       `json:"tokens_from,omitzero"`
	Removed    bool      `json:"removed,omitzero"`
	RemovedAt  time.Time `json:"removed_at,omitzero"`
}

// Role is what a person may do in an account.
type Role string

// The roles. Members answer, read and see; owners keep agents, people and settings as well.
const (
	RoleOwner  Role = "owner"
	RoleMember Role = "member"
)

// Login is a way in for a person: a token, a web session, a link or an invitation. It is kept under the hash of its
// secret.
type Login struct {
	Person    string    `json:"person"` // ref
	Use       LoginUse  `json:"use"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // zero means never
	Epoch     int       `json:"epoch,omitzero"`      // of the person, when it was made

	With    string   `json:"with,omitzero"`    // of a link, and of the session that it began: the token that it was made with, and is good with
	Via     LoginUse `json:"via,omitzero"`     // of a session: a link, an invitation or a password began it
	Browser string   `json:"browser,omitzero"` // of a session, in short
	Name    string   `json:"name,omitzero"`    // of a token, as its person called it; of an invitation, the person's to be
	Role    Role     `json:"role,omitzero"`    // of an invitation
	By      string   `json:"by,omitzero"`      // of an invitation: ref of who invites
	ByFrom  int      `json:"by_from,omitzero"` // and their TokensFrom, lest it is good again after they were removed
}

// LoginUse is what a Login is good for.
type LoginUse string

// The uses of a login, and the other way to begin a session.
const (
	LoginToken      LoginUse = "token"      // a bearer token of /v1
	LoginSession    LoginUse = "session"    // a cookie of the inbox
	LoginLink       LoginUse = "link"       // a link that signs in, once
	LoginInvitation LoginUse = "invitation" // a link that makes its person one of the account, once
	ViaPassword     LoginUse = "password"
)

// Password is what is kept of a person's password.
type Password struct {
	Hash  string    `json:"hash"` // PHC string
	SetAt time.Time `json:"set_at"`
	From  int       `json:"from,omitzero"` // Person.TokensFrom when it was set: who is removed loses it
}

// Tries is how often somebody lately tried to sign in under a name with a wrong password. It is kept for names that nobody
// has as for those of people, so that it tells nobody which are which.
type Tries struct {
	Unknown Bucket            `json:"unknown,omitzero"` // from all browsers in which the person was never signed in
	Known   map[string]Bucket `json:"known,omitzero"`   // by browsers in which the person was
}

// Bucket is what was tried of one kind.
type Bucket struct {
	Failed int       `json:"failed,omitzero"`
	At     time.Time `json:"at,omitzero"`    // the latest
	Until  time.Time `json:"until,omitzero"` // before then nothing more is tried
}

// Content is the part of a message that never changes.
type Content struct {
	Envelope jsontext.Value `json:"envelope"` // the members of the submitted envelope that we know, verbatim
}

// State is the part of a message that transitions write.
type State struct {
	Format   int           `json:"format,omitzero"` // 2 where older hubs would do wrong by what stands here
	ID       string        `json:"id"`
	Account  string        `json:"account"`
	AgentRef string        `json:"agent_ref"`
	AgentID  string        `json:"agent_id"`
	RunID    string        `json:"run_id"`
	Version  string        `json:"version"` // as submitted
	Type     ma2h.Type     `json:"type"`
	Title    string        `json:"title"`
	Priority ma2h.Priority `json:"priority,omitzero"`
	Digest   []byte        `json:"digest"` // of the payload, for replays (spec §8.1)

	AcceptedAt time.Time `json:"accepted_at"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"`

	// Resolvers is who may resolve: the message's list or, when Defaulted, the account's. Listed is false when there
	// was neither, so that nobody but the submitter may (spec §9.1).
	Resolvers          []string `json:"resolvers,omitzero"`
	ResolversListed    bool     `json:"resolvers_listed,omitzero"`
	ResolversDefaulted bool     `json:"resolvers_defaulted,omitzero"`

	Status   ma2h.Status    `json:"status"`
	StatusAt time.Time      `json:"status_at"`         // when Status began
	Response *ma2h.Response `json:"response,omitzero"` // less agent and state, which stand elsewhere
	EndedBy  string         `json:"ended_by,omitzero"` // the attested actor of the outcome

	Delivery *Delivery `json:"delivery,omitzero"`
	Push     *PushWork `json:"push,omitzero"`

	// Session is the submitting session, whose mailbox gets the Response (spec §6); Mail, of an addressed message, what became
	// of it on its way. ResponseRow and ReceiptRow are where those entries for the submitter lie while they wait. Format 3.
	From        string      `json:"from,omitzero"` // of a directive: human:<id>, attested
	Session     string      `json:"session,omitzero"`
	Mail        *Mail       `json:"mail,omitzero"`
	ResponseRow *record.Key `json:"response_row,omitzero"`
	ReceiptRow  *record.Key `json:"receipt_row,omitzero"`
	ReceiptID   string      `json:"receipt_id,omitzero"`

	SeenAt time.Time `json:"seen_at,omitzero"` // when a person first opened it
	SeenBy string    `json:"seen_by,omitzero"` // human:<id>

	RetainedAt time.Time `json:"retained_at,omitzero"` // when retention ended the response track
	Deleted    bool      `json:"deleted,omitzero"`     // a tombstone: content and response are gone
	DeletedAt  time.Time `json:"deleted_at,omitzero"`
}

// Delivery is the response track of an ask or task (spec §14.2).
type Delivery struct {
	State          ma2h.Track `json:"state"`
	DeliveredAt    time.Time  `json:"delivered_at,omitzero"`
	AcknowledgedAt time.Time  `json:"acknowledged_at,omitzero"`
	Ack            *ma2h.Ack  `json:"ack,omitzero"`
}

// PushWork is the obligation to push the Response, written with the resolution itself.
type PushWork struct {
	URL      string            `json:"url"`
	Auth     ma2h.CallbackAuth `json:"auth"`
	Next     time.Time         `json:"next,omitzero"`     // when to try; zero when there is nothing to do yet or any more
	Attempts []Attempt         `json:"attempts,omitzero"` // the latest
	Done     bool              `json:"done,omitzero"`     // delivered or given up

	Dropped int `json:"dropped,omitzero"` // attempts that are not kept any more, before the others

	// Round counts how often a person has had it sent again, each time with a retry policy of its own. Format 2.
	Round  int       `json:"round,omitzero"`
	Began  time.Time `json:"began,omitzero"`  // of this round; zero for the first one, which begins with the outcome
	Before int       `json:"before,omitzero"` // attempts of rounds before this one
}

// Attempt is what is kept of one try.
type Attempt struct {
	At      time.Time `json:"at"`
	Status  int       `json:"status,omitzero"`
	Failure Failure   `json:"failure,omitzero"`
}

// Deed is one entry of the account's audit record: what a person did.
type Deed struct {
	At      time.Time `json:"at"`
	By      string    `json:"by"`
	Did     string    `json:"did"` // a short code such as resolve
	Subject string    `json:"subject,omitzero"`
}

// AccountKey is where the account with this ref lies. Here and below, parts begin with their kind.
func AccountKey(ref string) record.Key { return record.Key{Part: "a#" + ref, Sort: "account"} }

// AgentKey is where the agent with this ref lies.
func AgentKey(ref string) record.Key { return record.Key{Part: "g#" + ref, Sort: "agent"} }

// PersonKey is where the person with this ref lies.
func PersonKey(ref string) record.Key { return record.Key{Part: "p#" + ref, Sort: "person"} }

// contentKey and stateKey are where the two records of a message lie.
func contentKey(tail string) record.Key { return record.Key{Part: "m#" + tail, Sort: "content"} }
func stateKey(tail string) record.Key   { return record.Key{Part: "m#" + tail, Sort: "state"} }

// passwordKey and triesKey are where what a person's password is kept as lies, and what was tried.
func passwordKey(person string) record.Key { return record.Key{Part: "p#" + person, Sort: "password"} }
func triesKey(person string) record.Key    { return record.Key{Part: "p#" + person, Sort: "tries"} }

// LoginKey is where the login of the person with this ref lies whose secret has this hash, in hexadecimal.
func LoginKey(person, hash string) record.Key {
	return record.Key{Part: "p#" + person, Sort: loginSort + hash}
}

// loginSort begins the Sort of every login.
const loginSort = "login#"

// Encode writes a stored value.
func Encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("hub: %T does not encode: %v", v, err)) // a bug: all our own types do
	}
	return b
}

// Decode reads the body of a record into v. It refuses one of a newer format than RecordFormat.
func Decode(r record.Record, v any) error {
	if err := readable(r); err != nil {
		return err
	}
	if json.Unmarshal(r.Body, v) != nil { // whose error may quote what people wrote, and goes to the log
		return fmt.Errorf("decode %s %s: its body is not of that kind", r.Kind, r.Key)
	}
	return nil
}

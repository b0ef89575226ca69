package ma2h

import "github.com/go-json-experiment/json/jsontext"

// Type is the verb of a message (spec §5).
type Type string

// The three verbs.
const (
	TypeNotify Type = "notify"
	TypeAsk    Type = "ask"
	TypeTask   Type = "task"
)

// Mode is how an ask wants to be answered (spec §5.2).
type Mode string

// The modes of an ask.
const (
	ModeSelect  Mode = "select"
	ModeInput   Mode = "input"
	ModeConfirm Mode = "confirm"
)

// Priority is how much a message wants attention; the zero value means normal (spec §4).
type Priority string

// Message is the envelope that an agent submits (spec §4 to §5).
type Message struct {
	Version        string         `json:"ma2h_version"`
	Type           Type           `json:"type"`
	CreatedAt      string         `json:"created_at"` // the agent's clock, informational
	Agent          Agent          `json:"agent"`
	To             string         `json:"to,omitzero"` // an Address, or absent for the human inbox
	Title          string         `json:"title"`
	Body           string         `json:"body,omitzero"` // Markdown, untrusted (spec §9.6)
	Priority       Priority       `json:"priority,omitzero"`
	Tags           []string       `json:"tags,omitzero"`
	Context        []Part         `json:"context,omitzero"`
	State          jsontext.Value `json:"state,omitzero"` // opaque and the agent's own: never looked into, never logged (spec §9.3)
	ClientRef      string         `json:"client_ref,omitzero"`
	IdempotencyKey *string        `json:"idempotency_key,omitzero"`
	ExpiresAt      string         `json:"expires_at,omitzero"`
	Sensitive      bool           `json:"sensitive,omitzero"`
	Request        *Request       `json:"request,omitzero"` // of an ask
	Action         *Action        `json:"action,omitzero"`  // of a task
}

// Agent describes the origin of a message (spec §4.1). ID and RunID together are the Caller.
type Agent struct {
	ID      string            `json:"id"`
	RunID   string            `json:"run_id"`
	Runtime string            `json:"runtime,omitzero"`
	Session string            `json:"session,omitzero"`
	Project string            `json:"project,omitzero"`
	Labels  map[string]string `json:"labels,omitzero"`
}

// Part is one attachment: text, data or file, as Kind says (spec §4.2).
type Part struct {
	Kind     string         `json:"kind"`
	Text     string         `json:"text,omitzero"`
	Data     jsontext.Value `json:"data,omitzero"`
	File     *File          `json:"file,omitzero"`
	Metadata jsontext.Value `json:"metadata,omitzero"`
}

// File names an attachment that lies elsewhere. Nobody fetches it but the reader (spec §4.2, §9.6).
type File struct {
	URI      string `json:"uri"`
	Name     string `json:"name,omitzero"`
	MIMEType string `json:"mime_type,omitzero"`
}

// Request is what an ask wants to know (spec §5.2).
type Request struct {
	Mode             Mode           `json:"mode"`
	Options          []Option       `json:"options,omitzero"`
	Schema           jsontext.Value `json:"schema,omitzero"` // JSON Schema of the answer object, of mode input
	Permissions      *Permissions   `json:"permissions,omitzero"`
	DefaultOnExpire  jsontext.Value `json:"default_on_expire,omitzero"`
	AllowedResolvers []string       `json:"allowed_resolvers,omitzero"`
	Callback         *Callback      `json:"callback,omitzero"`
}

// Option is one choice. Value is the whole content of the answer (spec §5.2).
type Option struct {
	Value       string `json:"value"`
	Label       string `json:"label,omitzero"`
	Description string `json:"description,omitzero"`
}

// Permissions says what the person is offered; a nil member means its default (spec §5.2).
type Permissions struct {
	AllowEdit    *bool `json:"allow_edit,omitzero"`    // default false, and false below 0.6
	AllowRespond *bool `json:"allow_respond,omitzero"` // default true
	AllowIgnore  *bool `json:"allow_ignore,omitzero"`  // default true
}

// Action is what a task wants done (spec §5.3).
type Action struct {
	Instructions     string          `json:"instructions"`
	Checklist        []ChecklistItem `json:"checklist,omitzero"`
	Verification     string          `json:"verification,omitzero"`
	AllowedResolvers []string        `json:"allowed_resolvers,omitzero"`
	Callback         *Callback       `json:"callback,omitzero"`
}

// ChecklistItem is one step of a task.
type ChecklistItem struct {
	Text string `json:"text"`
	Done bool   `json:"done"`
}

// Callback is where the agent wants the Response pushed (spec §8.3).
type Callback struct {
	Mode string        `json:"mode,omitzero"` // push or pull; absent means push where there is a url
	URL  string        `json:"url,omitzero"`
	Auth *CallbackAuth `json:"auth,omitzero"`
}

// CallbackAuth names the credential of a callback. A hmac scheme names its key by SecretRef, bearer and apikey theirs by
// TokenRef, never both (spec §8.3, §9.2).
type CallbackAuth struct {
	Scheme    string `json:"scheme"`
	SecretRef string `json:"secret_ref,omitzero"`
	TokenRef  string `json:"token_ref,omitzero"`
}

// The schemes of a callback.
const (
	SchemeHMAC   = "hmac"
	SchemeBearer = "bearer"
	SchemeAPIKey = "apikey"
)

// Callback returns the callback of an ask or task, or nil.
func (m *Message) Callback() *Callback {
	switch {
	case m.Request != nil:
		return m.Request.Callback
	case m.Action != nil:
		return m.Action.Callback
	}
	return nil
}

// Pushes says whether the Response is wanted by push (spec §8.3).
func (c *Callback) Pushes() bool { return c != nil && c.Mode != "pull" && c.URL != "" }

// AllowedResolvers returns the list of who may resolve, and whether the message has one (spec §9.1).
func (m *Message) AllowedResolvers() (list []string, given bool) {
	switch {
	case m.Request != nil:
		list = m.Request.AllowedResolvers
	case m.Action != nil:
		list = m.Action.AllowedResolvers
	}
	return list, list != nil
}

// Respondable says whether the person may answer (spec §5.2).
func (r *Request) Respondable() bool {
	return r.Permissions == nil || r.Permissions.AllowRespond == nil || *r.Permissions.AllowRespond
}

// Ignorable says whether the person may decline (spec §5.2).
func (r *Request) Ignorable() bool {
	return r.Permissions == nil || r.Permissions.AllowIgnore == nil || *r.Permissions.AllowIgnore
}

// Editable says whether a value outside the options may be given: only where the ask is option-based, asks for it, and
// declares a version that knows the word (spec §5.2).
func (r *Request) Editable(v Version) bool {
	return r.Mode != ModeInput && v.Minor >= MinorAllowEdit &&
		r.Permissions != nil && r.Permissions.AllowEdit != nil && *r.Permissions.AllowEdit
}

// EffectiveOptions returns the options that the person chooses from: a confirm without any has approve and deny (spec
// §5.2).
func (r *Request) EffectiveOptions() []Option {
	if r.Mode == ModeConfirm && r.Options == nil {
		return []Option{{Value: "approve", Label: "Approve"}, {Value: "deny", Label: "Deny"}}
	}
	return r.Options
}

// HasOption says whether value is one of the options, letter by letter (spec §6).
func (r *Request) HasOption(value string) bool {
	for _, o := range r.EffectiveOptions() {
		if o.Value == value {
			return true
		}
	}
	return false
}

package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// AgentView is what a person sees of an agent.
type AgentView struct {
	ID          string    `json:"id"`
	CreatedAt   time.Time `json:"created_at"`
	Revoked     bool      `json:"revoked,omitzero"`
	Credentials int       `json:"credentials"` // live ones; two while rotating
	SecretRefs  []string  `json:"secret_refs"`
}

// NewCredentials is what a person is shown once of an agent's credentials.
type NewCredentials struct {
	ID         string `json:"id"`
	Token      string `json:"token"`
	PushSecret string `json:"push_secret,omitzero"`
	SecretRef  string `json:"secret_ref,omitzero"`
}

// maxCredentials is how many tokens of an agent live at once, so that one can be replaced without a gap.
const maxCredentials = 2

// maxAgentID is the longest id of an agent, in bytes.
const maxAgentID = 256

// checkAgentID refuses what cannot be the id of an agent to come. Requests name an agent by a path, which a gateway may
// decode before the hub sees it and cut at a ?, and in which //, /./ and /../ are no names (see DIVERGENCES.md).
func checkAgentID(id string) error {
	refuse := func(message string, args ...any) error {
		return ma2h.FieldErrorf(ma2h.CodeInvalidField, "/id", message, args...)
	}
	if id == "" || len(id) > maxAgentID {
		return refuse("Give the agent an id of 1 to %d bytes.", maxAgentID)
	}
	if strings.Contains(id, "#"+ma2h.PrefixSession) {
		return refuse("An id with #%s reads like the session of another agent; choose another.", ma2h.PrefixSession)
	}
	if strings.Contains(id, "?") || strings.ContainsFunc(id, unicode.IsControl) {
		return refuse("An id with a question mark or control character could not stand in a path; choose another.")
	}
	if what := lookalike(id); what != "" {
		return refuse("An id with %s could be taken for that of another agent; choose another.", what)
	}
	for part := range strings.SplitSeq(id, "/") {
		if part == "" || part == "." || part == ".." {
			return refuse("An id with nothing, . or .. beside a slash, or . or .. alone, could not stand in a path; choose another.")
		}
	}
	return nil
}

// AddAgent makes an agent of the person's account with a token and a push secret, or gives a revoked one new ones.
func (h *Hub) AddAgent(ctx context.Context, c *Caller, id string) (*NewCredentials, error) {
	if err := ownerOnly(c); err != nil {
		return nil, err
	}
	if err := checkAgentID(id); err != nil {
		return nil, err
	}
	ref := h.AgentRef(c.Account.Ref, id)
	made := &NewCredentials{ID: id, SecretRef: PushSecretRef}
	err := h.changeAgent(ctx, c, ref, "agent_add", func(a *Agent) (change bool, err error) {
		switch {
		case a.Ref == "":
			*a = Agent{Ref: ref, ID: id, Account: c.Account.Ref, CreatedAt: h.now()}
		case !a.Revoked:
			return false, ma2h.FieldErrorf(ma2h.CodeInvalidField, "/id",
				"The account has an agent with this id; rotate its token instead.")
		}
		a.Revoked, a.Credentials, a.Secrets, a.Hosts = false, nil, nil, nil
		made.Token = h.addCredential(a)
		made.PushSecret, _, err = h.setSecret(ctx, a, SecretRequest{Ref: PushSecretRef})
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// addCredential gives an agent another token; the oldest beyond two goes.
func (h *Hub) addCredential(a *Agent) string {
	token := NewToken(AgentTokenPrefix, a.Account, a.Ref)
	a.Credentials = slices.Insert(a.Credentials, 0, Credential{Hash: TokenHash(token), CreatedAt: h.now()})
	a.Credentials = a.Credentials[:min(len(a.Credentials), maxCredentials)]
	return token
}

// changeAgent commits what f makes of an agent, and the deed with it; f says whether there is anything to do. An agent that
// is not there is the zero Agent. Whoever waits with a token of the agent looks whether it is still good.
func (h *Hub) changeAgent(ctx context.Context, c *Caller, ref, did string, f func(*Agent) (change bool, _ error)) error {
	rec, err := h.get(ctx, AgentKey(ref))
	if err != nil {
		return err
	}
	defer h.Bell.Ring(ctx, directiveLane(ref))
	return h.revise(ctx, c, rec, func(rec record.Record) (revision, error) {
		var a Agent
		if rec.Rev != "" {
			if err := Decode(rec, &a); err != nil {
				return revision{}, err
			}
		}
		if change, err := f(&a); err != nil || !change {
			return revision{}, err
		}
		a.Format = a.format()
		put := record.Record{
			Key: AgentKey(a.Ref), Kind: KindAgent, Body: Encode(&a),
			Tags: [2]record.Tag{{Name: "agent#" + a.Account, Order: a.Ref}},
		}
		return revision{&put, []done{{did, a.ID}}}, nil
	})
}

// RotateAgent gives an agent a new token beside its latest one, and nothing older. The push secret stays what it is, and
// is shown again, so that whoever sets up the agent anew has everything.
func (h *Hub) RotateAgent(ctx context.Context, c *Caller, id string) (*NewCredentials, error) {
	made := &NewCredentials{ID: id, SecretRef: PushSecretRef}
	err := h.changeOwn(ctx, c, id, "agent_rotate", func(a *Agent) (bool, error) {
		if a.Revoked {
			return false, errRevoked()
		}
		secret, err := h.pushKey(ctx, a, PushSecretRef)
		switch {
		case errors.Is(err, ErrNoKey):
			made.SecretRef = "" // removed by a person
		case err != nil:
			return false, fmt.Errorf("open push secret: %w", err)
		}
		made.Token, made.PushSecret = h.addCredential(a), string(secret)
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// RevokeAgent ends all of an agent's credentials. What it asked stays where it is.
func (h *Hub) RevokeAgent(ctx context.Context, c *Caller, id string) error {
	return h.changeOwn(ctx, c, id, "agent_revoke", func(a *Agent) (bool, error) {
		if a.Revoked {
			return false, nil
		}
		a.Revoked, a.Credentials = true, nil
		return true, nil
	})
}

// changeOwn is changeAgent for an agent of the person's account; any other is unknown.
func (h *Hub) changeOwn(ctx context.Context, c *Caller, id, did string, f func(*Agent) (change bool, _ error)) error {
	if err := ownerOnly(c); err != nil {
		return err
	}
	return h.changeAgent(ctx, c, h.AgentRef(c.Account.Ref, id), did, func(a *Agent) (bool, error) {
		if a.Account != c.Account.Ref {
			return false, errNoAgent()
		}
		return f(a)
	})
}

// Agents returns the agents of the person's account.
func (h *Hub) Agents(ctx context.Context, c *Caller) ([]AgentView, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	views, after := []AgentView{}, record.Entry{}
	for {
		recs, last, err := h.indexed(ctx, 1, "agent#"+c.Account.Ref, after, record.MaxReads)
		if err != nil {
			return nil, err
		}
		for _, r := range recs {
			var a Agent
			if err := Decode(r, &a); err != nil {
				return nil, err
			}
			views = append(views, a.view())
		}
		if last == (record.Entry{}) {
			break
		}
		after = last
	}
	slices.SortFunc(views, func(x, y AgentView) int { return strings.Compare(x.ID, y.ID) })
	return views, nil
}

func (a *Agent) view() AgentView {
	return AgentView{
		ID: a.ID, CreatedAt: a.CreatedAt, Revoked: a.Revoked, Credentials: len(a.Credentials), SecretRefs: a.secretNames(),
	}
}

// format is the format of an agent's record: an older hub would drop its hosts, sign by a secret before its time, let
// everybody write to it, or forget its webhook.
func (a *Agent) format() int {
	if a.Webhook != nil {
		return 4
	}
	if a.Senders != nil {
		return 3
	}
	if len(a.Hosts) > 0 || slices.ContainsFunc(a.Secrets, func(s PushSecret) bool { return !s.From.IsZero() }) {
		return 2
	}
	return 0 // the first, which is not written
}

// AgentDetail is all that a person sees of one agent.
type AgentDetail struct {
	AgentView
	Tokens    []time.Time    `json:"tokens"`    // when each was made, the newest first
	Challenge string         `json:"challenge"` // the line by which a host shows that it is the agent's
	Hosts     []CallbackHost `json:"hosts"`
	Secrets   []SecretView   `json:"secrets"`
	Senders   *[]string      `json:"senders,omitzero"` // ids of the agents that may write to it; nil for all of the account
	Webhook   *WebhookView   `json:"webhook,omitzero"` // where what it is told is pushed; nil for nowhere
	Stopped   *Stop          `json:"stopped,omitzero"` // when, by whom and why; nil unless a person has stopped it
}

// AgentDetail returns one agent of the person's account, with its hosts and secrets, and whether it is stopped.
func (h *Hub) AgentDetail(ctx context.Context, c *Caller, id string) (*AgentDetail, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	return h.detailAt(ctx, c, h.AgentRef(c.Account.Ref, id))
}

// AgentAt is AgentDetail for the agent with this ref.
func (h *Hub) AgentAt(ctx context.Context, c *Caller, ref string) (*AgentDetail, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	if !ma2h.Minted(ref, ma2h.TailLength) {
		return nil, errNoAgent()
	}
	return h.detailAt(ctx, c, ref)
}

// detailAt reads an agent and whether it is stopped with one request.
func (h *Hub) detailAt(ctx context.Context, c *Caller, ref string) (*AgentDetail, error) {
	recs, err := h.Store.Get(ctx, AgentKey(ref), LiveKey(ref))
	if err != nil {
		return nil, fmt.Errorf("read agent %s: %w", ref, err)
	}
	var a Agent
	var live Live
	for i, v := range []any{&a, &live} {
		if err := decodeAny(recs[i], v); err != nil {
			return nil, err
		}
	}
	if a.Account != c.Account.Ref {
		return nil, errNoAgent()
	}
	d := h.detail(&a)
	d.Webhook, d.Stopped = h.webhook(c, &a), live.Stop
	return d, nil
}

func (h *Hub) detail(a *Agent) *AgentDetail {
	d := &AgentDetail{
		AgentView: a.view(), Tokens: []time.Time{}, Challenge: h.Challenge(a.Ref), Secrets: a.secretViews(h.now()),
		Hosts: append([]CallbackHost{}, a.Hosts...),
	}
	for _, k := range a.Credentials {
		d.Tokens = append(d.Tokens, k.CreatedAt)
	}
	if a.Senders != nil {
		senders := append([]string{}, a.Senders.Agents...)
		d.Senders = &senders
	}
	return d
}

// ownAgent reads an agent of the person's account; any other is unknown.
func (h *Hub) ownAgent(ctx context.Context, c *Caller, id string) (*Agent, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	a, err := h.agent(ctx, h.AgentRef(c.Account.Ref, id))
	if err != nil {
		return nil, err
	}
	if a.Account != c.Account.Ref {
		return nil, errNoAgent()
	}
	return a, nil
}

func errNoAgent() error {
	return ma2h.Errorf(ma2h.CodeNotFound, "The account has no agent with this id.")
}

package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// controlHTTP is what control calls go by.
var controlHTTP = sync.OnceValue(func() *http.Client { return &http.Client{Transport: client.Transport()} })

// Virtual is a hub with a control API: each clause has a tenant of its own and a clock that stands still until it says
// otherwise.
type Virtual struct {
	URL string
}

// Controlled says whether the hub at url has a control API.
func Controlled(ctx context.Context, url string) bool {
	h := &virtualHome{at: url}
	status, _, err := h.control(ctx, "", http.MethodPost, "tenants", doc{})
	return err == nil && status == http.StatusCreated
}

func (v *Virtual) atOnce() int       { return 4 }
func (v *Virtual) web() *http.Client { return nil }

func (v *Virtual) enter(ctx context.Context, c Clause) (household, error) {
	h := &virtualHome{
		at: v.URL, clock: time.Now().UTC().Truncate(time.Second), secret: "key_" + ma2h.NewTail(),
	}
	config := doc{"signing_key": h.secret}
	maps.Copy(config, c.tenant)
	var made struct {
		Tenant string `json:"tenant"`
	}
	if err := h.make(ctx, "", "tenants", config, &made); err != nil {
		return nil, err
	}
	h.tenant = made.Tenant
	return h, nil
}

// virtualHome is a tenant. Everybody in it is made by the control API; its agents have the owner human:owner.
type virtualHome struct {
	at     string
	tenant string
	secret string

	mu    sync.Mutex
	clock time.Time
}

const virtualOwner = "human:owner"

func (h *virtualHome) url() string   { return h.at }
func (h *virtualHome) virtual() bool { return true }

// restart is none of virtual time, where a hub may keep its tenants in memory.
func (h *virtualHome) restart(context.Context) error {
	return &unable{"a hub is started again in real time only"}
}

func (h *virtualHome) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clock
}

func (h *virtualHome) pass(_ context.Context, d time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock = h.clock.Add(d)
	return nil
}

func (h *virtualHome) header() http.Header {
	return http.Header{
		"X-Conformance-Tenant": {h.tenant}, "X-Conformance-Now": {strconv.FormatInt(h.now().UnixMilli(), 10)},
	}
}

// control makes a control call.
func (h *virtualHome) control(ctx context.Context, token, method, path string, body any) (int, []byte, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, h.at+"/_conformance/"+path, bytes.NewReader(encoded))
	if err != nil {
		return 0, nil, err
	}
	if h.tenant != "" {
		r.Header = h.header()
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := controlHTTP().Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	return resp.StatusCode, answer, err
}

// make makes a control call that has to succeed.
func (h *virtualHome) make(ctx context.Context, token, path string, body doc, into any) error {
	status, answer, err := h.control(ctx, token, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	if status >= http.StatusMultipleChoices {
		return fmt.Errorf("POST /_conformance/%s: %d %s", path, status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// principal gives somebody a credential.
func (h *virtualHome) principal(ctx context.Context, actor string) (principal, error) {
	var made struct {
		Token string `json:"token"`
	}
	err := h.make(ctx, "", "tokens", doc{"principal": actor}, &made)
	return principal{actor: actor, token: made.Token, secretRef: "env:CONFORM", secret: h.secret}, err //nolint:gosec // the name of a secret
}

func (h *virtualHome) owned(ctx context.Context, id, owner string) (principal, error) {
	p, err := h.principal(ctx, ma2h.AgentPrefix+id)
	if err != nil {
		return p, err
	}
	p.id = id
	return p, h.make(ctx, "", "owners", doc{"agent": id, "owner": owner}, nil)
}

func (h *virtualHome) agent(ctx context.Context, name string) (principal, error) {
	return h.owned(ctx, name, virtualOwner)
}

func (h *virtualHome) person(ctx context.Context) (principal, error) {
	return h.principal(ctx, virtualOwner)
}

func (h *virtualHome) stranger(ctx context.Context) (principal, error) {
	return h.owned(ctx, "stranger", "human:elsewhere")
}

func (h *virtualHome) optIn(ctx context.Context, enabled bool) error {
	return h.make(ctx, "", "policies", doc{"owner": virtualOwner, "inter_agent_enabled": enabled}, nil)
}

func (h *virtualHome) allow(ctx context.Context, agent string, senders []string) error {
	body := doc{"agent": agent, "senders": nil}
	if senders != nil {
		body["senders"] = senders
	}
	return h.make(ctx, "", "allowlists", body, nil)
}

func (h *virtualHome) direct(ctx context.Context, d directive) (int, []byte, error) {
	body := doc{"from": virtualOwner, "to": d.To, "title": d.Title}
	if d.ExpiresAt != "" {
		body["expires_at"] = d.ExpiresAt
	}
	return h.control(ctx, "", http.MethodPost, "directives", body)
}

func (h *virtualHome) track(ctx context.Context, id string) (int, []byte, error) {
	owner, err := h.person(ctx)
	if err != nil {
		return 0, nil, err
	}
	return h.control(ctx, owner.token, http.MethodGet, "receipts?id="+url.QueryEscape(id), nil)
}

func (h *virtualHome) settle(ctx context.Context) error {
	return h.make(ctx, "", "settle", doc{"what": "retention"}, nil)
}

func (h *virtualHome) keys(context.Context) ([]signature.Verifier, error) {
	return []signature.Verifier{signature.HMAC(h.secret)}, nil
}

// callback is a place to push to that is not there: what is pushed is captured instead.
func (h *virtualHome) callback(_ context.Context, p principal) (*receiver, error) {
	r := &receiver{url: "https://agent.example/" + url.PathEscape(p.id)}
	r.fetch = func(ctx context.Context) ([]push, error) {
		status, body, err := h.control(ctx, "", http.MethodGet, "pushes", nil)
		if err != nil || status != http.StatusOK {
			return nil, fmt.Errorf("GET /_conformance/pushes: %d %w", status, err)
		}
		var all struct {
			Pushes []struct {
				URL     string            `json:"url"`
				Headers map[string]string `json:"headers"`
				Body    string            `json:"body"`
			} `json:"pushes"`
		}
		err = json.Unmarshal(body, &all)
		var pushes []push
		for _, p := range all.Pushes {
			pushes = append(pushes, push{p.URL, p.Headers[signature.HeaderName], []byte(p.Body)})
		}
		return pushes, err
	}
	return r, nil
}

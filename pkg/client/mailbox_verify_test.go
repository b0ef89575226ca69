package client_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// element is one of a drain's messages, as it is on the wire.
type element map[string]json.RawMessage

// between returns the URL of a proxy before a hub, which does something to each entry that is drained, and where presents is
// not empty puts that session in the place of the one that is presented.
func between(t *testing.T, hub, presents string, meddle func(element) element) string {
	t.Helper()
	target, err := url.Parse(hub)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if q := r.Out.URL.Query(); presents != "" && q.Has("session") {
				q.Set("session", presents)
				r.Out.URL.RawQuery = q.Encode()
			}
		},
		ModifyResponse: func(r *http.Response) error {
			if r.Request.URL.Path != "/v1/inbox" || meddle == nil {
				return nil
			}
			var answer struct {
				Messages []element `json:"messages"`
			}
			if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
				return err
			}
			for i, e := range answer.Messages {
				answer.Messages[i] = meddle(e)
			}
			changed, err := json.Marshal(answer)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(changed)), int64(len(changed))
			r.Header.Set("Content-Length", strconv.Itoa(len(changed)))
			return err
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// through is a mailbox of the same agent and session, behind a proxy.
func through(b *client.Mailbox, at string) *client.Mailbox {
	return &client.Mailbox{Client: client.New(at, b.Client.Token), Session: b.Session, Policy: b.Policy}
}

// putting returns a change that sets members of an entry's content, or takes those away that are nil.
func putting(members ...any) func(element) element {
	return func(e element) element {
		for kind, body := range e {
			if kind == "signature" {
				continue
			}
			var o map[string]any
			_ = json.Unmarshal(body, &o)
			for i := 0; i < len(members); i += 2 {
				if o[members[i].(string)] = members[i+1]; members[i+1] == nil {
					delete(o, members[i].(string))
				}
			}
			e[kind], _ = json.Marshal(o)
		}
		return e
	}
}

// called returns a change that gives an entry another kind.
func called(kind string) func(element) element {
	return func(e element) element {
		for was, body := range e {
			if was != "signature" {
				delete(e, was)
				e[kind] = body
			}
		}
		return e
	}
}

// forged signs a directive anew, by a key that is not the hub's.
func forged(e element) element {
	_, private, _ := ed25519.GenerateKey(nil)
	covered, _ := signature.Directive(e["directive"])
	value, _ := covered.Sign(signature.PrivateKey(private), time.Now(), ma2h.NewID(ma2h.PrefixNonce))
	e["signature"], _ = json.Marshal(signature.Line(value))
	return e
}

func TestWhatDoesNotVerifyIsRefused(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	for _, c := range []struct {
		name   string
		meddle func(element) element
		want   error
	}{
		{"another title", putting("title", "Deploy"), signature.ErrMismatch},
		{"another author", putting("from", "human:eve"), signature.ErrMismatch},
		{"another addressee", putting("to", "agent:asker"), signature.ErrMismatch},
		{"another id", putting("id", "dir_1"), signature.ErrMismatch},
		{"a body more", putting("body", "now"), signature.ErrMismatch},
		{"another's key", forged, signature.ErrMismatch},
		{"no signature", func(e element) element { delete(e, "signature"); return e }, signature.ErrMalformed},
		{"a signature that is none", func(e element) element { e["signature"] = json.RawMessage(`"t=1"`); return e }, signature.ErrMalformed},
		{"a state beside what is signed", putting("state", 1), client.ErrMisshapen},
		{"a request beside what is signed", putting("request", map[string]any{"mode": "confirm"}), client.ErrMisshapen},
		{"a time that is none", putting("expires_at", "tomorrow"), client.ErrMisshapen},
		{"a directive with the shape of a response", putting("type", nil, "in_reply_to", "msg_1", "resolution_id", "res_1", "resolution",
			"declined", "agent", map[string]any{"id": "a", "run_id": "r"}, "response", map[string]any{"actor": "human:ada",
				"resolved_at": "2026-03-01T10:00:00Z"}), client.ErrMisshapen},
		{"a directive as a message", called("message"), signature.ErrMismatch},
		{"a directive as a response", called("response"), client.ErrMisshapen},
		{"of a kind to come", called("summons"), client.ErrMisshapen},
		{"of two kinds", func(e element) element { e["receipt"] = e["directive"]; return e }, client.ErrMisshapen},
		{"no object", func(e element) element { e["directive"] = json.RawMessage(`7`); return e }, client.ErrMisshapen},
	} {
		t.Run(c.name, func(t *testing.T) { //nolint:paralleltest // each case takes the one directive that waits
			id := p.direct(t, "agent:team/helper")
			b := through(p.helperMail, between(t, p.owner.URL, "", c.meddle))
			got, err := b.Drain(t.Context(), client.DrainOptions{})
			if err != nil || len(got.Entries) != 0 || len(got.Refused) != 1 || !errors.Is(got.Refused[0], c.want) {
				t.Fatalf("Drain = %+v, %v, want a refusal for %v", got, err, c.want)
			}
			if d, err := p.owner.ReadDirective(t.Context(), id); err != nil || d.Mailbox.State != ma2h.TrackDelivered {
				t.Errorf("ReadDirective = %+v, %v, want it to wait for its ack", d, err)
			}
		})
	}
}

// A type that is none of a kind's own must not carry an entry past the check of another kind's signature.
func TestAMessageUnderAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	for what, meddle := range map[string]func(element) element{
		// Context, digest and shape of the two kinds differ; what is unsigned may be set at will.
		"as a directive": func(e element) element { return called("directive")(putting("type", "directive")(e)) },
		"beside another": func(e element) element { e["directive"] = json.RawMessage(`{}`); return e },
	} {
		p.ask(t, "agent:team/helper")
		got, err := through(p.helperMail, between(t, p.owner.URL, "", meddle)).Drain(t.Context(), client.DrainOptions{})
		if err != nil || len(got.Entries) != 0 || len(got.Refused) != 1 {
			t.Errorf("%s: Drain = %+v, %v, want a refusal", what, got, err)
		}
	}
}

func TestADeliveryIsTakenOnce(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	var mu sync.Mutex
	var kept element
	b := through(p.helperMail, between(t, p.owner.URL, "", func(e element) element {
		mu.Lock()
		defer mu.Unlock()
		if kept == nil {
			kept = e
		}
		return kept
	}))
	for _, replayed := range []bool{false, true} {
		p.direct(t, "agent:team/helper")
		got, err := b.Drain(t.Context(), client.DrainOptions{})
		if err != nil {
			t.Fatal(err)
		}
		refused := len(got.Entries) == 0 && len(got.Refused) == 1 && errors.Is(got.Refused[0], signature.ErrReplayed)
		if refused != replayed {
			t.Errorf("Drain = %+v, want replayed: %v", got, replayed)
		}
	}
}

func TestAnOldDeliveryIsRefused(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	for _, c := range []struct {
		off  time.Duration
		want error
	}{{-signature.Window - 2*time.Second, signature.ErrWindow}, {signature.Window + 2*time.Second, signature.ErrWindow}, {time.Minute, nil}} {
		p.direct(t, "agent:team/helper")
		late := client.New(p.owner.URL, p.helper.Token)
		late.Now = func() time.Time { return time.Now().Add(c.off) }
		got, err := (&client.Mailbox{Client: late}).Drain(t.Context(), client.DrainOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Entries) == 1 != (c.want == nil) || c.want != nil && !errors.Is(errors.Join(got.Refused...), c.want) {
			t.Errorf("Drain %v later = %+v, want %v", c.off, got, c.want)
		}
	}
}

// What is signed for one session of an agent is not for another (spec §13.4).
func TestAnEntryOfAnotherSessionIsRefused(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	later, _ := registered(t, p.helper)
	b := through(later, between(t, p.owner.URL, p.helperSession.ID, nil))
	for _, c := range []struct {
		what string
		send func()
		want error
	}{
		{"a directive", func() { p.direct(t, "agent:team/helper#"+p.helperSession.ID) }, client.ErrMisaddressed},
		{"a message", func() { p.ask(t, "agent:team/helper#"+p.helperSession.ID) }, client.ErrMisaddressed},
		{"a response", func() { p.answered(t) }, signature.ErrMismatch},
	} {
		c.send()
		got, err := b.Drain(t.Context(), client.DrainOptions{})
		if err != nil || len(got.Entries) != 0 || len(got.Refused) != 1 || !errors.Is(got.Refused[0], c.want) {
			t.Errorf("%s of another session: Drain = %+v, %v, want %v", c.what, got, err, c.want)
		}
	}
	// The agent's own is for each of its sessions.
	p.direct(t, "agent:team/helper")
	only[*client.DirectiveEntry](t, b)
}

// answered asks the owner under the helper's session, and answers.
func (p *pair) answered(t *testing.T) {
	t.Helper()
	ack, err := p.helper.Ask(t.Context(), ma2h.Message{
		Agent: ma2h.Agent{Session: p.helperSession.ID}, Title: "?", Request: &ma2h.Request{Mode: ma2h.ModeConfirm},
	})
	if err == nil {
		_, err = p.owner.Resolve(t.Context(), ack.ID, ma2h.Resolve{Resolution: ma2h.StatusDeclined})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An entry that was claimed and cannot be verified is lost for a while, so keys come first.
func TestWithoutTheHubsKeysNothingIsTaken(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	id := p.direct(t, "agent:team/helper")
	target, err := url.Parse(p.owner.URL)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	keyless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "jwks.json") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(keyless.Close)
	b := through(p.helperMail, keyless.URL)
	b.Client.Patience = -1
	if _, err := b.Drain(t.Context(), client.DrainOptions{}); !errors.Is(err, client.ErrNoKeys) {
		t.Errorf("Drain = %v, want %v", err, client.ErrNoKeys)
	}
	if e := only[*client.DirectiveEntry](t, p.helperMail); e.Key() != id {
		t.Errorf("Drain = %s, want %s", e.Key(), id)
	}
}

// Of a hub that signs by hmac-sha256 no keys are fetched.
func TestEntriesUnderASharedSecret(t *testing.T) {
	t.Parallel()
	const body = `{"ma2h_version":"0.4","type":"directive","id":"d1","from":"human:ada","to":"agent:a#b","created_at":"2026-03-01T10:00:00Z","title":"Stop"}`
	covered, err := signature.Directive([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	value, err := covered.Sign(signature.HMAC("shared"), time.Now(), "jti_1")
	if err != nil {
		t.Fatal(err)
	}
	hub := serve(map[string]string{"GET /v1/inbox": `{"messages":[{"directive":` + body + `,"signature":"` + signature.Line(value) + `"}]}`})
	t.Cleanup(hub.Close)
	c := client.New(hub.URL, "mash_token")
	c.Agent.ID = "a#b" // an id of before 0.5
	got, err := (&client.Mailbox{Client: c, Secrets: []string{"old", "shared"}}).Drain(t.Context(), client.DrainOptions{})
	if err != nil || len(got.Entries) != 1 || string(got.Entries[0].Content()) != body {
		t.Errorf("Drain = %+v, %v", got, err)
	}
}

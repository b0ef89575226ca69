package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// exampleTold is a directive to this address as a hub pushes it.
func exampleTold(to string) string {
	return fmt.Sprintf(`{"ma2h_version":"0.6","type":"directive","id":"dir_1","from":"human:ada","to":%q,`+
		`"created_at":"2026-03-01T10:00:00Z","title":"Do not deploy on Friday"}`, to)
}

// pushed is a push of this body, signed as a directive under the key of the examples.
func pushed(body string) *http.Request {
	covered, _ := signature.Directive([]byte(body))
	value, _ := covered.Sign(signature.HMAC(exampleKey), time.Now(), ma2h.NewID(ma2h.PrefixNonce))
	r := httptest.NewRequest(http.MethodPost, "/told", strings.NewReader(body))
	r.Header.Set(signature.HeaderName, value)
	return r
}

// An agent that can be called acts once for what is pushed, acknowledges it, and answers 2xx.
func ExampleMailbox_Receive() {
	hub := serve(map[string]string{"GET /v1/me": exampleMe, "POST /v1/inbox/ack": `{"acked":1,"acks":[` + exampleAck + `]}`})
	defer hub.Close()
	box := &client.Mailbox{Client: client.New(hub.URL, "mash_token"), Secrets: []string{exampleKey}} // Mash needs no Secrets
	var acted client.Acted
	told := func(w http.ResponseWriter, r *http.Request) {
		entry, err := box.Receive(r)
		switch {
		case errors.Is(err, client.ErrUnread), errors.Is(err, client.ErrNoKeys):
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		case err != nil:
			http.Error(w, "refused", http.StatusForbidden)
			return
		}
		err = acted.DoEntry(entry, func() error {
			fmt.Println(entry.From, "says:", entry.Title)
			return nil
		})
		if err == nil {
			_, err = box.Ack(r.Context(), "On it.", entry)
		}
		if err != nil {
			http.Error(w, "later", http.StatusServiceUnavailable) // it comes again
		}
	}
	again := pushed(exampleTold("agent:ci/build"))
	for _, r := range []*http.Request{pushed(exampleTold("agent:ci/build")), again, pushed(exampleTold("agent:other"))} {
		w := httptest.NewRecorder()
		told(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// human:ada says: Do not deploy on Friday
	// 200
	// 200
	// 403
}

// TestWhatIsPushedAndIsNoDirectiveOfItsAgentIsRefused: whoever can reach the webhook may send it anything (spec §13.4).
func TestWhatIsPushedAndIsNoDirectiveOfItsAgentIsRefused(t *testing.T) {
	t.Parallel()
	hub := serve(map[string]string{"GET /v1/me": exampleMe, "GET /.well-known/jwks.json": `{"keys":[]}`})
	t.Cleanup(hub.Close)
	const mine = "agent:ci/build"
	with := func(change func(r *http.Request)) *http.Request {
		r := pushed(exampleTold(mine))
		change(r)
		return r
	}
	twice := func(r *http.Request) { r.Header.Add(signature.HeaderName, r.Header.Get(signature.HeaderName)) }
	other := pushed(exampleTold(mine)).Header.Get(signature.HeaderName)
	signed := func(r *http.Request) { r.Header.Set(signature.HeaderName, other) }
	for what, c := range map[string]struct {
		r    *http.Request
		want error // nil for none
	}{
		"a directive":                         {pushed(exampleTold(mine)), nil},
		"another agent's":                     {pushed(exampleTold("agent:other")), client.ErrMisaddressed},
		"for a session":                       {pushed(exampleTold(mine + "#sess_1")), client.ErrMisaddressed},
		"with a state":                        {pushed(strings.Replace(exampleTold(mine), "{", `{"state":1,`, 1)), client.ErrMisshapen},
		"with a title it was not signed with": {tampered(mine, signed), signature.ErrMismatch},
		"with two signatures":                 {with(twice), signature.ErrMalformed},
		"with none":                           {with(func(r *http.Request) { r.Header.Del(signature.HeaderName) }), signature.ErrMalformed},
	} {
		box := &client.Mailbox{
			Client: client.New(hub.URL, "mash_token"), Session: "sess_1", Secrets: []string{exampleKey},
		}
		if got, err := box.Receive(c.r); !errors.Is(err, c.want) || (err == nil) != (got != nil) {
			t.Errorf("Receive of %s = %+v, %v, want %v", what, got, err, c.want)
		}
	}
}

func tampered(to string, signed func(*http.Request)) *http.Request {
	r := pushed(strings.Replace(exampleTold(to), "Do not deploy", "Deploy", 1))
	signed(r)
	return r
}

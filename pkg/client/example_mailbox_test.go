package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// serveMailbox is serve for a hub with one directive in the mailbox of ci/build, signed under a key of its own.
func serveMailbox(answers map[string]string) (hubURL string, end func()) {
	const directive = `{"ma2h_version":"0.6","type":"directive","id":"dir_1","from":"human:ada","to":"agent:ci/build",` +
		`"created_at":"2026-03-01T10:00:00Z","title":"Do not deploy on Friday"}`
	covered, _ := signature.Directive([]byte(directive))
	value, _ := covered.Sign(signature.HMAC(exampleKey), time.Now(), ma2h.NewID(ma2h.PrefixNonce))
	line, _ := json.Marshal(signature.Line(value))
	answers["GET /v1/me"] = exampleMe
	answers["GET /v1/inbox"] = fmt.Sprintf(`{"messages":[{"directive":%s,"signature":%s}]}`, directive, line)
	hub := serve(answers)
	return hub.URL, hub.Close
}

const (
	exampleKey     = "a-key-of-the-examples-and-nobody-else"
	exampleSession = `{"session":{"id":"sess_1","agent_id":"ci/build","state":"active","created_at":"2026-03-01T10:00:00Z","expires_at":"2026-03-01T10:15:00Z"}}`
	exampleAck     = `{"ma2h_version":"0.6","type":"ack","in_reply_to":"dir_1","by":"agent:ci/build","acked_at":"2026-03-01T10:01:00Z","note":"On it."}`
)

// An agent takes what waits for it, acts once for each entry, and acknowledges that.
func ExampleMailbox() {
	url, end := serveMailbox(map[string]string{
		"POST /v1/sessions":          exampleSession,
		"POST /v1/inbox/ack":         `{"acked":1,"acks":[` + exampleAck + `]}`,
		"DELETE /v1/sessions/sess_1": exampleSession,
	})
	defer end()
	ctx := context.Background()

	c := client.New(url, "mash_token")
	session, err := c.Register(ctx, client.Registration{Label: "night build"})
	if err != nil {
		fmt.Println(err)
		return
	}
	box := &client.Mailbox{Client: c, Session: session.ID, Secrets: []string{exampleKey}} // Mash needs no Secrets
	box.Policy = client.AllowAgents("planner")                                            // whose asks and tasks it takes
	var acted client.Acted
	drained, err := box.Drain(ctx, client.DrainOptions{Wait: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, why := range drained.Refused {
		fmt.Println("refused:", why)
	}
	for _, entry := range drained.Entries {
		err := acted.DoEntry(entry, func() error {
			switch e := entry.(type) {
			case *client.DirectiveEntry:
				fmt.Println(e.From, "says:", e.Title)
			case *client.MessageEntry:
				fmt.Println(e.From, "writes:", e.Title) // and for an ask: box.Resolve(ctx, e.ID, …)
			case *client.ResponseEntry:
				fmt.Println(e.InReplyTo, "ended as", e.Resolution)
			case *client.ReceiptEntry:
				fmt.Println(e.InReplyTo, "was not delivered")
			}
			return nil
		})
		if err != nil {
			continue // it comes again
		}
		done, err := box.Ack(ctx, "On it.", entry)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(done.Acks[0].InReplyTo, "acknowledged:", done.Acks[0].Note)
	}
	_, _ = c.CloseSession(ctx, session.ID)
	// Output:
	// human:ada says: Do not deploy on Friday
	// dir_1 acknowledged: On it.
}

func ExampleClient_Register() {
	hub := serve(map[string]string{"POST /v1/sessions": exampleSession})
	defer hub.Close()
	session, err := client.New(hub.URL, "mash_token").Register(context.Background(), client.Registration{TTL: 15 * time.Minute})
	fmt.Println(session.ID, session.State, err)
	// Output: sess_1 active <nil>
}

func ExampleClient_SetAllowlist() {
	hub := serve(map[string]string{"PUT /v1/settings": "{}", "POST /v1/allowlists": "{}"})
	defer hub.Close()
	ctx := context.Background()

	owner := client.New(hub.URL, "mashp_token")
	fmt.Println(owner.AllowMail(ctx))
	fmt.Println(owner.SetAllowlist(ctx, "deploybot", []string{"planner"}))
	// Output:
	// <nil>
	// <nil>
}

package main

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// demoQuestion is a question as an agent should ask it: what is to be decided, what is known, what each answer leads to,
// what happens without one, and where the answer goes.
func demoQuestion(owner, callback string, expires time.Time) ma2h.Message {
	return ma2h.Message{
		Title: "Deploy version 1.4.0 to production?",
		Body: "All **412 tests** pass, and staging has run it for a day without an error.\n\n" +
			"It changes how the *checkout* computes shipping, so a mistake would show in orders. " +
			"I would begin with 5 % of the traffic and go back by myself if errors rise above 0.5 %.",
		Priority: "high",
		Tags:     []string{"deploy", "production"},
		Context: []ma2h.Part{{Kind: "data", Data: jsontext.Value(
			`{"version":"1.4.0","now_running":"1.3.2","tests":{"passed":412,"failed":0},` +
				`"changes":["shipping costs in the checkout","faster search"],"way_back":"one command, about 40 s"}`)}},
		ExpiresAt: ma2h.FormatTime(expires.Truncate(time.Millisecond)),
		Request: &ma2h.Request{
			Mode: ma2h.ModeSelect,
			Options: []ma2h.Option{
				{Value: "approve", Label: "Deploy now", Description: "5 % of the traffic first, all of it after ten quiet minutes"},
				{Value: "hold", Label: "Hold", Description: "1.3.2 stays; I ask again tomorrow"},
			},
			DefaultOnExpire:  jsontext.Value(`"hold"`),
			AllowedResolvers: []string{owner},
			Callback: &ma2h.Callback{
				URL: callback, Auth: &ma2h.CallbackAuth{Scheme: ma2h.SchemeHMAC, SecretRef: hub.PushSecretRef},
			},
		},
	}
}

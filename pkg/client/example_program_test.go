package client_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// What follows up to Example stands in the package comment too, letter by letter: TestThePackageCommentCompiles.

func main() {
	ctx := context.Background()
	c := client.New(os.Getenv("MASH_URL"), os.Getenv("MASH_TOKEN"))
	ack, err := c.Ask(ctx, ma2h.Message{
		Title:     "Deploy 1.4 now?",
		Body:      "All tests pass.",
		Request:   &ma2h.Request{Mode: ma2h.ModeConfirm},
		ExpiresAt: ma2h.FormatTime(time.Now().Add(time.Hour)),
	})
	if err != nil {
		log.Fatal(err)
	}
	response, err := c.Wait(ctx, ack.ID)
	if err != nil {
		log.Fatal(err)
	}
	switch value, answered := client.Choice(response); {
	case answered && value == "approve":
		fmt.Println(response.Response.Actor, "approved; deploying")
	case answered:
		fmt.Println(response.Response.Actor, "said no")
	default:
		fmt.Println("no answer:", response.Resolution) // declined, expired or cancelled
	}
}

const answersURL = "https://agent.example/answers" // as the hub reaches it

func withCallback(r *ma2h.Request) *ma2h.Request {
	r.Callback = &ma2h.Callback{
		URL:  answersURL,
		Auth: &ma2h.CallbackAuth{Scheme: ma2h.SchemeHMAC, SecretRef: "env:MASH_PUSH_SECRET"},
	}
	return r
}

func answers() http.Handler { // to be served at answersURL
	v := &client.Verifier{Secrets: []string{os.Getenv("MASH_PUSH_SECRET")}, URL: answersURL}
	return v.Handler(func(_ context.Context, r *ma2h.Response) error {
		value, answered := client.Choice(r)
		fmt.Println(r.InReplyTo, value, answered)
		return nil // it was acted on, and need not come again
	})
}

// The program of the package comment, and a hub whose owner approves.
func Example() {
	hub := serve(map[string]string{
		"GET /v1/me":             exampleMe,
		"POST /v1/messages":      ackBody,
		"GET /v1/messages/msg_1": answeredBody,
	})
	defer hub.Close()
	_ = os.Setenv("MASH_URL", hub.URL)
	_ = os.Setenv("MASH_TOKEN", "mash_token")
	main()
	// Output: human:ada approved; deploying
}

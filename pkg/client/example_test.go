package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// serve starts a hub that gives each request, by method and path, its answer.
func serve(answers map[string]string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.Method+" "+r.URL.EscapedPath()]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if r.Method == http.MethodPost && r.URL.Path == "/v1/messages" {
			w.WriteHeader(http.StatusAccepted)
		}
		_, _ = io.WriteString(w, body)
	}))
}

const exampleMe = `{"actor":"agent:ci/build","agent_id":"ci/build","owner":"human:ada"}`

func ExampleClient_Ask() {
	hub := serve(map[string]string{
		"GET /v1/me":             exampleMe,
		"POST /v1/messages":      ackBody,
		"GET /v1/messages/msg_1": answeredBody,
	})
	defer hub.Close()
	ctx := context.Background()

	c := client.New(hub.URL, "mash_token")
	ack, err := c.Ask(ctx, ma2h.Message{
		Title:    "Deploy 1.4 now?",
		Body:     "All tests pass. The migration takes a minute.",
		Priority: "high",
		Request: &ma2h.Request{
			Mode:            ma2h.ModeSelect,
			Options:         []ma2h.Option{{Value: "approve"}, {Value: "hold", Label: "Hold until Monday"}},
			DefaultOnExpire: jsontext.Value(`"hold"`),
		},
		ExpiresAt: ma2h.FormatTime(time.Now().Add(time.Hour)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := c.Wait(ctx, ack.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	if value, ok := client.Choice(response); ok {
		fmt.Println(response.Response.Actor, "chose", value)
	}
	// Output: human:ada chose approve
}

func ExampleClient_Notify() {
	hub := serve(map[string]string{"GET /v1/me": exampleMe, "POST /v1/messages": `{"id":"msg_2","status":"delivered","poll_url":"u"}`})
	defer hub.Close()
	ack, err := client.New(hub.URL, "mash_token").Notify(context.Background(), ma2h.Message{Title: "Deployed 1.4"})
	fmt.Println(ack.ID, ack.Status, err)
	// Output: msg_2 delivered <nil>
}

func ExampleClient_Task() {
	hub := serve(map[string]string{"GET /v1/me": exampleMe, "POST /v1/messages": ackBody})
	defer hub.Close()
	ack, err := client.New(hub.URL, "mash_token").Task(context.Background(), ma2h.Message{
		Title:  "Rotate the staging certificate",
		Action: &ma2h.Action{Instructions: "Renew it and load it.", Checklist: []ma2h.ChecklistItem{{Text: "renewed"}, {Text: "loaded"}}},
	})
	fmt.Println(ack.ID, ack.Status, err)
	// Output: msg_1 open <nil>
}

// What must survive a crash between the decision to ask and the hub's answer is written down before it is sent.
func ExampleClient_Prepare() {
	hub := serve(map[string]string{"GET /v1/me": exampleMe, "POST /v1/messages": ackBody})
	defer hub.Close()
	ctx := context.Background()

	c := client.New(hub.URL, "mash_token")
	envelope, err := c.Prepare(ctx, ma2h.Message{
		Type: ma2h.TypeAsk, Title: "Deploy?", Request: &ma2h.Request{Mode: ma2h.ModeConfirm},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Keep envelope on disk here. After a crash, begin here.
	ack, err := c.Send(ctx, envelope)
	fmt.Println(ack.ID, err)
	// Output: msg_1 <nil>
}

func ExampleClient_Pull() {
	hub := serve(map[string]string{"GET /v1/messages/msg_1": answeredBody})
	defer hub.Close()
	p, err := client.New(hub.URL, "mash_token").Pull(context.Background(), "msg_1")
	fmt.Println(p.Status, p.Open(), err)

	_, err = client.New(hub.URL, "mash_token").Pull(context.Background(), "msg_2")
	fmt.Println(ma2h.AsError(err).Code)
	// Output:
	// answered false <nil>
	// not_found
}

func ExampleClient_Cancel() {
	hub := serve(map[string]string{"POST /v1/messages/msg_1/cancel": `{"id":"msg_1","status":"cancelled"}`})
	defer hub.Close()
	done, err := client.New(hub.URL, "mash_token").Cancel(context.Background(), "msg_1")
	fmt.Println(done.Status, err)
	// Output: cancelled <nil>
}

func ExampleClient_Resolve() {
	hub := serve(map[string]string{"POST /v1/messages/msg_1/resolve": `{"id":"msg_1","status":"answered","resolution_id":"res_1"}`})
	defer hub.Close()
	done, err := client.New(hub.URL, "mashp_token").Resolve(context.Background(), "msg_1", ma2h.Resolve{
		Resolution: ma2h.StatusAnswered, Value: jsontext.Value(`"approve"`), Comment: "Go ahead.",
	})
	fmt.Println(done.Status, done.ResolutionID, err)
	// Output: answered res_1 <nil>
}

func ExampleClient_Ack() {
	hub := serve(map[string]string{"POST /v1/messages/msg_1/ack": `{"ma2h_version":"0.6","type":"ack","in_reply_to":"msg_1","by":"agent:ci/build","acked_at":"2026-03-01T10:01:00Z"}`})
	defer hub.Close()
	done, err := client.New(hub.URL, "mash_token").Ack(context.Background(), "msg_1", ma2h.AckRequest{Note: "Deploying."})
	fmt.Println(done.By, done.AckedAt, err)
	// Output: agent:ci/build 2026-03-01T10:01:00Z <nil>
}

func ExampleClient_Discover() {
	hub := serve(map[string]string{"GET /.well-known/ma2h": `{"ma2h_version":"0.6","callback_auth_schemes":["hmac"]}`})
	defer hub.Close()
	capability, err := client.New(hub.URL, "").Discover(context.Background())
	fmt.Println(capability.Version, capability.CallbackAuthSchemes, err)
	// Output: 0.6 [hmac] <nil>
}

func ExampleClient_AddAgent() {
	hub := serve(map[string]string{"POST /v1/agents": `{"id":"ci/build","token":"mash_1","push_secret":"mashs_1","secret_ref":"env:MASH_PUSH_SECRET"}`})
	defer hub.Close()
	made, err := client.New(hub.URL, "mashp_token").AddAgent(context.Background(), "ci/build")
	fmt.Println(made.ID, made.Token, made.SecretRef, err)
	// Output: ci/build mash_1 env:MASH_PUSH_SECRET <nil>
}

func ExampleClient_Waiting() {
	hub := serve(map[string]string{"GET /v1/waiting": `{"waiting":[{"id":"msg_1","type":"ask","title":"Deploy?","agent_id":"ci/build","status":"open"}]}`})
	defer hub.Close()
	list, err := client.New(hub.URL, "mashp_token").Waiting(context.Background())
	for _, m := range list {
		fmt.Println(m.AgentID, "asks:", m.Title)
	}
	fmt.Println(err)
	// Output:
	// ci/build asks: Deploy?
	// <nil>
}

func ExampleVerifier_Handler() {
	_ = os.Setenv("MASH_PUSH_SECRET", "mashs_secret")
	callback, _ := json.Marshal(withCallback(&ma2h.Request{Mode: ma2h.ModeConfirm}).Callback)
	fmt.Printf("%s\n", callback)

	handler := answers()
	for range 2 { // The hub signs and sends; it may do so twice.
		ctx, _ := signature.Response([]byte(pushBody), answersURL)
		header, _ := ctx.Sign(signature.HMAC("mashs_secret"), time.Now(), ma2h.NewID(ma2h.PrefixNonce))
		push := httptest.NewRequest(http.MethodPost, "/answers", strings.NewReader(pushBody))
		push.Header.Set(signature.HeaderName, header)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, push)
		fmt.Println(answer.Code)
	}
	// Output:
	// {"url":"https://agent.example/answers","auth":{"scheme":"hmac","secret_ref":"env:MASH_PUSH_SECRET"}}
	// msg_1 approve true
	// 204
	// 204
}

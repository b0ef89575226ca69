package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// startHub runs a whole hub and returns a client of its owner.
func startHub(t *testing.T, allow ...string) *client.Client {
	t.Helper()
	folder := localhub.Folder(t.TempDir())
	server, err := localhub.Open(t.Context(), localhub.Config{
		Folder: folder, Listen: "127.0.0.1:0", Owner: "ada", AllowCallback: allow,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the hub ended with %v", err)
		}
	})
	token, err := folder.OwnerToken()
	if err != nil {
		t.Fatal(err)
	}
	return client.New(server.URL, token)
}

func TestAnAskIsAnsweredOverAHub(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	pushed := make(chan *ma2h.Response, 1)
	v := &client.Verifier{}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.Handler(func(_ context.Context, r *ma2h.Response) error {
			pushed <- r
			return nil
		}).ServeHTTP(w, r)
	}))
	t.Cleanup(receiver.Close)
	owner := startHub(t, strings.TrimPrefix(receiver.URL, "http://"))
	made, err := owner.AddAgent(ctx, "deploybot/dev team#1")
	if err != nil {
		t.Fatal(err)
	}
	v.Secrets, v.URL = []string{made.PushSecret}, receiver.URL+"/ma2h?x=1"

	agent := client.New(owner.URL, made.Token)
	ack, err := agent.Ask(ctx, ma2h.Message{
		Title: "Deploy?", State: jsontext.Value(`{"n":1e21,"big":9007199254740993}`),
		Request: &ma2h.Request{
			Mode:     ma2h.ModeConfirm,
			Callback: &ma2h.Callback{Mode: "push", URL: v.URL, Auth: &ma2h.CallbackAuth{Scheme: ma2h.SchemeHMAC, SecretRef: made.SecretRef}},
		},
	})
	if err != nil || len(ack.Warnings) != 1 {
		t.Fatalf("Ask = %+v, %v", ack, err)
	}
	waiting, err := owner.Waiting(ctx)
	if err != nil || len(waiting) != 1 || waiting[0].ID != ack.ID || !waiting[0].MayResolve {
		t.Fatalf("Waiting = %+v, %v", waiting, err)
	}
	if reading, err := owner.Read(ctx, ack.ID); err != nil || reading.Message.Title != "Deploy?" || reading.Message.State != nil {
		t.Errorf("Read = %+v, %v", reading, err)
	}
	answer := ma2h.Resolve{Resolution: ma2h.StatusAnswered, Value: jsontext.Value(`"approve"`)}
	if _, err := owner.Resolve(ctx, ack.ID, answer); err != nil {
		t.Fatal(err)
	}
	waited, err := agent.Wait(ctx, ack.ID)
	if value, ok := client.Choice(waited); err != nil || !ok || value != "approve" || waited.Response.Actor != "human:ada" {
		t.Fatalf("Wait = %+v, %v", waited, err)
	}
	select {
	case r := <-pushed:
		if r.ResolutionID != waited.ResolutionID || string(r.State) != string(waited.State) {
			t.Errorf("pushed %+v, waited for %+v", r, waited)
		}
	case <-ctx.Done():
		t.Fatal("nothing was pushed")
	}
	if got, err := agent.Ack(ctx, ack.ID, ma2h.AckRequest{Note: "Deploying."}); err != nil || got.By != "agent:deploybot/dev team#1" {
		t.Errorf("Ack = %+v, %v", got, err)
	}
	if _, err := agent.Cancel(ctx, ack.ID); ma2h.AsError(err) == nil || ma2h.AsError(err).Terminal == nil {
		t.Errorf("Cancel of an answered ask = %v, want already_terminal and what stands", err)
	}
	if _, err := owner.Resolve(ctx, ack.ID, answer); ma2h.AsError(err) == nil || ma2h.AsError(err).Code != ma2h.CodeAlreadyTerminal {
		t.Errorf("a second Resolve = %v, want already_terminal", err)
	}
}

func TestPeopleManageAgentsOverAHub(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	owner := startHub(t)
	const id = "a/b#c%3Fd e.."
	made, err := owner.AddAgent(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if me, err := client.New(owner.URL, made.Token).Me(ctx); err != nil || me.AgentID != id || me.Owner != "human:ada" {
		t.Errorf("Me = %+v, %v", me, err)
	}
	next, err := owner.RotateAgent(ctx, id)
	if err != nil || next.Token == made.Token {
		t.Fatalf("RotateAgent = %+v, %v", next, err)
	}
	if list, err := owner.ListAgents(ctx); err != nil || len(list) != 1 || list[0].Credentials != 2 {
		t.Errorf("ListAgents = %+v, %v", list, err)
	}
	if err := owner.SetDefaultResolvers(ctx, []string{"human:ada"}); err != nil {
		t.Errorf("SetDefaultResolvers = %v", err)
	}
	if link, err := owner.Link(ctx); err != nil || !strings.HasPrefix(link, owner.URL+"/") {
		t.Errorf("Link = %s, %v", link, err)
	}
	if _, err := client.New(owner.URL, made.Token).Link(ctx); ma2h.AsError(err) == nil || ma2h.AsError(err).Code != ma2h.CodeNotAuthorized {
		t.Errorf("Link by an agent = %v, want not_authorized", err)
	}
	if err := owner.RevokeAgent(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := client.New(owner.URL, next.Token).Notify(ctx, ma2h.Message{Title: "t", Agent: ma2h.Agent{ID: id}}); ma2h.AsError(err) == nil || ma2h.AsError(err).Code != ma2h.CodeUnauthenticated {
		t.Errorf("Notify by a revoked agent = %v, want unauthenticated", err)
	}
	if c, err := owner.Discover(ctx); err != nil || c.Version != ma2h.Newest || !c.Ack.Enabled {
		t.Errorf("Discover = %+v, %v", c, err)
	}
}

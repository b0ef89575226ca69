// Command smoke asks one question at a deployed hub and follows it to its end: an agent asks, the owner answers, the answer
// is pushed and verified, pulled and acknowledged. Then the owner tells the agent two things, one of which is pushed and one
// drained, to their acknowledgements. It prints a line for each step, for a person.
//
//	smoke .tools/aws-stack.json
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// patience is how long everything may take.
const patience = time.Minute

// stack is what the file of awsdeploy says that is needed here.
type stack struct {
	URL      string `json:"url"`
	Token    string `json:"token"`
	Callback string `json:"callback"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: smoke FILE of a deployed stack")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(file string) error {
	text, err := os.ReadFile(file) //nolint:gosec // G304: whoever runs it names the file
	if err != nil {
		return err
	}
	var s stack
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.smoke(ctx)
}

// say prints a step.
func say(step, format string, args ...any) {
	fmt.Printf("  %-10s %s\n", step, fmt.Sprintf(format, args...))
}

func (s stack) smoke(ctx context.Context) error {
	owner := client.New(s.URL, s.Token)
	owner.Patience = -1 // a stack that is gone is told at once
	me, err := owner.Me(ctx)
	if err != nil {
		return fmt.Errorf("no hub knows this owner at %s any more; run make aws-deploy (%w)", s.URL, err)
	}
	owner.Patience = 0
	say("hub", "%s, of %s", s.URL, me.Owner)
	made, err := owner.AddAgent(ctx, "smoke-"+ma2h.NewTail()[:8])
	if err != nil {
		return err
	}
	say("agent", "%s", made.ID)
	agent := client.New(s.URL, made.Token)
	box := &client.Mailbox{Client: agent}
	pushed, told, stop, err := s.receive(ctx, made.PushSecret, box)
	if err != nil {
		return err
	}
	defer stop()
	ack, err := agent.Ask(ctx, s.question(made))
	if err != nil {
		return err
	}
	say("asked", "%s", ack.ID)
	say("inbox", "%s", ack.ReviewURL)
	if err := s.answer(ctx, owner, agent, ack.ID, pushed); err != nil {
		return err
	}
	return s.tell(ctx, owner, box, made.ID, told)
}

// Where the hub may push: answers, and what the agent is told.
func (s stack) path() string    { return "http://" + s.Callback + "/smoke" }
func (s stack) webhook() string { return "http://" + s.Callback + "/told" }

func (s stack) question(made *client.NewCredentials) ma2h.Message {
	return ma2h.Message{
		Title:     "Is this hub well?",
		ExpiresAt: ma2h.FormatTime(time.Now().Add(2 * patience)),
		Request: &ma2h.Request{Mode: ma2h.ModeConfirm, Callback: &ma2h.Callback{
			URL: s.path(), Auth: &ma2h.CallbackAuth{Scheme: ma2h.SchemeHMAC, SecretRef: made.SecretRef},
		}},
	}
}

// receive listens where the hub may push, and hands on what verifies.
func (s stack) receive(
	ctx context.Context, secret string, box *client.Mailbox,
) (<-chan *ma2h.Response, <-chan *client.DirectiveEntry, func(), error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Callback)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("listen where the hub may push: %w", err)
	}
	pushed, told, paths := make(chan *ma2h.Response, 1), make(chan *client.DirectiveEntry, 1), http.NewServeMux()
	verifier := &client.Verifier{Secrets: []string{secret}, URL: s.path()}
	paths.Handle("/smoke", verifier.Handler(func(_ context.Context, r *ma2h.Response) error {
		pushed <- r
		return nil
	}))
	paths.HandleFunc("/told", func(w http.ResponseWriter, r *http.Request) {
		e, err := box.Receive(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		told <- e
	})
	server := &http.Server{ReadHeaderTimeout: patience, Handler: paths}
	go func() { _ = server.Serve(listener) }()
	return pushed, told, func() { _ = server.Close() }, nil
}

// answer answers as the owner, and compares what comes to the agent by push and by pull.
func (s stack) answer(ctx context.Context, owner, agent *client.Client, id string, pushed <-chan *ma2h.Response) error {
	began := time.Now()
	done, err := owner.Resolve(ctx, id, ma2h.Resolve{Resolution: ma2h.StatusAnswered, Value: []byte(`"approve"`)})
	if err != nil {
		return err
	}
	say("answered", "approve, as %s", done.ResolutionID)
	var push *ma2h.Response
	select {
	case push = <-pushed:
	case <-ctx.Done():
		return errors.New("the answer was not pushed in time")
	}
	say("pushed", "after %d ms, and its signature is good", time.Since(began).Milliseconds())
	pulled, err := agent.Wait(ctx, id)
	if err != nil {
		return err
	}
	value, _ := client.Choice(pulled)
	if value != "approve" || pulled.ResolutionID != done.ResolutionID || push.ResolutionID != done.ResolutionID {
		return fmt.Errorf("pushed was %+v and pulled %+v; want approve as %s", push, pulled, done.ResolutionID)
	}
	say("pulled", "%s by %s, the same answer", value, pulled.Response.Actor)
	ack, err := agent.Ack(ctx, id, ma2h.AckRequest{Note: "Good to know."})
	if err != nil {
		return err
	}
	say("acked", "at %s", ack.AckedAt)
	return nil
}

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// callbackFD is the file descriptor under which the agent inherits the listening port of its callback.
const callbackFD = 3

// demoAgent is the agent of the demo: a process that has its token, its push secret and its own port, and nothing else.
type demoAgent struct {
	*program
	client   *client.Client
	verifier *client.Verifier
	pushes   chan push
}

// push is a delivery that verified.
type push struct {
	header   string
	body     []byte
	response *ma2h.Response
	at       time.Time
}

func demoAgentCommand(flags *flag.FlagSet) action {
	expires := flags.Duration("expires", 10*time.Minute, "")
	return func(ctx context.Context, p *program, _ []string) error {
		c, err := p.agentClient()
		if err != nil {
			return err
		}
		listener, err := net.FileListener(os.NewFile(callbackFD, "callback"))
		if err != nil {
			return usagef("help", "This command is a part of `%s demo`.", p.name)
		}
		a := &demoAgent{
			program: p, client: c, pushes: make(chan push, 1),
			verifier: &client.Verifier{
				Secrets: []string{p.env("MASH_PUSH_SECRET")}, URL: "http://" + listener.Addr().String() + "/answers",
			},
		}
		server := &http.Server{Handler: http.HandlerFunc(a.receive), ReadHeaderTimeout: 10 * time.Second}
		go server.Serve(listener) //nolint:errcheck // ends with the process at the latest
		defer server.Close()      //nolint:errcheck // nobody is waited for
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() { // the demo holds the other end
			_, _ = io.Copy(io.Discard, p.stdin)
			cancel()
		}()
		return a.work(ctx, *expires)
	}
}

// receive takes a push if it verifies, and refuses it otherwise.
func (a *demoAgent) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, client.MaxPush))
	if err != nil {
		http.Error(w, "not accepted", http.StatusRequestEntityTooLarge)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	response, err := a.verifier.Verify(r)
	if err != nil {
		http.Error(w, "not accepted", http.StatusUnauthorized)
		return
	}
	select {
	case a.pushes <- push{r.Header.Get(signature.HeaderName), body, response, time.Now()}:
	default: // one is enough for the demo
	}
	w.WriteHeader(http.StatusNoContent)
}

// work is the agent's whole life: it asks, takes the answer, checks it in every way, and says so.
func (a *demoAgent) work(ctx context.Context, expires time.Duration) error {
	me, err := a.client.Me(ctx)
	if err != nil {
		return err
	}
	question := demoQuestion(me.Owner, a.verifier.URL, time.Now().Add(expires))
	ack, err := a.client.Ask(ctx, question)
	if err != nil {
		return err
	}
	a.say("I ask: %s", question.Title)
	a.tell(demoEvent{Asked: ack.ID})
	select {
	case got := <-a.pushes:
		return a.check(ctx, ack, &got)
	case <-ctx.Done():
		return exit(exitInterrupt) // the demo says why
	}
}

func (a *demoAgent) check(ctx context.Context, ack *client.Ack, got *push) error {
	a.say("%s", received(got))
	a.say("Its signature holds: it comes from my hub, is meant for me, and nobody has changed it.")
	if err := a.compare(ctx, ack.ID, got); err != nil {
		return err
	}
	a.say("I read it at the hub too: the same, byte for byte, under the same resolution_id.")
	if _, err := a.client.Ack(ctx, ack.ID, ma2h.AckRequest{Note: "Understood."}); err != nil {
		return err
	}
	a.say("I acknowledged it, so that you can see that it arrived.")
	if err := a.tryAltered(ctx, got); err != nil {
		return err
	}
	if got.response.Resolution == ma2h.StatusExpired {
		return exit(exitExpired)
	}
	return nil
}

// received says what was answered, by whom and how fast.
func received(got *push) string {
	r := got.response
	value, answered := client.Choice(r)
	switch {
	case answered:
		at, _ := ma2h.ParseTime(r.Response.ResolvedAt)
		return fmt.Sprintf("%s answered %q. It was pushed to me and was here %d ms later.",
			r.Response.Actor, value, max(got.at.Sub(at).Milliseconds(), 1))
	case r.Resolution == ma2h.StatusExpired:
		return "Nobody answered in time. I was pushed the default that I had asked for: " + valueText(r.Response.Value) + "."
	}
	return fmt.Sprintf("%s %s the question. That was pushed to me.", r.Response.Actor, r.Resolution)
}

// compare pulls the message and holds the Response in it to the pushed one.
func (a *demoAgent) compare(ctx context.Context, id string, got *push) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.client.URL+endpoint.Of(endpoint.Pull).Fill(id), nil) //nolint:gosec // the hub that the demo named
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+a.client.Token)
	resp, err := http.DefaultClient.Do(req) //nolint:gosec // as above
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read the message: %w", err)
	}
	var pulled struct {
		Response jsontext.Value `json:"response"`
	}
	if err := json.Unmarshal(body, &pulled); err != nil {
		return fmt.Errorf("read the message: %w", err)
	}
	var response ma2h.Response
	if err := json.Unmarshal(pulled.Response, &response); err != nil {
		return fmt.Errorf("read the response in the message: %w", err)
	}
	if !bytes.Equal(pulled.Response, got.body) || response.ResolutionID != got.response.ResolutionID {
		return errors.New("what was pushed and what the hub shows differ; please report this")
	}
	return nil
}

// tryAltered sends a changed copy of the push, with the signature of the true one, to the agent's own callback.
func (a *demoAgent) tryAltered(ctx context.Context, got *push) error {
	altered, says := alter(got.body)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.verifier.URL, bytes.NewReader(altered))
	if err != nil {
		return err
	}
	req.Header.Set(signature.HeaderName, got.header)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized || bytes.Equal(altered, got.body) {
		return errors.New("an altered copy of the answer was accepted; please report this")
	}
	a.say("Then I sent myself a copy, altered to say %s. Its signature does not match, so I refused it.", says)
	return nil
}

// alter changes what a Response says, and returns that too.
func alter(body []byte) (altered []byte, says string) {
	for _, change := range [][3]string{
		{`"value":"approve"`, `"value":"hold"`, `"hold"`},
		{`"value":"hold"`, `"value":"approve"`, `"approve"`},
		{`"resolution":"declined"`, `"resolution":"answered"`, `"answered"`},
	} {
		if bytes.Contains(body, []byte(change[0])) {
			return bytes.Replace(body, []byte(change[0]), []byte(change[1]), 1), change[2]
		}
	}
	return body, ""
}

func (a *demoAgent) say(format string, args ...any) {
	a.tell(demoEvent{Say: fmt.Sprintf(format, args...)})
}

func (a *demoAgent) tell(e demoEvent) {
	line, err := json.Marshal(e)
	if err != nil {
		panic(err) // our own type encodes
	}
	fmt.Fprintf(a.stdout, "%s\n", line)
}

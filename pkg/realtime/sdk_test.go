package realtime_test

import (
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// TestTheSDKAsksAndWaits: a whole life of an ask through the Go SDK, on both sides.
func TestTheSDKAsksAndWaits(t *testing.T) {
	onEngines(t, func(s *server) {
		ctx, cancel := context.WithTimeout(s.t.Context(), 2*patience)
		defer cancel()
		owner := s.owner.sdk()
		made, err := owner.AddAgent(ctx, unique("deploybot/dev team"))
		if err != nil {
			s.t.Fatal(err)
		}
		bot := (&caller{server: s, token: made.Token}).sdk()
		ack, err := bot.Ask(ctx, ma2h.Message{
			Title: "Deploy 1.4 now?", Request: &ma2h.Request{Mode: ma2h.ModeConfirm},
			ExpiresAt: ma2h.FormatTime(time.Now().Add(lifespan)),
		})
		if err != nil || len(ack.Warnings) > 0 {
			s.t.Fatalf("Ask = %+v, %v; want no warnings, since the owner may answer", ack, err)
		}
		var waiting sync.WaitGroup
		waiting.Go(func() {
			got, err := bot.Wait(ctx, ack.ID)
			value, ok := client.Choice(got)
			if err != nil || !ok || value != "approve" || got.Response.Actor != s.owner.actor {
				s.t.Errorf("Wait = %+v, %v; want approve from the owner", got, err)
			}
		})
		s.until("it waits", func() bool {
			list, err := owner.Waiting(ctx)
			return err == nil && slices.ContainsFunc(list, func(w client.Summary) bool { return w.ID == ack.ID })
		})
		if _, err := owner.Resolve(ctx, ack.ID, ma2h.Resolve{Resolution: ma2h.StatusAnswered, Value: []byte(`"approve"`)}); err != nil {
			s.t.Error(err)
		}
		waiting.Wait()
		if done, err := bot.Ack(ctx, ack.ID, ma2h.AckRequest{Note: "On it."}); err != nil || done.InReplyTo != ack.ID {
			s.t.Errorf("Ack = %+v, %v", done, err)
		}
		if read, err := owner.Read(ctx, ack.ID); err != nil || read.Delivery == nil || read.Delivery.Ack == nil {
			s.t.Errorf("Read = %+v, %v; want the ack in it", read, err)
		}
		rotated, err := owner.RotateAgent(ctx, made.ID)
		if err != nil || rotated.PushSecret != made.PushSecret {
			s.t.Errorf("RotateAgent = %+v, %v; want the same push secret", rotated, err)
		}
		if err := owner.RevokeAgent(ctx, made.ID); err != nil {
			s.t.Error(err)
		}
		if _, err := bot.Pull(ctx, ack.ID); ma2h.AsError(err) == nil || ma2h.AsError(err).Code != ma2h.CodeUnauthenticated {
			s.t.Errorf("Pull of a revoked agent = %v, want unauthenticated", err)
		}
	})
}

// TestTheSDKsHandlerTakesAPush: the handler that an agent mounts acts once, however often the push comes.
func TestTheSDKsHandlerTakesAPush(t *testing.T) {
	onEngines(t, func(s *server) {
		bot, in := s.agent("bot"), s.callback()
		var mu sync.Mutex
		acted, tries := []string{}, 0
		verifier := &client.Verifier{Secrets: []string{bot.secret}, URL: in.url()}
		in.handle(verifier.Handler(func(_ context.Context, r *ma2h.Response) error {
			mu.Lock()
			defer mu.Unlock()
			if tries++; tries == 1 {
				return context.Canceled // not this time: the hub sends it again
			}
			acted = append(acted, r.InReplyTo)
			return nil
		}))
		id := s.answered(bot, in)
		s.until("it is delivered", func() bool { return s.read(id).at("/delivery") != absent{} })
		mu.Lock()
		defer mu.Unlock()
		same(s.t, "what was acted on", acted, []string{id})
		same(s.t, "what was tried", s.tried(id), []string{"503", "204"})
	})
}

// buildMash builds the command once for all tests of this process.
var buildMash = sync.OnceValues(func() (string, error) {
	program := filepath.Join(programs(), "mash")
	out, err := exec.Command("go", "build", "-o", program, "../../cmd/mash").CombinedOutput()
	if err != nil {
		return string(out), err
	}
	return program, nil
})

// TestTheCommandAsksAndAnswers: mash as an agent and mash as a person, on a hub elsewhere.
func TestTheCommandAsksAndAnswers(t *testing.T) {
	onEngines(t, func(s *server) {
		program, err := buildMash()
		if err != nil {
			s.t.Fatalf("build mash: %v\n%s", err, program)
		}
		bot := s.agent("bot")
		mash := func(by *caller, args ...string) (string, error) {
			ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, program, args...)
			cmd.Env = []string{"MASH_URL=" + s.url, "MASH_TOKEN=" + by.token, "HOME=" + s.t.TempDir()}
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			if err != nil {
				s.t.Errorf("mash %s: %v\n%s", strings.Join(args, " "), err, said.String())
			}
			return strings.TrimSpace(string(out)), err
		}
		id, err := mash(bot, "ask", "Where to?", "--option", "eu=Europe", "--option", "us", "--expires", "3m", "--no-wait")
		if err != nil {
			s.t.FailNow()
		}
		s.until("it waits", func() bool { return s.waits(id) })
		if list, _ := mash(s.owner, "answer"); !strings.Contains(list, "Where to?") {
			s.t.Errorf("mash answer = %s, want the ask in it", list)
		}
		if _, err := mash(s.owner, "answer", id, "eu", "--comment", "Go ahead. ✓"); err != nil {
			s.t.FailNow()
		}
		if got, _ := mash(bot, "pull", id); got != "eu" {
			s.t.Errorf("mash pull = %q, want eu", got)
		}
		if link, _ := mash(s.owner, "link"); !strings.Contains(link, s.url+"/in/") {
			s.t.Errorf("mash link = %q", link)
		}
		bot.pull(id, "").is(http.StatusOK).shows("/response/response/comment", "Go ahead. ✓")
	})
}

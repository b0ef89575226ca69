//go:build bench

package localhub_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/localhub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// doubt is two requests whose answers must not tell which of two things is the case.
type doubt struct {
	Name         string
	Method       string
	Paths        [2]string
	Bodies       [2]string
	Tokens       [2]string
	Status       int
	Medians      [2]time.Duration
	Same, Others string // the answer, and one that differs from it
}

// TestBench_RefusalsTellNothing compares answers that are to be no oracle (behaviours 24, 25, 27, 48, 53, 66 and 80): they are
// the same bytes, and take the same time, at the median of 2,000 interleaved pairs within 5 %.
func TestBench_RefusalsTellNothing(t *testing.T) {
	server := startBench(t, "oracle-hub")
	var doubts []doubt
	output(t, server, &doubts, "oracle")
	for _, d := range doubts {
		apart := 100 * (float64(d.Medians[1])/float64(d.Medians[0]) - 1)
		fmt.Printf("%-52s %7.0f µs %7.0f µs %+5.1f %%\n", d.Name, us(d.Medians[0]), us(d.Medians[1]), apart)
		if d.Others != "" {
			t.Errorf("%s: an answer is %s, another %s", d.Name, d.Same, d.Others)
		}
		if apart < -5 || apart > 5 {
			t.Errorf("%s: the medians are %.1f %% apart, want at most 5", d.Name, apart)
		}
	}
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// benchOracle asks both of each doubt in turn, now the one first and now the other.
func benchOracle() {
	text, err := base64.StdEncoding.DecodeString(os.Getenv("BENCH_AGENT"))
	die(err)
	var doubts []doubt
	die(json.Unmarshal(text, &doubts))
	client := benchClient(1)
	for i := range doubts {
		doubts[i].resolve(client)
	}
	die(json.NewEncoder(os.Stdout).Encode(doubts))
}

func (d *doubt) resolve(client *http.Client) {
	const pairs, warm = 2000, 100
	var took [2][]time.Duration
	for n := range pairs + warm {
		for k := range 2 {
			which := (n + k) % 2
			began := time.Now()
			answer := d.ask(client, which)
			if n >= warm {
				took[which] = append(took[which], time.Since(began))
			}
			if d.Same == "" {
				d.Same = answer
			}
			if answer != d.Same {
				d.Others = answer
			}
		}
	}
	for which := range took {
		slices.Sort(took[which])
		d.Medians[which] = took[which][pairs/2]
	}
}

// ask returns the answer, but for when it was given, and for the name that was asked for.
func (d *doubt) ask(client *http.Client, which int) string {
	req, err := http.NewRequest(d.Method, os.Getenv("BENCH_URL")+d.Paths[which], strings.NewReader(d.Bodies[which]))
	die(err)
	req.Header.Set("Authorization", "Bearer "+d.Tokens[which])
	res, err := client.Do(req)
	die(err)
	body, err := io.ReadAll(res.Body)
	die(err)
	die(res.Body.Close())
	if res.StatusCode != d.Status {
		die(fmt.Errorf("%s: %s %s, want %d", d.Name, res.Status, body, d.Status))
	}
	res.Header.Del("Date")
	said := strings.NewReplacer("nobody0", "NAME", "foreign", "NAME").Replace(string(body))
	return fmt.Sprintf("%s %v %s", res.Status, res.Header, said)
}

// benchOracleHub serves a hub with two accounts, and prints what to ask it.
func benchOracleHub() {
	none, ctx := 0, context.Background()
	s, err := localhub.Open(ctx, localhub.Config{
		Folder: localhub.Folder(os.Getenv("BENCH_FOLDER")), Listen: "127.0.0.1:0", Owner: "owner", Rate: &none, Depth: &none,
	})
	die(err)
	s.Hub.Settings.PairPerMinute, s.Hub.Settings.AgentListVisibility = 0, false
	die(s.Hub.SetInterAgent(ctx, s.Owner, true))
	text, err := json.Marshal(doubts(ctx, s.Hub, s.Owner))
	die(err)
	serveBench(s, base64.StdEncoding.EncodeToString(text))
}

// doubts makes what is asked for. Names that are asked for in the place of each other are of one length.
func doubts(ctx context.Context, h *hub.Hub, owner *hub.Caller) []doubt {
	mallory, err := h.EnsureAccount(ctx, "mallory")
	die(err)
	die(h.SetInterAgent(ctx, mallory, true))
	bot, foreign := benchLane(ctx, h, owner, "bot"), benchLane(ctx, h, mallory, "foreign")
	benchLane(ctx, h, owner, "choosy0")
	worker, stopped := benchLane(ctx, h, owner, "worker"), benchLane(ctx, h, owner, "stopped")
	die(h.SetAllowlist(ctx, owner, "choosy0", &[]string{"worker"}))
	die(h.StopAgent(ctx, owner, "stopped", "too eager"))
	ended, err := h.CloseSession(ctx, benchCaller(h, owner, "worker"), worker.Session)
	die(err)
	word, invalid := ma2h.ReadDirective([]byte(`{"to":"agent:foreign","title":"t"}`), h.Settings.Limits)
	if invalid != nil {
		die(invalid)
	}
	sent, err := h.Direct(ctx, mallory, word)
	die(err)
	person, err := h.NewLogin(ctx, owner, hub.LoginToken, 0)
	die(err)
	unknown := ma2h.NewID(ma2h.PrefixSession)
	mail := func(to, session string) string {
		if session != "" {
			session = fmt.Sprintf(`,"session":%q`, session)
		}
		return fmt.Sprintf(`{"ma2h_version":"0.6","type":"notify","created_at":"2026-01-31T12:00:00Z","title":"t","to":%q,`+
			`"agent":{"id":"bot","run_id":"run_1"%s}}`, to, session)
	}
	submit := func(name, one, other, session, without string) doubt {
		return doubt{
			Name: name, Method: "POST", Paths: both("/v1/messages", "/v1/messages"), Bodies: both(mail(one, session), mail(other, without)),
			Tokens: both(bot.Token, bot.Token), Status: http.StatusUnprocessableEntity,
		}
	}
	return []doubt{
		submit("24 an agent that is not there, or another account's", "agent:nobody0", "agent:foreign", "", ""),
		submit("24 one that is not there, or does not let us write", "agent:nobody0", "agent:choosy0", "", ""),
		submit("25 a session that is not there, or has ended", "agent:worker#"+unknown, "agent:worker#"+ended.Session.ID, "", ""),
		submit("27 in a session that is not there, or a stranger's", "agent:choosy0", "agent:choosy0", unknown, foreign.Session),
		{
			Name: "48 a drain of a session not there, or a stranger's", Method: "GET",
			Paths:  both("/v1/inbox?session="+unknown, "/v1/inbox?session="+foreign.Session),
			Tokens: both(bot.Token, bot.Token), Status: http.StatusNotFound,
		},
		{
			Name: "53 an ack of what is not there, or a stranger's", Method: "POST", Paths: both("/v1/inbox/ack", "/v1/inbox/ack"),
			Bodies: both(acks(ma2h.NewID(ma2h.PrefixDirective)), acks(sent.ID)), Tokens: both(bot.Token, bot.Token), Status: http.StatusOK,
		},
		{
			Name: "66 a wrong token of who is not stopped, or is", Method: "POST", Paths: both("/v1/sessions", "/v1/sessions"),
			Bodies: both("{}", "{}"), Tokens: both(wrong(worker.Token), wrong(stopped.Token)), Status: http.StatusUnauthorized,
		},
		{
			Name: "80 the presence of nobody, or a stranger", Method: "GET",
			Paths:  both("/v1/agents/nobody0/presence", "/v1/agents/foreign/presence"),
			Tokens: both(person, person), Status: http.StatusOK,
		},
	}
}

func both(one, other string) [2]string { return [2]string{one, other} }

func acks(id string) string { return fmt.Sprintf(`{"ids":[%q]}`, id) }

// wrong is a token with another secret.
func wrong(token string) string {
	return token[:len(token)-4] + strings.Map(func(r rune) rune {
		if r == 'a' {
			return 'b'
		}
		return 'a'
	}, token[len(token)-4:])
}

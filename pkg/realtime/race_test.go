package realtime_test

import (
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/endpoint"
)

const (
	overlap  = 6               // rounds at once, of which one has its racers running and the others wait for a deadline
	lifetime = 2 * time.Second // of the ask that they race for
)

// raceRounds is how often the race is run: RACE_ROUNDS, or a few times.
func raceRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("RACE_ROUNDS")
	if text == "" {
		return 2 * len(starts)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < len(starts) {
		t.Fatalf("RACE_ROUNDS = %q, want a number, %d or more", text, len(starts))
	}
	return n
}

// racer is one of those who want to end the ask, each in its own way.
type racer struct {
	cancels bool
	request request
}

// starts are the ways in which a round begins: who may start when. first is closed with the first answer that anybody got.
var starts = []func(r racer, deadline time.Time, first <-chan struct{}){
	func(racer, time.Time, <-chan struct{}) {}, // all at once
	func(r racer, _ time.Time, first <-chan struct{}) { // who resolves leads
		if r.cancels {
			<-first
		}
	},
	func(r racer, _ time.Time, first <-chan struct{}) { // who cancels leads
		if !r.cancels {
			<-first
		}
	},
	func(_ racer, deadline time.Time, _ <-chan struct{}) { reach(deadline.Add(-time.Millisecond)) }, // at the deadline
	func(_ racer, deadline time.Time, _ <-chan struct{}) { reach(deadline.Add(time.Millisecond)) },  // just too late
}

// tooLate is the start that holds nobody up while it waits.
const tooLate = 4

// reach returns at a time.
func reach(at time.Time) { <-time.After(time.Until(at)) }

// race is a hub on which many race for many asks.
type race struct {
	*server
	bot       *caller
	resolvers []*caller     // the owner, and agents that may resolve too
	track     chan struct{} // has room for the racers of one round

	mu   sync.Mutex
	wins map[string]int
}

// TestB44_RacersSeeOneOutcomeEverywhere: the owner and listed agents resolve, the agent cancels and the clock expires one ask
// at the same time, again and again. There is one outcome under one resolution_id, told alike to the winner and the losers,
// by GET, by push and to the person who reads; and each kind wins somewhere.
func TestB44_RacersSeeOneOutcomeEverywhere(t *testing.T) {
	rounds := raceRounds(t)
	onEngines(t, func(s *server) {
		all := &race{server: s, bot: s.agent("bot"), track: make(chan struct{}, 1), wins: map[string]int{}}
		all.resolvers = []*caller{s.owner, s.agent("bob"), s.agent("carol"), s.agent("dave")}
		places := make(chan struct{}, overlap)
		var running sync.WaitGroup
		for n := range rounds {
			places <- struct{}{}
			running.Go(func() {
				defer func() { <-places }()
				all.round(n)
			})
		}
		running.Wait()
		for _, kind := range []string{"answered", "cancelled", "expired"} {
			if all.wins[kind] == 0 {
				s.t.Errorf("wins = %v, want some of %s", all.wins, kind)
			}
		}
		s.t.Logf("%d rounds of %d racers: %v", rounds, s.racers, all.wins)
	})
}

// round is one ask and its racers.
func (r *race) round(n int) {
	in := r.callback()
	start := n % len(starts)
	if start != tooLate {
		r.track <- struct{}{}
	}
	id, deadline := r.submit(in)
	if id == "" {
		if start != tooLate {
			<-r.track
		}
		return
	}
	if start == tooLate {
		reach(deadline)
		r.track <- struct{}{}
	}
	told := r.run(id, deadline, starts[start])
	<-r.track
	got, err := r.try(request{method: http.MethodGet, path: endpoint.Of(endpoint.Pull).Fill(id), token: r.bot.token})
	if err != nil || got.status != http.StatusOK {
		r.t.Errorf("GET = %+v, error %v", got, err)
		return
	}
	r.mu.Lock()
	status, _ := got.at("/status").(string)
	r.wins[status]++
	r.mu.Unlock()
	r.agree(id, in, got, told)
}

// submit submits the ask of a round. Where so much goes on that it comes too late, it takes another deadline.
func (r *race) submit(in *inbound) (id string, deadline time.Time) {
	resolvers := []string{}
	for _, c := range r.resolvers {
		resolvers = append(resolvers, c.actor)
	}
	for {
		deadline = time.Now().Add(lifetime).Truncate(time.Millisecond)
		envelope := r.bot.signed(r.ask(in.pushed(), expires(deadline),
			set("/request/allowed_resolvers", resolvers), set("/request/default_on_expire", "deny")))
		a, err := r.try(request{method: http.MethodPost, path: "/v1/messages", token: r.bot.token, body: envelope})
		switch {
		case err == nil && a.status == http.StatusUnprocessableEntity && time.Now().After(deadline):
		case err == nil && a.status == http.StatusTooManyRequests: // many rounds of one agent
			reach(time.Now().Add(time.Second))
		case err != nil || a.status != http.StatusAccepted:
			r.t.Errorf("submit = %+v, error %v", a, err)
			return "", deadline
		default:
			id, _ = a.at("/id").(string)
			return id, deadline
		}
	}
}

// run lets the racers go and returns what each was told.
func (r *race) run(id string, deadline time.Time, start func(racer, time.Time, <-chan struct{})) []*answer {
	told := make([]*answer, r.racers)
	first := make(chan struct{})
	var once sync.Once
	var running sync.WaitGroup
	for i := range told {
		by := r.resolvers[i%len(r.resolvers)]
		one := racer{request: request{method: http.MethodPost, path: endpoint.Of(endpoint.Resolve).Fill(id), token: by.token,
			body: doc{"resolution": "answered", "value": []string{"approve", "deny"}[i%2], "comment": strconv.Itoa(i)}}}
		if i%3 == 0 {
			one = racer{cancels: true, request: request{
				method: http.MethodPost, path: endpoint.Of(endpoint.Cancel).Fill(id), token: r.bot.token}}
		}
		running.Go(func() {
			defer once.Do(func() { close(first) })
			start(one, deadline, first)
			answer, err := r.try(one.request)
			if err != nil {
				r.t.Error(err)
				return
			}
			told[i] = answer
		})
	}
	running.Wait()
	return told
}

// agree holds everything that anybody was told to the outcome that the GET shows.
func (r *race) agree(id string, in *inbound, got *answer, told []*answer) {
	status, resolution := got.at("/status"), got.at("/response/resolution_id")
	winners := 0
	for i, a := range told {
		switch {
		case a == nil:
		case a.status == http.StatusOK && a.at("/resolution_id") != absent{}: // the winner of all
			winners++
			if a.at("/status") != status || a.at("/resolution_id") != resolution ||
				got.at("/response/response/comment") != strconv.Itoa(i) {
				r.t.Errorf("racer %d was told that it won, %s, and the message is %s", i, a.body, got.body)
			}
		case a.status == http.StatusOK: // a cancel, the first or a repeated one
			if a.at("/status") != "cancelled" || status != "cancelled" {
				r.t.Errorf("racer %d was told %s, and the message is %s", i, a.body, got.body)
			}
		case a.status != http.StatusConflict || a.at("/id") != id || a.at("/status") != status || a.at("/resolution") != status:
			r.t.Errorf("racer %d was told %d %s, and the message is %s", i, a.status, a.body, got.body)
		}
	}
	if want := map[any]int{"answered": 1}[status]; winners != want {
		r.t.Errorf("%d racers were told that they won, want %d; the message is %s", winners, want, got.body)
	}
	r.until("the push", func() bool { return len(in.attempts()) > 0 })
	for _, a := range in.attempts() {
		same(r.t, "the pushed Response", mustParse(r.t, a.body), got.at("/response"))
	}
	seen, err := r.try(request{method: http.MethodGet, path: endpoint.Of(endpoint.Read).Fill(id), token: r.owner.token})
	if err != nil || seen.status != http.StatusOK {
		r.t.Errorf("the person's read = %+v, error %v", seen, err)
		return
	}
	want := []any{status, resolution, got.at("/response/response")}
	if diff := cmp.Diff(want, []any{seen.at("/status"), seen.at("/response/resolution_id"), seen.at("/response/response")}); diff != "" {
		r.t.Errorf("what the person reads (-want +got):\n%s", diff)
	}
}

func TestB20_RacingIdenticalSubmitsMakeOneMessage(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		envelope := string(mustJSON(bot.signed(s.ask())))
		answers := make([]*answer, racersOnAWS) // as many as one agent may submit at once
		var running sync.WaitGroup
		for i := range answers {
			running.Go(func() {
				var err error
				answers[i], err = s.try(request{method: http.MethodPost, path: "/v1/messages", token: bot.token, body: envelope})
				if err != nil {
					s.t.Error(err)
				}
			})
		}
		running.Wait()
		for _, a := range answers {
			if a != nil && (a.status != http.StatusAccepted || string(a.body) != string(answers[0].body)) {
				s.t.Errorf("submit = %d %s, want 202 %s", a.status, a.body, answers[0].body)
			}
		}
		id := answers[0].is(http.StatusAccepted).str("/id")
		s.until("it waits", func() bool { return s.waits(id) })
		// Whoever submits it once more meets the same message.
		bot.submit(envelope).is(http.StatusAccepted).shows("/id", id)
	})
}

func TestB20_RacingSubmitsOfOneKeyThatDiffer(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		key := unique("key")
		statuses := byStatus(s.eachAtOnce(func(i int) request {
			envelope := bot.signed(s.ask(set("/idempotency_key", key), set("/state", doc{"n": i})))
			return request{method: http.MethodPost, path: "/v1/messages", token: bot.token, body: envelope}
		}))
		same(s.t, "answers by status", statuses, map[int]int{http.StatusAccepted: 1, http.StatusConflict: rivals - 1})
	})
}

// TestB55_RacingAcksAreOne: whoever acks first, everybody is told the same ack.
func TestB55_RacingAcksAreOne(t *testing.T) {
	onEngines(t, func(s *server) {
		bot := s.agent("bot")
		id := bot.accepted(s.ask())
		s.owner.answers(id, "approve").is(http.StatusOK)
		bot.pull(id, "").is(http.StatusOK)
		answers := s.eachAtOnce(func(i int) request {
			return request{method: http.MethodPost, path: endpoint.Of(endpoint.Ack).Fill(id), token: bot.token,
				body: doc{"note": strconv.Itoa(i)}}
		})
		for _, a := range answers {
			a.is(http.StatusOK)
			same(s.t, "an ack", string(a.body), string(answers[0].body))
		}
	})
}

// TestARacedLinkSignsInOnce: of all who open one link at once, one is signed in.
func TestARacedLinkSignsInOnce(t *testing.T) {
	onEngines(t, func(s *server) {
		link := s.link()
		statuses := byStatus(s.atOnce(request{method: http.MethodGet, path: link}))
		same(s.t, "answers by status", statuses, map[int]int{http.StatusOK: 1, http.StatusUnauthorized: rivals - 1})
	})
}

// byStatus counts answers.
func byStatus(answers []*answer) map[int]int {
	statuses := map[int]int{}
	for _, a := range answers {
		statuses[a.status]++
	}
	return statuses
}

package localhub_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

const (
	racers   = 200
	overlap  = 8           // rounds at once, of which one has its racers running and the others wait for a deadline
	lifetime = time.Second // of the ask that they race for
)

// raceRounds is how often the race is run: RACE_ROUNDS, or a few times.
func raceRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("RACE_ROUNDS")
	if text == "" {
		return 10
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
	path    string
	token   string
	body    any
}

// starts are the ways in which a round begins: who may start when. first is closed with the first answer that anybody got.
var starts = []func(r racer, deadline time.Time, first <-chan struct{}){
	func(racer, time.Time, <-chan struct{}) {}, // all at once
	func(r racer, _ time.Time, first <-chan struct{}) { // people lead
		if r.cancels {
			<-first
		}
	},
	func(r racer, _ time.Time, first <-chan struct{}) { // the agent leads
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
	receiver *receiver
	bot      string
	alice    string
	people   []string
	track    chan struct{} // has room for the racers of one round

	mu   sync.Mutex
	wins map[string]int
}

// TestB44_RacersSeeOneOutcomeEverywhere: people resolve, the agent cancels and the clock expires one ask at the same time,
// again and again. There is one outcome under one resolution_id, told alike to the winner and the losers, by GET, by push
// and to the person who reads; and each kind wins somewhere.
func TestB44_RacersSeeOneOutcomeEverywhere(t *testing.T) {
	rounds := raceRounds(t)
	r := newReceiver(t, nil)
	onStores(t, func(*hub.Settings) {}, []string{r.address()}, func(s *server) {
		all := &race{server: s, receiver: r, bot: s.agent("bot").Token, alice: s.person("alice"),
			track: make(chan struct{}, 1), wins: map[string]int{}}
		for _, name := range []string{"bob", "carol", "dave"} {
			all.people = append(all.people, s.person(name))
		}
		all.people = append(all.people, all.alice)
		places := make(chan struct{}, overlap)
		var running sync.WaitGroup
		for round := range rounds {
			places <- struct{}{}
			running.Go(func() {
				defer func() { <-places }()
				all.round(round)
			})
		}
		running.Wait()
		for _, kind := range []string{"answered", "cancelled", "expired"} {
			if all.wins[kind] == 0 {
				s.t.Errorf("wins = %v, want some of %s", all.wins, kind)
			}
		}
		s.t.Logf("%d rounds of %d racers: %v", rounds, racers, all.wins)
	})
}

// round is one ask and its racers.
func (r *race) round(n int) {
	path := fmt.Sprintf("/%s/%d", r.t.Name(), n)
	request := r.receiver.pushedTo(path)
	request["allowed_resolvers"] = []string{"human:alice", "human:bob", "human:carol", "human:dave"}
	request["default_on_expire"] = "deny"
	start := n % len(starts)
	if start != tooLate {
		r.track <- struct{}{}
	}
	id, deadline := r.submit(path, request)
	if start == tooLate {
		reach(deadline)
		r.track <- struct{}{}
	}
	told := r.run(id, deadline, starts[start])
	<-r.track
	pulled, err := r.try("GET", messagePath(id, ""), r.bot, nil)
	if err != nil || pulled.status != http.StatusOK {
		r.t.Errorf("GET = %d %s, error %v", pulled.status, pulled.body, err)
		return
	}
	got := pulled.doc(r.t)
	r.mu.Lock()
	r.wins[fmt.Sprint(got["status"])]++
	r.mu.Unlock()
	r.agree(id, path, got, told)
}

// submit submits the ask of a round. Where so much goes on that it comes too late, it takes another deadline.
func (r *race) submit(path string, request doc) (id string, deadline time.Time) {
	for {
		deadline = time.Now().Add(lifetime).Truncate(time.Millisecond)
		a, err := r.try("POST", "/v1/messages", r.bot, ask(path, request, deadline))
		if err == nil && a.status == http.StatusUnprocessableEntity && time.Now().After(deadline) {
			continue
		}
		if err != nil || a.status != http.StatusAccepted {
			r.t.Errorf("submit = %d %s, error %v", a.status, a.body, err)
		}
		id, _ = a.doc(r.t)["id"].(string)
		return id, deadline
	}
}

// run lets the racers go and returns what each was told.
func (r *race) run(id string, deadline time.Time, start func(racer, time.Time, <-chan struct{})) []reply {
	told := make([]reply, racers)
	first := make(chan struct{})
	var once sync.Once
	var running sync.WaitGroup
	for i := range told {
		one := racer{path: messagePath(id, "/resolve"), token: r.people[i%len(r.people)],
			body: doc{"resolution": "answered", "value": []string{"approve", "deny"}[i%2], "comment": strconv.Itoa(i)}}
		if i%3 == 0 {
			one = racer{cancels: true, path: messagePath(id, "/cancel"), token: r.bot}
		}
		running.Go(func() {
			start(one, deadline, first)
			answer, err := r.try("POST", one.path, one.token, one.body)
			if err != nil {
				r.t.Error(err)
			}
			told[i] = answer
			once.Do(func() { close(first) })
		})
	}
	running.Wait()
	return told
}

// agree holds everything that anybody was told to the outcome that the GET shows.
func (r *race) agree(id, path string, got doc, told []reply) {
	status, resolution := got["status"], got.at("response", "resolution_id")
	winners := 0
	for i, a := range told {
		d := a.doc(r.t)
		switch {
		case a.status == http.StatusOK && d["resolution_id"] != nil: // the winner of all
			winners++
			if d["status"] != status || d["resolution_id"] != resolution || got.at("response", "response", "comment") != strconv.Itoa(i) {
				r.t.Errorf("racer %d was told that it won, %s, and the message is %v", i, a.body, got)
			}
		case a.status == http.StatusOK: // a cancel, the first or a repeated one
			if d["status"] != "cancelled" || status != "cancelled" {
				r.t.Errorf("racer %d was told %s, and the message is %v", i, a.body, got)
			}
		case a.status != http.StatusConflict || d["id"] != id || d["status"] != status || d["resolution"] != status:
			r.t.Errorf("racer %d was told %d %s, and the message is %v", i, a.status, a.body, got)
		}
	}
	if want := map[any]int{"answered": 1}[status]; winners != want {
		r.t.Errorf("%d racers were told that they won, want %d; the message is %v", winners, want, got)
	}
	r.until("the push of "+path, func() bool { return len(r.receiver.attempts(path)) > 0 })
	for _, a := range r.receiver.attempts(path) {
		var pushed any
		if err := json.Unmarshal(a.body, &pushed); err != nil {
			r.t.Error(err)
		}
		same(r.t, "the pushed Response", pushed, got["response"])
	}
	read, err := r.try("GET", "/v1/waiting/"+id, r.alice, nil)
	if err != nil || read.status != http.StatusOK {
		r.t.Errorf("the person's read = %d %s, error %v", read.status, read.body, err)
		return
	}
	seen := read.doc(r.t)
	same(r.t, "what the person reads", []any{seen["status"], seen.at("response", "resolution_id"), seen.at("response", "response")},
		[]any{status, resolution, got.at("response", "response")})
}

func TestB20_RacingIdenticalSubmitsMakeOneMessage(t *testing.T) {
	onStores(t, func(*hub.Settings) {}, nil, func(s *server) {
		bot, alice := s.agent("bot"), s.person("alice")
		envelope := ask("k", confirm, time.Time{})
		replies := make([]reply, racers)
		var running sync.WaitGroup
		for i := range replies {
			running.Go(func() {
				var err error
				if replies[i], err = s.try("POST", "/v1/messages", bot.Token, envelope); err != nil {
					s.t.Error(err)
				}
			})
		}
		running.Wait()
		for _, r := range replies {
			if r.status != http.StatusAccepted || string(r.body) != string(replies[0].body) {
				s.t.Errorf("submit = %d %s, want 202 %s", r.status, r.body, replies[0].body)
			}
		}
		waiting, _ := s.send("GET", "/v1/waiting", alice, nil, http.StatusOK)["waiting"].([]any)
		same(s.t, "how many wait", len(waiting), 1)
	})
}

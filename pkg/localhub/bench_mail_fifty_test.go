//go:build bench

package localhub_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// The crowd that drains at once, and how much each of them has.
const (
	crowd  = 50
	apiece = 1000
)

// TestBench_FiftyAgentsDrainAtOnce has fifty agents drain a thousand entries each, waiting where there are none, while
// senders send them. Each entry comes once, and the entries of a lane in the order in which they were sent.
func TestBench_FiftyAgentsDrainAtOnce(t *testing.T) {
	server := startBench(t, "mail-hub")
	var r loadResult
	output(t, server, &r, "mail-fifty", fmt.Sprintf("BENCH_LANES=%d", crowd))
	fmt.Printf("%d agents, %d entries each: once and in order, %.0f entries/s\n", crowd, apiece, r.PerSecond)
}

// TestBench_AnEntryWakesItsAgent measures from the sending of an entry until the drain that waited has returned with it.
func TestBench_AnEntryWakesItsAgent(t *testing.T) {
	server := startBench(t, "mail-hub")
	var w loadResult
	output(t, server, &w, "mail-wake", "BENCH_LANES=1")
	fmt.Printf("entry to waiting agent: p50 %.2f ms, p99 %.2f ms\n", w.P50, w.P99)
	if w.P50 >= 5 {
		t.Errorf("an entry reaches the waiting agent in %.2f ms at the median, want under 5", w.P50)
	}
}

// benchMailFifty sends a lane its entries one after the other, and checks what comes of them.
func benchMailFifty() {
	c := newMailClient(2 * crowd)
	began := time.Now()
	var all sync.WaitGroup
	for _, to := range c.Lanes[:c.lanes] {
		all.Go(func() {
			for n := range apiece {
				body := strings.Replace(string(benchMail(to)), "Build 4127 is green", fmt.Sprint(n), 1)
				post(c.http, "/v1/messages", c.Sender, []byte(body), http.StatusAccepted)
			}
		})
		all.Go(func() { c.inOrder(to) })
	}
	all.Wait()
	die(json.NewEncoder(os.Stdout).Encode(loadResult{PerSecond: crowd * apiece / time.Since(began).Seconds()}))
}

// inOrder drains a lane until it has had all, each once and in order.
func (c *mailClient) inOrder(of lane) {
	next := 0
	for next < apiece {
		for _, m := range c.drain(of, "0.5") {
			if m.Title != fmt.Sprint(next) {
				die(fmt.Errorf("%s got entry %s, want %d", of.Agent, m.Title, next))
			}
			next++
		}
	}
	if left := c.drain(of, "0"); len(left) > 0 {
		die(fmt.Errorf("%s got %d entries too many", of.Agent, len(left)))
	}
}

// benchMailWake sends entries one by one while their agent waits, and prints how long each took.
func benchMailWake() {
	c := newMailClient(4)
	to := c.Lanes[0]
	var all []time.Duration
	for range 300 {
		heard := make(chan time.Time)
		go func() {
			if got := c.drain(to, "30"); len(got) != 1 {
				die(fmt.Errorf("a drain that waited has %d entries, want 1", len(got)))
			}
			heard <- time.Now()
		}()
		time.Sleep(5 * time.Millisecond) // so that the agent waits already
		sent := time.Now()
		post(c.http, "/v1/messages", c.Sender, benchMail(to), http.StatusAccepted)
		all = append(all, (<-heard).Sub(sent))
	}
	die(json.NewEncoder(os.Stdout).Encode(summarise(all)))
}

// letter is an entry as far as it is looked at here.
type letter struct{ ID, Title string }

// drain drains a lane and acknowledges what came.
func (c *mailClient) drain(of lane, wait string) []letter {
	url := os.Getenv("BENCH_URL") + "/v1/inbox?max=32&wait=" + wait + "&session=" + of.Session
	req, err := http.NewRequest(http.MethodGet, url, nil)
	die(err)
	req.Header.Set("Authorization", "Bearer "+of.Token)
	var got struct{ Messages []struct{ Message letter } }
	die(json.Unmarshal(do(c.http, req, http.StatusOK), &got))
	var all []letter
	var ids []string
	for _, m := range got.Messages {
		all, ids = append(all, m.Message), append(ids, m.Message.ID)
	}
	if len(ids) > 0 {
		body, err := json.Marshal(map[string][]string{"ids": ids})
		die(err)
		post(c.http, "/v1/inbox/ack?session="+of.Session, of.Token, body, http.StatusOK)
	}
	return all
}

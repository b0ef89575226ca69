// Command awsbench compares requests to a deployed hub with requests to an empty function of Go at the same endpoint: what
// is left is the hub's own, and what it asks of the table. Each round makes one request of every kind, so that whatever
// else the machine does falls on all of them. Then it times how soon an agent that waits is woken.
//
//	awsbench -stack .tools/aws-stack.json -empty empty.zip
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// deployed is what the file of a deployment says, as far as it is needed here.
type deployed struct {
	Endpoint, Region, URL, Token string
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("awsbench: ")
	file := flag.String("stack", ".tools/aws-stack.json", "the `file` that says what is deployed")
	zip := flag.String("empty", "", "the `zip` of the empty function")
	rounds := flag.Int("rounds", 400, "how many requests of each kind are timed")
	most := flag.Float64("most", 2, "the largest `ratio` of a pull to the empty function")
	flag.Parse()
	text, err := os.ReadFile(*file)
	if err != nil {
		log.Fatal(err)
	}
	var d deployed
	if err := json.Unmarshal(text, &d); err != nil {
		log.Fatal(err)
	}
	if err := d.bench(context.Background(), *zip, *rounds, *most); err != nil {
		log.Fatal(err)
	}
}

// bench prints a table, and fails when a pull or a wake takes longer than it may.
func (d deployed) bench(ctx context.Context, zip string, rounds int, most float64) error {
	empty, err := d.deployEmpty(ctx, zip)
	if err != nil {
		return err
	}
	a := &agent{deployed: d}
	kinds := a.kinds(empty)
	const warm = 30 // rounds that are not timed
	for n := range rounds + warm {
		if n%perAgent == 0 {
			if err := a.renew(ctx); err != nil {
				return err
			}
		}
		for i := range kinds {
			began := time.Now()
			if err := kinds[i].once(ctx, n); err != nil {
				return fmt.Errorf("%s: %w", kinds[i].name, err)
			}
			if n >= warm {
				kinds[i].took = append(kinds[i].took, time.Since(began))
			}
		}
	}
	if err := report(kinds, most); err != nil {
		return err
	}
	const wakes = 60
	return d.wake(ctx, wakes)
}

// kind is a request that is made again and again.
type kind struct {
	name    string
	bounded bool // by the largest ratio
	once    func(ctx context.Context, n int) error
	took    []time.Duration
}

// report prints p50 and p95 of each kind and how they stand to the first.
func report(kinds []kind, most float64) error {
	floor := quantile(kinds[0].took, 50)
	fmt.Printf("%-28s %8s %8s %14s\n", "", "p50, ms", "p95, ms", "p50 to empty")
	var slow []string
	for _, k := range kinds {
		p50 := quantile(k.took, 50)
		ratio := float64(p50) / float64(floor)
		fmt.Printf("%-28s %8.2f %8.2f %14.2f\n", k.name, ms(p50), ms(quantile(k.took, 95)), ratio)
		if k.bounded && ratio > most {
			slow = append(slow, k.name)
		}
	}
	if len(slow) > 0 {
		return fmt.Errorf("%s: more than %.1f times the empty function", strings.Join(slow, ", "), most)
	}
	return nil
}

func quantile(took []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[(len(sorted)-1)*percent/100]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// agent is one that sends, with a message of its own to pull.
type agent struct {
	deployed
	id, token, message string
}

// perAgent is after how many rounds another agent takes over, well before the hub's rate would stop one.
const perAgent = 20

// renew makes a new agent of the same account, with a message.
func (a *agent) renew(ctx context.Context) error {
	var made struct{ Token string }
	a.id = fmt.Sprintf("bench-%d", time.Now().UnixNano())
	if err := a.call(ctx, "POST", "/v1/agents", a.Token, fmt.Sprintf(`{"id":%q}`, a.id), &made); err != nil {
		return err
	}
	a.token = made.Token
	var err error
	a.message, err = a.submit(ctx, "pulled")
	return err
}

func (a *agent) submit(ctx context.Context, key string) (string, error) {
	var made struct{ ID string }
	err := a.call(ctx, "POST", "/v1/messages", a.token, fmt.Sprintf(
		`{"ma2h_version":"0.6","type":"notify","created_at":"2026-01-01T00:00:00Z","idempotency_key":%q,"title":"bench",`+
			`"agent":{"id":%q,"run_id":"r"}}`, key, a.id), &made)
	return made.ID, err
}

// kinds returns what is compared; the first is the floor.
func (a *agent) kinds(empty string) []kind {
	return []kind{
		{name: "empty function", once: func(ctx context.Context, _ int) error { return get(ctx, "GET", empty, "", "", nil) }},
		{name: "discovery", once: func(ctx context.Context, _ int) error {
			return a.call(ctx, "GET", "/.well-known/ma2h", "", "", nil)
		}},
		{name: "pull", bounded: true, once: func(ctx context.Context, _ int) error {
			return a.call(ctx, "GET", "/v1/messages/"+a.message, a.token, "", nil)
		}},
		{name: "submit, a replay", once: func(ctx context.Context, _ int) error { _, err := a.submit(ctx, "pulled"); return err }},
		{name: "submit", once: func(ctx context.Context, n int) error { _, err := a.submit(ctx, fmt.Sprint(n)); return err }},
	}
}

func (d deployed) call(ctx context.Context, method, path, token, body string, into any) error {
	return get(ctx, method, d.URL+path, token, body, into)
}

// get makes one request, which must succeed, and decodes its answer into a value unless that is nil.
func get(ctx context.Context, method, url, token, body string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := here.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s = %s %s", method, req.URL.Path, resp.Status, bytes.TrimSpace(answer))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// here connects to this machine whatever a URL's host is: an emulator tells APIs apart by names below .localhost, which
// not every resolver knows.
var here = &http.Client{Transport: &http.Transport{
	DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	},
}}

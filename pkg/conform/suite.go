package conform

import (
	"context"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/signature"
)

// Stage gives each clause a household on the hub: Virtual or Real.
type Stage interface {
	// enter makes a household for a clause.
	enter(ctx context.Context, c Clause) (household, error)
	// atOnce is how many clauses may run side by side.
	atOnce() int
	// web is what requests go by; nil for a client with client.Transport.
	web() *http.Client
}

// household is an account on a hub, and one clause's way to the people and agents of it. A method that has no way to do what
// it is asked for returns an *unable.
type household interface {
	url() string
	header() http.Header // that every request bears
	agent(ctx context.Context, name string) (principal, error)
	person(ctx context.Context) (principal, error)   // who owns the account
	stranger(ctx context.Context) (principal, error) // an agent of another account
	optIn(ctx context.Context, enabled bool) error
	allow(ctx context.Context, agent string, senders []string) error
	direct(ctx context.Context, d directive) (int, []byte, error) // a person's directive
	track(ctx context.Context, id string) (int, []byte, error)    // of a directive, as its author reads it
	callback(ctx context.Context, p principal) (*receiver, error)
	keys(ctx context.Context) ([]signature.Verifier, error)

	now() time.Time
	pass(ctx context.Context, d time.Duration) error // lets time pass, or says that it would take too long
	virtual() bool
	settle(ctx context.Context) error  // has what is due done, where nothing does it by itself
	restart(ctx context.Context) error // ends the hub's processes and begins them anew
}

// principal is somebody with a credential.
type principal struct {
	id    string // of an agent
	actor string // agent:<id> or human:<id>
	token string

	secretRef, secret string // of an agent's pushes, where they are known
}

// directive is what a person tells an agent.
type directive struct {
	To        string `json:"to"`
	Title     string `json:"title"`
	ExpiresAt string `json:"expires_at,omitzero"`
}

// unable says why a household cannot do what a clause needs.
type unable struct{ why string }

func (u *unable) Error() string { return u.why }

// Options is how a run goes.
type Options struct {
	Only    *regexp.Regexp // clauses whose name and title match; nil for all
	Report  func(Result)   // is told of each as it ends, in the order of the names; nil for nobody
	Timeout time.Duration  // of one clause; zero means three minutes
	AtOnce  int            // clauses side by side; zero leaves it to the Stage, and it is never more than that allows
}

// Run asks a hub everything and returns the results in the order of the clauses. The error is that of a hub that cannot be
// asked at all.
func Run(ctx context.Context, s Stage, o Options) ([]Result, error) {
	clauses := chosen(o.Only)
	results := make([]Result, len(clauses))
	done := make([]chan struct{}, len(clauses))
	for i := range done {
		done[i] = make(chan struct{})
	}
	var running sync.WaitGroup
	running.Go(func() { runAll(ctx, s, o, clauses, results, done) })
	for i := range clauses {
		<-done[i]
		if o.Report != nil {
			o.Report(results[i])
		}
	}
	running.Wait()
	return results, ctx.Err()
}

// chosen are the clauses that are asked for.
func chosen(only *regexp.Regexp) []Clause {
	var clauses []Clause
	for _, c := range Clauses() {
		if only == nil || only.MatchString(c.Name+" "+c.Title) {
			clauses = append(clauses, c)
		}
	}
	return clauses
}

// runAll runs first what must be alone, and then the others side by side.
func runAll(ctx context.Context, s Stage, o Options, clauses []Clause, results []Result, done []chan struct{}) {
	one := func(i int) {
		results[i] = runOne(ctx, s, o, clauses[i])
		close(done[i])
	}
	for i, c := range clauses {
		if c.alone {
			one(i)
		}
	}
	most := s.atOnce()
	if o.AtOnce > 0 {
		most = min(most, o.AtOnce)
	}
	places := make(chan struct{}, most)
	var running sync.WaitGroup
	for i, c := range clauses {
		if c.alone {
			continue
		}
		places <- struct{}{}
		running.Go(func() { one(i); <-places })
	}
	running.Wait()
}

// bearing is a transport that adds headers.
type bearing struct {
	header http.Header
	by     *http.Client
}

// RoundTrip sends the request with the headers.
func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range b.header {
		r.Header[name] = values
	}
	if b.by.Transport == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	return b.by.Transport.RoundTrip(r)
}

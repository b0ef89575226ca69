package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/mash-hub/mash/pkg/client"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/signature"
)

// trial is one run of a clause. Like a test it ends at its first failure, and only from the clause's own goroutine.
type trial struct {
	ctx  context.Context //nolint:containedctx // a trial is as long as its context, like a testing.T
	home household
	can  *abilities
	http *http.Client

	result Result
	mu     sync.Mutex
	last   *answer // the last exchange
	nonces map[string]bool
	trust  []signature.Verifier // the hub's keys, once asked for
	left   []func()             // undo what would be in the way of the next trial of the same agents

	running sync.WaitGroup // what reads streams
}

const clauseTimeout = 3 * time.Minute

// runOne runs one clause to its verdict.
func runOne(ctx context.Context, s Stage, o Options, c Clause) Result {
	timeout := o.Timeout
	if timeout == 0 {
		timeout = clauseTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	t := &trial{
		ctx: ctx, nonces: map[string]bool{}, http: s.web(), result: Result{Clause: c.Name, Title: c.Title, Section: c.Section},
	}
	defer t.running.Wait()
	defer cancel()
	if t.http == nil {
		t.http = &http.Client{Transport: client.Transport()}
		defer t.http.CloseIdleConnections()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		t.begin(s, c)
		c.test(t)
		t.result.Verdict = Passed
	}()
	<-ended
	if r, ok := t.home.(*realHome); ok && r.Owner == "" {
		for _, undo := range t.left {
			undo()
		}
	}
	return t.result
}

// leaves notes a request that undoes something once the trial is over. Whatever comes of it is no matter.
func (t *trial) leaves(who *caller, name endpoint.Name, id string) {
	e := endpoint.Of(name)
	t.left = append(t.left, func() { _, _ = t.try(who, e.Method, e.Fill(id), nil) })
}

// begin enters a household and asks what the hub can do.
func (t *trial) begin(s Stage, c Clause) {
	home, err := s.enter(t.ctx, c)
	t.able(err, "an account to act in")
	t.home = home
	e := endpoint.Of(endpoint.Discovery)
	found := t.send(nil, e.Method, e.Path, nil).is(http.StatusOK, "a capability document (spec §8.0)")
	found.shaped(ma2h.KindCapability, cmp.Or(found.str("/ma2h_version"), ma2h.Newest))
	if t.can, err = readAbilities(found.body); err != nil {
		t.fail("a capability document that can be read (spec §8.0): %v", err)
	}
}

// fail ends the trial: want is what the text wants and did not come.
func (t *trial) fail(want string, args ...any) {
	t.result.Verdict, t.result.Want = Failed, fmt.Sprintf(want, args...)
	t.mu.Lock()
	if t.last != nil {
		t.result.Sent, t.result.Came = t.last.sent, t.last.came()
	}
	t.mu.Unlock()
	runtime.Goexit()
}

// notApplicable ends the trial without a verdict on the hub.
func (t *trial) notApplicable(why string, args ...any) {
	t.result.Verdict, t.result.Why = NotApplicable, fmt.Sprintf(why, args...)
	runtime.Goexit()
}

// able goes on where there was no error. What a household has no way for makes the clause not applicable.
func (t *trial) able(err error, what string) {
	if err == nil {
		return
	}
	if u, ok := errors.AsType[*unable](err); ok {
		t.notApplicable("%s", u.why)
	}
	t.fail("%s, and got the error: %v", what, err)
}

// needs says that the clause is about what a hub may leave out.
func (t *trial) needs(offered bool, what string) {
	if !offered {
		t.notApplicable("the hub does not offer %s, which is optional", what)
	}
}

// hold ends the trial unless ok.
func (t *trial) hold(ok bool, want string, args ...any) {
	if !ok {
		t.fail(want, args...)
	}
}

// pass lets time pass.
func (t *trial) pass(d time.Duration) { t.able(t.home.pass(t.ctx, d), "time to pass") }

// settle has the hub do what is due.
func (t *trial) settle() { t.able(t.home.settle(t.ctx), "what is due to be done") }

const (
	pollPause = 100 * time.Millisecond
	patience  = 20 * time.Second // for what is due, with a hub that is busy
)

// after lets d pass and then wants ready; in real time it looks all along, and gives a busy hub some time more.
func (t *trial) after(d time.Duration, ready func() bool, want string, args ...any) {
	if t.home.virtual() {
		t.pass(d)
		t.settle()
		t.hold(ready(), want, args...)
		return
	}
	t.mayTake(d)
	for end := time.Now().Add(d + patience); !ready(); t.pause(pollPause) {
		t.hold(time.Now().Before(end), want, args...)
	}
}

// soon wants ready to be so at once or, where the hub does things behind its answers, soon.
func (t *trial) soon(ready func() bool, want string, args ...any) { t.after(0, ready, want, args...) }

// throughout lets d pass and wants ok all the while, its end included.
func (t *trial) throughout(d time.Duration, ok func() bool, want string, args ...any) {
	t.hold(ok(), want, args...)
	if t.home.virtual() {
		t.pass(d)
		t.settle()
		t.hold(ok(), want, args...)
		return
	}
	t.mayTake(d)
	for end := time.Now().Add(d + pollPause); time.Now().Before(end); t.pause(2 * pollPause) {
		t.hold(ok(), want, args...)
	}
}

// mayTake refuses to wait longer than the stage wants to.
func (t *trial) mayTake(d time.Duration) {
	if r, ok := t.home.(*realHome); ok {
		t.able(r.mayTake(d), "time to pass")
	}
}

// within does something that must be over before d is. Where the hub was slower than that, it shows nothing, and is done
// again.
func (t *trial) within(d time.Duration, act func() (ok bool), want string, args ...any) {
	for range 5 {
		began := time.Now()
		ok := act()
		if t.home.virtual() || time.Since(began) < d {
			t.hold(ok, want, args...)
			return
		}
	}
	t.notApplicable("the hub takes longer for its answers than the %v that this is about", d)
}

func (t *trial) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
		t.fail("an end in time: %v", t.ctx.Err())
	}
}

// keys are the keys that sign for the hub.
func (t *trial) keys() []signature.Verifier {
	if t.trust == nil {
		keys, err := t.home.keys(t.ctx)
		t.able(err, "the hub's keys")
		t.trust = keys
	}
	return t.trust
}

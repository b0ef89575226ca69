package awshub_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/sqsbell"
)

// cloud is a stack with all that works behind it: the stream, the outbox, both machines, and a receiver of callbacks.
type cloud struct {
	*stack
	stream   *stream
	machines *machines
	receiver *counting
	url      string // of the receiver
	outbox   func(context.Context, awshub.StreamEvent) (events.DynamoDBEventResponse, error)
	bot      string
	alice    string
}

// raise makes a cloud whose sweep takes over after grace.
func raise(t *testing.T, grace time.Duration) *cloud {
	t.Helper()
	receiver := &counting{got: map[string]int{}}
	server := httptest.NewServer(receiver)
	t.Cleanup(server.Close)
	c := &cloud{
		stack: deploy(t, strings.TrimPrefix(server.URL, "http://")), receiver: receiver, url: server.URL + "/cb",
	}
	c.bot, c.alice = c.stack.bot(), c.stack.alice()
	settings := hub.DefaultSettings()
	settings.Grace = grace
	c.config.Settings = settings.Text()
	c.stream = &stream{next: c.config.AWS.HTTPClient.(*http.Client).Transport}
	c.config.AWS.HTTPClient = &http.Client{Transport: c.stream}
	c.machines = &machines{t: t, inputs: map[string]string{}}
	var cancel func()
	c.machines.ctx, cancel = context.WithCancel(t.Context())
	t.Cleanup(c.machines.running.Wait)
	t.Cleanup(cancel)
	var errs [3]error
	c.machines.fire, errs[0] = c.config.Firer(t.Context())
	c.machines.deliver, errs[1] = c.config.Deliverer(t.Context())
	config := c.config
	config.ExpiryMachine, config.CallbackMachine = "expiry", "callback"
	config.AWS.HTTPClient = &http.Client{Transport: c.machines}
	config.AWS.RetryMaxAttempts = 1
	c.outbox, errs[2] = config.Outbox(t.Context(), sqsbell.Open)
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// ask submits an ask with a callback, and a deadline unless it is zero.
func (c *cloud) ask(key string, deadline time.Time) string {
	c.t.Helper()
	request := doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice"}, "callback": doc{
		"mode": "push", "url": c.url, "auth": doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef},
	}}
	return c.must(c.function(endpoint.Submit), "POST", "/v1/messages", c.bot, ask(key, request, deadline), http.StatusAccepted)["id"].(string)
}

func (c *cloud) approve(id string) {
	c.t.Helper()
	c.must(c.function(endpoint.Resolve), "POST", messagePath(id, "/resolve"), c.alice, approve, http.StatusOK)
}

// brings brings records to the outbox and returns how many it wants to have again.
func (c *cloud) brings(records []json.RawMessage) int {
	c.t.Helper()
	out, err := c.outbox(c.t.Context(), awshub.StreamEvent{Records: records})
	if err != nil {
		c.t.Fatal(err)
	}
	return len(out.BatchItemFailures)
}

// muddle is what a stream may make of records: everything twice, and the latest first.
func muddle(records []json.RawMessage) []json.RawMessage {
	out := slices.Concat(records, records)
	slices.Reverse(out)
	return out
}

// outcome is what the table has of a message's end, without settling it.
func (c *cloud) outcome(id string) *hub.Outcome {
	c.t.Helper()
	o, err := c.hub.Outcome(c.t.Context(), id)
	if err != nil {
		c.t.Fatal(err)
	}
	return o
}

// until waits until ready says so.
func (c *cloud) until(what string, ready func() bool) {
	c.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ready(); <-tick.C {
		if time.Now().After(end) {
			c.t.Fatalf("not after %s: %s", patience, what)
		}
	}
}

// sweepOnce runs the sweep.
func (c *cloud) sweepOnce() {
	c.t.Helper()
	if swept, err := c.sweeper()(c.t.Context()); err != nil || swept.Failed > 0 || swept.Left {
		c.t.Fatalf("sweep = %+v, %v", swept, err)
	}
}

// TestRecordsOfTheStreamMayComeAnyHow: doubled, latest first, and all of them again when everything is over. There is one
// push and one outcome of each, though the sweep runs beside.
func TestRecordsOfTheStreamMayComeAnyHow(t *testing.T) {
	t.Parallel()
	c := raise(t, 2*time.Minute)
	deadline := time.Now().Add(3 * time.Second)
	answered, expired := c.ask("answered", deadline), c.ask("expired", deadline)
	c.approve(answered)
	first := c.outcome(answered).Response.ResolutionID
	ids := []string{answered, expired}
	once := map[string]int{answered: 1, expired: 1}
	c.until("both are pushed", func() bool {
		if n := c.brings(muddle(c.stream.records())); n > 0 {
			t.Fatalf("%d records failed", n)
		}
		c.sweepOnce()
		got := c.receiver.of(ids...)
		return got[answered] > 0 && got[expired] > 0
	})
	second := c.outcome(expired).Response.ResolutionID
	c.machines.running.Wait()
	c.brings(c.stream.records())
	c.brings(muddle(c.stream.records()))
	c.sweepOnce()
	c.machines.running.Wait()
	if diff := cmp.Diff(once, c.receiver.of(ids...)); diff != "" {
		t.Errorf("pushes (-want +got)\n%s", diff)
	}
	if o := c.outcome(answered); o.Status != ma2h.StatusAnswered || o.Response.ResolutionID != first {
		t.Errorf("the answered one is %s %s, was %s", o.Status, o.Response.ResolutionID, first)
	}
	if o := c.outcome(expired); o.Status != ma2h.StatusExpired || o.Response.ResolutionID != second {
		t.Errorf("the expired one is %s %s, was %s", o.Status, o.Response.ResolutionID, second)
	}
	if n := len(c.machines.inputs); n != 4 {
		t.Errorf("%d executions, want one for each expiry and each callback: %v", n, c.machines.inputs)
	}
}

// TestTheSweepEndsWhatLastedLongAndLeavesThePushToItsExecution is about a deadline too far away for a timer.
func TestTheSweepEndsWhatLastedLongAndLeavesThePushToItsExecution(t *testing.T) {
	t.Parallel()
	c := raise(t, 2*time.Minute)
	d := &drive{stack: c.stack, bot: c.bot}
	request := doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice"}, "callback": doc{
		"mode": "push", "url": c.url, "auth": doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef},
	}}
	id := d.submitted("k", 30*time.Hour, 29*time.Hour, request)
	c.sweepOnce()
	if o := c.outcome(id); o.Status != ma2h.StatusExpired {
		t.Fatalf("the sweep leaves it %s", o.Status)
	}
	if got := c.receiver.of(id)[id]; got != 0 {
		t.Errorf("the sweep has pushed %d times", got)
	}
	c.brings(c.stream.records())
	c.until("it is pushed", func() bool { return c.receiver.of(id)[id] > 0 })
	c.machines.running.Wait()
	c.sweepOnce()
	if got := c.receiver.of(id)[id]; got != 1 {
		t.Errorf("%d pushes", got)
	}
}

// TestWhateverFailsForAWhile: expiry and pushes happen all the same, reads are right all along, and when it works again
// nothing happens twice.
func TestWhateverFailsForAWhile(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		begin  func(*cloud)
		failed bool // whether the outbox wants everything again
	}{
		"the outbox is down":     {func(c *cloud) { c.outbox = nil }, false},
		"executions are refused": {func(c *cloud) { c.machines.refuse = true }, true},
		"executions are lost":    {func(c *cloud) { c.machines.lose = true }, false},
		"the functions fail":     {func(c *cloud) { c.machines.fail = true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := raise(t, grace)
			works := c.outbox
			fault.begin(c)
			c.survives(fault.failed)
			if fault.failed {
				c.log.Reset()
			}
			c.outbox = works
			c.machines.heal()
			c.isOver()
		})
	}
}

// survives sees three messages to their end while something is at fault: one is answered, one expires and is read, and one
// expires without anybody looking.
func (c *cloud) survives(failed bool) {
	c.t.Helper()
	deadline := time.Now().Add(3 * time.Second).UTC().Truncate(time.Millisecond)
	answered, read, unseen := c.ask("answered", time.Time{}), c.ask("read", deadline), c.ask("unseen", deadline)
	c.approve(answered)
	if c.outbox != nil {
		again := c.brings(c.stream.records())
		if failed != (again > 0) {
			c.t.Errorf("the outbox wants %d records again, though it failed: %v", again, failed)
		}
	}
	c.until("the deadline is over", func() bool { return time.Now().After(deadline.Add(time.Millisecond)) })
	got := c.must(c.function(endpoint.Pull), "GET", messagePath(read, ""), c.bot, nil, http.StatusOK)
	inner, _ := got["response"].(map[string]any)["response"].(map[string]any)
	if got["status"] != "expired" || inner["resolved_at"] != ma2h.FormatTime(deadline) {
		c.t.Errorf("read after its deadline %s, it is %v, %v", deadline, got["status"], inner)
	}
	c.must(c.function(endpoint.Resolve), "POST", messagePath(read, "/resolve"), c.alice, approve, http.StatusConflict)
	ids := []string{answered, read, unseen}
	c.until("all are pushed by the sweep", func() bool {
		c.sweepOnce()
		if c.outbox != nil {
			c.brings(c.stream.records())
		}
		pushes := c.receiver.of(ids...)
		return pushes[answered] > 0 && pushes[read] > 0 && pushes[unseen] > 0
	})
}

// isOver checks that whatever comes now changes nothing.
func (c *cloud) isOver() {
	c.t.Helper()
	before := c.stored()
	c.brings(muddle(c.stream.records()))
	c.sweepOnce()
	c.machines.running.Wait()
	for id, n := range c.receiver.got {
		if n != 1 {
			c.t.Errorf("%s was pushed %d times", id, n)
		}
	}
	if diff := cmp.Diff(before, c.stored()); diff != "" {
		c.t.Errorf("afterwards (-before +after)\n%s", diff)
	}
}

// stored returns the outcomes of all messages that were pushed.
func (c *cloud) stored() map[string]*hub.Outcome {
	c.t.Helper()
	all := map[string]*hub.Outcome{}
	for id := range c.receiver.got {
		all[id] = c.outcome(id)
	}
	return all
}

// TestARecordThatCannotBeReadStandsInNobodysWay: it is in the log, once, and the others are armed.
func TestARecordThatCannotBeReadStandsInNobodysWay(t *testing.T) {
	t.Parallel()
	c := raise(t, time.Hour)
	id := c.ask("k", time.Now().Add(time.Hour))
	bad := []string{
		`5`, `{"eventID":"x1","dynamodb":5}`, `{"eventID":"x2","dynamodb":{"SequenceNumber":"1","NewImage":{"pk":{"S":"m#1"}}}}`,
		`{"eventID":"x3","dynamodb":{"SequenceNumber":"2","NewImage":{"pk":{"S":"m#1"},"sk":{"S":"state"},"rev":{"S":"r"},` +
			`"kind":{"S":"state"},"shard":{"S":"due#0"},"due":{"S":"0001773489600000000"},"body":{"S":"{"}}}}`,
		`{"eventID":"x4","dynamodb":{"SequenceNumber":"3","NewImage":{"pk":{"Q":"m#1"}}}}`,
	}
	var records []json.RawMessage
	for _, b := range bad {
		records = append(records, json.RawMessage(b))
	}
	erased := json.RawMessage(`{"eventName":"REMOVE","dynamodb":{"SequenceNumber":"4","Keys":{"pk":{"S":"m#1"}}}}`)
	out, err := c.outbox(t.Context(), awshub.StreamEvent{Records: slices.Concat(records, []json.RawMessage{erased}, c.stream.records())})
	if err != nil || out.BatchItemFailures == nil || len(out.BatchItemFailures) > 0 {
		t.Errorf("the outbox answers %+v, %v, want an empty list", out, err)
	}
	if got := len(c.machines.inputs); got != 1 {
		t.Errorf("%d executions, want the one of %s", got, id)
	}
	if got := strings.Count(c.log.String(), "cannot be read"); got != len(bad) {
		t.Errorf("the log names %d of %d:\n%s", got, len(bad), c.log)
	}
	c.log.Reset()
}

// TestTheOutboxWakesWhoWaitsForMail: once for what comes, however often the stream brings it, and not for each claim. That
// nobody waits is no failure.
func TestTheOutboxWakesWhoWaitsForMail(t *testing.T) {
	t.Parallel()
	c := raise(t, grace)
	drain := c.function(endpoint.Drain)
	c.must(c.function(endpoint.DirectiveSend), "POST", "/v1/directives", c.alice, doc{"to": "agent:bot", "title": "t"}, http.StatusCreated)
	c.must(drain, "GET", "/v1/inbox", c.bot, nil, http.StatusOK)
	if again := c.brings(muddle(c.stream.records())); again > 0 {
		t.Errorf("%d records are wanted again", again)
	}
	if len(c.machines.rung) != 1 || !strings.HasPrefix(c.machines.rung[0], c.config.Queues+"q-d-") {
		t.Errorf("rung are %q, want the queue of the directives once", c.machines.rung)
	}
}

func TestTheOutboxSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := awshub.Config{}.Outbox(t.Context(), sqsbell.Open)
	for _, name := range []string{"MASH_EXPIRY_MACHINE", "MASH_CALLBACK_MACHINE", "MASH_QUEUES", "AWS_REGION"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

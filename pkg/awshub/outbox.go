package awshub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/mash-hub/mash/pkg/dynamostore"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/sfnclock"
)

// StreamEvent is a batch of the table's stream. Its records are read one by one, so that one which cannot be read spoils no
// other.
type StreamEvent struct {
	Records []json.RawMessage `json:"Records"`
}

// Outbox returns the worker on the table's stream, which starts the executions of the timers that were committed, and wakes
// who waits for the mail that was. It needs neither table nor keys: what it decides stands in the stream.
//
// It answers with the records whose execution could not be started, so that they are brought again. A record that cannot
// be read will not be readable later either: it goes to the log and is done with, so that it does not stand in the way of
// those behind it, and the sweep does what it was for. Records that come twice, in another order or late do no harm.
func (c Config) Outbox(
	_ context.Context, mail MailBell,
) (func(context.Context, StreamEvent) (events.DynamoDBEventResponse, error), error) {
	if err := c.checkOutbox(); err != nil {
		return nil, err
	}
	o := &outbox{
		clock: sfnclock.New(sfn.NewFromConfig(c.AWS), c.ExpiryMachine, c.CallbackMachine), ring: mail(c.AWS, c.Queues, 0, c.log()).Ring,
		log: c.log(),
	}
	return o.batch, nil
}

func (c Config) checkOutbox() error {
	var wrong []error
	for _, v := range []struct{ name, value string }{
		{"MASH_EXPIRY_MACHINE", c.ExpiryMachine}, {"MASH_CALLBACK_MACHINE", c.CallbackMachine}, {"MASH_QUEUES", c.Queues},
		{"AWS_REGION", c.AWS.Region},
	} {
		if v.value == "" {
			wrong = append(wrong, fmt.Errorf("%s is not set", v.name))
		}
	}
	return errors.Join(wrong...)
}

type outbox struct {
	clock *sfnclock.Clock
	ring  func(ctx context.Context, lane string)
	log   *slog.Logger
}

// atATime is how many executions are being started and lanes rung at a time.
const atATime = 16

// task is what a record of the stream asks for.
type task struct {
	name     string // by which one that is asked for twice is known
	sequence string // of the record
	do       func(ctx context.Context) error
}

func (o *outbox) batch(ctx context.Context, e StreamEvent) (events.DynamoDBEventResponse, error) {
	failed := make([]string, len(e.Records)) // the sequence number of each that failed
	known := map[string]bool{}
	places := make(chan struct{}, atATime)
	var working sync.WaitGroup
	for i, raw := range e.Records {
		t := o.read(ctx, raw)
		if t == nil || known[t.name] {
			continue
		}
		known[t.name] = true
		places <- struct{}{}
		working.Go(func() {
			defer func() { <-places }()
			if err := t.do(ctx); err != nil {
				o.log.ErrorContext(ctx, "a timer was not armed and is tried again", "timer", t.name, "err", err)
				failed[i] = t.sequence
			}
		})
	}
	working.Wait()
	out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}} // null would be a fault
	for _, sequence := range failed {
		if sequence != "" {
			out.BatchItemFailures = append(out.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: sequence})
		}
	}
	return out, nil
}

// read returns what a record of the stream asks for, nil for nothing.
func (o *outbox) read(ctx context.Context, raw json.RawMessage) *task {
	var r events.DynamoDBEventRecord
	err := json.Unmarshal(raw, &r)
	if err == nil && r.Change.NewImage == nil {
		return nil // an erasure
	}
	var t *task
	if err == nil {
		t, err = o.task(&r)
	}
	if err != nil {
		o.log.ErrorContext(ctx, "a record of the stream cannot be read and is left to the sweep", "event", r.EventID, "err", err)
		return nil
	}
	return t
}

func (o *outbox) task(e *events.DynamoDBEventRecord) (*task, error) {
	r, err := dynamostore.Image(e.Change.NewImage)
	if err != nil {
		return nil, err
	}
	if lane := hub.RingOf(r); lane != "" {
		if e.EventName != string(events.DynamoDBOperationTypeInsert) {
			return nil, nil // it was claimed
		}
		return &task{name: lane, do: func(ctx context.Context) error { o.ring(ctx, lane); return nil }}, nil
	}
	t, err := hub.TimerOf(r)
	if err != nil || t == nil {
		return nil, err
	}
	return &task{
		name: string(t.Kind) + " " + t.Name, sequence: e.Change.SequenceNumber,
		do: func(ctx context.Context) error { return o.clock.Start(ctx, *t) },
	}, nil
}

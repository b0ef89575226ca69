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

// Outbox returns the worker on the table's stream, which starts the executions of the timers that were committed. It needs
// neither table nor keys: what it decides stands in the stream.
//
// It answers with the records whose execution could not be started, so that they are brought again. A record that cannot
// be read will not be readable later either: it goes to the log and is done with, so that it does not stand in the way of
// those behind it, and the sweep does what it was for. Records that come twice, in another order or late do no harm.
func (c Config) Outbox(context.Context) (func(context.Context, StreamEvent) (events.DynamoDBEventResponse, error), error) {
	if err := c.checkOutbox(); err != nil {
		return nil, err
	}
	o := &outbox{clock: sfnclock.New(sfn.NewFromConfig(c.AWS), c.ExpiryMachine, c.CallbackMachine), log: c.log()}
	return o.batch, nil
}

func (c Config) checkOutbox() error {
	var wrong []error
	for _, v := range []struct{ name, value string }{
		{"MASH_EXPIRY_MACHINE", c.ExpiryMachine}, {"MASH_CALLBACK_MACHINE", c.CallbackMachine}, {"AWS_REGION", c.AWS.Region},
	} {
		if v.value == "" {
			wrong = append(wrong, fmt.Errorf("%s is not set", v.name))
		}
	}
	return errors.Join(wrong...)
}

type outbox struct {
	clock *sfnclock.Clock
	log   *slog.Logger
}

// startsAtOnce is how many executions are being started at a time.
const startsAtOnce = 16

func (o *outbox) batch(ctx context.Context, e StreamEvent) (events.DynamoDBEventResponse, error) {
	failed := make([]string, len(e.Records)) // the sequence number of each that failed
	armed := map[string]bool{}
	places := make(chan struct{}, startsAtOnce)
	var starting sync.WaitGroup
	for i, raw := range e.Records {
		t, sequence := o.read(ctx, raw)
		if t == nil || armed[string(t.Kind)+t.Name] {
			continue
		}
		armed[string(t.Kind)+t.Name] = true
		places <- struct{}{}
		starting.Go(func() {
			defer func() { <-places }()
			if err := o.clock.Start(ctx, *t); err != nil {
				o.log.ErrorContext(ctx, "a timer was not armed and is tried again", "key", t.Key.String(), "err", err)
				failed[i] = sequence
			}
		})
	}
	starting.Wait()
	out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}} // null would be a fault
	for _, sequence := range failed {
		if sequence != "" {
			out.BatchItemFailures = append(out.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: sequence})
		}
	}
	return out, nil
}

// read returns the timer that a record of the stream asks for, nil for none.
func (o *outbox) read(ctx context.Context, raw json.RawMessage) (t *hub.Timer, sequence string) {
	var r events.DynamoDBEventRecord
	err := json.Unmarshal(raw, &r)
	if err == nil && r.Change.NewImage == nil {
		return nil, "" // an erasure
	}
	if err == nil {
		t, err = timerOf(r.Change.NewImage)
	}
	if err != nil {
		o.log.ErrorContext(ctx, "a record of the stream cannot be read and is left to the sweep", "event", r.EventID, "err", err)
		return nil, ""
	}
	return t, r.Change.SequenceNumber
}

func timerOf(image map[string]events.DynamoDBAttributeValue) (*hub.Timer, error) {
	r, err := dynamostore.Image(image)
	if err != nil {
		return nil, err
	}
	return hub.TimerOf(r)
}

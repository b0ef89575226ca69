// Package sfnclock makes a hub's timers go off by Step Functions: an execution waits for the time, calls a function, and
// waits on as long as the function says so.
//
// It is for promptness alone. An execution that is refused, lost or fails costs time: what it was for stands in the
// record, where the sweep finds it.
package sfnclock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
)

// Clock starts executions. Make one with New.
//
// It is no hub.Clockwork: that is told by whoever has just committed, and may forget what it was told. What starts
// executions must be able to fail, so that what it was told of is brought to it again.
type Clock struct {
	machines map[hub.TimerKind]string

	// What is used of the client, as a function: to hold the client itself would make the linker keep every method of it.
	start func(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error)
}

// New returns the Clock of the state machines with these ARNs, which have the definitions of this package.
func New(client *sfn.Client, expiry, callback string) *Clock {
	return &Clock{
		machines: map[hub.TimerKind]string{hub.TimerExpiry: expiry, hub.TimerLease: expiry, hub.TimerCallback: callback},
		start:    client.StartExecution,
	}
}

// Start starts the execution of a timer, named after it. One that runs or ran under this name is as good as started: the
// name is taken for ninety days, and what became of that execution is the sweep's to see.
func (c *Clock) Start(ctx context.Context, t hub.Timer) error {
	machine := c.machines[t.Kind]
	if machine == "" {
		return fmt.Errorf("start execution %s: no state machine for a timer of kind %q", t.Name, t.Kind)
	}
	input, err := json.Marshal(Input{Key: Key(t.Key), At: Timestamp(t.At), Name: t.Name})
	if err != nil {
		return fmt.Errorf("start execution %s: %w", t.Name, err)
	}
	_, err = c.start(ctx, &sfn.StartExecutionInput{
		StateMachineArn: aws.String(machine), Name: aws.String(t.Name), Input: aws.String(string(input)),
	})
	if _, there := errors.AsType[*types.ExecutionAlreadyExists](err); there {
		return nil
	}
	if err != nil {
		return fmt.Errorf("start execution %s: %w", t.Name, err)
	}
	return nil
}

// Input is the input of an execution, and of every call of its function. It has keys and never bodies.
type Input struct {
	Key  Key    `json:"key"`
	At   string `json:"at"`             // a Timestamp
	Name string `json:"name,omitempty"` // of the timer; executions begun by older versions have none
}

// Key is a record.Key on the wire.
type Key struct {
	Part string `json:"part"`
	Sort string `json:"sort"`
}

// UnmarshalJSON reads what of an input can be read, and leaves out what has the wrong type, for Check to miss it: an error
// from here would have a name that the definitions try again.
func (i *Input) UnmarshalJSON(text []byte) error {
	type plain Input // without this method
	var read plain
	_ = json.Unmarshal(text, &read) // goes on after a value of the wrong type
	*i = Input(read)
	return nil
}

// Check returns the key that an input names, or an *InvalidInput, which the definitions do not try again.
func (i Input) Check() (record.Key, error) {
	key := record.Key(i.Key)
	if _, err := time.Parse(time.RFC3339, i.At); err != nil || record.ValidateGet([]record.Key{key}) != nil {
		return record.Key{}, &InvalidInput{i}
	}
	return key, nil
}

// InvalidInput is the error of an input that is none. Lambda reports an error by the name of its type, by which the
// definitions know it: an execution with such an input fails, rather than do nothing and succeed.
type InvalidInput struct{ Input Input }

// Error implements error.
func (e *InvalidInput) Error() string {
	return fmt.Sprintf("sfnclock: no input of an execution: key %q %q, at %q", e.Input.Key.Part, e.Input.Key.Sort, e.Input.At)
}

// Answer is what the functions of both machines answer.
type Answer struct {
	Again string `json:"again,omitempty"` // a Timestamp: when to call again; absent when all is done
}

// ahead is how far ahead of the function's clock a time at least lies to which an execution is sent back: the clock of Step
// Functions may be the one that is ahead. What is past for it would end the wait at once, at the price of three states, and
// so again and again until the time has come for the function, too.
const ahead = time.Second

// Again is the Answer for a time at which to call again, seen at now; zero means that all is done. What is past or very
// near is put off.
func Again(at, now time.Time) Answer {
	if at.IsZero() {
		return Answer{}
	}
	if soonest := now.Add(ahead); at.Before(soonest) {
		at = soonest
	}
	return Answer{Again: Timestamp(at)}
}

// Timestamp writes a time in the form that a Wait state takes, in whole seconds, rounded up: Step Functions cuts off
// fractions, and would then ask before the time has come, again and again until it has, at a price each time.
func Timestamp(at time.Time) string {
	whole := at.Truncate(time.Second)
	if whole.Before(at) {
		whole = whole.Add(time.Second)
	}
	return whole.UTC().Format(time.RFC3339)
}

package sfnclock

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

// The definitions are written for what they cost, since a state that is entered costs, and so does each retry: an expiry
// enters four (wait, call, look, end), and a callback that arrives at once three, since its first attempt is due when it
// is armed and needs no wait. Each further attempt adds three. The function is called by its own ARN rather than through
// arn:aws:states:::lambda:invoke, at the same price: what it answers then is the result, without a wrapping to undo.
//
// What comes of a call is put beside the input, so that the next call gets the same input again.
const (
	stateWait  = "Wait"  // until the time of the input
	stateCall  = "Call"  // the function
	stateLook  = "Look"  // at the answer
	stateAgain = "Again" // wait until the time of the answer
	stateDone  = "Done"
	stateWrong = "Wrong" // the answer is none

	answerPath = "$.answer"
	againPath  = "$.answer.again"
)

// settling is what an execution may last beyond the waits that it is there for.
const settling = time.Hour

// ExpiryDefinition returns the definition of the machine whose function is Hub.Expire, as JSON of the Amazon States
// Language in which ${Function} stands for the function's ARN. Errors of Lambda are retried as the policy says.
func ExpiryDefinition(p hub.RetryPolicy) string {
	d := definition("Ends a message at its deadline; input: key and time.", p, hub.TimerHorizon+p.MaxDuration)
	d.StartAt = stateWait
	d.States[stateWait] = state{Type: "Wait", TimestampPath: "$.at", Next: stateCall}
	return text(d)
}

// CallbackDefinition returns the definition of the machine whose function is Hub.Deliver, one attempt a call, in the form
// of ExpiryDefinition. It is the function that decides whether there is another attempt, and when.
func CallbackDefinition(p hub.RetryPolicy) string {
	d := definition("Makes the attempts of a callback; input: key and time.", p, 2*p.MaxDuration)
	d.StartAt = stateCall
	return text(d)
}

func definition(comment string, p hub.RetryPolicy, lasts time.Duration) machine {
	return machine{
		Comment:        comment,
		TimeoutSeconds: seconds(lasts + settling),
		States: map[string]state{
			stateCall: {
				Type: "Task", Resource: "${Function}", ResultPath: answerPath, Next: stateLook, Retry: retries(p),
			},
			stateLook: {
				Type: "Choice",
				Choices: []choice{
					{Variable: againPath, IsPresent: new(false), Next: stateDone},
					{Variable: againPath, IsTimestamp: new(true), Next: stateAgain},
				},
				Default: stateWrong,
			},
			stateAgain: {Type: "Wait", TimestampPath: againPath, Next: stateCall},
			stateDone:  {Type: "Succeed"},
			stateWrong: {Type: "Fail", Error: "InvalidAnswer", Cause: "The function answered with a time that is none."},
		},
	}
}

// retries is how a call that failed is made again; one that failed for its input is not.
func retries(p hub.RetryPolicy) []retrier {
	first := max(seconds(p.First), 1)
	return []retrier{
		{ErrorEquals: []string{reflect.TypeFor[InvalidInput]().Name()}, MaxAttempts: 0},
		{
			ErrorEquals: []string{"States.ALL"}, MaxAttempts: p.MaxAttempts - 1,
			IntervalSeconds: first, BackoffRate: 2, MaxDelaySeconds: max(seconds(p.Longest), first+1), JitterStrategy: "FULL",
		},
	}
}

// seconds rounds up to whole ones, of which alone the language knows.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// machine and what follows are the parts of the Amazon States Language that are used here.
type machine struct {
	Comment        string           `json:"Comment"`
	StartAt        string           `json:"StartAt"`
	TimeoutSeconds int              `json:"TimeoutSeconds"`
	States         map[string]state `json:"States"`
}

type state struct {
	Type          string    `json:"Type"`
	TimestampPath string    `json:"TimestampPath,omitempty"`
	Resource      string    `json:"Resource,omitempty"`
	ResultPath    string    `json:"ResultPath,omitempty"`
	Retry         []retrier `json:"Retry,omitempty"`
	Choices       []choice  `json:"Choices,omitempty"`
	Default       string    `json:"Default,omitempty"`
	Error         string    `json:"Error,omitempty"`
	Cause         string    `json:"Cause,omitempty"`
	Next          string    `json:"Next,omitempty"`
}

type choice struct {
	Variable    string `json:"Variable"`
	IsPresent   *bool  `json:"IsPresent,omitempty"`
	IsTimestamp *bool  `json:"IsTimestamp,omitempty"`
	Next        string `json:"Next"`
}

type retrier struct {
	ErrorEquals     []string `json:"ErrorEquals"`
	MaxAttempts     int      `json:"MaxAttempts"`
	IntervalSeconds int      `json:"IntervalSeconds,omitempty"`
	BackoffRate     float64  `json:"BackoffRate,omitempty"`
	MaxDelaySeconds int      `json:"MaxDelaySeconds,omitempty"`
	JitterStrategy  string   `json:"JitterStrategy,omitempty"`
}

func text(m machine) string {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("sfnclock: a definition does not encode: %v", err)) // a bug: it is of our own types
	}
	return string(b)
}

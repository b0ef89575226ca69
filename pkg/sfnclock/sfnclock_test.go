package sfnclock_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sfnclock"
)

// patience is how long a test waits for what must come, on a machine that does much else besides.
const patience = 30 * time.Second

// rig is both state machines on the emulator. In the place of the function stands an activity, so that the test itself is
// called and answers.
type rig struct {
	t        *testing.T
	client   *sfn.Client
	clock    *sfnclock.Clock
	activity *string
	machine  map[hub.TimerKind]*string
}

// emulated runs a test where there is an emulator.
func emulated(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	if dynamotest.Wanted(t) {
		test(t, newRig(t))
	}
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, client: sfn.NewFromConfig(dynamotest.Config(dynamotest.Transport(t))), machine: map[hub.TimerKind]*string{}}
	a, err := r.client.CreateActivity(t.Context(), &sfn.CreateActivityInput{Name: aws.String("function-" + record.NewRev())})
	if err != nil {
		t.Fatal(err)
	}
	r.activity = a.ActivityArn
	p := hub.RetryPolicy{MaxAttempts: 3, First: time.Second, Longest: 2 * time.Second, MaxDuration: time.Minute}
	for kind, text := range map[hub.TimerKind]string{
		hub.TimerExpiry: sfnclock.ExpiryDefinition(p), hub.TimerCallback: sfnclock.CallbackDefinition(p),
	} {
		out, err := r.client.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
			Name: aws.String(string(kind) + "-" + record.NewRev()), RoleArn: aws.String("arn:aws:iam::000000000000:role/test"),
			Definition: aws.String(strings.ReplaceAll(text, "${Function}", aws.ToString(r.activity))),
		})
		if err != nil {
			t.Fatal(err)
		}
		r.machine[kind] = out.StateMachineArn
	}
	r.clock = sfnclock.New(r.client, aws.ToString(r.machine[hub.TimerExpiry]), aws.ToString(r.machine[hub.TimerCallback]))
	return r
}

// called waits for the next call of the function and returns its token and input.
func (r *rig) called() (*string, sfnclock.Input) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil {
		out, err := r.client.GetActivityTask(ctx, &sfn.GetActivityTaskInput{ActivityArn: r.activity})
		if err != nil {
			r.t.Fatal(err)
		}
		if aws.ToString(out.TaskToken) == "" {
			continue
		}
		var in sfnclock.Input
		if err := json.Unmarshal([]byte(aws.ToString(out.Input)), &in); err != nil {
			r.t.Fatalf("input %s: %v", aws.ToString(out.Input), err)
		}
		return out.TaskToken, in
	}
	r.t.Fatal("not called")
	return nil, sfnclock.Input{}
}

// answer answers a call, as JSON.
func (r *rig) answer(token *string, output string) {
	r.t.Helper()
	_, err := r.client.SendTaskSuccess(r.t.Context(), &sfn.SendTaskSuccessInput{TaskToken: token, Output: aws.String(output)})
	if err != nil {
		r.t.Fatal(err)
	}
}

// fail answers a call with an error.
func (r *rig) fail(token *string, name string) {
	r.t.Helper()
	_, err := r.client.SendTaskFailure(r.t.Context(), &sfn.SendTaskFailureInput{TaskToken: token, Error: aws.String(name)})
	if err != nil {
		r.t.Fatal(err)
	}
}

// ends waits until the one execution of a machine has ended and returns how.
func (r *rig) ends(kind hub.TimerKind) types.ExecutionStatus {
	r.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		out, err := r.client.ListExecutions(r.t.Context(), &sfn.ListExecutionsInput{StateMachineArn: r.machine[kind]})
		if err != nil {
			r.t.Fatal(err)
		}
		if len(out.Executions) != 1 {
			r.t.Fatalf("%d executions, want 1", len(out.Executions))
		}
		if s := out.Executions[0].Status; s != types.ExecutionStatusRunning {
			return s
		}
	}
	r.t.Fatal("the execution does not end")
	return ""
}

func timer(kind hub.TimerKind, at time.Time) hub.Timer {
	return hub.Timer{Kind: kind, Name: "one-1", Key: record.Key{Part: "m#one", Sort: "state"}, At: at}
}

func (r *rig) start(kind hub.TimerKind, at time.Time) {
	r.t.Helper()
	if err := r.clock.Start(r.t.Context(), timer(kind, at)); err != nil {
		r.t.Fatal(err)
	}
}

func TestAnExpiryIsCalledAtItsTimeAndAgainUntilItIsDone(t *testing.T) {
	emulated(t, expiry)
}

func expiry(t *testing.T, r *rig) {
	at := time.Now().Add(1200 * time.Millisecond)
	r.start(hub.TimerExpiry, at)
	token, in := r.called()
	if time.Now().Before(at) {
		t.Errorf("called %v before its time", time.Until(at))
	}
	if key, err := in.Check(); err != nil || key != timer("", at).Key {
		t.Errorf("called with %+v: %v", in, err)
	}
	again := time.Now().Add(1100 * time.Millisecond)
	answer, _ := json.Marshal(sfnclock.Again(again, time.Now()))
	r.answer(token, string(answer))
	token, second := r.called()
	if time.Now().Before(again) {
		t.Errorf("called again %v before its time", time.Until(again))
	}
	if second != in {
		t.Errorf("called again with %+v, want %+v", second, in)
	}
	r.answer(token, "{}")
	if got := r.ends(hub.TimerExpiry); got != types.ExecutionStatusSucceeded {
		t.Errorf("ends as %s", got)
	}
}

func TestACallbackIsCalledAtOnce(t *testing.T) {
	emulated(t, func(t *testing.T, r *rig) {
		r.start(hub.TimerCallback, time.Now().Add(time.Hour)) // an attempt that is too early does nothing
		token, _ := r.called()
		r.answer(token, "{}")
		if got := r.ends(hub.TimerCallback); got != types.ExecutionStatusSucceeded {
			t.Errorf("ends as %s", got)
		}
	})
}

func TestStartingAgainIsFine(t *testing.T) {
	emulated(t, func(t *testing.T, r *rig) {
		for range 2 {
			r.start(hub.TimerCallback, time.Now())
		}
		token, _ := r.called()
		r.start(hub.TimerCallback, time.Now())
		r.answer(token, "{}")
		if got := r.ends(hub.TimerCallback); got != types.ExecutionStatusSucceeded {
			t.Errorf("ends as %s", got)
		}
		r.start(hub.TimerCallback, time.Now().Add(time.Minute)) // another time, but the same name
		r.ends(hub.TimerCallback)                               // is still the only one
	})
}

func TestAFailedCallIsMadeAgain(t *testing.T) {
	emulated(t, func(t *testing.T, r *rig) {
		r.start(hub.TimerCallback, time.Now())
		token, _ := r.called()
		r.fail(token, "Lambda.TooManyRequestsException")
		token, _ = r.called()
		r.answer(token, "{}")
		if got := r.ends(hub.TimerCallback); got != types.ExecutionStatusSucceeded {
			t.Errorf("ends as %s", got)
		}
	})
}

// TestWhatIsWrongFails: the emulator would take a time that is none for one that has come.
func TestWhatIsWrongFails(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *rig, token *string){
		"an answer with a time that is none": func(r *rig, token *string) { r.answer(token, `{"again":"soon"}`) },
		"an input that is none":              func(r *rig, token *string) { r.fail(token, "InvalidInput") },
	} {
		t.Run(name, func(t *testing.T) {
			emulated(t, func(t *testing.T, r *rig) {
				r.start(hub.TimerCallback, time.Now())
				token, _ := r.called()
				end(r, token)
				if got := r.ends(hub.TimerCallback); got != types.ExecutionStatusFailed {
					t.Errorf("ends as %s", got)
				}
			})
		})
	}
}

// refusing stands for Step Functions that cannot be reached.
type refusing struct{}

var errRefused = errors.New("refused")

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errRefused }

func TestAStartThatFailsIsSaid(t *testing.T) {
	t.Parallel()
	client := sfn.NewFromConfig(dynamotest.Config(refusing{}), func(o *sfn.Options) { o.RetryMaxAttempts = 1 })
	clock := sfnclock.New(client, "", "arn:aws:states:us-east-1:000000000000:stateMachine:callback")
	if err := clock.Start(t.Context(), timer(hub.TimerCallback, time.Now())); !errors.Is(err, errRefused) {
		t.Errorf("Start = %v, want %v", err, errRefused)
	}
	if err := clock.Start(t.Context(), timer(hub.TimerExpiry, time.Now())); err == nil {
		t.Error("Start without a machine succeeds")
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

const (
	patience = 90 * time.Second // with whatever must come
	interval = 50 * time.Millisecond
)

// The functions that are made to fail, and what of their environment is spoiled for that.
const (
	outbox  = "outbox"
	fire    = "fire"
	deliver = "deliver"
	sweep   = "sweep"
)

// trial is a deployment under trial.
type trial struct {
	*cloud
	receiver *receiver
	run      string
	asked    []*message // with a callback
	schedule string     // the rule that runs the sweep, once it is off

	mu    sync.Mutex // of what messages say of their answer
	count int
}

func begin(ctx context.Context, file string) (*trial, error) {
	c, err := connect(file)
	if err != nil {
		return nil, err
	}
	r, err := listen(ctx, c.Callback)
	if err != nil {
		return nil, err
	}
	return &trial{cloud: c, receiver: r, run: fmt.Sprintf("%x", time.Now().UnixMilli())}, nil
}

// end puts everything back.
func (t *trial) end(ctx context.Context) error {
	var resumed error
	if t.schedule != "" {
		resumed = t.call(ctx, events(), "EnableRule", doc{"Name": t.schedule}, nil)
	}
	return errors.Join(t.mend(ctx), resumed, t.receiver.server.Close())
}

// unique returns a name that no other run has.
func (t *trial) unique(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	return fmt.Sprintf("%s-%s-%d", name, t.run, t.count)
}

// pauseSchedule switches off the rule that runs the sweep.
func (t *trial) pauseSchedule(ctx context.Context) error {
	f, err := t.functions.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: t.function(sweep)})
	if err != nil {
		return err
	}
	var found struct{ RuleNames []string }
	if err := t.call(ctx, events(), "ListRuleNamesByTarget", doc{"TargetArn": aws.ToString(f.FunctionArn)}, &found); err != nil {
		return err
	}
	if len(found.RuleNames) != 1 {
		return fmt.Errorf("%d rules run the sweep, want 1", len(found.RuleNames))
	}
	t.schedule = found.RuleNames[0]
	return t.call(ctx, events(), "DisableRule", doc{"Name": t.schedule}, nil)
}

// grace is how long the sweep leaves to others what is theirs to do.
func (t *trial) grace(ctx context.Context) (time.Duration, error) {
	is, err := t.environment(ctx, sweep)
	if err != nil {
		return 0, err
	}
	var settings struct{ Grace string }
	if err := json.Unmarshal([]byte(is["MASH_SETTINGS"]), &settings); err != nil {
		return 0, fmt.Errorf("the settings of the stage: %w", err)
	}
	return time.ParseDuration(settings.Grace)
}

// spoiled ends the value of every variable that is made wrong, by which it is found again whatever became of this program.
const spoiled = "-gone"

// spoil makes a function look for what these variables name where it is not.
func (t *trial) spoil(ctx context.Context, function string, variables ...string) error {
	is, err := t.environment(ctx, function)
	if err != nil {
		return err
	}
	for _, v := range variables {
		if is[v] == "" {
			return fmt.Errorf("%s has no %s to spoil", function, v)
		}
		is[v] += spoiled
	}
	return t.configure(ctx, function, is)
}

// spoilOutbox lets it find no state machine.
func (t *trial) spoilOutbox(ctx context.Context) error {
	return t.spoil(ctx, outbox, "MASH_EXPIRY_MACHINE", "MASH_CALLBACK_MACHINE")
}

// spoilWorkers lets what executions call find no table.
func (t *trial) spoilWorkers(ctx context.Context) error {
	return errors.Join(t.spoil(ctx, fire, "MASH_TABLE"), t.spoil(ctx, deliver, "MASH_TABLE"))
}

// mend gives every function that is spoiled its environment again.
func (t *trial) mend(ctx context.Context) error {
	var failed []error
	for _, function := range []string{outbox, fire, deliver} {
		is, err := t.environment(ctx, function)
		right := maps.Clone(is)
		for name, value := range is {
			right[name] = strings.TrimSuffix(value, spoiled)
		}
		if err == nil && !maps.Equal(is, right) {
			err = t.configure(ctx, function, right)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("put back the environment of %s: %w", function, err))
		}
	}
	return errors.Join(failed...)
}

// environment returns the variables of a function.
func (t *trial) environment(ctx context.Context, function string) (map[string]string, error) {
	f, err := t.functions.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: t.function(function)})
	if err != nil {
		return nil, err
	}
	if f.Environment == nil {
		return nil, fmt.Errorf("%s has no environment", function)
	}
	return f.Environment.Variables, nil
}

// configure returns when a function runs with these variables.
func (t *trial) configure(ctx context.Context, function string, variables map[string]string) error {
	_, err := t.functions.UpdateFunctionConfiguration(ctx, &lambda.UpdateFunctionConfigurationInput{
		FunctionName: t.function(function), Environment: &types.Environment{Variables: variables},
	})
	if err != nil {
		return err
	}
	waiter := lambda.NewFunctionUpdatedV2Waiter(t.functions, func(o *lambda.FunctionUpdatedV2WaiterOptions) {
		o.MinDelay, o.MaxDelay = interval, time.Second
	})
	return waiter.Wait(ctx, &lambda.GetFunctionInput{FunctionName: t.function(function)}, patience)
}

// until returns when it is so, or after much patience with an error that says what was waited for.
func until(ctx context.Context, what string, so func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(interval)
	defer again.Stop()
	for {
		ok, err := so(ctx)
		if ctx.Err() != nil && !ok {
			return fmt.Errorf("wait until %s: %w", what, ctx.Err())
		}
		if ok || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
}

// passed returns when a message's deadline is over.
func passed(ctx context.Context, m *message) error {
	return until(ctx, "the deadline is over", func(context.Context) (bool, error) {
		return time.Now().After(m.deadline.Add(time.Millisecond)), nil
	})
}

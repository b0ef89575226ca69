package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// execution is one of a state machine.
type execution struct{ ExecutionArn, StateMachineArn, Name, Status, Input string }

// The states of executions that are asked for.
const (
	running   = "RUNNING"
	succeeded = "SUCCEEDED"
	aborted   = "ABORTED"
)

// expiry and callback are the ARNs of the executions that end a message at its deadline, and that make the callback of what
// became of it at a time.
func (t *trial) expiry(m *message) string { return executionOf(t.Outputs.ExpiryMachine, m, m.deadline) }
func (t *trial) callback(m *message, at time.Time) string {
	return executionOf(t.Outputs.CallbackMachine, m, at)
}

func executionOf(machine string, m *message, at time.Time) string {
	return fmt.Sprintf("%s:%s-%d", strings.Replace(machine, ":stateMachine:", ":execution:", 1), m.tail, at.UnixMilli())
}

// callbackNow is callback as the record now stands.
func (t *trial) callbackNow(ctx context.Context, m *message) (string, error) {
	s, err := t.state(ctx, m)
	if err != nil {
		return "", err
	}
	return t.callback(m, s.StatusAt), nil
}

// execution returns one; its Status is empty where there is none.
func (t *trial) execution(ctx context.Context, arn string) (e execution, _ error) {
	err := t.call(ctx, states(), "DescribeExecution", doc{"executionArn": arn}, &e)
	if refused(err, "ExecutionDoesNotExist") {
		return execution{}, nil
	}
	return e, err
}

// reaches waits until executions have this status, which a closed one with another will never have.
func (t *trial) reaches(ctx context.Context, status string, arns ...string) error {
	for _, arn := range arns {
		err := until(ctx, arn+" is "+status, func(ctx context.Context) (bool, error) {
			e, err := t.execution(ctx, arn)
			if err == nil && e.Status != "" && e.Status != running && e.Status != status {
				return false, fmt.Errorf("%s is %s, want %s", arn, e.Status, status)
			}
			return e.Status == status, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// executions returns those of both machines that have this status, or any for "".
func (t *trial) executions(ctx context.Context, status string) ([]execution, error) {
	var all []execution
	for _, machine := range []string{t.Outputs.ExpiryMachine, t.Outputs.CallbackMachine} {
		in := doc{"stateMachineArn": machine, "maxResults": 1000}
		if status != "" {
			in["statusFilter"] = status
		}
		for {
			var page struct {
				Executions []execution
				NextToken  string
			}
			if err := t.call(ctx, states(), "ListExecutions", in, &page); err != nil {
				return nil, err
			}
			if all = append(all, page.Executions...); page.NextToken == "" {
				break
			}
			in["nextToken"] = page.NextToken
		}
	}
	return all, nil
}

// of returns the executions for some messages.
func of(all []execution, messages ...*message) []execution {
	var theirs []execution
	for _, e := range all {
		for _, m := range messages {
			if strings.Contains(e.Name, m.tail) {
				theirs = append(theirs, e)
			}
		}
	}
	return theirs
}

// stopAll stops every execution that runs.
func (t *trial) stopAll(ctx context.Context) (stopped int, _ error) {
	all, err := t.executions(ctx, running)
	for _, e := range all {
		if err := t.call(ctx, states(), "StopExecution", doc{"executionArn": e.ExecutionArn}, nil); err != nil {
			return stopped, err
		}
		stopped++
	}
	return stopped, err
}

// failing waits until an execution that still runs has had its function fail.
func (t *trial) failing(ctx context.Context, arns ...string) error {
	for _, arn := range arns {
		err := until(ctx, "the function of "+arn+" fails", func(ctx context.Context) (bool, error) {
			var history struct{ Events []struct{ Type string } }
			err := t.call(ctx, states(), "GetExecutionHistory", doc{"executionArn": arn, "includeExecutionData": false}, &history)
			if refused(err, "ExecutionDoesNotExist") {
				return false, nil
			}
			failed := false
			for _, e := range history.Events {
				if e.Type == "ExecutionFailed" || e.Type == "ExecutionSucceeded" {
					return false, fmt.Errorf("%s has ended before its function was mended: %s", arn, e.Type)
				}
				failed = failed || strings.HasSuffix(e.Type, "Failed")
			}
			return failed, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stuck waits until the outbox has failed at what the stream brings.
func (t *trial) stuck(ctx context.Context) error {
	return until(ctx, "the outbox fails", func(ctx context.Context) (bool, error) {
		m, err := t.functions.GetEventSourceMapping(ctx, &lambda.GetEventSourceMappingInput{UUID: &t.Outputs.StreamMapping})
		if err != nil {
			return false, err
		}
		said := aws.ToString(m.LastProcessingResult)
		return strings.HasPrefix(said, "FAILED") || strings.HasPrefix(said, "PROBLEM"), nil
	})
}

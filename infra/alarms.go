package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// alarm is when somebody should look, and what they should do: do is its description.
type alarm struct {
	name    string
	metric  awscloudwatch.IMetric
	above   float64
	periods int // of five minutes each, all of them above
	do      string
}

// addAlarms makes the alarms. None of them means that an answer was wrong or lost: what is due stands in the table.
func (s *stack) addAlarms() {
	for _, a := range []alarm{
		{"ServerErrors", s.ofAPI("5xx", "Sum"), 5, 1,
			"The hub answered 5xx. Look for the route in the access log, then for level ERROR in that function's log. " +
				"After a deployment, roll back; before the first bootstrap, run mash-aws bootstrap."},
		{"DeadLetters", s.ofDeadLetters(), 0, 1,
			"The outbox gave up on stream records. The sweep has done their work by now, so nothing is lost: read the outbox's " +
				"log for the cause, mend it, then purge the queue."},
		{"OldStreamRecord", s.ofFunction(endpoint.Outbox, "IteratorAge", "Maximum"), 60_000, 2,
			"The outbox is more than a minute behind, so expiries and callbacks wait for the sweep. Look at its errors and " +
				"throttles, and at the account's concurrency."},
		{"FailedExpiries", s.ofMachine(expiry, "ExecutionsFailed"), 0, 1,
			"Executions that end messages at their deadline failed. The sweep takes over within minutes: open the execution " +
				"in Step Functions, and the log of the function fire."},
		{"LostExpiries", s.ofMachine(expiry, "ExecutionsTimedOut"), 0, 1, "Executions that end messages at their deadline " +
			"went on for longer than any should. The sweep took over: open one in Step Functions to see where it stood."},
		{"FailedCallbacks", s.ofMachine(callback, "ExecutionsFailed"), 0, 1,
			"Executions that make callbacks failed, which a refusing receiver does not cause. The sweep takes over within " +
				"minutes: open the execution in Step Functions, and the log of the function deliver."},
		{"LostCallbacks", s.ofMachine(callback, "ExecutionsTimedOut"), 0, 1, "Executions that make callbacks went on for " +
			"longer than any should. The sweep took over: open one in Step Functions to see where it stood."},
		{"CallbackFailureRate", s.ofCallbacks("Average"), 0.5, 3,
			"More than half of all attempts at callbacks failed for a quarter of an hour. If the log of the function deliver " +
				"names one agent, tell whoever runs it; if it names all, look at the hub's way out."},
		{"SweepErrors", s.ofFunction(endpoint.Sweep, "Errors", "Sum"), 0, 2,
			"The sweep fails, so what others have missed is not made up for. Look for level ERROR in its log; nothing is lost, " +
				"and the next run that succeeds does it."},
		{"RefusedPulls", s.ofFunction(endpoint.Pull, "Throttles", "Sum"), 0, 2,
			"More pulls wait at once than WaitingPulls allows, so some are refused. Raise it, or have agents use callbacks."},
	} {
		s.addAlarm(a)
	}
}

func (s *stack) addAlarm(a alarm) {
	made := awscloudwatch.NewAlarm(s.Stack, jsii.String(a.name+"Alarm"), &awscloudwatch.AlarmProps{
		AlarmName:          s.named(a.name),
		AlarmDescription:   jsii.String(a.do),
		Metric:             a.metric,
		Threshold:          jsii.Number(a.above),
		EvaluationPeriods:  jsii.Number(a.periods),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
	if topic := s.stage.AlarmTopic; topic != "" {
		arn := awssns.Topic_FromTopicArn(s.Stack, jsii.String(a.name+"Topic"), jsii.String(topic))
		made.AddAlarmAction(awscloudwatchactions.NewSnsAction(arn))
	}
}

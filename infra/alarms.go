package main

import (
	"cmp"
	"slices"

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
	periods int  // of five minutes each: so many of them are above
	among   int  // so many periods; 0 for no others
	silence bool // raised by periods in which the metric is 0 or not there, in place of those above
	do      string
}

// addAlarms makes the alarms. None of them means that an answer was wrong or lost: what is due stands in the table.
func (s *stack) addAlarms() {
	for _, a := range slices.Concat(s.alarmsOfRequests(), s.alarmsOfTimers(), s.alarmsOfCallbacks(), s.alarmsOfSweep()) {
		s.addAlarm(a)
	}
}

func (s *stack) alarmsOfRequests() []alarm {
	return []alarm{
		{name: "ServerErrors", metric: s.ofAPI("5xx", "Sum"), above: 5, periods: 1,
			do: "The hub answered 5xx. Look for the route in the access log, then for level ERROR in that function's log. " +
				"After a deployment, roll back; before the first bootstrap, run mash-aws bootstrap."},
		{name: "RefusedPulls", metric: s.ofFunction(endpoint.Pull, "Throttles", "Sum"), periods: 2,
			do: "More pulls wait at once than WaitingPulls allows, so some are refused. Raise it, or have agents use callbacks."},
		{name: "RefusedDrains", metric: s.ofFunction(endpoint.Drain, "Throttles", "Sum"), periods: 2,
			do: "More agents wait for mail at once than WaitingDrains allows, so some are refused. Raise it, or have them look now and then."},
		{name: "RefusedStreams", metric: s.ofFunction(endpoint.Stream, "Throttles", "Sum"), periods: 2,
			do: "More streams are open at once than HeldStreams allows, so some are refused. Raise it, or have agents drain: an agent " +
				"without a stream misses nothing."},
		{name: "StreamErrors", metric: s.ofFunction(endpoint.Stream, "Url5xxCount", "Sum"), above: 5, periods: 1,
			do: "The hub answered streams by 5xx, which the API does not count. Look for level ERROR in the log of the function stream; what was " +
				"pushed and not acknowledged comes again."},
	}
}

// alarmsOfTimers are about what makes expiries and callbacks prompt. A stream that cannot be read at all has no metric,
// since nothing calls the outbox then: SweptCallbacks is about that.
func (s *stack) alarmsOfTimers() []alarm {
	return []alarm{
		{name: "DeadLetters", metric: s.ofDeadLetters(), periods: 1,
			do: "The outbox gave up on stream records. The sweep does their work when it is due, so nothing is lost: read the " +
				"outbox's log for the cause, mend it, then purge the queue."},
		{name: "OldStreamRecord", metric: s.ofFunction(endpoint.Outbox, "IteratorAge", "Maximum"), above: 60_000, periods: 2,
			do: "The outbox is more than a minute behind, so expiries and callbacks wait for the sweep. Look at its errors and " +
				"throttles, and at the account's concurrency."},
		{name: "FailedExpiries", metric: s.ofMachine(expiry, "ExecutionsFailed"), periods: 1,
			do: "Executions that end messages at their deadline failed. The sweep takes over within minutes: open the execution " +
				"in Step Functions, and the log of the function fire."},
		{name: "LostExpiries", metric: s.ofMachine(expiry, "ExecutionsTimedOut"), periods: 1,
			do: "Executions that end messages at their deadline went on for longer than any should. The sweep took over: open " +
				"one in Step Functions to see where it stood."},
		{name: "FailedCallbacks", metric: s.ofMachine(callback, "ExecutionsFailed"), periods: 1,
			do: "Executions that make callbacks failed, which a refusing receiver does not cause. The sweep takes over within " +
				"minutes: open the execution in Step Functions, and the log of the function deliver."},
		{name: "LostCallbacks", metric: s.ofMachine(callback, "ExecutionsTimedOut"), periods: 1,
			do: "Executions that make callbacks went on for longer than any should. The sweep took over: open one in Step " +
				"Functions to see where it stood."},
	}
}

func (s *stack) alarmsOfCallbacks() []alarm {
	return []alarm{
		{name: "CallbackFailureRate", metric: s.logged(failedCallback, "Average"), above: 0.5, periods: 3,
			do: "More than half of all attempts at callbacks failed for a quarter of an hour. If the log of the function deliver " +
				"names one agent, tell whoever runs it; if it names all, look at the hub's way out."},
		// Those of a hub with little to do may be far apart.
		{name: "SweptCallbacks", metric: s.logged(sweptCallback, "Sum"), periods: 3, among: 12,
			do: "Again and again the sweep makes callbacks that executions should have made, minutes late. Look at the other " +
				"alarms. If there is none, the outbox may not be called at all: run aws lambda get-event-source-mapping with the " +
				"output StreamMapping as its --uuid. State must be Enabled, and LastProcessingResult says what hinders it, such as " +
				"a permission or the table's key."},
	}
}

// alarmsOfSweep are about what is certain. Its runs are many, and one that fails is made up for by the next.
func (s *stack) alarmsOfSweep() []alarm {
	return []alarm{
		{name: "NoSweeps", metric: s.ofFunction(endpoint.Sweep, "Invocations", "Sum"), periods: 3, silence: true,
			do: "The sweep has not run for a quarter of an hour, so what others have missed is not made up for. Look whether its " +
				"rule in EventBridge is enabled and may call it. A new stack raises this once, before the first run."},
		{name: "SweepErrors", metric: s.ofFunction(endpoint.Sweep, "Errors", "Sum"), periods: 2,
			do: "The sweep fails, so what others have missed is not made up for. Look for level ERROR in its log; nothing is lost, " +
				"and the next run that succeeds does it."},
		{name: "FailedWork", metric: s.logged(failedWork, "Sum"), periods: 3,
			do: "For a quarter of an hour the sweep has failed to do something that is due, and tries again each minute. Its log " +
				"names the record and why, at level ERROR."},
		{name: "UnfinishedSweeps", metric: s.logged(unfinishedSweep, "Sum"), periods: 3,
			do: "For a quarter of an hour the sweep has had no time for everything that is due. If it makes callbacks, look at " +
				"SweptCallbacks and for slow receivers in its log; else it catches up by itself, unless DynamoDB throttles it."},
	}
}

func (s *stack) addAlarm(a alarm) {
	props := &awscloudwatch.AlarmProps{
		AlarmName:          s.named(a.name),
		AlarmDescription:   jsii.String(a.do),
		Metric:             a.metric,
		Threshold:          jsii.Number(a.above),
		EvaluationPeriods:  jsii.Number(cmp.Or(a.among, a.periods)),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	}
	if a.among > 0 {
		props.DatapointsToAlarm = jsii.Number(a.periods)
	}
	if a.silence {
		props.ComparisonOperator = awscloudwatch.ComparisonOperator_LESS_THAN_OR_EQUAL_TO_THRESHOLD
		props.TreatMissingData = awscloudwatch.TreatMissingData_BREACHING
	}
	made := awscloudwatch.NewAlarm(s.Stack, jsii.String(a.name+"Alarm"), props)
	if topic := s.stage.AlarmTopic; topic != "" {
		arn := awssns.Topic_FromTopicArn(s.Stack, jsii.String(a.name+"Topic"), jsii.String(topic))
		made.AddAlarmAction(awscloudwatchactions.NewSnsAction(arn))
	}
}

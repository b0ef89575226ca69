package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// metric is what the dashboard shows and alarms look at, over five minutes.
func (s *stack) metric(namespace, name, statistic string, dimensions map[string]*string) awscloudwatch.Metric {
	props := &awscloudwatch.MetricProps{
		Namespace: jsii.String(namespace), MetricName: jsii.String(name), Statistic: jsii.String(statistic),
		Period: awscdk.Duration_Minutes(jsii.Number(5)),
	}
	if dimensions != nil {
		props.DimensionsMap = &dimensions
	}
	return awscloudwatch.NewMetric(props)
}

func (s *stack) ofAPI(name, statistic string) awscloudwatch.Metric {
	return s.metric("AWS/ApiGateway", name, statistic, map[string]*string{"ApiId": s.api.ApiId()})
}

func (s *stack) ofFunction(function endpoint.Name, name, statistic string) awscloudwatch.Metric {
	return s.metric("AWS/Lambda", name, statistic, map[string]*string{"FunctionName": s.functions[function].FunctionName()})
}

func (s *stack) ofMachine(machine, name string) awscloudwatch.Metric {
	return s.metric("AWS/States", name, "Sum", map[string]*string{"StateMachineArn": s.machines[machine].AttrArn()})
}

func (s *stack) ofTable(name, statistic string) awscloudwatch.Metric {
	return s.metric("AWS/DynamoDB", name, statistic, map[string]*string{"TableName": s.table.TableName()})
}

func (s *stack) ofDeadLetters() awscloudwatch.Metric {
	return s.metric("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum",
		map[string]*string{"QueueName": s.deadLetters.QueueName()})
}

// logged is a metric that is made from what functions log.
func (s *stack) logged(name, statistic string) awscloudwatch.Metric {
	return s.metric(s.namespace(), name, statistic, nil)
}

func (s *stack) namespace() string { return "Mash/" + s.stage.Stack }

// The metrics that are made from logs.
const (
	failedCallback  = "FailedCallback"  // each attempt counts 1 if it failed and 0 if not: their average is the failure rate
	sweptCallback   = "SweptCallback"   // attempts that the sweep makes, which are late
	failedWork      = "FailedWork"      // records that the sweep could not do
	unfinishedSweep = "UnfinishedSweep" // runs of the sweep that left something for want of time
)

// addLogMetrics makes these metrics.
func (s *stack) addLogMetrics() {
	count := func(id string, by endpoint.Name, pattern, metric, value string) {
		awslogs.NewMetricFilter(s.Stack, jsii.String(id), &awslogs.MetricFilterProps{
			LogGroup:        s.logs[by],
			FilterPattern:   awslogs.FilterPattern_Literal(jsii.String("{ " + pattern + " }")),
			MetricNamespace: jsii.String(s.namespace()),
			MetricName:      jsii.String(metric),
			MetricValue:     jsii.String(value),
		})
	}
	says := func(message string) string { return `$.msg = "` + message + `"` }
	attempt := says(endpoint.LogAttempt)
	for _, by := range []endpoint.Name{endpoint.Deliver, endpoint.Sweep} {
		count(identifier(by)+"Delivered", by, attempt+" && $.delivered IS TRUE", failedCallback, "0")
		count(identifier(by)+"Failed", by, attempt+" && $.delivered IS FALSE", failedCallback, "1")
	}
	count(sweptCallback, endpoint.Sweep, attempt, sweptCallback, "1")
	count(failedWork, endpoint.Sweep, says(endpoint.LogFailed), failedWork, "1")
	count(unfinishedSweep, endpoint.Sweep, says(endpoint.LogUnfinished), unfinishedSweep, "1")
}

// addDashboard makes one page that says how the hub is.
func (s *stack) addDashboard() {
	s.addLogMetrics()
	var errors, throttles []awscloudwatch.IMetric
	for _, name := range functionNames() {
		errors = append(errors, s.ofFunction(name, "Errors", "Sum"))
		throttles = append(throttles, s.ofFunction(name, "Throttles", "Sum"))
	}
	awscloudwatch.NewDashboard(s.Stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: jsii.String(s.stage.Stack),
		Widgets: &[]*[]awscloudwatch.IWidget{
			{
				graph("Requests", s.ofAPI("Count", "Sum"), s.ofAPI("4xx", "Sum"), s.ofAPI("5xx", "Sum")),
				graph("Answer times, ms", s.ofAPI("Latency", "p50"), s.ofAPI("Latency", "p95"), s.ofAPI("Latency", "p99")),
				graph("Pulls, drains and streams at once", s.ofFunction(endpoint.Pull, "ConcurrentExecutions", "Maximum"),
					s.ofFunction(endpoint.Drain, "ConcurrentExecutions", "Maximum"),
					s.ofFunction(endpoint.Stream, "ConcurrentExecutions", "Maximum")),
			},
			{
				graph("Errors of functions", errors...), graph("Functions refused for concurrency", throttles...),
				graph("What the sweep did late, could not do and left",
					s.logged(sweptCallback, "Sum"), s.logged(failedWork, "Sum"), s.logged(unfinishedSweep, "Sum")),
			},
			{
				graph("Attempts at callbacks, and those that failed", s.logged(failedCallback, "SampleCount"), s.logged(failedCallback, "Sum")),
				graph("Age of the oldest stream record, ms", s.ofFunction(endpoint.Outbox, "IteratorAge", "Maximum")),
				graph("Dead letters", s.ofDeadLetters()),
			},
			{
				graph("Expiry", s.ofMachine(expiry, "ExecutionsStarted"), s.ofMachine(expiry, "ExecutionsFailed")),
				graph("Callback", s.ofMachine(callback, "ExecutionsStarted"), s.ofMachine(callback, "ExecutionsFailed")),
				graph("Table", s.ofTable("ConsumedReadCapacityUnits", "Sum"), s.ofTable("ConsumedWriteCapacityUnits", "Sum")),
			},
		},
	})
}

func graph(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: jsii.String(title), Left: &metrics, Width: jsii.Number(8),
	})
}

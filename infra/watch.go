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

// ofCallbacks is about the attempts at callbacks, each of which counts 1 if it failed and 0 if it did not: so the average
// is the failure rate, without a calculation.
func (s *stack) ofCallbacks(statistic string) awscloudwatch.Metric {
	return s.metric(s.namespace(), failedCallback, statistic, nil)
}

func (s *stack) namespace() string { return "Mash/" + s.stage.Stack }

const failedCallback = "FailedCallback"

// addCallbackMetric makes the metric of ofCallbacks from what those log that make attempts.
func (s *stack) addCallbackMetric() {
	for _, by := range []endpoint.Name{endpoint.Deliver, endpoint.Sweep} {
		for _, outcome := range []struct{ name, delivered, counts string }{
			{"Delivered", "TRUE", "0"}, {"Failed", "FALSE", "1"},
		} {
			pattern := `{ $.msg = "` + endpoint.LogAttempt + `" && $.delivered IS ` + outcome.delivered + ` }`
			awslogs.NewMetricFilter(s.Stack, jsii.String(identifier(by)+outcome.name), &awslogs.MetricFilterProps{
				LogGroup:        s.logs[by],
				FilterPattern:   awslogs.FilterPattern_Literal(jsii.String(pattern)),
				MetricNamespace: jsii.String(s.namespace()),
				MetricName:      jsii.String(failedCallback),
				MetricValue:     jsii.String(outcome.counts),
			})
		}
	}
}

// addDashboard makes one page that says how the hub is.
func (s *stack) addDashboard() {
	s.addCallbackMetric()
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
				graph("Pulls at once", s.ofFunction(endpoint.Pull, "ConcurrentExecutions", "Maximum")),
			},
			{graph("Errors of functions", errors...), graph("Functions refused for concurrency", throttles...)},
			{
				graph("Attempts at callbacks, and those that failed", s.ofCallbacks("SampleCount"), s.ofCallbacks("Sum")),
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

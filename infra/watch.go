package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// metrics are what the dashboard shows and alarms look at, over five minutes.
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

// ofCallbacks counts the attempts at callbacks, from the lines that the workers log of each: delivered or not.
func (s *stack) ofCallbacks(delivered bool) awscloudwatch.Metric {
	return s.metric(s.namespace(), callbackMetric(delivered), "Sum", nil)
}

func (s *stack) namespace() string { return "Mash/" + s.stage.Stack }

func callbackMetric(delivered bool) string {
	if delivered {
		return "CallbacksDelivered"
	}
	return "CallbacksFailed"
}

// addCallbackMetrics counts the lines that awshub logs of each attempt at a callback, by whomever it was made.
func (s *stack) addCallbackMetrics() {
	for _, by := range []endpoint.Name{endpoint.Deliver, endpoint.Sweep} {
		for delivered, word := range map[bool]string{true: "TRUE", false: "FALSE"} {
			awslogs.NewMetricFilter(s.Stack, jsii.String(identifier(by)+callbackMetric(delivered)), &awslogs.MetricFilterProps{
				LogGroup:        s.logs[by],
				FilterPattern:   awslogs.FilterPattern_Literal(jsii.String(`{ $.msg = "callback attempt" && $.delivered IS ` + word + ` }`)),
				MetricNamespace: jsii.String(s.namespace()),
				MetricName:      jsii.String(callbackMetric(delivered)),
				MetricValue:     jsii.String("1"),
			})
		}
	}
}

// addDashboard makes one page that says how the hub is.
func (s *stack) addDashboard() {
	s.addCallbackMetrics()
	var errors, throttles []awscloudwatch.IMetric
	for _, name := range s.functionNames() {
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
				graph("Callbacks", s.ofCallbacks(true), s.ofCallbacks(false)),
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

// functionNames returns the names of all functions, in the order of the tables.
func (s *stack) functionNames() []endpoint.Name {
	var names []endpoint.Name
	for _, e := range endpoint.All() {
		names = append(names, e.Name)
	}
	for _, w := range endpoint.Workers() {
		names = append(names, w.Name)
	}
	return names
}

func graph(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
		Title: jsii.String(title), Left: &metrics, Width: jsii.Number(8),
	})
}

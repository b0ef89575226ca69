package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// alarms returns the alarms by their names less the stack's.
func (s *synthesis) alarms() map[string]doc {
	found := map[string]doc{}
	for _, a := range s.Template.of("AWS::CloudWatch::Alarm") {
		name, _ := a.Properties["AlarmName"].(string)
		found[strings.TrimPrefix(name, s.Stage.Stack+"-")] = a.Properties
	}
	return found
}

func TestAlarmsLookAtWhatCountsAndSayWhatToDo(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		want := map[string]string{
			"ServerErrors":        "AWS/ApiGateway 5xx Sum > 5",
			"DeadLetters":         "AWS/SQS ApproximateNumberOfMessagesVisible Maximum > 0",
			"OldStreamRecord":     "AWS/Lambda IteratorAge Maximum > 60000",
			"FailedExpiries":      "AWS/States ExecutionsFailed Sum > 0",
			"LostExpiries":        "AWS/States ExecutionsTimedOut Sum > 0",
			"FailedCallbacks":     "AWS/States ExecutionsFailed Sum > 0",
			"LostCallbacks":       "AWS/States ExecutionsTimedOut Sum > 0",
			"CallbackFailureRate": "Mash/" + s.Stage.Stack + " FailedCallback Average > 0.5",
			"SweepErrors":         "AWS/Lambda Errors Sum > 0",
			"RefusedPulls":        "AWS/Lambda Throttles Sum > 0",
		}
		got := map[string]string{}
		for name, a := range s.alarms() {
			if a["ComparisonOperator"] != "GreaterThanThreshold" || a["TreatMissingData"] != "notBreaching" {
				t.Errorf("%s is raised by %v, or by silence", name, a["ComparisonOperator"])
			}
			if do, _ := a["AlarmDescription"].(string); len(do) < 80 || !strings.HasSuffix(do, ".") {
				t.Errorf("%s says %q; want what to do, in sentences", name, do)
			}
			got[name] = strings.Join([]string{
				a["Namespace"].(string), a["MetricName"].(string), a["Statistic"].(string), ">", text(a["Threshold"])}, " ")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("alarms (-want +got)\n%s", diff)
		}
	})
}

// TestAlarmsAreAboutTheirOwn follows dimensions to what they name.
func TestAlarmsAreAboutTheirOwn(t *testing.T) {
	s := made(t, production)
	queue, _ := s.Template.one(t, "AWS::SQS::Queue")
	of := func(name endpoint.Name) string { id, _ := s.function(t, name); return id }
	for name, want := range map[string]string{
		"ServerErrors": "Api", "DeadLetters": queue, "OldStreamRecord": of(endpoint.Outbox), "SweepErrors": of(endpoint.Sweep),
		"RefusedPulls": of(endpoint.Pull), "FailedExpiries": "ExpiryMachine", "LostExpiries": "ExpiryMachine",
		"FailedCallbacks": "CallbackMachine", "LostCallbacks": "CallbackMachine",
	} {
		if got := refers(at(s.alarms()[name], "Dimensions", 0, "Value")); got != want {
			t.Errorf("%s is about %q, want %s", name, got, want)
		}
	}
}

func TestAlarmsGoToTheTopicIfThereIsOne(t *testing.T) {
	t.Parallel()
	for name, a := range made(t, everything).alarms() {
		if got := at(a, "AlarmActions", 0); got != "arn:aws:sns:us-east-1:123456789012:alarms" {
			t.Errorf("%s goes to %v", name, got)
		}
	}
	for name, a := range made(t, production).alarms() {
		if a["AlarmActions"] != nil {
			t.Errorf("%s goes to %v, and there is no topic", name, a["AlarmActions"])
		}
	}
}

// TestEachAttemptAtACallbackIsCounted looks at both functions that make attempts, and both outcomes.
func TestEachAttemptAtACallbackIsCounted(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		got := map[string]string{}
		for _, f := range s.Template.of("AWS::Logs::MetricFilter") {
			key := refers(f.Properties["LogGroupName"]) + " " + f.Properties["FilterPattern"].(string)
			got[key] = text(at(f.Properties, "MetricTransformations", 0))
		}
		want := map[string]string{}
		for _, name := range []endpoint.Name{endpoint.Deliver, endpoint.Sweep} {
			_, f := s.function(t, name)
			log := refers(at(f.Properties, "LoggingConfig", "LogGroup"))
			for delivered, counts := range map[string]string{"TRUE": "0", "FALSE": "1"} {
				key := log + ` { $.msg = "callback attempt" && $.delivered IS ` + delivered + ` }`
				want[key] = `{"MetricName":"FailedCallback","MetricNamespace":"Mash/` + s.Stage.Stack + `","MetricValue":"` + counts + `"}`
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("metric filters (-want +got)\n%s", diff)
		}
	})
}

func TestTheDashboardShowsEveryFunction(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		_, d := s.Template.one(t, "AWS::CloudWatch::Dashboard")
		body := text(d.Properties["DashboardBody"])
		for _, name := range functionNames() {
			if id, _ := s.function(t, name); !strings.Contains(body, `{"Ref":"`+id+`"}`) {
				t.Errorf("the dashboard does not show %s", name)
			}
		}
	})
}

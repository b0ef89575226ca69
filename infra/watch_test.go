package main

import (
	"fmt"
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
		own := "Mash/" + s.Stage.Stack + " "
		want := map[string]string{
			"ServerErrors":        "AWS/ApiGateway 5xx Sum > 5",
			"DeadLetters":         "AWS/SQS ApproximateNumberOfMessagesVisible Maximum > 0",
			"OldStreamRecord":     "AWS/Lambda IteratorAge Maximum > 60000",
			"FailedWork":          own + "FailedWork Sum > 0",
			"FailedExpiries":      "AWS/States ExecutionsFailed Sum > 0",
			"LostExpiries":        "AWS/States ExecutionsTimedOut Sum > 0",
			"FailedCallbacks":     "AWS/States ExecutionsFailed Sum > 0",
			"LostCallbacks":       "AWS/States ExecutionsTimedOut Sum > 0",
			"CallbackFailureRate": own + "FailedCallback Average > 0.5",
			"SweptCallbacks":      own + "SweptCallback Sum > 0",
			"UnfinishedSweeps":    own + "UnfinishedSweep Sum > 0",
			"NoSweeps":            "AWS/Lambda Invocations Sum <= 0 or missing",
			"SweepErrors":         "AWS/Lambda Errors Sum > 0",
			"RefusedPulls":        "AWS/Lambda Throttles Sum > 0",
			"RefusedDrains":       "AWS/Lambda Throttles Sum > 0",
			"RefusedStreams":      "AWS/Lambda Throttles Sum > 0",
			"StreamErrors":        "AWS/Lambda Url5xxCount Sum > 5",
		}
		got := map[string]string{}
		for name, a := range s.alarms() {
			if do, _ := a["AlarmDescription"].(string); len(do) < 80 || !strings.HasSuffix(do, ".") {
				t.Errorf("%s says %q; want what to do, in sentences", name, do)
			}
			got[name] = strings.Join([]string{
				a["Namespace"].(string), a["MetricName"].(string), a["Statistic"].(string), raisedBy(a)}, " ")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("alarms (-want +got)\n%s", diff)
		}
	})
}

// raisedBy says what values of its metric raise an alarm.
func raisedBy(alarm doc) string {
	by := map[any]string{"GreaterThanThreshold": "> ", "LessThanOrEqualToThreshold": "<= "}[alarm["ComparisonOperator"]] +
		text(alarm["Threshold"])
	if alarm["TreatMissingData"] != "notBreaching" {
		by += " or missing"
	}
	return by
}

// TestTheDeadAreMissed looks at what has no metric when it is dead: the outbox, which shows by what the sweep does in its
// place, now and then where there is little to do; and the sweep itself.
func TestTheDeadAreMissed(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		swept := s.alarms()["SweptCallbacks"]
		if swept["DatapointsToAlarm"] != 3.0 || swept["EvaluationPeriods"] != 12.0 || swept["Period"] != 300.0 {
			t.Errorf("SweptCallbacks is raised by %v of %v periods of %v s, want 3 of 12 of 300",
				swept["DatapointsToAlarm"], swept["EvaluationPeriods"], swept["Period"])
		}
		for _, name := range []string{"LastProcessingResult", "StreamMapping"} {
			if do, _ := swept["AlarmDescription"].(string); !strings.Contains(do, name) || s.Template.Outputs["StreamMapping"].Value == nil {
				t.Errorf("SweptCallbacks says %q, and nothing of %s", do, name)
			}
		}
		for _, name := range []string{"FailedWork", "NoSweeps", "UnfinishedSweeps"} {
			if got := s.alarms()[name]["EvaluationPeriods"]; got != 3.0 {
				t.Errorf("%s is raised after %v periods, want 3", name, got)
			}
		}
	})
}

// TestNoAlarmSaysThatTheSweepIsDoneWithWhatIsNotYetDue is about deadlines, which may be a day ahead.
func TestNoAlarmSaysThatTheSweepIsDoneWithWhatIsNotYetDue(t *testing.T) {
	t.Parallel()
	do, _ := made(t, production).alarms()["DeadLetters"]["AlarmDescription"].(string)
	if !strings.Contains(do, "does their work when it is due") || strings.Contains(do, "has done") {
		t.Errorf("DeadLetters says %q", do)
	}
}

// TestAlarmsAreAboutTheirOwn follows dimensions to what they name.
func TestAlarmsAreAboutTheirOwn(t *testing.T) {
	s := made(t, production)
	queue, _ := s.Template.one(t, "AWS::SQS::Queue")
	of := func(name endpoint.Name) string { id, _ := s.function(t, name); return id }
	for name, want := range map[string]string{
		"ServerErrors": "Api", "DeadLetters": queue, "OldStreamRecord": of(endpoint.Outbox), "SweepErrors": of(endpoint.Sweep),
		"NoSweeps": of(endpoint.Sweep), "RefusedPulls": of(endpoint.Pull), "RefusedDrains": of(endpoint.Drain),
		"RefusedStreams": of(endpoint.Stream), "StreamErrors": of(endpoint.Stream),
		"FailedExpiries": "ExpiryMachine", "LostExpiries": "ExpiryMachine",
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

// TestWhatFunctionsLogIsCounted looks at both functions that make attempts at callbacks, and both outcomes; and at what the
// sweep alone says.
func TestWhatFunctionsLogIsCounted(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		got := map[string]string{}
		for _, f := range s.Template.of("AWS::Logs::MetricFilter") {
			m := at(f.Properties, "MetricTransformations", 0)
			if space := at(m, "MetricNamespace"); space != "Mash/"+s.Stage.Stack {
				t.Errorf("a metric is in %v", space)
			}
			key := refers(f.Properties["LogGroupName"]) + " " + f.Properties["FilterPattern"].(string)
			got[key] = fmt.Sprint(at(m, "MetricName"), " ", at(m, "MetricValue"))
		}
		want := map[string]string{}
		log := func(name endpoint.Name) string {
			_, f := s.function(t, name)
			return refers(at(f.Properties, "LoggingConfig", "LogGroup"))
		}
		for _, by := range []string{log(endpoint.Deliver), log(endpoint.Sweep)} {
			want[by+` { $.msg = "callback attempt" && $.delivered IS TRUE }`] = "FailedCallback 0"
			want[by+` { $.msg = "callback attempt" && $.delivered IS FALSE }`] = "FailedCallback 1"
		}
		for message, metric := range map[string]string{
			"callback attempt": "SweptCallback", "due work failed and is tried again": "FailedWork",
			"the sweep had no time for everything that is due": "UnfinishedSweep",
		} {
			want[log(endpoint.Sweep)+` { $.msg = "`+message+`" }`] = metric + " 1"
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

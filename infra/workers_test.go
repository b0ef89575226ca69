package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/sfnclock"
)

func TestWhatTheOutboxCannotDoIsSetAside(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		id, mapping := s.Template.one(t, "AWS::Lambda::EventSourceMapping")
		outbox, _ := s.function(t, endpoint.Outbox)
		queue, _ := s.Template.one(t, "AWS::SQS::Queue")
		p := mapping.Properties
		if id != "StreamMapping" || refers(p["FunctionName"]) != outbox || named(p["EventSourceArn"]) != "Table/stream" {
			t.Errorf("%s does not lead the table's stream to the outbox: %s", id, text(p))
		}
		if got := refers(at(p, "DestinationConfig", "OnFailure", "Destination")); got != queue {
			t.Errorf("what fails goes to %q, want %s", got, queue)
		}
		for name, want := range map[string]any{
			"FunctionResponseTypes": []any{"ReportBatchItemFailures"}, "BisectBatchOnFunctionError": true,
			"MaximumRetryAttempts": 10.0, "MaximumRecordAgeInSeconds": 600.0, "StartingPosition": "TRIM_HORIZON",
		} {
			if diff := cmp.Diff(want, p[name]); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
	})
}

// TestTheStreamBringsWhatTheOutboxActsOn: whatever it could arm or ring for, each when it comes; and of what changes all the time,
// such as claims and leases, nothing more.
func TestTheStreamBringsWhatTheOutboxActsOn(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		_, mapping := s.Template.one(t, "AWS::Lambda::EventSourceMapping")
		got := map[string]any{}
		for _, f := range at(mapping.Properties, "FilterCriteria", "Filters").([]any) {
			var pattern doc
			if err := json.Unmarshal([]byte(at(f, "Pattern").(string)), &pattern); err != nil {
				t.Fatal(err)
			}
			for _, kind := range at(pattern, "dynamodb", "NewImage", "kind", "S").([]any) {
				got[kind.(string)] = pattern["eventName"]
			}
		}
		want := map[string]any{
			hub.KindState: []any{"INSERT", "MODIFY"}, hub.KindRow: []any{"INSERT"}, hub.KindSession: []any{"INSERT"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kinds and events (-want +got)\n%s", diff)
		}
	})
}

func TestTheFilterOfTheStreamIsJSON(t *testing.T) {
	t.Parallel()
	var got doc
	if err := json.Unmarshal([]byte(dueRecords), &got); err != nil {
		t.Fatal(err)
	}
	want := doc{
		"eventName": []any{"INSERT", "MODIFY"},
		"dynamodb": doc{"NewImage": doc{
			"kind": doc{"S": []any{"state"}}, "due": doc{"S": []any{doc{"exists": true}}},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("filter (-want +got)\n%s", diff)
	}
}

func TestDeadLettersAreEncryptedAndTravelEncrypted(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		id, queue := s.Template.one(t, "AWS::SQS::Queue")
		if queue.Properties["SqsManagedSseEnabled"] != true {
			t.Errorf("%s is not encrypted: %s", id, text(queue.Properties))
		}
		_, policy := s.Template.one(t, "AWS::SQS::QueuePolicy")
		st := at(policy.Properties, "PolicyDocument", "Statement", 0)
		if at(st, "Effect") != "Deny" || at(st, "Action") != "sqs:*" || at(st, "Condition", "Bool", "aws:SecureTransport") != "false" {
			t.Errorf("%s takes requests without TLS: %s", id, text(st))
		}
	})
}

func TestTheSweepRunsEachMinuteAndOneAtATime(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		sweep, _ := s.function(t, endpoint.Sweep)
		_, rule := s.Template.one(t, "AWS::Events::Rule")
		if rule.Properties["ScheduleExpression"] != "rate(1 minute)" || rule.Properties["State"] != "ENABLED" {
			t.Errorf("the rule is %s", text(rule.Properties))
		}
		if got := refers(at(rule.Properties, "Targets", 0, "Arn")); got != sweep {
			t.Errorf("the rule runs %s, want %s", got, sweep)
		}
		_, invoke := s.Template.one(t, "AWS::Lambda::EventInvokeConfig")
		if refers(invoke.Properties["FunctionName"]) != sweep || invoke.Properties["MaximumRetryAttempts"] != 0.0 {
			t.Errorf("a sweep that failed is run again: %s", text(invoke.Properties))
		}
	})
}

func TestTheMachinesAreThoseOfThePolicy(t *testing.T) {
	each(t, func(t *testing.T, s *synthesis) {
		for id, m := range map[string]struct {
			calls      endpoint.Name
			definition string
		}{
			"ExpiryMachine":   {endpoint.Fire, sfnclock.ExpiryDefinition(s.Stage.Hub.Retry)},
			"CallbackMachine": {endpoint.Deliver, sfnclock.CallbackDefinition(s.Stage.Hub.Retry)},
		} {
			calls, _ := s.function(t, m.calls)
			machine := s.Template.Resources[id]
			p := machine.Properties
			if machine.Type != "AWS::StepFunctions::StateMachine" || p["StateMachineType"] != "STANDARD" {
				t.Errorf("%s is %s", id, text(machine))
			}
			if diff := cmp.Diff(m.definition, p["DefinitionString"]); diff != "" {
				t.Errorf("the definition of %s (-want +got)\n%s", id, diff)
			}
			if got := refers(at(p, "DefinitionSubstitutions", "Function")); got != calls {
				t.Errorf("%s calls %s, want %s", id, got, calls)
			}
			if at(p, "LoggingConfiguration", "IncludeExecutionData") != false || at(p, "LoggingConfiguration", "Level") != "ALL" {
				t.Errorf("%s logs %s", id, text(p["LoggingConfiguration"]))
			}
			invokes := statements(t, s.Template.Resources[refers(p["RoleArn"])])[0]
			if diff := cmp.Diff(statement{[]string{"lambda:InvokeFunction"}, []string{calls}, nil}, invokes); diff != "" {
				t.Errorf("what %s may call (-want +got)\n%s", id, diff)
			}
		}
	})
}

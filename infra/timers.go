package main

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/sfnclock"
)

// addSweep makes what is certain: a run each minute, one at a time. A run that cannot begin or fails is not repeated, for
// the next one comes soon.
func (s *stack) addSweep() {
	sweep := s.addWorker(function{name: endpoint.Sweep, timeout: sweepTimeout, reserved: 1})
	sweep.ConfigureAsyncInvoke(&awslambda.EventInvokeConfigOptions{
		MaxEventAge: seconds(time.Minute), RetryAttempts: jsii.Number(0),
	})
	awsevents.NewRule(s.Stack, jsii.String("EachMinute"), &awsevents.RuleProps{
		Description: jsii.String("Runs the sweep of " + s.stage.Stack),
		Schedule:    awsevents.Schedule_Rate(seconds(time.Minute)),
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(sweep, &awseventstargets.LambdaFunctionProps{
			MaxEventAge: seconds(time.Minute), RetryAttempts: jsii.Number(0),
		})},
	})
}

// The state machines, as they are called in names.
const (
	expiry   = "expiry"
	callback = "callback"
)

// addMachines makes what is prompt: executions that wait for a deadline, or between the attempts of a callback.
func (s *stack) addMachines() {
	policy := s.stage.Hub.Retry
	fire := s.addWorker(function{name: endpoint.Fire, timeout: workTimeout})
	deliver := s.addWorker(function{name: endpoint.Deliver, timeout: workTimeout})
	s.addMachine("ExpiryMachine", expiry, sfnclock.ExpiryDefinition(policy), fire)
	s.addMachine("CallbackMachine", callback, sfnclock.CallbackDefinition(policy), deliver)
}

// addMachine makes a state machine. Its log has what happened and never with what data.
func (s *stack) addMachine(id, name, definition string, calls awslambda.Function) {
	log := s.addLog(id+"Log", "/aws/vendedlogs/states/"+*s.named(name))
	m := awsstepfunctions.NewCfnStateMachine(s.Stack, jsii.String(id), &awsstepfunctions.CfnStateMachineProps{
		StateMachineName:        s.named(name),
		StateMachineType:        jsii.String("STANDARD"),
		RoleArn:                 s.machineRole(id, calls).RoleArn(),
		DefinitionString:        jsii.String(definition),
		DefinitionSubstitutions: map[string]any{"Function": calls.FunctionArn()},
		LoggingConfiguration:    logAll(log),
	})
	pin(m, id)
	accept(m, "AwsSolutions-SF2", "Traces cost more than they tell: the log has each step of an execution, and the function "+
		"logs each call.")
	s.machines[name] = m
}

func logAll(log awslogs.LogGroup) *awsstepfunctions.CfnStateMachine_LoggingConfigurationProperty {
	return &awsstepfunctions.CfnStateMachine_LoggingConfigurationProperty{
		Level:                jsii.String("ALL"),
		IncludeExecutionData: jsii.Bool(false),
		Destinations: []any{&awsstepfunctions.CfnStateMachine_LogDestinationProperty{
			CloudWatchLogsLogGroup: &awsstepfunctions.CfnStateMachine_CloudWatchLogsLogGroupProperty{
				LogGroupArn: log.LogGroupArn(),
			},
		}},
	}
}

// machineRole lets a machine call its function, and set up the delivery of its log: these actions know no resources, so
// none can be named.
func (s *stack) machineRole(id string, calls awslambda.Function) awsiam.Role {
	statements := []awsiam.PolicyStatement{
		allow("lambda:InvokeFunction", calls.FunctionArn(), nil),
		awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings(
				"logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeLogGroups", "logs:DescribeResourcePolicies",
				"logs:GetLogDelivery", "logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:UpdateLogDelivery"),
			Resources: jsii.Strings("*"),
		}),
	}
	role := awsiam.NewRole(s.Stack, jsii.String(id+"Role"), &awsiam.RoleProps{
		Description: jsii.String("What the state machine " + id + " of " + s.stage.Stack + " may do"),
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("states.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()}},
		}),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"Access": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
		},
	})
	accept(role, "AwsSolutions-IAM5", "The actions that deliver a log take no resource.", "Resource::*")
	return role
}

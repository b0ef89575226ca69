package main

import (
	"errors"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// stack is the hub on AWS while it is put together.
type stack struct {
	awscdk.Stack
	stage Stage

	tableKey, hubKey awskms.Key
	table            awsdynamodb.Table
	api              awsapigatewayv2.HttpApi
	baseURL          *string
	streamURL        *string
	domainName       awsapigatewayv2.DomainName // nil without a Domain
	functions        map[endpoint.Name]awslambda.Function
	logs             map[endpoint.Name]awslogs.LogGroup // of functions
	machines         map[string]awsstepfunctions.CfnStateMachine
	deadLetters      awssqs.Queue
	mapping          awslambda.CfnEventSourceMapping
}

// newStack puts the stack of a stage into an app. It refuses a stage that cannot be.
func newStack(app awscdk.App, stage Stage) (awscdk.Stack, error) {
	if err := errors.Join(stage.check(), stage.checkFunctions()); err != nil {
		return nil, fmt.Errorf("stage %s: %w", stage.Stack, err)
	}
	s := &stack{
		Stack: awscdk.NewStack(app, jsii.String(stage.Stack), &awscdk.StackProps{
			Description:           jsii.String("Mash: a hub between agents and people, over MA2H"),
			TerminationProtection: jsii.Bool(stage.Emulator == nil), // destroying it takes two deeds
			Synthesizer: awscdk.NewDefaultStackSynthesizer(&awscdk.DefaultStackSynthesizerProps{
				GenerateBootstrapVersionRule: jsii.Bool(stage.Emulator == nil), // an emulator was never bootstrapped
			}),
		}),
		stage:     stage,
		functions: map[endpoint.Name]awslambda.Function{},
		logs:      map[endpoint.Name]awslogs.LogGroup{},
		machines:  map[string]awsstepfunctions.CfnStateMachine{},
	}
	s.addKeys()
	s.addTable()
	s.addAPI()
	s.addFunctions()
	s.addRoutes()
	s.addSweep()
	s.addMachines()
	s.addOutbox()
	s.addDashboard()
	s.addAlarms()
	s.addOutputs()
	s.checkByNag()
	return s.Stack, nil
}

// addOutputs names what an operator and the tools must find.
func (s *stack) addOutputs() {
	outputs := map[string]*string{
		"Url":             s.baseURL,
		"StreamUrl":       s.streamURL,
		"Table":           s.table.TableName(),
		"HubKey":          s.hubKey.KeyArn(),
		"ExpiryMachine":   s.machines[expiry].AttrArn(),
		"CallbackMachine": s.machines[callback].AttrArn(),
		"DeadLetters":     s.deadLetters.QueueUrl(),
		"StreamMapping":   s.mapping.Ref(),
	}
	if s.domainName != nil {
		outputs["DomainTarget"] = s.domainName.RegionalDomainName()
		outputs["DomainTargetZone"] = s.domainName.RegionalHostedZoneId()
	}
	for name, value := range outputs {
		awscdk.NewCfnOutput(s.Stack, jsii.String(name+"Output"), &awscdk.CfnOutputProps{Value: value}).
			OverrideLogicalId(jsii.String(name))
	}
}

// pin gives a resource a logical id that does not come from where it stands in the code: to CloudFormation another id is
// another resource, and what should only have moved would be made anew.
func pin(resource awscdk.CfnElement, id string) { resource.OverrideLogicalId(jsii.String(id)) }

// named returns the name of a resource that is named after the stack.
func (s *stack) named(name string) *string { return jsii.String(s.stage.Stack + "-" + name) }

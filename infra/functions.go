package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// How long functions may run. An API waits 30 s for an answer; a sweep makes no attempt in its last 15 s, and ends before
// the next one begins; an attempt at a callback takes 10 s at most, and its outcome must be written.
const (
	requestTimeout = 29 * time.Second
	sweepTimeout   = 55 * time.Second
	workTimeout    = 30 * time.Second
)

// function is what a function is besides its code.
type function struct {
	name     endpoint.Name
	timeout  time.Duration
	reserved int // concurrency kept for it and its limit; 0 for neither
	more     []awsiam.PolicyStatement
	env      map[string]*string
}

// addFunctions makes a function for each endpoint, and for the pages. The workers come with what calls them.
func (s *stack) addFunctions() {
	streams := s.addStreams()
	for _, e := range endpoint.Routed() {
		f := function{name: e.Name, timeout: requestTimeout}
		switch e.Name {
		case endpoint.Pull:
			f.reserved = s.stage.WaitingPulls
		case endpoint.Drain:
			f.reserved = s.stage.WaitingDrains
		case endpoint.Discovery, endpoint.DiscoveryAlias: // nobody else says where streams are
			f.env = map[string]*string{"MASH_STREAM_URL": streams}
		}
		s.addFunction(f, e.Access)
	}
	s.addFunction(function{name: endpoint.Inbox, timeout: requestTimeout}, endpoint.WorkerOf(endpoint.Inbox).Access)
}

// checkFunctions says which zips are not there, before the CDK does.
func (s Stage) checkFunctions() error {
	for _, name := range functionNames() {
		if _, err := os.Stat(s.zip(name)); err != nil {
			return fmt.Errorf("%w; build the functions first, by GOARCH=%s make functions", err, s.Architecture)
		}
	}
	return nil
}

func (s Stage) zip(name endpoint.Name) string { return filepath.Join(s.Functions, string(name)+".zip") }

// functionNames returns the names of all functions, in the order of the tables.
func functionNames() []endpoint.Name {
	var names []endpoint.Name
	for _, f := range endpoint.Functions() {
		names = append(names, f.Name)
	}
	return names
}

// addWorker makes the function of a worker.
func (s *stack) addWorker(f function) awslambda.Function {
	return s.addFunction(f, endpoint.WorkerOf(f.name).Access)
}

func (s *stack) addFunction(f function, access endpoint.Access) awslambda.Function {
	id := identifier(f.name)
	log := s.addLog(id+"Log", "/aws/lambda/"+*s.named(string(f.name)))
	props := &awslambda.FunctionProps{
		FunctionName: s.named(string(f.name)),
		Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
		Handler:      jsii.String("bootstrap"),
		Architecture: s.architecture(),
		Code:         awslambda.Code_FromAsset(jsii.String(s.stage.zip(f.name)), nil),
		MemorySize:   jsii.Number(s.stage.MemoryMB),
		Timeout:      seconds(f.timeout),
		LogGroup:     log,
		Role:         s.addRole(f, access, id, log),
		Environment:  s.environment(f),
	}
	if f.reserved > 0 {
		props.ReservedConcurrentExecutions = jsii.Number(f.reserved)
	}
	made := awslambda.NewFunction(s.Stack, jsii.String(id), props)
	s.functions[f.name], s.logs[f.name] = made, log
	return made
}

// addRole makes a function's role, which may write its own log and do what its row says, and nothing else.
func (s *stack) addRole(f function, access endpoint.Access, id string, log awslogs.LogGroup) awsiam.Role {
	statements := []awsiam.PolicyStatement{awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:   jsii.Strings("logs:CreateLogStream", "logs:PutLogEvents"),
		Resources: &[]*string{log.LogGroupArn()},
	})}
	statements = append(statements, s.permissions(access)...)
	statements = append(statements, f.more...)
	role := awsiam.NewRole(s.Stack, jsii.String(id+"Role"), &awsiam.RoleProps{
		Description: jsii.String("What the function " + *s.named(string(f.name)) + " may do"),
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{
			"Access": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
		},
	})
	if len(queueActions(access)) > 0 {
		s.acceptQueues(role)
	}
	return role
}

func (s *stack) environment(f function) *map[string]*string {
	env := map[string]*string{
		"MASH_TABLE":    s.table.TableName(),
		"MASH_BASE_URL": s.baseURL,
		"MASH_KMS_KEY":  s.hubKey.KeyArn(),
		"MASH_STACK":    s.StackName(),
		"MASH_QUEUES":   s.queueURLs(),
	}
	if settings := s.stage.Hub.Text(); settings != "" {
		env["MASH_SETTINGS"] = jsii.String(settings)
	}
	if e := s.stage.Emulator; e != nil && e.Callback != "" {
		env["MASH_ALLOW_CALLBACK"] = jsii.String(e.Callback)
	}
	for name, value := range f.env {
		env[name] = value
	}
	return &env
}

func (s *stack) architecture() awslambda.Architecture {
	if s.stage.Architecture == archAMD {
		return awslambda.Architecture_X86_64()
	}
	return awslambda.Architecture_ARM_64()
}

// addLog makes a log group that goes with the stack: what is in it are ids and codes.
func (s *stack) addLog(id, name string) awslogs.LogGroup {
	log := awslogs.NewLogGroup(s.Stack, jsii.String(id), &awslogs.LogGroupProps{
		LogGroupName: jsii.String(name), RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	log.Node().DefaultChild().(awslogs.CfnLogGroup).SetRetentionInDays(jsii.Number(s.stage.LogDays))
	return log
}

// identifier returns the name of a function in the form of logical ids, as in AgentAdd.
func identifier(name endpoint.Name) string {
	var id strings.Builder
	for word := range strings.SplitSeq(string(name), "-") {
		id.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return id.String()
}

func seconds(d time.Duration) awscdk.Duration {
	return awscdk.Duration_Seconds(jsii.Number(d.Seconds()))
}

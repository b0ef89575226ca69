package main

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// How the outbox reads the stream. What it cannot do within outboxAge is set aside rather than hold up what comes after
// it: the sweep does it when it is due.
const (
	outboxBatch    = 100
	outboxRetries  = 10
	outboxAge      = 10 * time.Minute
	outboxParallel = 4
)

// dueRecords lets only records through that have something due: the others need no function to look at them. It is the
// filter's language, in which exists is about a leaf.
const dueRecords = `{"eventName":["INSERT","MODIFY"],` +
	`"dynamodb":{"NewImage":{"kind":{"S":["state"]},"due":{"S":[{"exists":true}]}}}}`

// newMail lets the rows of mailboxes through when they come, and not each claim of one.
const newMail = `{"eventName":["INSERT"],"dynamodb":{"NewImage":{"kind":{"S":["row"]}}}}`

// newSessions lets sessions through when they are registered, and not each renewal of their leases.
const newSessions = `{"eventName":["INSERT"],"dynamodb":{"NewImage":{"kind":{"S":["session"]}}}}`

// addOutbox makes the function on the table's stream, which starts executions and wakes who waits for mail, and the queue of
// what it could not do.
func (s *stack) addOutbox() {
	s.deadLetters = awssqs.NewQueue(s.Stack, jsii.String("DeadLetters"), &awssqs.QueueProps{
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(14)),
	})
	accept(s.deadLetters, "AwsSolutions-SQS3", "It is the dead-letter queue, of an event source mapping.")
	outbox := s.addWorker(function{
		name: endpoint.Outbox, timeout: workTimeout,
		more: append(s.readsStream(), allow("sqs:SendMessage", s.deadLetters.QueueArn(), nil)),
		env: map[string]*string{
			"MASH_EXPIRY_MACHINE":   s.machines[expiry].AttrArn(),
			"MASH_CALLBACK_MACHINE": s.machines[callback].AttrArn(),
		},
	})
	s.mapping = awslambda.NewCfnEventSourceMapping(s.Stack, jsii.String("StreamMapping"), &awslambda.CfnEventSourceMappingProps{
		FunctionName:               outbox.FunctionName(),
		EventSourceArn:             s.table.TableStreamArn(),
		StartingPosition:           jsii.String("TRIM_HORIZON"),
		BatchSize:                  jsii.Number(outboxBatch),
		ParallelizationFactor:      jsii.Number(outboxParallel),
		BisectBatchOnFunctionError: jsii.Bool(true),
		MaximumRetryAttempts:       jsii.Number(outboxRetries),
		MaximumRecordAgeInSeconds:  jsii.Number(outboxAge.Seconds()),
		FunctionResponseTypes:      jsii.Strings("ReportBatchItemFailures"),
		FilterCriteria: &awslambda.CfnEventSourceMapping_FilterCriteriaProperty{
			Filters: []any{
				&awslambda.CfnEventSourceMapping_FilterProperty{Pattern: jsii.String(dueRecords)},
				&awslambda.CfnEventSourceMapping_FilterProperty{Pattern: jsii.String(newMail)},
				&awslambda.CfnEventSourceMapping_FilterProperty{Pattern: jsii.String(newSessions)},
			},
		},
		DestinationConfig: &awslambda.CfnEventSourceMapping_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventSourceMapping_OnFailureProperty{Destination: s.deadLetters.QueueArn()},
		},
	})
}

package main

import (
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// Queues wake who waits for mail, one for a lane of a mailbox. Functions make them when somebody waits and remove those of
// sessions; so they are no resources of the stack.

// queueURLs is how their URLs begin.
func (s *stack) queueURLs() *string {
	return jsii.String("https://sqs." + *s.Region() + "." + *s.UrlSuffix() + "/" + *s.Account() + "/" + *s.StackName() + "-")
}

// queueARNs are their ARNs. What comes behind the stack's name is the lane, with hyphens.
func (s *stack) queueARNs() *string {
	return jsii.String("arn:" + *s.Partition() + ":sqs:" + *s.Region() + ":" + *s.Account() + ":" + *s.StackName() + "-q-*")
}

// queueActions are what a function does with queues.
func queueActions(a endpoint.Access) []string {
	var all []string
	if a.Rings {
		all = append(all, "sqs:SendMessage")
	}
	if a.Listens {
		all = append(all, "sqs:ChangeMessageVisibility", "sqs:CreateQueue", "sqs:DeleteMessage", "sqs:ReceiveMessage")
	}
	if a.Forgets {
		all = append(all, "sqs:DeleteQueue")
	}
	return all
}

func (s *stack) acceptQueues(on constructs.IConstruct) {
	accept(on, "AwsSolutions-IAM5", "There is a queue for each lane that somebody waits on, so their names are not known here; "+
		"all begin with the stack's own, and what is in them says nothing.",
		"Resource::arn:<AWS::Partition>:sqs:<AWS::Region>:<AWS::AccountId>:"+*s.StackName()+"-q-*")
}

package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// addTable makes the one table, in the form of dynamostore.CreateTable. It outlives the stack.
//
// Nothing keeps CloudFormation from replacing it: what is retained then is the old table, while a new one, empty, takes its
// place in the stack. The pinned id and the tests of the template are all that prevents it.
func (s *stack) addTable() {
	s.table = awsdynamodb.NewTable(s.Stack, jsii.String("Table"), &awsdynamodb.TableProps{
		PartitionKey:                     attribute("pk"),
		SortKey:                          attribute("sk"),
		BillingMode:                      awsdynamodb.BillingMode_PAY_PER_REQUEST,
		Stream:                           awsdynamodb.StreamViewType_NEW_IMAGE,
		TimeToLiveAttribute:              jsii.String("erase"),
		Encryption:                       awsdynamodb.TableEncryption_CUSTOMER_MANAGED,
		EncryptionKey:                    s.tableKey,
		DeletionProtection:               jsii.Bool(true),
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: jsii.Bool(true)},
		RemovalPolicy:                    awscdk.RemovalPolicy_RETAIN,
	})
	pin(s.table.Node().DefaultChild().(awsdynamodb.CfnTable), "Table")
	for _, i := range []struct{ name, partition, sort string }{
		{endpoint.IndexFirst, "tag1", "place1"},
		{endpoint.IndexSecond, "tag2", "place2"},
		{endpoint.IndexDue, "shard", "due"},
	} {
		s.table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
			IndexName:      jsii.String(i.name),
			PartitionKey:   attribute(i.partition),
			SortKey:        attribute(i.sort),
			ProjectionType: awsdynamodb.ProjectionType_KEYS_ONLY,
		})
	}
}

func attribute(name string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
}

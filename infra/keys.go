package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
)

// addKeys makes the two keys: one under which DynamoDB encrypts the table, one under which the hub wraps its own keys.
// They are two so that who reads records cannot open the hub's keys. Both outlive the stack: without them the table is
// noise. As with the table, only the pinned ids and the tests of the template keep CloudFormation from replacing them. The
// key policy hands the decision to the account's IAM, where each function's own policy says what it may.
func (s *stack) addKeys() {
	key := func(id, description string) awskms.Key {
		k := awskms.NewKey(s.Stack, jsii.String(id), &awskms.KeyProps{
			Description:       jsii.String(description),
			EnableKeyRotation: jsii.Bool(true),
			RemovalPolicy:     awscdk.RemovalPolicy_RETAIN,
		})
		pin(k.Node().DefaultChild().(awskms.CfnKey), id)
		return k
	}
	s.tableKey = key("TableKey", "Encrypts the records of "+s.stage.Stack)
	s.hubKey = key("HubKey", "Wraps the keys of the hub "+s.stage.Stack)
}

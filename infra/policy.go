package main

import (
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/mash-hub/mash/pkg/endpoint"
)

// permissions are the statements of a function's policy, made from its row in pkg/endpoint.
func (s *stack) permissions(a endpoint.Access) []awsiam.PolicyStatement {
	var all []awsiam.PolicyStatement
	for _, use := range []struct {
		action string
		kinds  []string
	}{
		{"dynamodb:BatchGetItem", a.Get},
		{"dynamodb:Query", a.List},
		{"dynamodb:PutItem", a.Put},
		{"dynamodb:DeleteItem", a.Erase},
		{"dynamodb:ConditionCheckItem", a.Check},
	} {
		if len(use.kinds) > 0 {
			all = append(all, onRecords(use.action, s.table.TableArn(), partsOf(use.kinds)))
		}
	}
	for _, i := range a.Indexes {
		arn := *s.table.TableArn() + "/index/" + i.Name
		all = append(all, onRecords("dynamodb:Query", jsii.String(arn), patterns(i.Lists)))
	}
	if len(all) > 0 {
		all = append(all, s.readsTable())
	}
	if a.Unwraps {
		all = append(all, allow("kms:Decrypt", s.hubKey.KeyArn(), map[string]any{
			"StringEquals": map[string]any{"kms:EncryptionContext:mash:purpose": endpoint.UnwrapPurpose},
		}))
	}
	for _, action := range queueActions(a) {
		all = append(all, allow(action, s.queueARNs(), nil))
	}
	if a.Arms {
		for _, m := range []string{expiry, callback} {
			all = append(all, allow("states:StartExecution", s.machines[m].AttrArn(), nil))
		}
	}
	return all
}

// onRecords allows an action on records whose partition keys have one of the forms. All the actions here name partition
// keys. Yet a condition on each of several values is met where there are none, so the second one asks for at least one.
func onRecords(action string, on *string, forms []string) awsiam.PolicyStatement {
	return allow(action, on, map[string]any{
		"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": forms},
		"Null":                    map[string]any{"dynamodb:LeadingKeys": "false"},
	})
}

// readsTable lets DynamoDB, and nobody else, decrypt the key of this table in the function's name: it asks with the
// caller's rights, for writes as for reads, and keeps the answer for five minutes. The key has no other table, so that the
// table need not be named.
func (s *stack) readsTable() awsiam.PolicyStatement {
	return allow("kms:Decrypt", s.tableKey.KeyArn(), map[string]any{
		"StringEquals": map[string]any{
			"kms:ViaService": "dynamodb." + *s.Region() + "." + *s.UrlSuffix(),
		},
	})
}

// readsStream lets Lambda read the table's stream in the name of the outbox.
func (s *stack) readsStream() []awsiam.PolicyStatement {
	return []awsiam.PolicyStatement{
		awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings(
				"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"),
			Resources: &[]*string{s.table.TableStreamArn()},
		}),
		s.readsTable(),
	}
}

func allow(action string, on *string, conditions map[string]any) awsiam.PolicyStatement {
	props := &awsiam.PolicyStatementProps{Actions: jsii.Strings(action), Resources: &[]*string{on}}
	if conditions != nil {
		props.Conditions = &conditions
	}
	return awsiam.NewPolicyStatement(props)
}

// partsOf returns the forms of the partition keys under which records of these kinds lie.
func partsOf(kinds []string) []string {
	var parts []string
	for _, k := range kinds {
		parts = append(parts, endpoint.PartOf(k))
	}
	return patterns(parts)
}

// patterns returns, in order and each once, what matches these keys: what ends in # is a beginning, any other the whole.
func patterns(keys []string) []string {
	var forms []string
	for _, k := range keys {
		if strings.HasSuffix(k, "#") {
			k += "*"
		}
		forms = append(forms, k)
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

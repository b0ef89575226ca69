package dynamostore

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mash-hub/mash/pkg/record"
)

// tryAll returns the transaction that makes these writes. Its token is the same for all tries, so DynamoDB itself answers
// a try whose predecessor was applied, for ten minutes.
func (s *Store) tryAll(writes []record.Write) func(context.Context) error {
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(record.NewRev())}
	for _, w := range writes {
		in.TransactItems = append(in.TransactItems, s.transactItem(w))
	}
	return func(ctx context.Context) error {
		_, err := s.transactWriteItems(ctx, writes, in)
		canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
		if !ok {
			return err
		}
		return s.canceled(writes, canceled)
	}
}

func (s *Store) transactItem(w record.Write) types.TransactWriteItem {
	cond, names, values := condition(w)
	const old = types.ReturnValuesOnConditionCheckFailureAllOld
	switch w.Op {
	case record.OpPut:
		return types.TransactWriteItem{Put: &types.Put{
			TableName: aws.String(s.table), Item: s.item(w.Record), ConditionExpression: cond,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old,
		}}
	case record.OpErase:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: aws.String(s.table), Key: s.itemKey(w.Record.Key), ConditionExpression: cond,
			ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old,
		}}
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String(s.table), Key: s.itemKey(w.Record.Key), ConditionExpression: cond,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: old,
	}}
}

// canceled tells from the reasons of a cancelled transaction, which stand in the order of the writes, what was lost. A
// failed condition decides, whatever else was in the way; without one the transaction is worth another try, or broken.
func (s *Store) canceled(writes []record.Write, err *types.TransactionCanceledException) error {
	var there []record.Record
	for i, reason := range err.CancellationReasons {
		if aws.ToString(reason.Code) != "ConditionalCheckFailed" || i >= len(writes) {
			continue
		}
		r, err := s.winner(writes[i], reason.Item)
		if err != nil {
			return err
		}
		there = append(there, r)
	}
	if len(there) == 0 {
		return err
	}
	return &errConditions{there: there}
}

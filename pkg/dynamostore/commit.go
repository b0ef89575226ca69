package dynamostore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mash-hub/mash/pkg/record"
)

// errConditions is what a try ends with whose conditions did not hold; there has the records in the way.
type errConditions struct{ there []record.Record }

func (e *errConditions) Error() string { return "dynamostore: a condition did not hold" }

// Commit implements record.Store. What DynamoDB refuses for a while, throttled or in conflict with a transaction in
// progress, it tries again as Store says.
func (s *Store) Commit(ctx context.Context, writes ...record.Write) error {
	if err := record.ValidateCommit(writes); err != nil || len(writes) == 0 {
		return err
	}
	err := s.commit(ctx, s.try(writes))
	if lost, ok := errors.AsType[*errConditions](err); ok {
		err = record.Judge(writes, lost.there)
	}
	if err != nil {
		return fmt.Errorf("commit %s: %w", writes[0].Record.Key, err)
	}
	return nil
}

func (s *Store) commit(ctx context.Context, try func(context.Context) error) error {
	for retry := (retry{}); ; {
		err := try(ctx)
		if !throttled(err) && !contended(err) {
			return err
		}
		if err := retry.wait(ctx, err); err != nil {
			return err
		}
	}
}

// try returns the request that makes these writes, to be sent as often as needed.
func (s *Store) try(writes []record.Write) func(context.Context) error {
	w := writes[0]
	switch {
	case len(writes) > 1:
		return s.tryAll(writes)
	case w.Op == record.OpPut:
		return func(ctx context.Context) error { return s.put(ctx, w) }
	case w.Op == record.OpErase:
		return func(ctx context.Context) error { return s.erase(ctx, w) }
	}
	return func(ctx context.Context) error { return s.check(ctx, w) }
}

func (s *Store) put(ctx context.Context, w record.Write) error {
	cond, names, values := condition(w)
	_, err := s.putItem(ctx, w, &dynamodb.PutItemInput{
		TableName: aws.String(s.table), Item: s.item(w.Record), ConditionExpression: cond,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return s.lost(w, err)
}

func (s *Store) erase(ctx context.Context, w record.Write) error {
	cond, names, values := condition(w)
	_, err := s.deleteItem(ctx, w, &dynamodb.DeleteItemInput{
		TableName: aws.String(s.table), Key: s.itemKey(w.Record.Key), ConditionExpression: cond,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return s.lost(w, err)
}

// check looks. With no other write beside it, a strongly consistent read says the same as a transaction, for a fourth of
// the price.
func (s *Store) check(ctx context.Context, w record.Write) error {
	found, err := s.Get(ctx, w.Record.Key)
	if err != nil || found[0].Rev == w.Was {
		return err
	}
	return &errConditions{there: found}
}

// lost turns the failed condition of a single write into the record in the way.
func (s *Store) lost(w record.Write, err error) error {
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return err
	}
	r, err := s.winner(w, failed.Item)
	if err != nil {
		return err
	}
	return &errConditions{there: []record.Record{r}}
}

func (s *Store) winner(w record.Write, i item) (record.Record, error) {
	if len(i) == 0 {
		return record.Record{Key: w.Record.Key}, nil
	}
	return s.record(i)
}

// condition returns the expression that holds while the record is at the revision of the write, or is absent.
func condition(w record.Write) (*string, map[string]string, item) {
	if w.Was == "" {
		return aws.String("attribute_not_exists(#k)"), map[string]string{"#k": attrPart}, nil
	}
	return aws.String("#rev = :was"), map[string]string{"#rev": attrRev}, item{":was": text(w.Was)}
}

// Package dynamostore is a record.Store on one DynamoDB table.
//
// A record is an item under the keys pk and sk. A single write is a conditional PutItem or DeleteItem, several are one
// TransactWriteItems; a lost condition brings the winner along, so that no second read is needed. The places of Index and
// Due are three global secondary indexes that hold keys only. See item.go for the attributes and table.go for the table.
package dynamostore

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mash-hub/mash/pkg/record"
)

// Store keeps records in a table of DynamoDB. Make one with New.
//
// What DynamoDB refuses for a while, because it is throttled or another transaction is at work on the same items, the Store
// tries again within a budget, with growing pauses: each request for 20 s or nine tenths of the time until the context's
// deadline, whichever is less, and no more than 24 times. So an operation ends, well or with the last refusal, before its
// deadline; one of many pages, or of more items than fit an answer, has a budget for each request and the deadline for all.
type Store struct {
	// Observe is told of every request, when its answer is there. It may be called by several goroutines at once, and must
	// not be changed once the Store is in use. With it DynamoDB is asked to say what each request consumed. Nil is for
	// nobody, and costs nothing.
	Observe func(Operation)

	client    client
	table     string
	namespace string
}

var _ record.Store = (*Store)(nil)

// New returns the Store in a table that has the form of CreateTable.
func New(client *dynamodb.Client, table string) *Store {
	return &Store{client: clientOf(client), table: table}
}

// In returns another Store in the same table, which sees nothing of this one and of those with other namespaces. The
// namespace becomes the beginning of every partition key and must not be the beginning of another one.
func (s *Store) In(namespace string) *Store {
	return &Store{Observe: s.Observe, client: s.client, table: s.table, namespace: namespace}
}

// Get implements record.Store by one BatchGetItem, and more of them for what DynamoDB left out.
func (s *Store) Get(ctx context.Context, keys ...record.Key) ([]record.Record, error) {
	if err := record.ValidateGet(keys); err != nil || len(keys) == 0 {
		return nil, err
	}
	found, err := s.batchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", keys[0], err)
	}
	records := make([]record.Record, len(keys))
	for i, k := range keys {
		records[i] = record.Record{Key: k}
		if r, ok := found[k]; ok {
			records[i] = r
		}
	}
	return records, nil
}

// batchGet asks again for what DynamoDB leaves out: at once if an answer brought something, since it is cut at 16 MB, and
// after a pause if not.
func (s *Store) batchGet(ctx context.Context, keys []record.Key) (map[record.Key]record.Record, error) {
	found := make(map[record.Key]record.Record, len(keys))
	left := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for _, k := range keys {
		left.Keys = append(left.Keys, s.itemKey(k))
	}
	for retry := (retry{}); len(left.Keys) > 0; {
		out, err := s.batchGetItem(ctx, left)
		if err != nil && !throttled(err) {
			return nil, err
		}
		if err != nil || len(out.Responses[s.table]) == 0 && len(out.UnprocessedKeys) > 0 {
			if err := retry.wait(ctx, err); err != nil {
				return nil, err
			}
			continue
		}
		retry.reset()
		for _, i := range out.Responses[s.table] {
			r, err := s.record(i)
			if err != nil {
				return nil, err
			}
			found[r.Key] = r
		}
		left = out.UnprocessedKeys[s.table]
	}
	return found, nil
}

// List implements record.Store by strongly consistent Queries, as many as the megabyte of an answer makes necessary.
func (s *Store) List(ctx context.Context, part, after string, limit int) ([]record.Record, error) {
	if err := record.ValidateList(part, after, limit); err != nil {
		return nil, err
	}
	q := &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("#pk = :part"),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPart},
		ExpressionAttributeValues: item{":part": text(s.namespace + part)},
	}
	if after != "" {
		q.KeyConditionExpression = aws.String("#pk = :part AND #sk > :after")
		q.ExpressionAttributeNames["#sk"] = attrSort
		q.ExpressionAttributeValues[":after"] = text(after)
	}
	var records []record.Record
	err := s.query(ctx, part, q, limit, func(i item) (bool, error) {
		r, err := s.record(i)
		records = append(records, r)
		return true, err
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", part, err)
	}
	return records, nil
}

// query calls take with one item of a partition after the other until it has taken limit of them.
func (s *Store) query(
	ctx context.Context, partition string, q *dynamodb.QueryInput, limit int, take func(item) (bool, error),
) error {
	for retry := (retry{}); limit > 0; {
		q.Limit = aws.Int32(int32(limit))
		out, err := s.queryPage(ctx, partition, q)
		if err != nil && !throttled(err) {
			return err
		}
		if err != nil {
			if err := retry.wait(ctx, err); err != nil {
				return err
			}
			continue
		}
		retry.reset()
		for _, i := range out.Items {
			taken, err := take(i)
			if err != nil {
				return err
			}
			if taken {
				limit--
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		q.ExclusiveStartKey = out.LastEvaluatedKey
	}
	return nil
}

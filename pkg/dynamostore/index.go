package dynamostore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/mash-hub/mash/pkg/record"
)

// Index implements record.Store by a Query of the index of that place.
func (s *Store) Index(
	ctx context.Context, place int, name string, after record.Entry, limit int,
) ([]record.Entry, error) {
	if err := record.ValidateIndex(place, name, after, limit); err != nil {
		return nil, err
	}
	q := &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		IndexName:                 aws.String(attrTag(place)),
		KeyConditionExpression:    aws.String("#tag = :name"),
		ExpressionAttributeNames:  map[string]string{"#tag": attrTag(place)},
		ExpressionAttributeValues: item{":name": text(s.namespace + name)},
	}
	if after != (record.Entry{}) {
		q.KeyConditionExpression = aws.String("#tag = :name AND #place > :after")
		q.ExpressionAttributeNames["#place"] = attrPlace(place)
		q.ExpressionAttributeValues[":after"] = text(placeOf(after))
	}
	var entries []record.Entry
	err := s.query(ctx, name, q, limit, func(i item) (bool, error) {
		k := s.key(i)
		entries = append(entries, record.Entry{Key: k, Order: orderOf(str(i, attrPlace(place)), k)})
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("index %d %s: %w", place, name, err)
	}
	return entries, nil
}

// Due implements record.Store by Queries of all shards at once.
func (s *Store) Due(ctx context.Context, before time.Time, after record.Entry, limit int) ([]record.Entry, error) {
	if err := record.ValidateDue(before, after, limit); err != nil {
		return nil, err
	}
	if after.Order > record.DueOrder(before) {
		return nil, nil
	}
	var found [shards][]record.Entry
	var errs [shards]error
	var wg sync.WaitGroup
	for n := range uint32(shards) {
		wg.Go(func() { found[n], errs[n] = s.dueIn(ctx, n, before, after, limit) })
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("due: %w", err)
	}
	all := slices.Concat(found[:]...)
	slices.SortFunc(all, compare)
	return all[:min(len(all), limit)], nil
}

// compare orders entries by their order, then by their keys.
func compare(a, b record.Entry) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Key.Part, b.Key.Part), cmp.Compare(a.Key.Sort, b.Key.Sort))
}

// dueIn returns what is due in one shard. The index has no order among those of one instant, so whoever goes on after one
// of them gets all of them, and those before it are left out here.
func (s *Store) dueIn(
	ctx context.Context, shard uint32, before time.Time, after record.Entry, limit int,
) ([]record.Entry, error) {
	q := &dynamodb.QueryInput{
		TableName:                aws.String(s.table),
		IndexName:                aws.String(attrDue),
		KeyConditionExpression:   aws.String("#shard = :shard AND #due BETWEEN :after AND :before"),
		ExpressionAttributeNames: map[string]string{"#shard": attrShard, "#due": attrDue},
		ExpressionAttributeValues: item{
			":shard": text(s.shard(shard)), ":after": text(cmp.Or(after.Order, "0")), ":before": text(record.DueOrder(before)),
		},
	}
	var entries []record.Entry
	err := s.query(ctx, s.shard(shard), q, limit, func(i item) (bool, error) {
		e := record.Entry{Key: s.key(i), Order: str(i, attrDue)}
		if compare(e, after) <= 0 {
			return false, nil
		}
		entries = append(entries, e)
		return true, nil
	})
	return entries, err
}

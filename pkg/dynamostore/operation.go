package dynamostore

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/mash-hub/mash/pkg/record"
)

// Operation is one request to DynamoDB that was made and answered, the SDK's own retries included.
type Operation struct {
	Action string // of DynamoDB, such as PutItem
	Took   time.Duration
	Err    error // why it failed; a lost condition is one

	// Parts is where in the table it looked or wrote, once for each item that it named. A query of an index has none.
	Parts []string

	// Read and Write are the capacity units that it consumed, those of indexes included; zero when it failed, though a
	// write whose condition is lost costs as much as one that is done.
	Read, Write float64

	// Heat says where: those units by partition, which is where DynamoDB's limits apply. A partition of the table goes by
	// its part, one of an index by the index, a space and its name. What DynamoDB says of several at once is shared evenly.
	Heat map[string]float64
}

// partitions is where a request reads or writes: in the table, and in each index.
type partitions struct {
	table []string
	index map[string][]string
}

// placesOf returns where the writes of a Commit go. In an index that is where a record is to be found afterwards; what it
// costs to take it away from where it was is counted there too.
func (s *Store) placesOf(writes []record.Write) partitions {
	p := partitions{index: map[string][]string{}}
	for _, w := range writes {
		p.table = append(p.table, w.Record.Part)
		for n, t := range w.Record.Tags {
			if t != (record.Tag{}) {
				p.index[attrTag(n+1)] = append(p.index[attrTag(n+1)], t.Name)
			}
		}
		if !w.Record.Due.IsZero() {
			p.index[attrDue] = append(p.index[attrDue], s.shard(shardOf(w.Record.Key)))
		}
	}
	return p
}

// spend counts what a request consumed in all. It returns the table's and each index's units by partition.
func (p partitions) spend(used []types.ConsumedCapacity) (total float64, heat map[string]float64) {
	heat = map[string]float64{}
	share := func(units float64, prefix string, names []string) {
		for _, name := range names {
			heat[prefix+name] += units / float64(len(names))
		}
	}
	for _, u := range used {
		table := aws.ToFloat64(u.CapacityUnits)
		total += table
		for index, c := range u.GlobalSecondaryIndexes {
			units := aws.ToFloat64(c.CapacityUnits)
			table -= units
			share(units, index+" ", p.index[index])
		}
		share(table, "", p.table)
	}
	return total, heat
}

// request is how to make a request of one kind and what to tell of it.
type request[In, Out any] struct {
	action string
	send   call[In, Out]
	used   func(*Out) []types.ConsumedCapacity
	where  func() partitions
}

// observed makes a request, and tells the observer of it if there is one.
func observed[In, Out any](ctx context.Context, s *Store, r request[In, Out], in *In) (*Out, error) {
	if s.Observe == nil {
		return r.send(ctx, in)
	}
	began := time.Now()
	out, err := r.send(ctx, in)
	where := r.where()
	o := Operation{Action: r.action, Took: time.Since(began), Err: err, Parts: where.table}
	if err == nil {
		var units float64
		units, o.Heat = where.spend(r.used(out))
		switch r.action {
		case "BatchGetItem", "Query":
			o.Read = units
		default:
			o.Write = units
		}
	}
	s.Observe(o)
	return out, err
}

// capacity is what DynamoDB is asked to say.
func (s *Store) capacity() types.ReturnConsumedCapacity {
	if s.Observe == nil {
		return ""
	}
	return types.ReturnConsumedCapacityIndexes
}

func one(c *types.ConsumedCapacity) []types.ConsumedCapacity {
	if c == nil {
		return nil
	}
	return []types.ConsumedCapacity{*c}
}

func (s *Store) batchGetItem(ctx context.Context, keys types.KeysAndAttributes) (*dynamodb.BatchGetItemOutput, error) {
	return observed(ctx, s, request[dynamodb.BatchGetItemInput, dynamodb.BatchGetItemOutput]{
		action: "BatchGetItem", send: s.client.BatchGetItem,
		used: func(out *dynamodb.BatchGetItemOutput) []types.ConsumedCapacity { return out.ConsumedCapacity },
		where: func() (p partitions) {
			for _, k := range keys.Keys {
				p.table = append(p.table, s.key(k).Part)
			}
			return p
		},
	}, &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{s.table: keys}, ReturnConsumedCapacity: s.capacity(),
	})
}

// queryPage gets one page of a query of a partition, of the table or of an index.
func (s *Store) queryPage(ctx context.Context, partition string, q *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	q.ReturnConsumedCapacity = s.capacity()
	return observed(ctx, s, request[dynamodb.QueryInput, dynamodb.QueryOutput]{
		action: "Query", send: s.client.Query,
		used: func(out *dynamodb.QueryOutput) []types.ConsumedCapacity { return one(out.ConsumedCapacity) },
		where: func() partitions {
			if q.IndexName == nil {
				return partitions{table: []string{partition}}
			}
			return partitions{index: map[string][]string{*q.IndexName: {partition}}}
		},
	}, q)
}

func (s *Store) putItem(ctx context.Context, w record.Write, in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
	in.ReturnConsumedCapacity = s.capacity()
	return observed(ctx, s, request[dynamodb.PutItemInput, dynamodb.PutItemOutput]{
		action: "PutItem", send: s.client.PutItem,
		used:  func(out *dynamodb.PutItemOutput) []types.ConsumedCapacity { return one(out.ConsumedCapacity) },
		where: func() partitions { return s.placesOf([]record.Write{w}) },
	}, in)
}

func (s *Store) deleteItem(ctx context.Context, w record.Write, in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
	in.ReturnConsumedCapacity = s.capacity()
	return observed(ctx, s, request[dynamodb.DeleteItemInput, dynamodb.DeleteItemOutput]{
		action: "DeleteItem", send: s.client.DeleteItem,
		used:  func(out *dynamodb.DeleteItemOutput) []types.ConsumedCapacity { return one(out.ConsumedCapacity) },
		where: func() partitions { return s.placesOf([]record.Write{w}) },
	}, in)
}

func (s *Store) transactWriteItems(
	ctx context.Context, writes []record.Write, in *dynamodb.TransactWriteItemsInput,
) (*dynamodb.TransactWriteItemsOutput, error) {
	in.ReturnConsumedCapacity = s.capacity()
	return observed(ctx, s, request[dynamodb.TransactWriteItemsInput, dynamodb.TransactWriteItemsOutput]{
		action: "TransactWriteItems", send: s.client.TransactWriteItems,
		used:  func(out *dynamodb.TransactWriteItemsOutput) []types.ConsumedCapacity { return out.ConsumedCapacity },
		where: func() partitions { return s.placesOf(writes) },
	}, in)
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// tape is the table's stream from one moment on.
type tape struct {
	trial     *trial
	iterators []string // of each shard
	records   []json.RawMessage
	seen      map[string]bool // revisions
}

// record begins to read the stream.
func (t *trial) record(ctx context.Context) (*tape, error) {
	var table struct {
		Table struct{ LatestStreamArn string }
	}
	if err := t.call(ctx, dynamodb(), "DescribeTable", doc{"TableName": t.Outputs.Table}, &table); err != nil {
		return nil, err
	}
	arn := table.Table.LatestStreamArn
	var stream struct {
		StreamDescription struct{ Shards []struct{ ShardID string } }
	}
	if err := t.call(ctx, streams(), "DescribeStream", doc{"StreamArn": arn}, &stream); err != nil {
		return nil, err
	}
	p := &tape{trial: t, seen: map[string]bool{}}
	for _, shard := range stream.StreamDescription.Shards {
		var at struct{ ShardIterator string }
		in := doc{"StreamArn": arn, "ShardId": shard.ShardID, "ShardIteratorType": "LATEST"}
		if err := t.call(ctx, streams(), "GetShardIterator", in, &at); err != nil {
			return nil, err
		}
		p.iterators = append(p.iterators, at.ShardIterator)
	}
	return p, nil
}

// read waits until the tape has the records of these messages as they now stand.
func (p *tape) read(ctx context.Context, messages ...*message) error {
	for _, m := range messages {
		s, err := p.trial.state(ctx, m)
		if err != nil {
			return err
		}
		err = until(ctx, "the stream brings "+m.id, func(ctx context.Context) (bool, error) {
			return p.seen[s.rev], p.more(ctx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// more reads what is there.
func (p *tape) more(ctx context.Context) error {
	for i, at := range p.iterators {
		var page struct {
			Records           []json.RawMessage
			NextShardIterator string
		}
		if err := p.trial.call(ctx, streams(), "GetRecords", doc{"ShardIterator": at}, &page); err != nil {
			return err
		}
		for _, raw := range page.Records {
			var r struct {
				Dynamodb struct {
					NewImage struct{ Rev struct{ S string } }
				}
			}
			if err := json.Unmarshal(raw, &r); err != nil {
				return err
			}
			p.seen[r.Dynamodb.NewImage.Rev.S] = true
			p.records = append(p.records, raw)
		}
		p.iterators[i] = page.NextShardIterator
	}
	return nil
}

// replay hands the outbox everything so far: doubled, from behind, and several at once.
func (p *tape) replay(ctx context.Context) (batches int, _ error) {
	backwards := slices.Clone(p.records)
	slices.Reverse(backwards)
	twice := slices.Concat(p.records, p.records)
	for _, records := range [][]json.RawMessage{twice, backwards} {
		event, err := json.Marshal(doc{"Records": records})
		if err != nil {
			return batches, err
		}
		var failed [2]error
		var both sync.WaitGroup
		for i := range failed {
			batches++
			both.Go(func() { failed[i] = p.hand(ctx, event) })
		}
		both.Wait()
		if err := errors.Join(failed[:]...); err != nil {
			return batches, err
		}
	}
	return batches, nil
}

func (p *tape) hand(ctx context.Context, event []byte) error {
	var answer struct {
		BatchItemFailures []struct{ ItemIdentifier string }
	}
	err := p.trial.invoke(ctx, outbox, event, &answer)
	if err == nil && len(answer.BatchItemFailures) > 0 {
		err = fmt.Errorf("the outbox failed at %+v", answer.BatchItemFailures)
	}
	return err
}

// streamRepeats hands the outbox the stream over again, before there is an outcome and when all is done, and then runs every
// execution once more under another name, as if the name had been forgotten.
func streamRepeats(ctx context.Context, t *trial) (string, error) {
	p, err := t.record(ctx)
	if err != nil {
		return "", err
	}
	asker, err := t.agent(ctx)
	if err != nil {
		return "", err
	}
	asked, err := t.asks(ctx, asker, question{expires: soon}, question{expires: soon})
	if err != nil {
		return "", err
	}
	answered, expired := asked[0], asked[1]
	if err := p.read(ctx, asked...); err != nil {
		return "", err
	}
	before, err := p.replay(ctx)
	if err := errors.Join(err, t.answer(ctx, answered), t.pushed(ctx, answered, expired), p.read(ctx, asked...)); err != nil {
		return "", err
	}
	after, err := p.replay(ctx)
	if err != nil {
		return "", err
	}
	arns, err := t.only(ctx, asked)
	if err := errors.Join(err, t.again(ctx, arns), t.check(ctx, asked...)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d records in %d batches before the outcomes and %d after made %d executions, and these once more under "+
		"other names nothing: one push each, and no record was written again", len(p.records), before, after, len(arns)), nil
}

// only waits for the end of the two executions that each of these messages has, for its expiry and for its callback, and
// checks that there is no other.
func (t *trial) only(ctx context.Context, messages []*message) (arns []string, _ error) {
	for _, m := range messages {
		callback, err := t.callbackNow(ctx, m)
		if err != nil {
			return nil, err
		}
		arns = append(arns, t.expiry(m), callback)
	}
	if err := t.reaches(ctx, succeeded, arns...); err != nil {
		return nil, err
	}
	all, err := t.executions(ctx, "")
	if err != nil {
		return nil, err
	}
	if theirs := of(all, messages...); len(theirs) != len(arns) {
		return nil, fmt.Errorf("%d executions, want %d: %+v", len(theirs), len(arns), theirs)
	}
	return arns, t.check(ctx, messages...)
}

// again runs executions once more, under other names.
func (t *trial) again(ctx context.Context, arns []string) error {
	var started []string
	for _, arn := range arns {
		e, err := t.execution(ctx, arn)
		if err != nil {
			return err
		}
		var s struct{ ExecutionArn string }
		in := doc{"stateMachineArn": e.StateMachineArn, "name": "again-" + e.Name, "input": e.Input}
		if err := t.call(ctx, states(), "StartExecution", in, &s); err != nil {
			return err
		}
		started = append(started, s.ExecutionArn)
	}
	return t.reaches(ctx, succeeded, started...)
}

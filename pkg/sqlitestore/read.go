package sqlitestore

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"time"

	"github.com/mash-hub/mash/pkg/record"
)

// Get implements record.Store.
func (s *Store) Get(ctx context.Context, keys ...record.Key) ([]record.Record, error) {
	if err := record.ValidateGet(keys); err != nil || len(keys) == 0 {
		return nil, err
	}
	found := make([]record.Record, len(keys))
	each := func(c *conn) (err error) {
		for at := 0; at < len(keys) && err == nil; at += mostAtOnce {
			end := min(at+mostAtOnce, len(keys))
			err = c.getAll(keys[at:end], found[at:end])
		}
		return err
	}
	read := each
	if len(keys) > mostAtOnce && s.readers != s.writer {
		// In one transaction, since each one that begins after a write starts with an empty page cache.
		read = func(c *conn) error { return c.snapshot(each) }
	}
	if err := s.read(ctx, read); err != nil {
		return nil, fmt.Errorf("get %s: %w", keys[0], err)
	}
	return found, nil
}

// List implements record.Store.
func (s *Store) List(ctx context.Context, part, after string, limit int) ([]record.Record, error) {
	if err := record.ValidateList(part, after, limit); err != nil {
		return nil, err
	}
	var found []record.Record
	err := s.read(ctx, func(c *conn) error {
		return c.each(queryList, func(row []driver.Value) error {
			found = append(found, scan(part, text(row[9]), row))
			return nil
		}, part, after, int64(limit))
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", part, err)
	}
	return found, nil
}

// Index implements record.Store. Here it is never behind.
func (s *Store) Index(
	ctx context.Context, place int, name string, after record.Entry, limit int,
) ([]record.Entry, error) {
	if err := record.ValidateIndex(place, name, after, limit); err != nil {
		return nil, err
	}
	q := queryIndex1
	if place == 2 {
		q = queryIndex2
	}
	var found []record.Entry
	err := s.read(ctx, func(c *conn) error {
		return c.each(q, func(row []driver.Value) error {
			found = append(found, record.Entry{Key: record.Key{Part: text(row[1]), Sort: text(row[2])}, Order: text(row[0])})
			return nil
		}, name, after.Order, after.Key.Part, after.Key.Sort, int64(limit))
	})
	if err != nil {
		return nil, fmt.Errorf("index %d %s: %w", place, name, err)
	}
	return found, nil
}

// Due implements record.Store. Here it is never behind, and has one shard.
func (s *Store) Due(ctx context.Context, before time.Time, after record.Entry, limit int) ([]record.Entry, error) {
	if err := record.ValidateDue(before, after, limit); err != nil {
		return nil, err
	}
	from := int64(math.MinInt64)
	if at, err := record.DueTime(after.Order); err == nil {
		from = at.UnixMicro()
	}
	var found []record.Entry
	err := s.read(ctx, func(c *conn) error {
		return c.each(queryDue, func(row []driver.Value) error {
			due, _ := row[0].(int64)
			found = append(found, record.Entry{
				Key:   record.Key{Part: text(row[1]), Sort: text(row[2])},
				Order: record.DueOrder(time.UnixMicro(due)),
			})
			return nil
		}, before.UnixMicro(), from, after.Key.Part, after.Key.Sort, int64(limit))
	})
	if err != nil {
		return nil, fmt.Errorf("due: %w", err)
	}
	return found, nil
}

// get returns the record under k, or one with nothing but the key.
func (c *conn) get(k record.Key) (record.Record, error) {
	r := record.Record{Key: k}
	err := c.each(queryGet, func(row []driver.Value) error {
		r = scan(k.Part, k.Sort, row)
		return nil
	}, k.Part, k.Sort)
	return r, err
}

// getAll is get for up to mostAtOnce keys by one statement, since most of what one costs does not depend on what it reads.
func (c *conn) getAll(keys []record.Key, found []record.Record) (err error) {
	if len(keys) == 1 {
		found[0], err = c.get(keys[0])
		return err
	}
	args := make([]driver.Value, 0, 2*mostAtOnce)
	for i, k := range keys {
		found[i] = record.Record{Key: k}
		args = append(args, k.Part, k.Sort)
	}
	return c.each(queryGet2+query(len(keys)-2), func(row []driver.Value) error {
		if row[0] == nil {
			return nil
		}
		i, _ := row[9].(int64)
		found[i] = scan(keys[i].Part, keys[i].Sort, row)
		return nil
	}, args...)
}

// snapshot calls f within a transaction that reads. However it ends, none is left open: the next BEGIN would fail.
func (c *conn) snapshot(f func(*conn) error) error {
	ended := false
	defer func() {
		if !ended {
			_, _ = c.exec(queryRollback) // SQLite may have rolled back already
		}
	}()
	if _, err := c.exec(querySnapshot); err != nil {
		return err
	}
	if err := f(c); err != nil {
		return err
	}
	_, err := c.exec(queryCommit)
	ended = err == nil
	return err
}

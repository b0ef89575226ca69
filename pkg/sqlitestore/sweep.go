package sqlitestore

import (
	"context"
	"fmt"
	"time"
)

// sweepBatch is how many records one transaction of Sweep removes, few enough that Commits hardly notice.
const sweepBatch = 200

// Sweep removes the records whose Erase is not after now, a batch at a time with other writes in between, and returns
// how many there were. Somebody has to call it now and then; nothing depends on when.
func (s *Store) Sweep(ctx context.Context, now time.Time) (int, error) {
	total := 0
	for {
		n, err := s.sweepBatch(ctx, now)
		total += n
		if err != nil {
			return total, fmt.Errorf("sweep: %w", err)
		}
		if n < sweepBatch {
			return total, nil
		}
	}
}

func (s *Store) sweepBatch(ctx context.Context, now time.Time) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	select {
	case c := <-s.writer:
		defer func() { s.writer <- c }()
		n, err := c.exec(querySweep, now.Unix(), int64(sweepBatch))
		return int(n), err
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-s.closed:
		return 0, ErrClosed
	}
}

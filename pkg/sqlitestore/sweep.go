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

func (s *Store) sweepBatch(ctx context.Context, now time.Time) (n int, _ error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err := s.write(ctx, func(c *conn) error {
		swept, err := c.exec(querySweep, now.Unix(), int64(sweepBatch))
		n = int(swept)
		return err
	})
	return n, err
}

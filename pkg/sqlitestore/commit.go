package sqlitestore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/mash-hub/mash/pkg/record"
)

// ticket is one Commit that waits for the writer.
type ticket struct {
	writes []record.Write
	err    error // what came of it
	done   chan struct{}
}

// Commit implements record.Store.
//
// It queues, and whoever gets hold of the writing connection commits all that is queued by then, others' Commits too. So
// the more callers there are, the more of them share one sync, and a single one waits for nobody. A caller whose context
// ends leaves the queue; if its turn has come it learns the outcome.
func (s *Store) Commit(ctx context.Context, writes ...record.Write) error {
	if err := record.ValidateCommit(writes); err != nil || len(writes) == 0 {
		return err
	}
	if err := s.commit(ctx, &ticket{writes: writes, done: make(chan struct{})}); err != nil {
		return fmt.Errorf("commit %s: %w", writes[0].Record.Key, err)
	}
	return nil
}

func (s *Store) commit(ctx context.Context, t *ticket) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.queue(t)
	select {
	case <-t.done:
		return t.err
	case c := <-s.writer:
		s.lead(c)
	case <-ctx.Done():
		if s.leave(t) {
			return ctx.Err()
		}
	case <-s.closed:
		if s.leave(t) {
			return ErrClosed
		}
	}
	<-t.done
	return t.err
}

func (s *Store) queue(t *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, t)
}

// leave takes t out of the queue again and says whether it was still there.
func (s *Store) leave(t *ticket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.waiting {
		if other == t {
			s.waiting = append(s.waiting[:i:i], s.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// lead commits everything that waits, hands the connection on, and only then answers. It does the last two even if the
// driver panics: somebody above may recover from that, and nobody may wait for ever.
func (s *Store) lead(c *conn) {
	s.mu.Lock()
	group := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	defer func() {
		s.writer <- c
		for _, t := range group {
			close(t.done)
		}
	}()
	if len(group) == 0 {
		return
	}
	began := time.Now()
	c.commitGroup(group)
	if s.Observe != nil {
		s.Observe(Group{Commits: len(group), Took: time.Since(began)})
	}
}

// Group is one transaction in which Commits that waited together were made durable.
type Group struct {
	Commits int
	Took    time.Duration // from its beginning to the end of its sync
}

// errGivenUp is the error of the Commits whose group ended by a panic.
var errGivenUp = errors.New("sqlitestore: the transaction was given up midway")

// commitGroup applies the tickets in one transaction, each of them whole or not at all. When the store fails, it fails
// for all of them.
func (c *conn) commitGroup(group []*ticket) {
	err := errGivenUp // unless applyGroup returns
	defer func() {
		if err == nil {
			return
		}
		for _, t := range group {
			t.err = err
		}
		_, _ = c.exec(queryRollback) // SQLite may have rolled back already
	}()
	err = c.applyGroup(group)
}

func (c *conn) applyGroup(group []*ticket) error {
	if err := c.begin(); err != nil {
		return err
	}
	for _, t := range group {
		var err error
		if t.err, err = c.apply(t.writes); err != nil {
			return err
		}
	}
	return c.finish()
}

// apply tries one Commit within the transaction. It returns what the caller lost, if anything, and apart from it what
// went wrong with the store.
func (c *conn) apply(writes []record.Write) (lost, err error) {
	if len(writes) > 1 {
		if _, err := c.exec(querySavepoint); err != nil {
			return nil, err
		}
	}
	for _, w := range writes {
		held, err := c.write(w)
		if err != nil {
			return nil, err
		}
		if !held {
			return c.lose(writes)
		}
	}
	if len(writes) > 1 {
		_, err = c.exec(queryRelease)
	}
	return nil, err
}

// lose takes back what was written of a Commit, and looks up who won.
func (c *conn) lose(writes []record.Write) (lost, err error) {
	if len(writes) > 1 {
		if _, err := c.exec(queryUndo); err != nil {
			return nil, err
		}
		if _, err := c.exec(queryRelease); err != nil {
			return nil, err
		}
	}
	there := make([]record.Record, len(writes))
	for i, w := range writes {
		if there[i], err = c.get(w.Record.Key); err != nil {
			return nil, err
		}
	}
	return record.Judge(writes, there), nil
}

// write applies one write if its condition holds, and says whether it did.
func (c *conn) write(w record.Write) (held bool, err error) {
	k := w.Record.Key
	var n int64
	switch {
	case w.Op == record.OpCheck:
		rev, err := c.rev(k)
		return rev == w.Was, err
	case w.Op == record.OpErase:
		n, err = c.exec(queryErase, k.Part, k.Sort, w.Was)
	case w.Was == "":
		n, err = c.exec(queryInsert, values(w.Record)...)
	default:
		n, err = c.exec(queryUpdate, append(values(w.Record), w.Was)...)
	}
	return n == 1, err
}

// rev returns the revision of the record under k, empty if there is none.
func (c *conn) rev(k record.Key) (string, error) {
	var rev string
	err := c.each(queryCheck, func(row []driver.Value) error {
		rev = text(row[0])
		return nil
	}, k.Part, k.Sort)
	return rev, err
}

package sqlitestore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mash-hub/mash/pkg/record"
)

// OpenReading opens a file that is there to read it and no more, beside whoever writes to it. Every Commit fails.
func OpenReading(path string) (*Store, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	readers, err := dialReaders(path, "ro")
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	s := newStore(readers[0], readers[1:])
	s.reading = true
	if empty, err := readers[1].recognise(); err != nil || empty {
		if err == nil {
			err = errors.New("the file is empty")
		}
		return nil, fmt.Errorf("open store %s: %w", path, errors.Join(err, s.Close()))
	}
	return s, nil
}

// Each calls f with every record, in the order of their keys and all as of one instant, until f fails. Others write on
// meanwhile; f must not.
func (s *Store) Each(ctx context.Context, f func(record.Record) error) error {
	err := s.read(ctx, func(c *conn) error {
		return c.each(queryEach, func(row []driver.Value) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(scan(text(row[9]), text(row[10]), row))
		})
	})
	if err != nil {
		return fmt.Errorf("read every record: %w", err)
	}
	return nil
}

// maxDamages is how many damages Integrity looks for.
const maxDamages = 20

// Integrity has SQLite go through the whole file, and returns what it finds wrong, in SQLite's words.
func (s *Store) Integrity(ctx context.Context) ([]string, error) {
	var found []string
	err := s.read(ctx, func(c *conn) (err error) {
		found, err = c.texts(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", maxDamages))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("check the file: %w", err)
	}
	if len(found) == 1 && found[0] == "ok" {
		return nil, nil
	}
	return found, nil
}

// Snapshot writes the whole store as of one instant into a new file at path, durably. Others write on meanwhile, and what was
// committed before the call is in it.
func (s *Store) Snapshot(ctx context.Context, path string) error {
	if err := s.read(ctx, func(c *conn) error {
		// The connection may write to no file of ours; to make another it has to be let.
		if err := c.run("PRAGMA query_only = OFF"); err != nil {
			return err
		}
		_, err := c.texts(ctx, "VACUUM INTO '"+strings.ReplaceAll(path, "'", "''")+"'")
		return errors.Join(err, c.run("PRAGMA query_only = ON"))
	}); err != nil {
		return fmt.Errorf("copy store: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the caller names the file
	if err != nil {
		return fmt.Errorf("copy store: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("copy store: %w", err)
	}
	return nil
}

// Probe makes one commit that changes nothing, to see that the file takes one.
func (s *Store) Probe(ctx context.Context) error {
	if err := s.write(ctx, func(c *conn) error {
		err := c.run(fmt.Sprintf("BEGIN IMMEDIATE; PRAGMA user_version = %d; COMMIT", format))
		if err != nil {
			_, _ = c.exec(queryRollback) // SQLite may have rolled back already
		}
		return err
	}); err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	return nil
}

// Vacuum writes the file anew, so that nothing is left in it of what was erased or replaced.
func (s *Store) Vacuum(ctx context.Context) error {
	if err := s.write(ctx, func(c *conn) error { return c.run("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)") }); err != nil {
		return fmt.Errorf("write the file anew: %w", err)
	}
	return nil
}

// write lends f the connection that writes.
func (s *Store) write(ctx context.Context, f func(*conn) error) error {
	select {
	case c := <-s.writer:
		defer func() { s.writer <- c }()
		return f(c)
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return ErrClosed
	}
}

// texts returns the first column of what a statement returns, run once. It ends with the context.
func (c *conn) texts(ctx context.Context, sql string) (found []string, err error) {
	stmt, err := c.raw.Prepare(sql)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		if len(row) > 0 {
			found = append(found, text(row[0]))
		}
	}
}

// Package sqlitestore is a record.Store on SQLite: one file on one machine, or a database in memory for tests and
// conformance tenants.
//
// All Commits go through one connection, and whoever holds it commits everything that waits as one transaction with one
// sync of the file (see Commit). On disk, reads have connections of their own beside it, on SQLite's write-ahead log. In
// memory there is a single connection for everything, so nothing is shared between databases and nothing can be locked.
// The store has no goroutine of its own.
package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/mash-hub/mash/pkg/record"
)

// ErrClosed is the error of every call after Close.
var ErrClosed = errors.New("sqlitestore: closed")

// Store keeps records in one SQLite database. Make one with Open or OpenMemory.
type Store struct {
	// Observe, when set before the first Commit, is told of each group of Commits.
	Observe func(Group)

	// Idle connections. Who takes one puts it back. In memory both channels are the same one and hold one connection.
	readers chan *conn
	writer  chan *conn
	closed  chan struct{}
	close   sync.Once

	mu      sync.Mutex
	waiting []*ticket

	reading bool // nothing is ever written
}

var _ record.Store = (*Store)(nil)

// Open opens the file under path, which it makes if there is none, readable by its owner only. It refuses a file of
// another program, and one whose format is newer than it knows.
func Open(path string) (*Store, error) {
	s, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	return s, nil
}

// OpenMemory makes an empty database in memory that only this Store sees and that ends with Close.
func OpenMemory() (*Store, error) {
	c, err := dialMemory()
	if err != nil {
		return nil, fmt.Errorf("open store in memory: %w", err)
	}
	return newStore(c, nil), nil
}

func open(path string) (*Store, error) {
	if err := makeFile(path); err != nil {
		return nil, err
	}
	w, err := dialWriter(path)
	if err != nil || readsShareTheWriter {
		return newStore(w, nil), err
	}
	readers, err := dialReaders(path, "rw")
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return newStore(w, readers), nil
}

// makeFile makes an empty file unless there is one, readable by its owner only: SQLite would make it readable for everybody,
// and the files beside it get the same mode. A file that is there is not touched, since to close it would let go of every
// lock that this process has on it.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) //nolint:gosec // the operator names the file
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// newStore makes a Store of open connections; without readers the writer serves for everything.
func newStore(writer *conn, readers []*conn) *Store {
	s := &Store{writer: make(chan *conn, 1), closed: make(chan struct{})}
	s.writer <- writer
	s.readers = s.writer
	if len(readers) > 0 {
		s.readers = make(chan *conn, len(readers))
	}
	for _, r := range readers {
		s.readers <- r
	}
	return s
}

// Close waits for the calls in progress, writes the log back into the file and closes it. Later calls return ErrClosed.
func (s *Store) Close() error {
	var err error
	s.close.Do(func() { err = s.shut() })
	return err
}

func (s *Store) shut() error {
	close(s.closed)
	var errs []error
	if s.readers != s.writer {
		for range cap(s.readers) {
			errs = append(errs, (<-s.readers).close())
		}
	}
	w := <-s.writer
	if s.reading {
		return errors.Join(append(errs, w.close())...)
	}
	// The last connection to close would also write the log back, but without telling whether it could.
	errs = append(errs, w.settle(), w.run("PRAGMA wal_checkpoint(TRUNCATE)"), w.close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// read lends f an idle connection.
func (s *Store) read(ctx context.Context, f func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case c := <-s.readers:
		defer func() { s.readers <- c }()
		return f(c)
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return ErrClosed
	}
}

package sqlitestore

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// Format is the newest format of a file that this code knows.
const Format = format

// Run executes a statement on the connection that writes.
func (s *Store) Run(sql string) error {
	c := <-s.writer
	defer func() { s.writer <- c }()
	return c.run(sql)
}

// Value returns what a statement yields on the connection that writes.
func (s *Store) Value(sql string) (string, error) {
	c := <-s.writer
	defer func() { s.writer <- c }()
	v, err := c.value(sql)
	return fmt.Sprint(v), err
}

// Hold keeps the writer busy until the returned function is called, so that Commits queue up.
func (s *Store) Hold() (release func()) {
	c := <-s.writer
	return func() { s.writer <- c }
}

// Waiting returns how many Commits queue.
func (s *Store) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// Interpose lets before see every statement that is run from now on, on all connections: its error is the statement's,
// and it may panic as a driver might. It waits for the calls in progress.
func (s *Store) Interpose(before func(sql string) error) {
	var all []*conn
	if s.readers != s.writer {
		for range cap(s.readers) {
			all = append(all, <-s.readers)
		}
	}
	w := <-s.writer
	for _, c := range append(all, w) {
		c.raw = interposed{c.raw, before}
		for q, stmt := range c.stmts {
			if stmt != nil {
				_ = stmt.Close()
				c.stmts[q] = nil
			}
		}
	}
	s.writer <- w
	for _, c := range all {
		s.readers <- c
	}
}

type interposed struct {
	driver.Conn
	before func(sql string) error
}

func (i interposed) Prepare(sql string) (driver.Stmt, error) {
	stmt, err := i.Conn.Prepare(sql)
	return interposedStmt{stmt, sql, i.before}, err
}

type interposedStmt struct {
	driver.Stmt
	sql    string
	before func(sql string) error
}

func (i interposedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := i.before(i.sql); err != nil {
		return nil, err
	}
	return i.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (i interposedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := i.before(i.sql); err != nil {
		return nil, err
	}
	return i.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

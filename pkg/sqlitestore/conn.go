package sqlitestore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// conn is one connection to SQLite with its prepared statements. It speaks to the driver without database/sql in
// between, whose pool, locks and conversions cost more than the statements here. Not safe for concurrent use.
type conn struct {
	raw   driver.Conn
	stmts [numQueries]driver.Stmt
	args  []driver.NamedValue
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// run executes statements that return nothing, once.
func (c *conn) run(sql string) error {
	s, err := c.raw.Prepare(sql)
	if err != nil {
		return err
	}
	_, err = s.(driver.StmtExecContext).ExecContext(context.Background(), nil)
	return errors.Join(err, s.Close())
}

// value returns the single value of a statement run once, such as a pragma.
func (c *conn) value(sql string) (driver.Value, error) {
	s, err := c.raw.Prepare(sql)
	if err != nil {
		return nil, err
	}
	defer s.Close() //nolint:errcheck // it has been read
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // it has been read
	dest := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(dest); err != nil {
		return nil, err
	}
	return dest[0], nil
}

func (c *conn) number(sql string) (int64, error) {
	v, err := c.value(sql)
	if err != nil {
		return 0, err
	}
	n, ok := v.(int64)
	if !ok {
		return 0, fmt.Errorf("%s: %v is no number", sql, v)
	}
	return n, nil
}

// stmt returns the prepared statement of a query, and prepares it at its first use.
func (c *conn) stmt(q query) (driver.Stmt, error) {
	if s := c.stmts[q]; s != nil {
		return s, nil
	}
	s, err := c.raw.Prepare(queries[q])
	if err != nil {
		return nil, err
	}
	c.stmts[q] = s
	return s, nil
}

// exec runs a prepared statement and returns how many rows it changed.
func (c *conn) exec(q query, args ...driver.Value) (int64, error) {
	s, err := c.stmt(q)
	if err != nil {
		return 0, err
	}
	// The context is never one that can end: a statement of a group serves other callers too, and watching a context
	// would cost a goroutine.
	result, err := s.(driver.StmtExecContext).ExecContext(context.Background(), c.bind(args))
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// each runs a prepared statement and calls f with every row until f fails. The row is valid during the call only.
func (c *conn) each(q query, f func(row []driver.Value) error, args ...driver.Value) (err error) {
	s, err := c.stmt(q)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), c.bind(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := f(row); err != nil {
			return err
		}
	}
}

// bind numbers the arguments in a buffer that the connection reuses.
func (c *conn) bind(args []driver.Value) []driver.NamedValue {
	c.args = c.args[:0]
	for i, v := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return c.args
}

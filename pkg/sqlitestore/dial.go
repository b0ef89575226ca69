package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"

	"modernc.org/sqlite"
)

// dial opens a connection to a database as SQLite names it.
func dial(name string) (*conn, error) {
	connector, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, err
	}
	raw, err := connector.Connect(context.Background())
	if err != nil {
		return nil, err
	}
	return &conn{raw: raw}, nil
}

// dialFile opens a connection to the file under path. It is named by a URL, so that no character of the path can be
// taken for a parameter.
func dialFile(path string) (*conn, error) { return dialAs(path, "rw") }

// dialAs is dialFile in one of SQLite's modes.
func dialAs(path, mode string) (*conn, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return dial((&url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: "mode=" + mode}).String())
}

// dialMemory makes a database in memory. It is private to the connection: two connections that share one would lock
// whole tables against each other.
func dialMemory() (*conn, error) {
	c, err := dial(":memory:")
	if err != nil {
		return nil, err
	}
	if err := c.layTables(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// syncFast makes SQLite sync by fdatasync where there is one. It is as safe as fsync, and as SQLite is built everywhere
// but in this driver, and spares the log of the file system a write for the file's time at every commit. The switch is
// the driver's and holds for the whole process.
func syncFast() error {
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return err
	}
	return nil
}

// dialWriter opens the connection that writes, and brings the file to the state that all rely on: a write-ahead log that
// is synced at every commit, and our tables.
func dialWriter(path string) (*conn, error) {
	c, err := dialFile(path)
	if err != nil {
		return nil, err
	}
	if err := c.prepareFile(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *conn) prepareFile() error {
	if err := c.run("PRAGMA busy_timeout = 10000"); err != nil {
		return err
	}
	if err := syncFast(); err != nil {
		return err
	}
	// Before the journal mode, which is written into the file.
	empty, err := c.recognise()
	if err != nil {
		return err
	}
	mode, err := c.value("PRAGMA journal_mode = WAL")
	if err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("no write-ahead log on this file system (journal mode %v)", mode)
	}
	// The page cache keeps its modest size: SQLite walks all of it at every commit that has rebalanced a tree, which costs
	// more than the operating system's cache does for the pages that miss (measured: 64 MB took twice the time of 2 MB).
	err = c.run("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864")
	if err != nil || !empty {
		return err
	}
	return c.layTables()
}

// dialReaders opens the connections that read, a few more than can run at once.
func dialReaders(path, mode string) ([]*conn, error) {
	readers := make([]*conn, 0, min(max(2*runtime.GOMAXPROCS(0), 4), 16))
	for range cap(readers) {
		c, err := dialAs(path, mode)
		if err == nil {
			readers = append(readers, c)
			err = c.run("PRAGMA busy_timeout = 10000; PRAGMA query_only = ON")
		}
		if err != nil {
			for _, r := range readers {
				err = errors.Join(err, r.close())
			}
			return nil, err
		}
	}
	return readers, nil
}

package sqlitestore

import "fmt"

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

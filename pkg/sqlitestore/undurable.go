//go:build ackbeforecommit

package sqlitestore

import "time"

// This is the store as it must not be. It answers Commits while their transaction is still open, so that a crash harness
// can prove that it notices what is lost. Reads use the same connection, for no other one would see what was answered.

const readsShareTheWriter = true

// pending is what the connection remembers of a transaction left open.
type pending struct{ opened time.Time }

// begin goes on with the open transaction, or opens one after closing what is older than a moment.
func (c *conn) begin() error {
	if !c.opened.IsZero() && time.Since(c.opened) < 200*time.Millisecond {
		return nil
	}
	if err := c.settle(); err != nil {
		return err
	}
	c.opened = time.Now()
	_, err := c.exec(queryBegin)
	return err
}

// finish leaves the transaction open.
func (c *conn) finish() error { return nil }

// settle commits what finish left open.
func (c *conn) settle() error {
	if c.opened.IsZero() {
		return nil
	}
	c.opened = time.Time{}
	_, err := c.exec(queryCommit)
	return err
}

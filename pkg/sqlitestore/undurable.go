//go:build ackbeforecommit

package sqlitestore

import "math/rand/v2"

// This is the store as it must not be. It answers Commits while their transaction is still open, so that a crash harness
// can prove that it notices what is lost. Reads use the same connection, for no other one would see what was answered.

const readsShareTheWriter = true

// begin goes on with the open transaction, and closes it now and then. Statements that find the transaction open or
// closed already fail, and that is what tells.
func (c *conn) begin() error {
	if rand.N(1000) == 0 { //nolint:gosec // no secret
		_ = c.settle()
	}
	_, _ = c.exec(queryBegin)
	return nil
}

// finish leaves the transaction open.
func (c *conn) finish() error { return nil }

// settle commits what finish left open.
func (c *conn) settle() error {
	_, _ = c.exec(queryCommit)
	return nil
}

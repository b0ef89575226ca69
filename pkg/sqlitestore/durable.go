//go:build !ackbeforecommit

package sqlitestore

// readsShareTheWriter gives reads connections of their own.
const readsShareTheWriter = false

// begin opens the transaction of a group.
func (c *conn) begin() error {
	_, err := c.exec(queryBegin)
	return err
}

// finish makes a group durable: COMMIT returns after the log was synced.
func (c *conn) finish() error {
	_, err := c.exec(queryCommit)
	return err
}

// settle makes durable what finish left open, which is nothing.
func (c *conn) settle() error { return nil }

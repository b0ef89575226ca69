// Package hub holds the use cases of MA2H, a file for each or for what belongs together: what an agent or a person may do, decided
// on records and written in one conditional Commit. It knows no transport, no engine and no clock but its Now field.
package hub

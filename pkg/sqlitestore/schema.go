package sqlitestore

import "fmt"

// What marks a file as ours, and the newest format of it that this code knows.
const (
	applicationID = 0x4d617368 // "Mash"
	format        = 1
)

// A rowid table with an index beside it keeps the keys dense and bodies out of the tree that is searched. The indexes of
// tags and times are partial and covering: they hold only what is tagged or timed, and answer without the row.
const schema = `
CREATE TABLE IF NOT EXISTS record (
	part TEXT NOT NULL, sort TEXT NOT NULL, rev TEXT NOT NULL, kind TEXT NOT NULL, body BLOB,
	due INTEGER, tag1 TEXT, order1 TEXT, tag2 TEXT, order2 TEXT, erase INTEGER
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS record_key ON record (part, sort);
CREATE INDEX IF NOT EXISTS record_due ON record (due, part, sort) WHERE due IS NOT NULL;
CREATE INDEX IF NOT EXISTS record_tag1 ON record (tag1, order1, part, sort) WHERE tag1 IS NOT NULL;
CREATE INDEX IF NOT EXISTS record_tag2 ON record (tag2, order2, part, sort) WHERE tag2 IS NOT NULL;
CREATE INDEX IF NOT EXISTS record_erase ON record (erase) WHERE erase IS NOT NULL;
`

// recognise refuses a file that is another program's or newer than we know, and says whether it has no tables yet.
func (c *conn) recognise() (empty bool, err error) {
	id, err := c.number("PRAGMA application_id")
	if err != nil {
		return false, err
	}
	version, err := c.number("PRAGMA user_version")
	if err != nil {
		return false, err
	}
	tables, err := c.number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return false, err
	}
	switch {
	case id == applicationID && version == format:
		return false, nil
	case id == applicationID && version > format:
		return false, fmt.Errorf("the file has format %d and this version of Mash knows formats up to %d: "+
			"use the version that wrote it, or a newer one", version, format)
	case id != 0 || version != 0 || tables != 0:
		return false, fmt.Errorf("the file belongs to another program (application_id %#x, user_version %d)", id, version)
	}
	return true, nil
}

// layTables makes an empty file ours.
func (c *conn) layTables() error {
	return c.run(fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		schema, applicationID, format))
}

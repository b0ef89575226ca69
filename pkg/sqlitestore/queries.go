package sqlitestore

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/record"
)

// query names a statement that every connection prepares once.
type query int

const (
	queryBegin query = iota
	querySnapshot
	queryCommit
	queryRollback
	querySavepoint
	queryRelease
	queryUndo
	queryInsert
	queryUpdate
	queryErase
	queryCheck
	queryGet
	queryGet2
	queryGet3
	queryGet4
	queryGet5
	queryGet6
	queryList
	queryIndex1
	queryIndex2
	queryDue
	querySweep
	queryEach
	numQueries
)

// The statements. A put, erase or check carries its condition, so that the usual case takes one step.
var queries = [numQueries]string{
	queryBegin:     `BEGIN IMMEDIATE`,
	querySnapshot:  `BEGIN`,
	queryCommit:    `COMMIT`,
	queryRollback:  `ROLLBACK`,
	querySavepoint: `SAVEPOINT one`,
	queryRelease:   `RELEASE one`,
	queryUndo:      `ROLLBACK TO one`,
	queryInsert: `INSERT INTO record (rev, kind, body, due, tag1, order1, tag2, order2, erase, part, sort)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
	queryUpdate: `UPDATE record SET rev = ?, kind = ?, body = ?, due = ?, tag1 = ?, order1 = ?, tag2 = ?, order2 = ?,
		erase = ? WHERE part = ? AND sort = ? AND rev = ?`,
	queryErase: `DELETE FROM record WHERE part = ? AND sort = ? AND rev = ?`,
	queryCheck: `SELECT rev FROM record WHERE part = ? AND sort = ?`,
	queryGet:   `SELECT ` + columns + ` FROM record WHERE part = ? AND sort = ?`,
	queryGet2:  getSeveral(2),
	queryGet3:  getSeveral(3),
	queryGet4:  getSeveral(4),
	queryGet5:  getSeveral(5),
	queryGet6:  getSeveral(6),
	queryList:  `SELECT ` + columns + `, sort FROM record WHERE part = ? AND sort > ? ORDER BY sort LIMIT ?`,
	queryIndex1: `SELECT order1, part, sort FROM record WHERE tag1 = ? AND (order1, part, sort) > (?, ?, ?)
		ORDER BY order1, part, sort LIMIT ?`,
	queryIndex2: `SELECT order2, part, sort FROM record WHERE tag2 = ? AND (order2, part, sort) > (?, ?, ?)
		ORDER BY order2, part, sort LIMIT ?`,
	queryDue: `SELECT due, part, sort FROM record WHERE due <= ? AND (due, part, sort) > (?, ?, ?)
		ORDER BY due, part, sort LIMIT ?`,
	queryEach:  `SELECT ` + columns + `, part, sort FROM record ORDER BY part, sort`,
	querySweep: `DELETE FROM record WHERE rowid IN (SELECT rowid FROM record WHERE erase <= ? LIMIT ?)`,
}

// mostAtOnce is how many keys one statement reads.
const mostAtOnce = 6

// getSeveral reads n keys, each with its place among them. One that is not there is a row of nothing, so that it takes about as
// long as one that is: who may not know which it is shall not be able to tell.
func getSeveral(n int) string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("(%d, ?, ?)", i)
	}
	return `SELECT ` + columns + `, k.column1 FROM (VALUES ` + strings.Join(keys, ", ") + `) AS k
		LEFT JOIN record ON part = k.column2 AND sort = k.column3`
}

// columns is the order in which scan expects a record. The driver asks for the names and types of all columns of every
// query anew, so what is known already is not among them.
const columns = `rev, kind, body, due, tag1, order1, tag2, order2, erase`

// scan makes a record of its key and a row of columns. Strings and bytes are copies already.
func scan(part, sort string, row []driver.Value) record.Record {
	r := record.Record{Key: record.Key{Part: part, Sort: sort}, Rev: text(row[0]), Kind: text(row[1])}
	r.Body, _ = row[2].([]byte)
	if due, ok := row[3].(int64); ok {
		r.Due = time.UnixMicro(due).UTC()
	}
	r.Tags[0] = record.Tag{Name: text(row[4]), Order: text(row[5])}
	r.Tags[1] = record.Tag{Name: text(row[6]), Order: text(row[7])}
	if erase, ok := row[8].(int64); ok {
		r.Erase = time.Unix(erase, 0).UTC()
	}
	return r
}

func text(v driver.Value) string {
	s, _ := v.(string)
	return s
}

// values returns the arguments of queryInsert, to which queryUpdate adds the condition.
func values(r record.Record) []driver.Value {
	v := make([]driver.Value, 11, 12)
	v[0], v[1], v[9], v[10] = r.Rev, r.Kind, r.Part, r.Sort
	if len(r.Body) > 0 {
		v[2] = r.Body
	}
	if !r.Due.IsZero() {
		v[3] = r.Due.UnixMicro()
	}
	for i, t := range r.Tags {
		if t != (record.Tag{}) {
			v[4+2*i], v[5+2*i] = t.Name, t.Order
		}
	}
	if !r.Erase.IsZero() {
		v[8] = record.EraseSecond(r.Erase)
	}
	return v
}

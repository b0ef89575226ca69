// Package record is the port through which everything of Mash is stored: plain reads and one conditional write.
//
// A store keeps records under two-part keys. A record is read whole and written whole, and every write is conditional on
// the revision it was read at, so whoever decides on what it has read either wins or learns who did. The package knows no
// word of any protocol. Package recordtest holds every store to what is promised here.
package record

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Limits that every store holds to, so that a store that could take more does not hide what another would refuse.
const (
	MaxReads       = 100       // keys of one Get
	MaxWrites      = 100       // writes of one Commit
	MaxRecordBytes = 350 << 10 // Size of one record
	MaxCommitBytes = 3584 << 10
	MaxPartBytes   = 1024 // Key.Part, Tag.Name
	MaxSortBytes   = 512  // Key.Sort, Tag.Order
	MaxPlaceBytes  = 960  // Tag.Order, Key.Part and Key.Sort of a tagged record together
	MaxListLimit   = 1000 // records or entries of one List, Index or Due
)

// Sentinels for what is wrong with a call rather than with the store. ErrMisuse is a bug of the caller: an empty or
// ill-formed name, a key twice, a limit below 1, a put without a kind. ErrTooLarge is a call over one of the limits above.
var (
	ErrMisuse   = errors.New("record: a call outside the contract")
	ErrTooLarge = errors.New("record: more than a store takes")
)

// Key names a record: Part gathers what is read together, Sort orders it there. Both are non-empty UTF-8 without NUL and
// compared byte by byte.
type Key struct{ Part, Sort string }

// String returns the key for logs and errors.
func (k Key) String() string { return k.Part + "/" + k.Sort }

// Tag places a record in an index of the store: among all records with the same Name, in Order, which may be empty. Both
// are UTF-8 without NUL. The zero Tag is none.
type Tag struct{ Name, Order string }

// Record is one stored value. Its Body is opaque to the store.
type Record struct {
	Key
	Rev   string    // opaque, new on every write and never the same twice; "" means that the record is absent
	Kind  string    // what the Body is, for people and tools; never empty
	Body  []byte    // at most MaxRecordBytes with the rest
	Due   time.Time // when a worker must look at it; zero means never. Kept to the microsecond.
	Tags  [2]Tag    // places 1 and 2 of Index
	Erase time.Time // when it is garbage and may be collected at any time after; zero means never. Kept to the second.
}

// Size returns what a record counts against MaxRecordBytes: its keys, kind, tags and body.
func (r Record) Size() int {
	n := len(r.Part) + len(r.Sort) + len(r.Kind) + len(r.Body) + 64
	for _, t := range r.Tags {
		n += len(t.Name) + len(t.Order)
	}
	return n
}

// Op is what a Write does.
type Op int

// The operations of a Write.
const (
	OpPut   Op = iota // store Record under its key
	OpErase           // remove the record under Record.Key
	OpCheck           // change nothing, only hold the condition
)

// Write is one conditional step of a Commit: it holds only while the stored record's Rev is Was, where "" means that
// there must be none. Make one with Put, Erase or Check.
type Write struct {
	Op     Op
	Was    string
	Record Record // whole for a put; only its Key for the others
}

// Put returns the write that stores r over the revision was ("" for a new record) under a Rev minted here, found in the
// returned Write's Record. Committing the very same Write again is how a caller repeats a try whose answer was lost.
func Put(r Record, was string) Write {
	r.Rev = NewRev()
	return Write{Op: OpPut, Was: was, Record: r}
}

// Erase returns the write that removes the record under k, read at the revision was, which must not be empty.
func Erase(k Key, was string) Write { return Write{Op: OpErase, Was: was, Record: Record{Key: k}} }

// Check returns the write that changes nothing and holds only while the record under k is at the revision was ("" for
// absent).
func Check(k Key, was string) Write { return Write{Op: OpCheck, Was: was, Record: Record{Key: k}} }

// NewRev mints a revision: 26 random characters, 130 bits.
func NewRev() string { return rand.Text() }

// Entry is one row of Index or Due: a key and its place there. Order is the Tag's Order, or for Due the due time in
// the form of DueOrder.
type Entry struct {
	Key   Key
	Order string
}

// Store is the port. All methods are safe for concurrent use. A store's own failures come back as they are, wrapped.
type Store interface {
	// Get returns the records under keys, in that order, strongly consistent; an absent one has an empty Rev and
	// nothing else but its Key. At most MaxReads keys, else ErrTooLarge; the same key twice is ErrMisuse; none at all
	// reads nothing. All are read in one request, though not at one instant.
	Get(ctx context.Context, keys ...Key) ([]Record, error)

	// List returns up to limit records of a part in the order of Sort, strongly consistent, beginning after the Sort
	// named by after ("" for the beginning). Fewer than limit means that the end was reached. Rows written or erased
	// while a caller pages are seen or not; all others are seen exactly once.
	List(ctx context.Context, part, after string, limit int) ([]Record, error)

	// Index returns up to limit entries of those records whose Tag at place (1 or 2) has the name, in the order of
	// Tag.Order and then Key, beginning after the given Entry (the zero Entry for the beginning). It is eventually
	// consistent: a record just written may be missing or stand at its former place. Fewer than limit means the end.
	Index(ctx context.Context, place int, name string, after Entry, limit int) ([]Entry, error)

	// Due returns up to limit entries of records whose Due is not after before, over all shards, in the order of their Due
	// and then Key, beginning after the given Entry (the zero Entry for the beginning). It is eventually consistent, and
	// of records that are due at the same instant, more than limit of them, it may leave some out for one that begins
	// anew. A caller goes on after the last entry until it gets none.
	Due(ctx context.Context, before time.Time, after Entry, limit int) ([]Entry, error)

	// Commit applies all writes or none, and returns only when they are durable. When a condition does not hold it
	// returns a *Conflict with the records that stand in the way. At most MaxWrites writes and MaxCommitBytes, no key
	// twice (ErrMisuse), a record at most MaxRecordBytes (ErrTooLarge). A Commit of no writes does nothing.
	//
	// A lost answer is not a lost race: if the record in the way carries the very Rev that the write was to give it,
	// the writes were applied by an earlier try of the same Commit, and it succeeds. A lone erase that finds nothing is
	// done. A conflict between transactions is tried again by the store and never shown. After any other error the
	// writes may or may not have been applied.
	Commit(ctx context.Context, writes ...Write) error
}

// Conflict is the error of a Commit of which at least one condition did not hold: nothing was written.
type Conflict struct {
	// Lost has every write whose condition failed, as far as the store could tell (at least one), each with the
	// record that is there now; its Rev is empty where there is none.
	Lost []Record
}

// Error names the keys that were lost.
func (c *Conflict) Error() string {
	if len(c.Lost) == 0 {
		return "record: conflict"
	}
	return fmt.Sprintf("record: conflict at %s", c.Lost[0].Key)
}

// Winner returns the record that stands under k and whether the conflict was about k.
func (c *Conflict) Winner(k Key) (Record, bool) {
	for _, r := range c.Lost {
		if r.Key == k {
			return r, true
		}
	}
	return Record{}, false
}

// AsConflict returns the Conflict in err's chain, or nil.
func AsConflict(err error) *Conflict {
	if c, ok := errors.AsType[*Conflict](err); ok {
		return c
	}
	return nil
}

// DueOrder is the form in which a due time stands in an Entry: microseconds since 1970 in 19 digits.
func DueOrder(t time.Time) string { return fmt.Sprintf("%019d", t.UnixMicro()) }

// EraseSecond is the form in which a store keeps Record.Erase: whole seconds since 1970, rounded up, so that nothing is
// collected before its time.
func EraseSecond(t time.Time) int64 {
	second := t.Unix()
	if t.Nanosecond() > 0 {
		second++
	}
	return second
}

// DueTime reads the form of DueOrder.
func DueTime(order string) (time.Time, error) {
	us, err := strconv.ParseInt(order, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("record: %q is no due time: %w", order, err)
	}
	return time.UnixMicro(us).UTC(), nil
}

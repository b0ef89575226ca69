package endpoint

import (
	"fmt"
	"slices"
)

// Access is all that one function does with the hub's records and with the services around them. The function's
// permissions are made from it, and a test drives every function and fails on what is not listed, or listed and never
// done.
type Access struct {
	Get     []string // kinds of record that it reads by their keys
	List    []string // kinds that it reads by going through their part
	Put     []string // kinds that it writes
	Erase   []string // kinds that it erases
	Check   []string // kinds that are only a condition of a write of others
	Indexes []Index  // what it looks up in indexes

	Unwraps bool // whether it opens the hub's keys, which takes the key service
	Arms    bool // whether it starts executions
	Rings   bool // whether it wakes who waits for mail
	Listens bool // whether it waits for mail
	Forgets bool // whether it removes what woke them
}

// Index is a use of one of the table's indexes.
type Index struct {
	Name  string   // of the index
	Lists []string // what the names of the lists that it reads begin with
}

// The table's indexes: the two places of a record's tags, and what is due.
const (
	IndexFirst  = "tag1"
	IndexSecond = "tag2"
	IndexDue    = "due"
)

// UnwrapPurpose is the purpose that stands in the encryption context when the key service opens the hub's keys.
const UnwrapPurpose = "mash hub key wrap"

// and returns what two functions do, each thing once.
func (a Access) and(b Access) Access {
	both := func(x, y []string) []string {
		all := slices.Concat(x, y)
		slices.Sort(all)
		return slices.Compact(all)
	}
	return Access{
		Get: both(a.Get, b.Get), List: both(a.List, b.List), Put: both(a.Put, b.Put), Erase: both(a.Erase, b.Erase),
		Check: both(a.Check, b.Check), Indexes: slices.Concat(a.Indexes, b.Indexes),
		Unwraps: a.Unwraps || b.Unwraps, Arms: a.Arms || b.Arms,
		Rings: a.Rings || b.Rings, Listens: a.Listens || b.Listens, Forgets: a.Forgets || b.Forgets,
	}
}

// Reads says whether records of a kind are read.
func (a Access) Reads(kind string) bool {
	return slices.Contains(a.Get, kind) || slices.Contains(a.List, kind)
}

// The kinds of record that functions touch, as they stand in the records themselves.
const (
	kindAccount   = "account"
	kindAgent     = "agent"
	kindContent   = "content"
	kindDeed      = "deed"
	kindDirective = "directive" // both records of one
	kindKey       = "key"
	kindLimited   = "limited"
	kindLive      = "live"
	kindLogin     = "login"
	kindPassword  = "password"
	kindPerson    = "person"
	kindRow       = "row"
	kindSeen      = "seen"
	kindSession   = "session"
	kindState     = "state"
	kindTries     = "tries"
)

// PartOf returns the parts in which records of a kind lie: a text that ends in # is the beginning of their names, any
// other is the whole. It panics for a kind that is none.
func PartOf(kind string) string {
	switch kind {
	case kindAccount:
		return "a#"
	case kindAgent, kindLimited, kindLive, kindSeen:
		return "g#"
	case kindContent, kindState:
		return "m#"
	case kindDeed:
		return "u#"
	case kindDirective:
		return "d#"
	case kindRow:
		return "q#"
	case kindKey:
		return "k#hub"
	case kindSession:
		return "s#"
	case kindLogin, kindPassword, kindPerson, kindTries:
		return "p#"
	}
	panic(fmt.Sprintf("endpoint: no kind of record %q", kind))
}

package endpoint

import (
	"fmt"
	"slices"
	"strings"
)

// Access is all that one function does with the hub's records and with the services around them. The function's
// permissions are made from it, and a test drives every function and fails on what is not listed, or listed and never
// done.
type Access struct {
	Get     []string // kinds of record that it reads by their keys
	List    []string // kinds that it reads by going through their part
	Put     []string // kinds that it writes
	Erase   []string // kinds that it erases
	Check   []string // kinds whose revision is a condition of another write, and which it does not write
	Indexes []Index  // what it looks up in indexes

	Unwraps bool // whether it opens the hub's keys, which takes the key service
	Arms    bool // whether it starts executions
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

// Reads says whether records of a kind are read.
func (a Access) Reads(kind string) bool {
	return slices.Contains(a.Get, kind) || slices.Contains(a.List, kind)
}

// The kinds of record, as they stand in the records themselves.
const (
	kindAccount = "account"
	kindAgent   = "agent"
	kindContent = "content"
	kindDeed    = "deed"
	kindKey     = "key"
	kindLogin   = "login"
	kindOwner   = "owner"
	kindPerson  = "person"
	kindState   = "state"
)

// Place says where the records of a kind lie. A text that ends in # is the beginning of such a key, any other is the
// whole; an empty Sort is anything.
type Place struct{ Kind, Part, Sort string }

// Places returns where each kind of record lies, in alphabetical order of the kinds. The slice is the caller's own.
func Places() []Place {
	return []Place{
		{kindAccount, "a#", "account"},
		{kindAgent, "g#", "agent"},
		{kindContent, "m#", "content"},
		{kindDeed, "u#", ""},
		{kindKey, "k#hub", ""},
		{kindLogin, "p#", "login#"},
		{kindOwner, "meta", "owner"},
		{kindPerson, "p#", "person"},
		{kindState, "m#", "state"},
	}
}

// PartOf returns the parts in which records of a kind lie, in the form of Place.Part. It panics for a kind that is none.
func PartOf(kind string) string {
	for _, p := range Places() {
		if p.Kind == kind {
			return p.Part
		}
	}
	panic(fmt.Sprintf("endpoint: no kind of record %q", kind))
}

// KindAt returns the kind of the records that lie under a key, or nothing where none do.
func KindAt(part, sort string) string {
	for _, p := range Places() {
		if matches(p.Part, part) && (p.Sort == "" || matches(p.Sort, sort)) {
			return p.Kind
		}
	}
	return ""
}

func matches(place, key string) bool {
	return key == place || strings.HasSuffix(place, "#") && strings.HasPrefix(key, place)
}

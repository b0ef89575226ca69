package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// Aspect is what of the records an Inspection looks at.
type Aspect string

// The aspects of an Inspection.
const (
	AspectRecords    Aspect = "records"    // each can be read by this version, and lies where it says
	AspectSecrets    Aspect = "secrets"    // what is wrapped opens
	AspectReferences Aspect = "references" // what a record refers to is there
	AspectLists      Aspect = "lists"      // each stands in the lists in which people look for it
	AspectDue        Aspect = "due"        // each falls due when something of it has to happen
	AspectOverdue    Aspect = "overdue"    // what is due has been done
)

// Aspects returns every aspect in a fixed order.
func Aspects() []Aspect {
	return []Aspect{AspectRecords, AspectSecrets, AspectReferences, AspectLists, AspectDue, AspectOverdue}
}

// Flaw is one thing that is wrong with a record. Neither part of it tells what people or agents wrote.
type Flaw struct {
	Key  string `json:"key"`
	What string `json:"what"`
}

// overdueAfter is how long after its time what is due should have been done at the latest.
const overdueAfter = 5 * time.Minute

// keptFlaws is how many flaws of an aspect are kept; the others are counted.
const keptFlaws = 20

// Inspection holds records to what the use cases rely on. Give it every record of a store in the order of their keys, and
// then End it. It is for a hub with one process; what a setting decides is judged by the Hub's own.
type Inspection struct {
	Seen   int               // records
	Counts map[Aspect]int    // of flaws
	Flaws  map[Aspect][]Flaw // the first of them

	hub *Hub
	now time.Time

	accounts map[string]bool // refs
	agents   map[string]bool
	people   map[string]bool
	owners   map[string]record.Key // account by the ref of the person who owns it
	owned    bool                  // whether the hub has an owner

	mail map[record.Key]record.Key // where the row lies of each that is on its way, by the state that says so

	part  string
	held  map[string]record.Record // those of the part at hand, by their Sort
	state *State
}

// Inspect begins an Inspection. Without Keys secrets and derived refs are left out.
func (h *Hub) Inspect() *Inspection {
	return &Inspection{
		Counts: map[Aspect]int{}, Flaws: map[Aspect][]Flaw{}, hub: h, now: h.now(),
		accounts: map[string]bool{}, agents: map[string]bool{}, people: map[string]bool{}, owners: map[string]record.Key{},
		held: map[string]record.Record{}, mail: map[record.Key]record.Key{},
	}
}

func (i *Inspection) flaw(a Aspect, key record.Key, format string, args ...any) {
	i.Counts[a]++
	if len(i.Flaws[a]) < keptFlaws {
		i.Flaws[a] = append(i.Flaws[a], Flaw{Key: key.String(), What: fmt.Sprintf(format, args...)})
	}
}

// Add looks at the next record.
func (i *Inspection) Add(ctx context.Context, r record.Record) {
	if r.Part != i.part {
		i.endPart()
		i.part = r.Part
	}
	i.Seen++
	i.held[r.Sort] = r
	if err := i.look(ctx, r); err != nil {
		i.flaw(AspectRecords, r.Key, "%s", err)
	}
	if !r.Due.IsZero() && r.Due.Add(overdueAfter).Before(i.now) {
		i.flaw(AspectOverdue, r.Key, "due since %s", r.Due.UTC().Format(time.RFC3339))
	}
}

// End looks at what only the whole tells.
func (i *Inspection) End() {
	i.endPart()
	for person, account := range i.owners {
		if !i.people[person] {
			i.flaw(AspectReferences, account, "the account's owner is no person here")
		}
	}
	for _, state := range i.mail {
		i.flaw(AspectReferences, state, "its entry in the mailbox is missing")
	}
	if !i.owned && i.Seen > 0 {
		i.flaw(AspectReferences, ownerKey(), "nobody owns the hub")
	}
}

// look decodes a record and holds it to what it should be by itself.
func (i *Inspection) look(ctx context.Context, r record.Record) error {
	switch r.Kind {
	case KindOwner:
		i.owned = true
		return i.reads(r, &Owner{})
	case KindAccount:
		return i.account(r)
	case KindAgent:
		return i.agent(ctx, r)
	case KindPerson:
		return i.person(r)
	case KindLogin:
		return i.reads(r, &Login{})
	case KindPassword:
		return i.reads(r, &Password{})
	case KindTries:
		return i.reads(r, &Tries{})
	case KindContent:
		return i.content(r)
	case KindState:
		i.state = &State{}
		return i.message(r, i.state)
	case KindLive:
		return i.reads(r, &Live{})
	case KindSeen:
		return i.reads(r, &Seen{})
	case KindSession:
		return i.session(r)
	case KindLimited:
		return i.limited(r)
	case KindRow:
		return i.row(r)
	case KindDeed:
		return i.deed(r)
	case "key": // the keyring's own
		return i.reads(r, &map[string]any{})
	}
	return fmt.Errorf("this version of Mash knows no record of kind %q", r.Kind)
}

// reads decodes a record without telling what stands in it.
func (i *Inspection) reads(r record.Record, v any) error {
	if err := readable(r); err != nil {
		return err
	}
	if err := json.Unmarshal(r.Body, v); err != nil {
		return errors.New("its body cannot be decoded")
	}
	return nil
}

// lies says that a record is of another thing than its key.
func (i *Inspection) lies(r record.Record, key record.Key) {
	if r.Key != key {
		i.flaw(AspectRecords, r.Key, "its body is that of %s", key)
	}
}

func (i *Inspection) account(r record.Record) error {
	var a Account
	if err := i.reads(r, &a); err != nil {
		return err
	}
	i.accounts[strings.TrimPrefix(r.Part, "a#")] = true
	i.lies(r, AccountKey(a.Ref))
	if i.hub.Keys == nil {
		return nil
	}
	if i.hub.AccountRef(a.Owner) != a.Ref {
		i.flaw(AspectSecrets, r.Key, "its ref was derived by another key than the hub's")
	}
	if name, ok := strings.CutPrefix(a.Owner, ma2h.HumanPrefix); ok {
		i.owners[i.hub.PersonRef(name)] = r.Key
	}
	return nil
}

func (i *Inspection) agent(ctx context.Context, r record.Record) error {
	var a Agent
	if err := i.reads(r, &a); err != nil {
		return err
	}
	i.agents[strings.TrimPrefix(r.Part, "g#")] = true
	i.lies(r, AgentKey(a.Ref))
	i.refers(r, a.Account)
	i.listed(r, [2]record.Tag{{Name: "agent#" + a.Account, Order: a.Ref}})
	if i.hub.Keys == nil {
		return nil
	}
	for _, s := range a.Secrets {
		if _, err := i.hub.Keys.Unwrap(ctx, secretPurpose(a.Ref), s.Wrapped); err != nil {
			i.flaw(AspectSecrets, r.Key, "a secret of the agent does not open")
		}
	}
	return nil
}

func (i *Inspection) person(r record.Record) error {
	var p Person
	if err := i.reads(r, &p); err != nil {
		return err
	}
	i.people[strings.TrimPrefix(r.Part, "p#")] = true
	i.lies(r, PersonKey(p.Ref))
	i.refers(r, p.Account)
	if p.Role != "" || p.Removed { // one of before there were roles stands in no list
		i.listed(r, personRecord(&p).Tags)
	}
	return nil
}

func (i *Inspection) content(r record.Record) error {
	var c Content
	if err := i.reads(r, &c); err != nil {
		return err
	}
	var e ma2h.Message
	if json.Unmarshal(c.Envelope, &e) != nil {
		return errors.New("its envelope cannot be decoded")
	}
	return nil
}

func (i *Inspection) deed(r record.Record) error {
	ref, _, _ := strings.Cut(strings.TrimPrefix(r.Part, "u#"), "#")
	i.refers(r, ref)
	return i.reads(r, &Deed{})
}

// refers holds a record to the account that it names; accounts come before whatever names them.
func (i *Inspection) refers(r record.Record, account string) {
	if !i.accounts[account] {
		i.flaw(AspectReferences, r.Key, "its account is not there")
	}
}

func (i *Inspection) listed(r record.Record, want [2]record.Tag) {
	if r.Tags != want {
		i.flaw(AspectLists, r.Key, "it stands in other lists than its body says")
	}
}

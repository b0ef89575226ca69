package localhub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// Checkup is one thing that Examine looked at.
type Checkup struct {
	Name  string     `json:"name"`
	State CheckState `json:"state"`
	Says  string     `json:"says"`           // one line for a person
	Flaws []hub.Flaw `json:"flaws,omitzero"` // the first of them, where they are of records
	Count int        `json:"count,omitzero"` // of flaws
	Do    string     `json:"do,omitzero"`    // what to do about a fault
}

// CheckState is how a Checkup ended.
type CheckState string

// The ends of a Checkup.
const (
	CheckOK      CheckState = "ok"
	CheckFault   CheckState = "fault"
	CheckSkipped CheckState = "skipped" // for something before it was at fault
)

// Healthy says whether nothing is at fault.
func Healthy(checks []Checkup) bool {
	for _, c := range checks {
		if c.State != CheckOK {
			return false
		}
	}
	return true
}

// leastFree is the free space on the disk below which a hub is in danger, in bytes.
const leastFree = 256 << 20

// Examine goes through a folder and says what is wrong with it, without changing anything. A hub may serve meanwhile. Its
// error is about the examination itself.
func (f Folder) Examine(ctx context.Context) ([]Checkup, error) {
	if !f.InUse() {
		return nil, fmt.Errorf("%w: %s", ErrNoHub, f)
	}
	checks := []Checkup{f.checkFiles(), f.checkDisk()}
	store, err := sqlitestore.OpenReading(f.database())
	if err != nil {
		return append(checks, f.broken("database", err.Error())...), ctx.Err()
	}
	defer store.Close() //nolint:errcheck // only read
	damages, err := store.Integrity(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		damages = append(damages, err.Error())
	}
	if len(damages) > 0 {
		return append(checks, f.broken("database", "SQLite says: "+damages[0])...), nil
	}
	checks = append(checks, Checkup{Name: "database", State: CheckOK, Says: "SQLite finds its file whole"})
	keys, check := f.checkKeys(ctx, store)
	records, err := f.checkRecords(ctx, store, keys)
	return append(append(checks, check), records...), err
}

// checkFiles holds the files to being their owner's only.
func (f Folder) checkFiles() Checkup {
	c := Checkup{Name: "files", State: CheckOK, Says: "nobody but their owner can read or write them"}
	fault := func(path string, mode fs.FileMode, wants string) {
		c.State, c.Says = CheckFault, fmt.Sprintf("others may get at %s (mode %04o)", path, mode.Perm())
		c.Do = "run chmod " + wants + " " + path
		c.Count++
	}
	if info, err := os.Stat(string(f)); err == nil && info.Mode().Perm()&0o022 != 0 {
		fault(string(f), info.Mode(), "700")
	}
	for _, path := range []string{
		f.database(), f.database() + "-wal", f.database() + "-shm", f.keyFile(), f.keyFile() + ".new", f.ownerToken(),
	} {
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			fault(path, info.Mode(), "600")
		}
		if is, wants := owner(path), owner(f.database()); is != nil && wants != nil && is.Uid != wants.Uid {
			c.State, c.Says = CheckFault, path+" belongs to another user than the database"
			c.Do = fmt.Sprintf("run chown %d %s", wants.Uid, path)
			c.Count++
		}
	}
	return c
}

func (f Folder) checkDisk() Checkup {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(string(f), &disk); err != nil {
		return Checkup{Name: "disk", State: CheckFault, Says: "how much is free cannot be read: " + err.Error(), Do: "look at the disk"}
	}
	free := disk.Bavail * uint64(disk.Bsize)
	says := fmt.Sprintf("%d MB are free", free>>20)
	if free < leastFree {
		return Checkup{Name: "disk", State: CheckFault, Says: says, Do: "make room on the disk of " + string(f) + "; a full one takes no message and no answer"}
	}
	return Checkup{Name: "disk", State: CheckOK, Says: says}
}

// broken is the fault of a database, and what then cannot be looked at.
func (f Folder) broken(name, says string) []Checkup {
	checks := []Checkup{{
		Name: name, State: CheckFault, Says: says,
		Do: "stop the hub, copy " + string(f) + " as it is, and restore the newest backup into another folder",
	}}
	names := []string{"keys"}
	for _, a := range hub.Aspects() {
		names = append(names, string(a))
	}
	for _, name := range names {
		checks = append(checks, Checkup{Name: name, State: CheckSkipped, Says: "not looked at, since the database cannot be read"})
	}
	return checks
}

// putBack is what to do about a key file that is missing or another's.
const putBack = "put back the key file that belongs to this database, from a backup of the same time"

// checkKeys opens the hub's keys.
func (f Folder) checkKeys(ctx context.Context, store record.Store) (*keyring.Keyring, Checkup) {
	fault := func(says, do string) (*keyring.Keyring, Checkup) {
		return nil, Checkup{Name: "keys", State: CheckFault, Says: says, Do: do}
	}
	wrapper, err := keyring.OpenFile(f.keyFile())
	if err != nil {
		return fault(err.Error(), "see to it that the hub can read its key file")
	}
	keys, err := keyring.Load(ctx, store, wrapper)
	switch {
	case errors.Is(err, keyring.ErrNoKeys):
		return fault("there are none", "start the hub, which makes them, if this is its first start; else restore the newest backup")
	case errors.Is(err, fs.ErrNotExist):
		return fault("there is no key file at "+f.keyFile(), putBack)
	case errors.Is(err, keyring.ErrWrongKey):
		return fault("they do not open with the key file "+f.keyFile(), putBack)
	case err != nil:
		return fault(err.Error(), "restore the newest backup into another folder")
	case keys.Rekeying():
		_, c := fault("a rekey was cut short", "stop the hub and run mash admin rekey again, which finishes it")
		return keys, c
	}
	return keys, Checkup{Name: "keys", State: CheckOK, Says: fmt.Sprintf("they open; %s", signing(len(keys.Public())))}
}

func signing(n int) string {
	if n == 1 {
		return "one key for signing is valid"
	}
	return fmt.Sprintf("%d keys for signing are valid", n)
}

// checkRecords looks at every record.
func (f Folder) checkRecords(ctx context.Context, store *sqlitestore.Store, keys *keyring.Keyring) ([]Checkup, error) {
	var opened hub.Keys
	if keys != nil {
		opened = keys
	}
	i := hub.New(store, opened, nil, nil, nil, hub.DefaultSettings()).Inspect()
	if err := store.Each(ctx, func(r record.Record) error {
		i.Add(ctx, r)
		return nil
	}); err != nil {
		return nil, err
	}
	i.End()
	var checks []Checkup
	for _, a := range hub.Aspects() {
		checks = append(checks, f.aspect(a, i, opened != nil))
	}
	return checks, nil
}

// aspect is what an Inspection says of one aspect.
func (f Folder) aspect(a hub.Aspect, i *hub.Inspection, keys bool) Checkup {
	c := Checkup{Name: string(a), State: CheckOK, Count: i.Counts[a], Flaws: i.Flaws[a]}
	about := aspects[a]
	switch {
	case a == hub.AspectSecrets && !keys:
		c.State, c.Says = CheckSkipped, "not looked at, since the keys do not open"
	case c.Count == 0:
		c.Says = about.fine
		if a == hub.AspectRecords {
			c.Says = fmt.Sprintf("each of %d can be read", i.Seen)
		}
	case a == hub.AspectOverdue && !f.Held():
		c.Says = fmt.Sprintf("%s done when the hub starts", things(c.Count))
		c.Flaws = nil
	default:
		c.State, c.Do = CheckFault, about.do
		c.Says = fmt.Sprintf("%d at fault, first %s: %s", c.Count, c.Flaws[0].Key, c.Flaws[0].What)
	}
	return c
}

func things(n int) string {
	if n == 1 {
		return "one thing is overdue, and is"
	}
	return fmt.Sprintf("%d things are overdue, and are", n)
}

// aspects is what to say of each.
var aspects = map[hub.Aspect]struct{ fine, do string }{
	hub.AspectRecords: {"", "run the version of Mash that wrote them, or restore the newest backup into another folder"},
	hub.AspectSecrets: {"every secret of an agent opens",
		"give these agents new secrets, or put back the key file and database of one time"},
	hub.AspectReferences: {"nothing is missing that another refers to", "restore the newest backup into another folder, and compare"},
	hub.AspectLists: {"each is in the lists in which people look for it",
		"restore the newest backup into another folder, and compare; no message is lost by this, but some may be hidden"},
	hub.AspectDue: {"each falls due when it has to",
		"restore the newest backup into another folder, and compare; what never falls due is settled only when somebody reads it"},
	hub.AspectOverdue: {"all that was due is done", "look into the hub's log for why due work fails"},
}

package localhub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// ErrNoHub is the error of work on a folder in which no hub was ever made.
var ErrNoHub = errors.New("there is no hub in this data folder")

// RotateHubKey puts a new signing key beside the one there is; see keyring.Rotate. A hub that holds the folder goes on, and
// learns of it within keyring.ReloadEvery.
func (f Folder) RotateHubKey(ctx context.Context, how keyring.Rotation) (_ *keyring.Rotated, err error) {
	if !f.InUse() {
		return nil, fmt.Errorf("%w: %s", ErrNoHub, f)
	}
	store, err := sqlitestore.Open(f.database())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	wrapper, err := keyring.OpenFile(f.keyFile())
	if err != nil {
		return nil, err
	}
	return keyring.Rotate(ctx, store, wrapper, how)
}

// Rekeyed is what a rekey came to.
type Rekeyed struct {
	Resumed bool // whether it did no more than finish one that was cut short
	Agents  int  // whose secrets were wrapped anew
}

// Rekey gives the folder a new key file and a new wrapping key under it, and wraps everything anew that lay under the one
// before. Killed at any point it leaves a folder with which a hub starts, and the next Rekey finishes what it began. ErrHeld
// says that a hub holds the folder.
func (f Folder) Rekey(ctx context.Context) (Rekeyed, error) {
	return f.rekey(ctx, func(string) error { return nil })
}

// rekey calls step before each of its steps, and is cut short when that fails.
func (f Folder) rekey(ctx context.Context, step func(string) error) (done Rekeyed, err error) {
	if !f.InUse() {
		return done, fmt.Errorf("%w: %s", ErrNoHub, f)
	}
	release, err := f.hold()
	if err != nil {
		return done, err
	}
	defer release()
	store, err := sqlitestore.Open(f.database())
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	file, err := keyring.OpenFile(f.keyFile())
	if err != nil {
		return done, err
	}
	keys, err := keyring.Load(ctx, store, file)
	if err != nil {
		return done, err
	}
	if err := errors.Join(step("settle"), file.Settle()); err != nil {
		return done, err
	}
	if done.Resumed = keys.Rekeying(); !done.Resumed {
		if err := f.replaceKeys(ctx, store, file, step); err != nil {
			return done, err
		}
		if err := keys.Reload(ctx); err != nil {
			return done, err
		}
	}
	done.Agents, err = rewrap(ctx, store, keys, step)
	if err == nil {
		err = step("finish")
	}
	if err == nil {
		err = keyring.FinishRekey(ctx, store)
	}
	if err == nil {
		err = step("vacuum")
	}
	if err == nil {
		err = store.Vacuum(ctx)
	}
	return done, err
}

// replaceKeys puts the hub's keys under a new key file, and that in its place.
func (f Folder) replaceKeys(ctx context.Context, store *sqlitestore.Store, file *keyring.File, step func(string) error) error {
	next, err := file.Next()
	if err != nil {
		return err
	}
	if err := step("make"); err != nil {
		return err
	}
	if _, err := next.Wrap(ctx, "", nil); err != nil { // makes the file
		return err
	}
	if err := f.giveAway(f.keyFile() + ".new"); err != nil { // before anything lies under it
		return err
	}
	if err := step("commit"); err != nil {
		return err
	}
	if err := keyring.Rekey(ctx, store, file, next); err != nil {
		return err
	}
	if err := step("replace"); err != nil {
		return err
	}
	return file.Replace()
}

// giveAway makes a file that another user, such as root, has made in the folder that of whoever has the database: the hub has
// to read it.
func (f Folder) giveAway(path string) error {
	wants, is := owner(f.database()), owner(path)
	if wants == nil || is == nil || wants.Uid == is.Uid {
		return nil
	}
	if err := os.Lchown(path, int(wants.Uid), int(wants.Gid)); err != nil {
		return fmt.Errorf("give %s to the user of the hub: %w; run this as that user", path, err)
	}
	return nil
}

// owner returns whose a file is, nil if that cannot be told.
func owner(path string) *syscall.Stat_t {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	stat, _ := info.Sys().(*syscall.Stat_t)
	return stat
}

// rewrap wraps anew whatever lies in records, and returns in how many.
func rewrap(ctx context.Context, store *sqlitestore.Store, keys *keyring.Keyring, step func(string) error) (int, error) {
	var stale []record.Key
	err := store.Each(ctx, func(r record.Record) error {
		_, changed, err := hub.Rewrap(ctx, r, keys.Rewrap)
		if changed {
			stale = append(stale, r.Key)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	for n, key := range stale {
		if err := step("rewrap"); err != nil {
			return n, err
		}
		recs, err := store.Get(ctx, key)
		if err != nil {
			return n, err
		}
		fresh, _, err := hub.Rewrap(ctx, recs[0], keys.Rewrap)
		if err != nil {
			return n, err
		}
		if err := store.Commit(ctx, record.Put(fresh, recs[0].Rev)); err != nil {
			return n, fmt.Errorf("wrap anew: %w", err)
		}
	}
	return len(stale), nil
}

package localhub

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"

	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// Restore is how to bring a folder back.
type Restore struct {
	File string // of Backup.Save
	Key  string // the key file to use, for a backup without one; empty for that of the backup
}

// ErrDamaged is the error of a Restore from a file that is no backup, or no longer the one that was made.
var ErrDamaged = errors.New("this is no whole backup")

// ErrNotEmpty is the error of a Restore into a folder that holds something.
var ErrNotEmpty = errors.New("the folder is not empty, and a restore overwrites nothing")

// maxManifest is more than a manifest ever has, in bytes.
const maxManifest = 1 << 20

// maxPadding is more than an archive has after its last file, in bytes.
const maxPadding = 1 << 20

// Into checks the backup as a whole, the checksums, the database's integrity and that the key opens it, and only then puts it
// in place of a folder that is empty or not there, at once. A backup without key, for which none is named, leaves a folder in
// which the key file is missing.
func (r Restore) Into(ctx context.Context, to Folder) (_ *Manifest, err error) {
	path, err := filepath.Abs(string(to))
	if err != nil {
		return nil, err
	}
	if err := mayRestore(to); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	work, done, err := stage(filepath.Dir(path), restoreStage)
	if err != nil {
		return nil, fmt.Errorf("make a place for what is restored: %w", err)
	}
	defer func() { err = errors.Join(err, done()) }()
	m, err := extract(ctx, r.File, work)
	if err != nil {
		return nil, err
	}
	if err := r.bringKey(work); err != nil {
		return nil, err
	}
	if err := r.sound(ctx, Folder(work), m); err != nil {
		return nil, err
	}
	if err := keyring.SyncDir(work); err != nil {
		return nil, err
	}
	if err := syscall.Rename(work, path); err != nil { // over an empty folder too, which os.Rename refuses
		if errors.Is(err, fs.ErrExist) { // somebody has put something there meanwhile
			return nil, fmt.Errorf("cannot restore into %s: %w", to, ErrNotEmpty)
		}
		return nil, fmt.Errorf("put the folder in its place: %w", err)
	}
	return m, keyring.SyncDir(filepath.Dir(path))
}

func mayRestore(to Folder) error {
	if to.Held() {
		return to.held()
	}
	entries, err := os.ReadDir(string(to))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look into the folder: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("cannot restore into %s: %w", to, ErrNotEmpty)
	}
	return nil
}

// extract writes the files of a backup into dir, durably, and holds each to its checksum.
func extract(ctx context.Context, file, dir string) (*Manifest, error) {
	in, err := os.Open(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // only read
	damaged := func(format string, args ...any) error {
		return fmt.Errorf("cannot restore %s: %w: %s", file, ErrDamaged, fmt.Sprintf(format, args...))
	}
	because := func(what string, err error) error {
		if _, ours := errors.AsType[*fs.PathError](err); ours || ctx.Err() != nil { // which says nothing about the backup
			return fmt.Errorf("cannot restore %s: %w", file, err)
		}
		return damaged("%s%s", what, err)
	}
	zipped, err := gzip.NewReader(&whileWanted{ctx, in})
	if err != nil {
		return nil, because("", err)
	}
	from := tar.NewReader(zipped)
	m, err := readManifest(from)
	if err != nil {
		return nil, because("", err)
	}
	for _, f := range m.Files {
		if err := f.extract(from, dir); err != nil {
			return nil, because(f.Name+": ", err)
		}
	}
	if _, err := from.Next(); !errors.Is(err, io.EOF) {
		return nil, damaged("it has more in it than it says")
	}
	// What follows is padding up to the checksum at its end.
	if n, err := io.Copy(io.Discard, io.LimitReader(zipped, maxPadding)); err != nil || n == maxPadding {
		return nil, damaged("it does not end where it should: %v", err)
	}
	return m, ctx.Err()
}

func readManifest(from *tar.Reader) (*Manifest, error) {
	header, err := from.Next()
	if err != nil {
		return nil, err
	}
	if header.Name != manifestName {
		return nil, fmt.Errorf("its first file is %q and no manifest", header.Name)
	}
	text, err := io.ReadAll(io.LimitReader(from, maxManifest))
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, errors.New("its manifest cannot be read")
	}
	if m.Format != backupFormat {
		return nil, fmt.Errorf("it has format %d and this version of Mash reads format %d; use the version that made it (%s), or a newer one",
			m.Format, backupFormat, m.Mash)
	}
	var names []string
	for _, f := range m.Files {
		names = append(names, f.Name)
	}
	if all := []string{databaseName, keyName}; !slices.Equal(names, all) && !slices.Equal(names, all[:1]) {
		return nil, fmt.Errorf("it says to hold the files %q", names)
	}
	return &m, nil
}

func (f SavedFile) extract(from *tar.Reader, dir string) (err error) {
	header, err := from.Next()
	if err != nil {
		return err
	}
	if header.Name != f.Name || header.Size != f.Size || header.Typeflag != tar.TypeReg {
		return errors.New("another file is in its place")
	}
	out, err := os.OpenFile(filepath.Join(dir, f.Name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // one of two names
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, sum), from); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return errors.New("its checksum is another")
	}
	return out.Sync()
}

// bringKey copies the key file that was named to what is restored.
func (r Restore) bringKey(work string) error {
	to := Folder(work)
	if r.Key == "" {
		return nil
	}
	key, err := os.ReadFile(r.Key)
	if err != nil {
		return fmt.Errorf("read the key file: %w", err)
	}
	if err := os.Remove(to.keyFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeSecret(to.keyFile(), strings.TrimSuffix(string(key), "\n"))
}

// sound says what is wrong with a folder that is about to be put in place.
func (r Restore) sound(ctx context.Context, f Folder, m *Manifest) error {
	store, err := sqlitestore.OpenReading(f.database())
	if err != nil {
		return err
	}
	damages, err := store.Integrity(ctx)
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	if len(damages) > 0 {
		return fmt.Errorf("%w: SQLite says of its database: %s", ErrDamaged, damages[0])
	}
	if _, err := os.Stat(f.keyFile()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return r.keyError(f.opens(ctx), f, m)
}

// keyError says what is wrong with the key file. Where it was tried is gone by then, and so not named.
func (r Restore) keyError(err error, f Folder, m *Manifest) error {
	key := r.Key
	if key == "" {
		key = "of the backup itself"
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrWrongKey):
		return retold{err: err, says: fmt.Sprintf("the key file %s does not open this backup; it needs the hub.key that its hub had "+
			"when the backup was made, on %s, before any rekey since", key, m.MadeAt.Local().Format("2006-01-02 15:04:05 MST"))}
	}
	return retold{err: err, says: strings.ReplaceAll(err.Error(), f.keyFile(), key)}
}

// retold is an error in other words.
type retold struct {
	err  error
	says string
}

func (r retold) Error() string { return r.says }
func (r retold) Unwrap() error { return r.err }

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
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// Manifest is what a backup says of itself. It is the first file of the archive.
type Manifest struct {
	Format int         `json:"format"` // of the archive
	MadeAt time.Time   `json:"made_at"`
	Mash   string      `json:"mash"` // the version that made it
	Files  []SavedFile `json:"files"`
}

// SavedFile is one file of a backup, in the order of the archive.
type SavedFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// HasKey says whether the key file is in the backup.
func (m *Manifest) HasKey() bool {
	for _, f := range m.Files {
		if f.Name == keyName {
			return true
		}
	}
	return false
}

const (
	backupFormat = 1
	manifestName = "manifest.json"
	databaseName = "mash.db"
	keyName      = "hub.key"
)

// Backup is how to save a folder.
type Backup struct {
	File       string // which must not be there yet
	WithoutKey bool   // leave the key file out, without which nothing that is secret can be opened
	Version    string // of Mash, for the manifest
}

// ErrExists is the error of a Backup whose file is there already.
var ErrExists = errors.New("there is such a file already, and a backup overwrites none")

// Save writes the database as of one instant, and the key file that opens it, into one archive that only its owner may read.
// A hub may serve meanwhile: whatever it acknowledged before the call is in the archive. The file appears whole or not at all.
func (b Backup) Save(ctx context.Context, from Folder) (_ *Manifest, err error) {
	if !from.InUse() {
		return nil, fmt.Errorf("%w: %s", ErrNoHub, from)
	}
	if _, err := os.Lstat(b.File); err == nil {
		return nil, fmt.Errorf("cannot write %s: %w", b.File, ErrExists)
	}
	work, done, err := stage(filepath.Dir(b.File), backupStage)
	if err != nil {
		return nil, fmt.Errorf("make a place for the backup: %w", err)
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := b.copy(ctx, from, Folder(work)); err != nil {
		return nil, err
	}
	m := &Manifest{Format: backupFormat, MadeAt: time.Now().UTC().Truncate(time.Second), Mash: b.Version}
	names := []string{databaseName, keyName}
	if b.WithoutKey {
		names = names[:1]
	}
	for _, name := range names {
		f, err := describe(work, name)
		if err != nil {
			return nil, err
		}
		m.Files = append(m.Files, f)
	}
	archive := filepath.Join(work, "archive")
	if err := m.write(ctx, work, archive); err != nil {
		return nil, fmt.Errorf("write the backup: %w", err)
	}
	if err := putNew(archive, b.File); err != nil {
		return nil, err
	}
	return m, keyring.SyncDir(filepath.Dir(b.File))
}

// copy copies the database and, unless it is left out, the key file that opens it. A rekey may come between the two, so it is
// tried again.
func (b Backup) copy(ctx context.Context, from, to Folder) error {
	for try := 0; ; try++ {
		err := b.copyOnce(ctx, from, to)
		if !errors.Is(err, keyring.ErrWrongKey) || try == 2 {
			return err
		}
		if err := os.Remove(to.database()); err != nil {
			return err
		}
	}
}

func (b Backup) copyOnce(ctx context.Context, from, to Folder) (err error) {
	store, err := sqlitestore.OpenReading(from.database())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := store.Snapshot(ctx, to.database()); err != nil {
		return err
	}
	if b.WithoutKey {
		err = to.opensUnder(ctx, from.keyFile()) // where it lies, so that it is nowhere else for a moment
	} else {
		err = from.copyKey(ctx, to)
	}
	if err != nil {
		return fmt.Errorf("a backup must open again, and this one would not: %w", err)
	}
	return nil
}

// copyKey copies the key file that opens what was copied already.
func (f Folder) copyKey(ctx context.Context, to Folder) (err error) {
	for _, name := range []string{f.keyFile(), f.keyFile() + ".new"} { // the other while a rekey is cut short
		key, readErr := os.ReadFile(name) //nolint:gosec // the folder's own
		if errors.Is(readErr, fs.ErrNotExist) {
			err = errors.Join(err, readErr)
			continue
		}
		if readErr != nil {
			return readErr
		}
		if err := os.WriteFile(to.keyFile(), key, 0o600); err != nil { //nolint:gosec // in a folder of our own
			return err
		}
		if err = to.opens(ctx); err == nil {
			return nil
		}
	}
	return err
}

// opens says whether the folder's key file opens what its database holds.
func (f Folder) opens(ctx context.Context) error { return f.opensUnder(ctx, f.keyFile()) }

func (f Folder) opensUnder(ctx context.Context, keyFile string) (err error) {
	wrapper, err := keyring.OpenFile(keyFile)
	if err != nil {
		return err
	}
	store, err := sqlitestore.OpenReading(f.database())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	_, err = keyring.Load(ctx, store, wrapper)
	return err
}

func describe(dir, name string) (SavedFile, error) {
	f, err := os.Open(filepath.Join(dir, name)) //nolint:gosec // a file that was just written
	if err != nil {
		return SavedFile{}, err
	}
	defer f.Close() //nolint:errcheck // only read
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return SavedFile{Name: name, Size: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// write makes the archive of the files in dir, durably.
func (m *Manifest) write(ctx context.Context, dir, archive string) (err error) {
	out, err := os.OpenFile(archive, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // in a folder of our own
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	zipped, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	to := tar.NewWriter(zipped)
	text, err := json.Marshal(m, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	if err := m.header(to, manifestName, int64(len(text))); err != nil {
		return err
	}
	if _, err := to.Write(text); err != nil {
		return err
	}
	for _, f := range m.Files {
		if err := m.add(ctx, to, dir, f); err != nil {
			return err
		}
	}
	return errors.Join(to.Close(), zipped.Close(), out.Sync())
}

func (m *Manifest) header(to *tar.Writer, name string, size int64) error {
	return to.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: m.MadeAt, Typeflag: tar.TypeReg})
}

func (m *Manifest) add(ctx context.Context, to *tar.Writer, dir string, f SavedFile) error {
	if err := m.header(to, f.Name, f.Size); err != nil {
		return err
	}
	in, err := os.Open(filepath.Join(dir, f.Name)) //nolint:gosec // a file that was just written
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	_, err = io.Copy(to, &whileWanted{ctx, in})
	return err
}

// whileWanted reads until its context is done.
type whileWanted struct {
	ctx  context.Context //nolint:containedctx // of one copy
	from io.Reader
}

// Read implements io.Reader.
func (w *whileWanted) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.from.Read(p)
}

// putNew gives a file a name that is not taken.
func putNew(file, name string) error {
	err := os.Link(file, name)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot write %s: %w", name, ErrExists)
	}
	if err == nil {
		return nil
	}
	if _, there := os.Lstat(name); there == nil { // a file system without links
		return fmt.Errorf("cannot write %s: %w", name, ErrExists)
	}
	return os.Rename(file, name)
}

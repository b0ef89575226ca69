package localhub

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Folder is where a hub on one machine keeps everything: its database, the key file, and for the person at the machine
// the owner's token and the address of the hub that holds the folder.
type Folder string

// Files of a folder. All are readable by their owner only.
func (f Folder) database() string    { return filepath.Join(string(f), "mash.db") }
func (f Folder) keyFile() string     { return filepath.Join(string(f), "hub.key") }
func (f Folder) ownerToken() string  { return filepath.Join(string(f), "owner.token") }
func (f Folder) address() string     { return filepath.Join(string(f), "hub.url") }
func (f Folder) publicURL() string   { return filepath.Join(string(f), "public.url") }
func (f Folder) certificate() string { return filepath.Join(string(f), "served.pem") }
func (f Folder) lockFile() string    { return filepath.Join(string(f), "lock") }

// DefaultFolder is $XDG_DATA_HOME/mash, or ~/.local/share/mash.
func DefaultFolder() (Folder, error) {
	if base := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(base) {
		return Folder(filepath.Join(base, "mash")), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the data folder: %w; name one with --data", err)
	}
	return Folder(filepath.Join(home, ".local", "share", "mash")), nil
}

// InUse says whether a hub was ever made in the folder.
func (f Folder) InUse() bool {
	_, err := os.Stat(f.database())
	return err == nil
}

// KeyFile returns the path of the file under whose key everything lies that must stay secret.
func (f Folder) KeyFile() string { return f.keyFile() }

// named returns the path by which a command in another terminal must name the folder; empty for the default one.
func (f Folder) named() string {
	if usual, err := DefaultFolder(); err == nil && usual == f {
		return ""
	}
	path, err := filepath.Abs(string(f))
	if err != nil {
		return string(f)
	}
	return path
}

// ErrHeld is the error of a folder that another hub holds.
var ErrHeld = errors.New("another hub holds this data folder")

const (
	holdTries = 10
	holdPause = 20 * time.Millisecond
)

// hold makes the folder and locks it until release, or until the process ends however it ends.
func (f Folder) hold() (release func(), _ error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the data folder %s: %w; choose another with --data", f, errors.Unwrap(err))
	}
	lock, err := os.OpenFile(f.lockFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot use the data folder %s: %w; choose another with --data", f, errors.Unwrap(err))
	}
	for try := 0; ; try++ {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if errors.Is(err, syscall.EWOULDBLOCK) && try < holdTries { // who only looks, as Held does, lets go at once
			time.Sleep(holdPause)
			continue
		}
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, f.held()
		}
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}

func (f Folder) held() error { return fmt.Errorf("%w: %s", ErrHeld, f) }

// Held says whether a hub holds the folder now. Ask before sending the owner's token to Address: where no hub runs any
// more, somebody else may listen.
func (f Folder) Held() bool {
	lock, err := os.OpenFile(f.lockFile(), os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	defer lock.Close() //nolint:errcheck // only locked
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// Address returns the URL at which this machine reaches the hub that holds the folder now, or last held it.
func (f Folder) Address() (string, error) { return readLine(f.address()) }

// PublicURL returns the URL at which everybody reaches that hub.
func (f Folder) PublicURL() (string, error) { return readLine(f.publicURL()) }

// note writes down where the hub is reached.
func (f Folder) note(address, public string) error {
	err := writeSecret(f.address(), address)
	if err == nil {
		err = writeSecret(f.publicURL(), public)
	}
	if err != nil {
		return fmt.Errorf("note the hub's address: %w", err)
	}
	return nil
}

// OwnerToken returns the token of the owner at this machine.
func (f Folder) OwnerToken() (string, error) { return readLine(f.ownerToken()) }

func readLine(path string) (string, error) {
	b, err := os.ReadFile(path) //nolint:gosec // a file of the folder that the caller named
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

// writeSecret replaces a file with one line, readable by its owner only, at once and whole.
func writeSecret(path, line string) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) //nolint:errcheck // gone already when all went well
	if _, err = temporary.WriteString(line + "\n"); err == nil {
		err = temporary.Sync()
	}
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

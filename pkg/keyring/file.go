package keyring

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// fileHeader is the first line of a key file.
const fileHeader = "mash key file 1: keep it secret and keep a copy; without it the stored keys are lost"

// maxFile is more than a key file ever has, in bytes.
const maxFile = 4096

// File is the Wrapper whose key lies in a file that only its owner may read. Make one with OpenFile.
type File struct {
	path string

	mu    sync.Mutex
	key   []byte // nil until it is known
	moved bool   // whether key is that of the file beside it, which is to take its place
}

var _ Wrapper = (*File)(nil)

// OpenFile returns the Wrapper of the key file at path. Where there is none, the first Wrap makes it, with mode 0600 and
// a random key: not OpenFile itself, lest a file that was lost be replaced by one that opens nothing. It refuses a file
// that others than its owner may read, and one that is no key file. No error names what the file holds.
func OpenFile(path string) (*File, error) {
	f := &File{path: path}
	key, err := readKey(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f.key = key
	return f, nil
}

// Wrap encrypts secret with AES-256-GCM under the key of the file, and makes the file if there is none.
func (f *File) Wrap(_ context.Context, purpose string, secret []byte) ([]byte, error) {
	key, err := f.load(makeKey)
	if err != nil {
		return nil, err
	}
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	return seal(aead, purpose, secret), nil
}

// Unwrap returns the secret of Wrap, or ErrWrongKey. What the key file does not open may lie under the one that was to take
// its place when a rekey was cut short; from then on that one is used, and Settle puts it in its place.
func (f *File) Unwrap(ctx context.Context, purpose string, wrapped []byte) ([]byte, error) {
	secret, err := f.unwrap(ctx, purpose, wrapped)
	if err == nil || !errors.Is(err, ErrWrongKey) && !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	next, nextErr := OpenFile(f.next())
	if nextErr != nil || next.key == nil {
		return nil, err
	}
	if secret, nextErr = next.unwrap(ctx, purpose, wrapped); nextErr != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.key, f.moved = next.key, true
	return secret, nil
}

// next is the file that a rekey makes, and then puts in the place of this one.
func (f *File) next() string { return f.path + ".new" }

// Next returns the key file that is to take the place of this one: a new one, made when something is wrapped under it. Call
// Settle first.
func (f *File) Next() (*File, error) { return OpenFile(f.next()) }

// Replace puts the file of Next, which must have been made, in the place of this one, whose key is gone then.
func (f *File) Replace() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	key, err := readKey(f.next())
	if err != nil {
		return err
	}
	if err := os.Rename(f.next(), f.path); err != nil {
		return fmt.Errorf("replace key file: %w", err)
	}
	f.key, f.moved = key, false
	return SyncDir(filepath.Dir(f.path))
}

// Settle ends what a rekey that was cut short has left: the file of Next takes its place if that is the one that opens what
// is stored, and else it goes. Only who is alone with the store may call it, after something was unwrapped.
func (f *File) Settle() error {
	f.mu.Lock()
	moved := f.moved
	f.mu.Unlock()
	if moved {
		return f.Replace()
	}
	if err := os.Remove(f.next()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the key file of a rekey that was cut short: %w", err)
	}
	return nil
}

func (f *File) unwrap(_ context.Context, purpose string, wrapped []byte) ([]byte, error) {
	key, err := f.load(readKey)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no key file at %s, and what is stored needs the one it was made with: %w",
			f.path, err)
	}
	if err != nil {
		return nil, err
	}
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	secret, err := open(aead, purpose, wrapped)
	if err != nil {
		return nil, fmt.Errorf("the key file %s does not open what is stored; use the one it was made with: %w", f.path, err)
	}
	return secret, nil
}

func (f *File) load(from func(path string) ([]byte, error)) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.key == nil {
		key, err := from(f.path)
		if err != nil {
			return nil, err
		}
		f.key = key
	}
	return f.key, nil
}

// String keeps the key out of logs.
func (f *File) String() string { return "key file " + f.path }

// GoString keeps the key out of logs.
func (f *File) GoString() string { return f.String() }

func readKey(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the operator's own choice
	if err != nil {
		return nil, fmt.Errorf("open key file: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("open key file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the key file %s is no regular file", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("others may read or change the key file %s (mode %04o); run chmod 600 on it", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	return parseKey(path, string(text))
}

func parseKey(path, text string) ([]byte, error) {
	header, rest, _ := strings.Cut(text, "\n")
	key, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(rest))
	if strings.TrimSpace(header) != fileHeader || err != nil || len(key) != keySize {
		return nil, fmt.Errorf("%s is no key file of Mash, or a damaged one", path)
	}
	return key, nil
}

// makeKey writes a new key file beside path and links it there, which fails if another process was first: whoever reads
// finds a whole file, and everybody the same one.
func makeKey(path string) ([]byte, error) {
	temp, err := os.CreateTemp(filepath.Dir(path), ".mash-key-*") // mode 0600
	if err != nil {
		return nil, fmt.Errorf("make key file: %w", err)
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // nothing to be done about it
	_, err = fmt.Fprintf(temp, "%s\n%s\n", fileHeader, base64.StdEncoding.EncodeToString(randomKey()))
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return nil, fmt.Errorf("write key file: %w", err)
	}
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make key file: %w", err)
	}
	if err := SyncDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return readKey(path)
}

// SyncDir makes a new name in a folder durable, such as that of a key file.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" { // folders cannot be synced there
		return nil
	}
	d, err := os.Open(dir) //nolint:gosec // the folder of the operator's own choice
	if err != nil {
		return fmt.Errorf("sync the folder: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync the folder: %w", err)
	}
	return nil
}

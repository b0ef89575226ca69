package localhub_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mash-hub/mash/pkg/keyring"
	"github.com/mash-hub/mash/pkg/localhub"
)

// saved is a backup of a furnished folder.
func saved(t *testing.T) (raw []byte) {
	t.Helper()
	folder, _ := furnished(t)
	file := filepath.Join(t.TempDir(), "backup")
	m, err := localhub.Backup{File: file, Version: "v1"}.Save(t.Context(), localhub.Folder(folder))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 || !m.HasKey() || m.Mash != "v1" {
		t.Errorf("the backup has mode %v, %v and the manifest %+v", info.Mode(), err, m)
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("beside the backup there is something left: %v", left)
	}
	if raw, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	return raw
}

// entry is a file in an archive.
type entry struct {
	name string
	body []byte
}

func unpacked(t *testing.T, raw []byte) []entry {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	for from := tar.NewReader(zipped); ; {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entry{h.Name, body})
	}
}

// unzipped is what an archive holds, nil when its checksum does not fit.
func unzipped(raw []byte) []byte {
	zipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	all, err := io.ReadAll(zipped)
	if err != nil {
		return nil
	}
	return all
}

func packed(t *testing.T, all []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	to := tar.NewWriter(zipped)
	for _, e := range all {
		if err := to.WriteHeader(&tar.Header{Name: e.name, Mode: 0o600, Size: int64(len(e.body)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(to.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// restoring tries to restore a file, and says whether a folder came of it.
func restoring(t *testing.T, raw []byte) (there bool, err error) {
	t.Helper()
	dir := t.TempDir()
	file, to := filepath.Join(dir, "backup"), filepath.Join(dir, "to")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = localhub.Restore{File: file}.Into(t.Context(), localhub.Folder(to))
	_, missing := os.Stat(to)
	entries, _ := os.ReadDir(dir)
	if want := map[bool]int{true: 2, false: 1}[missing == nil]; len(entries) != want {
		t.Errorf("something is left over: %v", entries)
	}
	return missing == nil, err
}

func TestRestore_BringsBackWhatIsWholeAndNothingElse(t *testing.T) {
	t.Parallel()
	whole := saved(t)
	if there, err := restoring(t, whole); err != nil || !there {
		t.Fatalf("a whole backup: %v", err)
	}
	files := unpacked(t, whole)
	if there, err := restoring(t, packed(t, files)); err != nil || !there {
		t.Fatalf("the same files in another archive: %v", err)
	}
	spoilt := map[string][]byte{"nothing": {}, "no archive": []byte("hello"), "a byte more": append(bytes.Clone(whole), 0)}
	for _, cut := range []int{1, 100, len(whole) / 2, len(whole) - 9, len(whole) - 1} {
		spoilt[fmt.Sprintf("the first %d bytes", cut)] = whole[:cut]
	}
	for at := 12; at < len(whole); at += len(whole) / 40 {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 0x10
		if bytes.Equal(unzipped(flipped), unzipped(whole)) {
			continue // a bit of padding between two blocks
		}
		spoilt[fmt.Sprintf("another byte at %d", at)] = flipped
	}
	with := func(name string, change func(all []entry) []entry) {
		all := make([]entry, len(files))
		for i, f := range files {
			all[i] = entry{f.name, bytes.Clone(f.body)}
		}
		spoilt[name] = packed(t, change(all))
	}
	with("another byte in the database", func(all []entry) []entry { all[1].body[9000] ^= 1; return all })
	with("no manifest", func(all []entry) []entry { return all[1:] })
	with("the manifest alone", func(all []entry) []entry { return all[:1] })
	with("a file less", func(all []entry) []entry { return all[:2] })
	with("a file more", func(all []entry) []entry { return append(all, entry{"more", nil}) })
	with("a file elsewhere", func(all []entry) []entry { all[2].name = "../hub.key"; return all })
	manifest := func(old, with string) func([]entry) []entry {
		return func(all []entry) []entry {
			changed := strings.Replace(string(all[0].body), old, with, 1)
			if changed == string(all[0].body) {
				t.Fatalf("no %s in %s", old, all[0].body)
			}
			all[0].body = []byte(changed)
			return all
		}
	}
	with("another file's name", manifest(`"hub.key"`, `"../hub.key"`))
	with("a newer format", manifest(`"format": 1`, `"format": 2`))
	for name, raw := range spoilt {
		if there, err := restoring(t, raw); !errors.Is(err, localhub.ErrDamaged) || there {
			t.Errorf("%s: Into = %v, and a folder is there: %t", name, err, there)
		}
	}
}

func TestRestore_LooksIntoTheDatabaseAndItsKey(t *testing.T) {
	t.Parallel()
	folder, _ := furnished(t)
	other, _ := furnished(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	if _, err := (localhub.Backup{File: file, WithoutKey: true}).Save(t.Context(), localhub.Folder(folder)); err != nil {
		t.Fatal(err)
	}
	to := localhub.Folder(filepath.Join(dir, "below", "to"))
	no := filepath.Join(dir, "no.key")
	if err := os.WriteFile(no, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		filepath.Join(other, "hub.key"): "does not open this backup; it needs the hub.key that its hub had when the backup was made, on 2",
		no:                              "is no key file of Mash, or a damaged one",
	} {
		_, err := localhub.Restore{File: file, Key: key}.Into(t.Context(), to)
		if other := key != no; errors.Is(err, keyring.ErrWrongKey) != other {
			t.Errorf("Into with another key = %v, is %q: %t, want %t", err, keyring.ErrWrongKey, !other, other)
		}
		if err == nil || to.InUse() || !strings.Contains(err.Error(), key+" "+want) || strings.Contains(err.Error(), ".mash-") {
			t.Errorf("Into with another key = %v, want it to name %s and say that it %s", err, key, want)
		}
	}
	if err := os.MkdirAll(string(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := (localhub.Restore{File: file, Key: filepath.Join(folder, "hub.key")}).Into(t.Context(), to); err != nil {
		t.Errorf("Into an empty folder with its key = %v", err)
	}
	if got := faults(t, string(to)); len(got) > 0 {
		t.Errorf("what was restored has the faults %q", got)
	}
	if _, err := (localhub.Restore{File: file}).Into(t.Context(), to); !errors.Is(err, localhub.ErrNotEmpty) {
		t.Errorf("Into it again = %v, want %v", err, localhub.ErrNotEmpty)
	}
	if _, err := open(t, string(to), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := (localhub.Restore{File: file}).Into(t.Context(), to); !errors.Is(err, localhub.ErrHeld) {
		t.Errorf("Into a folder in use = %v, want %v", err, localhub.ErrHeld)
	}
}

// crumbs are what a process that was killed leaves in a folder, and what only looks like it.
func crumbs(t *testing.T, dir, kind string) (left, others string) {
	t.Helper()
	left, others = filepath.Join(dir, kind+"123"), filepath.Join(dir, kind+"of-2026")
	for _, d := range []string{left, others} {
		if err := errors.Join(os.Mkdir(d, 0o700), os.WriteFile(filepath.Join(d, "hub.key"), []byte("secret"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return left, others
}

func TestBackupAndRestore_RemoveWhatOneThatWasKilledLeft(t *testing.T) {
	t.Parallel()
	folder, _ := furnished(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "b")
	for kind, work := range map[string]func() error{
		".mash-backup-": func() error {
			_, err := localhub.Backup{File: file}.Save(t.Context(), localhub.Folder(folder))
			return err
		},
		".mash-restore-": func() error {
			_, err := localhub.Backup{File: file + "2"}.Save(t.Context(), localhub.Folder(folder))
			if err == nil {
				_, err = localhub.Restore{File: file + "2"}.Into(t.Context(), localhub.Folder(filepath.Join(dir, "to")))
			}
			return err
		},
	} {
		left, others := crumbs(t, dir, kind)
		held, err := os.Open(left)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(syscall.Flock(int(held.Fd()), syscall.LOCK_EX), work()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(left); err != nil {
			t.Errorf("%s is gone, and somebody worked in it: %v", left, err)
		}
		_ = held.Close()
		file += "-again"
		_ = os.RemoveAll(filepath.Join(dir, "to"))
		if err := work(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", left, err)
		}
		if _, err := os.Stat(others); err != nil {
			t.Errorf("%s is gone, and is not ours: %v", others, err)
		}
	}
}

// TestBackup_WithoutKeyHasItNowhereForAMoment looks into the place where the backup is made.
func TestBackup_WithoutKeyHasItNowhereForAMoment(t *testing.T) {
	t.Parallel()
	folder, _ := furnished(t)
	for without, want := range map[bool]int{true: 1, false: 2} {
		dir := t.TempDir()
		if err := (localhub.Backup{WithoutKey: without}).Stage(t.Context(), localhub.Folder(folder), localhub.Folder(dir)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadDir(dir); err != nil || len(got) != want {
			t.Errorf("without key %t: %v, %v, want %d files", without, got, err, want)
		}
	}
}

func TestBackup_LeavesNothingBehindWhenItIsGivenUp(t *testing.T) {
	t.Parallel()
	folder, _ := furnished(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (localhub.Backup{File: filepath.Join(dir, "b")}).Save(ctx, localhub.Folder(folder)); !errors.Is(err, context.Canceled) {
		t.Errorf("Save = %v, want %v", err, context.Canceled)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestBackup_InTheMiddleOfARekeyOpens: whichever key file opens the database is the one in the backup.
func TestBackup_InTheMiddleOfARekeyOpens(t *testing.T) {
	t.Parallel()
	errKilled := errors.New("killed")
	for _, at := range []string{"commit", "replace", "finish"} {
		folder, _ := furnished(t)
		if _, err := localhub.Folder(folder).RekeySteps(t.Context(), func(step string) error {
			if step == at {
				return errKilled
			}
			return nil
		}); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		file, to := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "to")
		_, err := localhub.Backup{File: file}.Save(t.Context(), localhub.Folder(folder))
		if err == nil {
			_, err = localhub.Restore{File: file}.Into(t.Context(), localhub.Folder(to))
		}
		if err != nil {
			t.Errorf("before %s: %v", at, err)
			continue
		}
		if _, err := open(t, to, ""); err != nil {
			t.Errorf("before %s: no hub starts with what was restored: %v", at, err)
		}
	}
}

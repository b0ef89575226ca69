package localhub

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The kinds of folders in which something is made whole before it appears, by what their names begin with.
const (
	backupStage  = ".mash-backup-"
	restoreStage = ".mash-restore-"
)

// stageTries is how often a folder is made anew because another process took it for one that was left over.
const stageTries = 5

// stage makes a folder in parent into which its owner alone may look. It is held as long as the process lives, which tells it
// from those that others left when they were killed: these go first. done removes it.
func stage(parent, kind string) (dir string, done func() error, err error) {
	sweepStages(parent, kind)
	for range stageTries {
		if dir, err = os.MkdirTemp(parent, kind+"*"); err != nil { // mode 0700
			return "", nil, err
		}
		held, holdErr := holdStage(dir)
		if held != nil {
			return dir, func() error { return errors.Join(os.RemoveAll(dir), held.Close()) }, nil
		}
		if err = errors.Join(holdErr, os.RemoveAll(dir)); err != nil {
			return "", nil, err
		}
	}
	return "", nil, fmt.Errorf("%s was removed by others again and again", dir)
}

// holdStage locks a folder, nil if another process was first. A file system without locks holds nothing, and there nobody
// takes it for left over either.
func holdStage(dir string) (*os.File, error) {
	f, err := os.Open(dir) //nolint:gosec // a folder of our own making
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if _, gone := os.Stat(dir); gone != nil || errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, f.Close()
	}
	return f, nil
}

// sweepStages removes what killed processes left of a kind. That something cannot be removed keeps nobody from going on.
func sweepStages(parent, kind string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), kind)
		if !ours || !e.IsDir() || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		f, err := os.Open(filepath.Join(parent, e.Name())) //nolint:gosec // of a name that only we give
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(f.Name()) // what stays is tried again next time
		}
		_ = f.Close()
	}
}

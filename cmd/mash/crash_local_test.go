//go:build crash

package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// local is mash serve on one folder.
type local struct {
	binary, folder, callback string
	hub                      *exec.Cmd
	url                      string
}

// newLocal builds a hub with these tags, which may push to one address.
func newLocal(t *testing.T, tags, callback string) *local {
	t.Helper()
	folder := t.TempDir()
	l := &local{binary: filepath.Join(folder, "mash"), folder: filepath.Join(folder, "data"), callback: callback}
	build := exec.Command("go", "build", "-tags", tags, "-o", l.binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	t.Cleanup(l.kill)
	return l
}

func (l *local) owner(t *testing.T) string {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(l.folder, "owner.token"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(token))
}

func (l *local) start(t *testing.T) string {
	t.Helper()
	if l.hub != nil {
		return l.url
	}
	urlFile := filepath.Join(l.folder, "..", "url")
	_ = os.Remove(urlFile)
	l.hub = exec.Command(l.binary, "serve", "--data", l.folder, "--listen", "127.0.0.1:0", "--url-file", urlFile,
		"--rate", "0", "--allow-callback", l.callback)
	var stderr bytes.Buffer
	l.hub.Stderr = &stderr
	if err := l.hub.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if url, err := os.ReadFile(urlFile); err == nil && len(url) > 0 {
			l.url = strings.TrimSpace(string(url))
			return l.url
		}
		if time.Now().After(deadline) {
			l.kill()
			t.Fatalf("the hub does not serve: %s", stderr.String())
		}
	}
}

func (l *local) kill() {
	if l.hub != nil {
		_ = l.hub.Process.Kill()
		_ = l.hub.Wait()
		l.hub = nil
	}
}

func (l *local) stop(t *testing.T) {
	t.Helper()
	if err := l.hub.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := l.hub.Wait(); err != nil {
		t.Fatalf("the hub did not stop well: %v", err)
	}
	l.hub = nil
}

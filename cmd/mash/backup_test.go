package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

const (
	backups       = 6
	backupWriters = 8
)

// load is what writers were told by a hub: the status of each message, by its id.
type load struct {
	hub *hubProcess

	mu   sync.Mutex
	told map[string]string
}

func (l *load) note(id, status string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told[id] = status
}

func (l *load) sofar() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.told)
}

// write submits, answers and cancels until ctx is done.
func (l *load) write(ctx context.Context, agent, token string) error {
	for n := 0; ctx.Err() == nil; n++ {
		var ack struct{ ID string }
		key := fmt.Sprintf("%s-%d-%024d", agent, n, time.Now().UnixNano())
		status, err := l.hub.call("POST", "/v1/messages", token, question(agent, key), &ack)
		if err != nil || status != http.StatusAccepted {
			return fmt.Errorf("submit: %d %w", status, err)
		}
		l.note(ack.ID, "open")
		action, by, body := "/resolve", l.hub.owner, map[string]any{"resolution": "answered", "value": "approve"}
		switch n % 3 {
		case 0:
			continue
		case 1:
			action, by, body = "/cancel", token, nil
		}
		var done struct{ Status string }
		status, err = l.hub.call("POST", "/v1/messages/"+ack.ID+action, by, body, &done)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("%s: %d %w", action, status, err)
		}
		l.note(ack.ID, done.Status)
	}
	return nil
}

// TestBackup_UnderLoadRestoresToAStoreThatDoctorPasses makes many backups of a hub that people and agents keep busy all the
// while. Each is restored and examined, and holds whatever had been acknowledged before it began.
func TestBackup_UnderLoadRestoresToAStoreThatDoctorPasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startHub(t, filepath.Join(dir, "data"))
	l := &load{hub: h, told: map[string]string{}}
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	for i := range backupWriters {
		agent := fmt.Sprintf("writer-%d", i)
		token, _ := h.newAgent(agent)
		writing.Go(func() {
			if err := l.write(ctx, agent, token); err != nil {
				t.Error(err)
			}
		})
	}
	checked := 0
	for n := range backups {
		for len(l.sofar()) < 100*(n+1) && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		before := l.sofar()
		file, back := filepath.Join(dir, fmt.Sprintf("backup-%d", n)), filepath.Join(dir, fmt.Sprintf("back-%d", n))
		mashed(t, "backup", file, "--data", h.folder)
		if len(l.sofar()) == len(before) {
			t.Error("nobody wrote during the backup")
		}
		mashed(t, "restore", file, "--data", back)
		mashed(t, "doctor", "--data", back)
		holds(t, back, before)
		checked += len(before)
	}
	stop()
	writing.Wait()
	mashed(t, "doctor", "--data", h.folder)
	h.stop()
	t.Logf("%d backups beside %d writers: %d messages acknowledged, %d looked for and found in what was restored",
		backups, backupWriters, len(l.sofar()), checked)
}

// holds holds a restored folder to what had been acknowledged. What was open then may have ended since.
func holds(t *testing.T, folder string, told map[string]string) {
	t.Helper()
	store, err := sqlitestore.OpenReading(filepath.Join(folder, "mash.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for id, want := range told {
		key, _ := hub.StateKey(id)
		recs, err := store.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		var s hub.State
		if recs[0].Rev == "" || hub.Decode(recs[0], &s) != nil {
			t.Fatalf("%s was acknowledged before the backup began, and is not in it", id)
		}
		if want != "open" && string(s.Status) != want {
			t.Fatalf("%s had ended as %s before the backup began, and is %s in it", id, want, s.Status)
		}
	}
}

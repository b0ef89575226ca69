package awshub_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/sfnclock"
)

// TestAttemptsAreLogged holds the lines to what the stack's metric filters look for.
func TestAttemptsAreLogged(t *testing.T) {
	t.Parallel()
	d := driven(t)
	d.receiver.fail = 1
	id := d.owed()
	key, _ := hub.StateKey(id)
	settings := hub.DefaultSettings()
	settings.Retry.First, settings.Retry.Longest = time.Millisecond, time.Millisecond
	d.config.Settings = settings.Text()
	var log bytes.Buffer
	d.config.Log = slog.New(slog.NewJSONHandler(&log, nil))
	deliver, err := d.config.Deliverer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in := sfnclock.Input{Key: sfnclock.Key(key), At: "2026-01-31T12:00:00Z"}
	for {
		answer, err := deliver(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Again == "" {
			break
		}
	}
	var got []doc
	for line := range bytes.Lines(log.Bytes()) {
		var d doc
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		delete(d, "time")
		got = append(got, d)
	}
	want := []doc{
		{"level": "INFO", "msg": endpoint.LogAttempt, "message": id, "attempt": 1.0, "delivered": false, "status": 503.0, "failure": ""},
		{"level": "INFO", "msg": endpoint.LogAttempt, "message": id, "attempt": 2.0, "delivered": true, "status": 200.0, "failure": ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines of two attempts (-want +got)\n%s", diff)
	}
}

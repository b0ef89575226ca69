package hub_test

import (
	"strings"
	"testing"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
)

// TestDecode_TellsNothingOfABody: its errors go to the log.
func TestDecode_TellsNothingOfABody(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"accepted_at":"MARK"}`, `{"status":{"MARK":1}}`, `{"title":"x","title":"MARK"}`, `{"MARK`, `MARK`} {
		err := hub.Decode(record.Record{Key: record.Key{Part: "m#1", Sort: "state"}, Kind: hub.KindState, Body: []byte(body)}, &hub.State{})
		if err == nil || strings.Contains(err.Error(), "MARK") || !strings.Contains(err.Error(), "m#1/state") {
			t.Errorf("Decode(%s) = %v, want an error that names the record alone", body, err)
		}
	}
}

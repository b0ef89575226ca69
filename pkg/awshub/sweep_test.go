package awshub_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/record"
)

// failing puts as many due records into the table as one look of a sweep shows, which this version of the hub cannot read.
func (s *stack) failing() {
	s.t.Helper()
	due := time.Now().Add(-time.Hour)
	for first := 0; first < record.MaxListLimit; first += record.MaxWrites {
		var puts []record.Write
		for n := range record.MaxWrites {
			puts = append(puts, record.Put(record.Record{
				Key:  record.Key{Part: fmt.Sprintf("m#%026d", first+n), Sort: "state"},
				Kind: hub.KindState, Body: []byte(`{"format":99,"id":"newer"}`), Due: due,
			}, ""))
		}
		if err := s.hub.Store.Commit(s.t.Context(), puts...); err != nil {
			s.t.Fatal(err)
		}
	}
}

func TestTheSweepGetsPastAThousandRecordsThatFail(t *testing.T) {
	t.Parallel()
	s := deploy(t)
	s.failing()
	id := s.must(s.function(endpoint.Submit), "POST", "/v1/messages", s.bot(),
		ask("k", confirm, time.Now().Add(time.Second)), http.StatusAccepted)["id"]
	key, _ := hub.StateKey(id.(string))
	sweep := s.sweeper()
	t.Cleanup(func() { // before it is held to be empty
		if n := strings.Count(s.log.String(), "has format 99"); n < record.MaxListLimit {
			t.Errorf("%d records were logged as failing, want %d", n, record.MaxListLimit)
		}
		s.log.Reset()
	})
	for end := time.Now().Add(patience); ; {
		swept, err := sweep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		recs, err := s.hub.Store.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		var state hub.State
		if err := hub.Decode(recs[0], &state); err != nil {
			t.Fatal(err)
		}
		if state.Status == "expired" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not swept: %+v", swept)
		}
	}
}

package sqlitestore_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/sqlitestore"
)

// BenchmarkRequest does what a request of the hub costs the store: it reads three records and commits two of about a
// kilobyte, the second with both tags and a due time.
func BenchmarkRequest(b *testing.B) {
	for _, clients := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			s, err := sqlitestore.Open(filepath.Join(b.TempDir(), "store"))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // the benchmark is over
			request(b, s, clients)
		})
	}
	b.Run("memory", func(b *testing.B) {
		s, err := sqlitestore.OpenMemory()
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close() //nolint:errcheck // the benchmark is over
		request(b, s, 1)
	})
}

func request(b *testing.B, s record.Store, clients int) {
	body := bytes.Repeat([]byte("x"), 1000)
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range clients {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				part, order := "m#"+record.NewRev(), record.DueOrder(time.Now())
				if _, err := s.Get(b.Context(), record.Key{Part: "g#1", Sort: "agent"},
					record.Key{Part: "a#1", Sort: "account"}, record.Key{Part: part, Sort: "state"}); err != nil {
					b.Error(err)
					return
				}
				content := record.Record{Key: record.Key{Part: part, Sort: "content"}, Kind: "content", Body: body}
				state := record.Record{Key: record.Key{Part: part, Sort: "state"}, Kind: "state", Body: body,
					Tags: [2]record.Tag{{Name: "open#1", Order: order}, {Name: "open#2", Order: order}}, Due: time.Now()}
				if err := s.Commit(b.Context(), record.Put(content, ""), record.Put(state, "")); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

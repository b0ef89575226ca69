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

// BenchmarkRequest does what a request of the hub costs the store: a Get, and a Commit of two new records of about a
// kilobyte. In "ask" the Get has three keys, and the second record both tags and a due time.
func BenchmarkRequest(b *testing.B) {
	for _, clients := range []int{1, 16, 64} {
		for name, request := range map[string]func(*testing.B, record.Store) error{"plain": plain, "ask": ask} {
			b.Run(fmt.Sprintf("%s/clients=%d", name, clients), func(b *testing.B) {
				s, err := sqlitestore.Open(filepath.Join(b.TempDir(), "store"))
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				run(b, s, clients, request)
			})
		}
	}
	b.Run("ask/memory", func(b *testing.B) {
		s, err := sqlitestore.OpenMemory()
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		run(b, s, 1, ask)
	})
}

func run(b *testing.B, s record.Store, clients int, request func(*testing.B, record.Store) error) {
	agent := record.Record{Key: record.Key{Part: "g#1", Sort: "agent"}, Kind: "agent", Body: kilobyte}
	if err := s.Commit(b.Context(), record.Put(agent, "")); err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range clients {
		wg.Go(func() {
			for next.Add(1) <= int64(b.N) {
				if err := request(b, s); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

var kilobyte = bytes.Repeat([]byte("x"), 1000)

func plain(b *testing.B, s record.Store) error {
	if _, err := s.Get(b.Context(), record.Key{Part: "g#1", Sort: "agent"}); err != nil {
		return err
	}
	content, state := message()
	return s.Commit(b.Context(), record.Put(content, ""), record.Put(state, ""))
}

func ask(b *testing.B, s record.Store) error {
	content, state := message()
	_, err := s.Get(b.Context(), record.Key{Part: "g#1", Sort: "agent"}, record.Key{Part: "a#1", Sort: "account"}, state.Key)
	if err != nil {
		return err
	}
	now := time.Now()
	state.Due = now.Add(time.Hour)
	state.Tags = [2]record.Tag{{Name: "open#1", Order: record.DueOrder(now)}, {Name: "open#2", Order: record.DueOrder(now)}}
	return s.Commit(b.Context(), record.Put(content, ""), record.Put(state, ""))
}

func message() (content, state record.Record) {
	part := "m#" + record.NewRev()
	content = record.Record{Key: record.Key{Part: part, Sort: "content"}, Kind: "content", Body: kilobyte}
	state = record.Record{Key: record.Key{Part: part, Sort: "state"}, Kind: "state", Body: kilobyte}
	return content, state
}

// BenchmarkOpenMemory is what a conformance tenant costs.
func BenchmarkOpenMemory(b *testing.B) {
	for range b.N {
		s, err := sqlitestore.OpenMemory()
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

package dynamostore_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/dynamostore"
	"github.com/mash-hub/mash/pkg/dynamostore/dynamotest"
	"github.com/mash-hub/mash/pkg/record"
)

// watch returns a Store and a function that returns what it has done since it was last asked.
func watch(t *testing.T) (*dynamostore.Store, func() []dynamostore.Operation) {
	t.Helper()
	client := dynamotest.Client(dynamotest.Transport(t), withoutRetries)
	s := dynamostore.New(client, dynamotest.Table(t, client))
	var mu sync.Mutex
	var seen []dynamostore.Operation
	s.Observe = func(o dynamostore.Operation) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, o)
	}
	return s, func() []dynamostore.Operation {
		mu.Lock()
		defer mu.Unlock()
		out := seen
		seen = nil
		return out
	}
}

func TestAnObserverIsToldOfEveryRequest(t *testing.T) {
	t.Parallel()
	s, done := watch(t)
	at := func(part string) record.Record {
		return record.Record{
			Key: record.Key{Part: part, Sort: "state"}, Kind: "state", Body: []byte("x"), Due: time.Now(),
			Tags: [2]record.Tag{{Name: "open#A"}, {Name: "open#h"}},
		}
	}
	a, b := record.Put(at("m#1"), ""), record.Put(at("m#2"), "")
	b.Record.Due, b.Record.Tags[1] = time.Time{}, record.Tag{}
	for _, c := range []struct {
		name string
		do   func() error
		want []string // action, units read and written, and the partitions
	}{
		{"a put", func() error { return s.Commit(t.Context(), a) }, []string{"PutItem 0 4 of m#1: due due# m#1 tag1 open#A tag2 open#h"}},
		{"a lost put", func() error { return lost(s.Commit(t.Context(), record.Put(at("m#1"), ""))) }, []string{"PutItem 0 0 of m#1 failed:"}},
		{"two puts", func() error {
			return s.Commit(t.Context(), b, record.Put(record.Record{Key: record.Key{Part: "u#A", Sort: "1"}, Kind: "deed"}, ""))
		}, []string{"TransactWriteItems 0 5 of m#2 u#A: m#2 tag1 open#A u#A"}},
		// Of this one the emulator does not say what it consumed.
		{"a get", func() error {
			_, err := s.Get(t.Context(), a.Record.Key, b.Record.Key)
			return err
		}, []string{"BatchGetItem 0 0 of m#1 m#2:"}},
		{"a list", func() error {
			_, err := s.List(t.Context(), "m#1", "", 10)
			return err
		}, []string{"Query 1 0 of m#1: m#1"}},
		{"an index", func() error {
			_, err := s.Index(t.Context(), 1, "open#A", record.Entry{}, 10)
			return err
		}, []string{"Query 0.5 0: tag1 open#A"}},
		{"an erasure", func() error { return s.Commit(t.Context(), record.Erase(b.Record.Key, b.Record.Rev)) }, []string{"DeleteItem 0 2 of m#2: m#2"}},
	} {
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []string
		for _, o := range done() {
			got = append(got, described(o))
			if o.Took <= 0 {
				t.Errorf("%s took %v", c.name, o.Took)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

func lost(err error) error {
	if record.AsConflict(err) != nil {
		return nil
	}
	return err
}

// described writes an operation down, but for which shard it was.
func described(o dynamostore.Operation) string {
	text := fmt.Sprintf("%s %g %g", o.Action, o.Read, o.Write)
	if len(o.Parts) > 0 {
		text += " of " + strings.Join(o.Parts, " ")
	}
	if o.Err != nil {
		text += " failed"
	}
	text += ":"
	for _, p := range slices.Sorted(maps.Keys(o.Heat)) {
		if before, _, shard := strings.Cut(p, "due due#"); shard && before == "" {
			p = "due due#"
		}
		text += " " + p
	}
	return text
}

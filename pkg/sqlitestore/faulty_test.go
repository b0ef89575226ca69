package sqlitestore_test

import (
	"errors"
	"testing"

	"github.com/mash-hub/mash/pkg/record"
	"github.com/mash-hub/mash/pkg/recordtest"
)

// TestFaults shows what each fault of recordtest does to the caller of a Commit, and that it strikes once.
func TestFaults(t *testing.T) {
	t.Parallel()
	r := record.Record{Key: record.Key{Part: "p", Sort: "k"}, Kind: "test"}
	other := record.Put(r, "")
	overtaking := func(s record.Store, was func() string) func() {
		return func() {
			w := record.Put(r, was())
			w.Record.Rev = other.Record.Rev
			if err := s.Commit(t.Context(), w); err != nil {
				t.Errorf("the other Commit = %v", err)
			}
		}
	}
	ours := record.Put(r, "")
	cases := []struct {
		name  string
		fault func(record.Store) recordtest.Fault
		want  error  // nil, or a Conflict
		rev   string // what stands afterwards
	}{
		{"throttled", func(record.Store) recordtest.Fault { return recordtest.Throttled }, recordtest.ErrThrottled, ""},
		{"timed out", func(record.Store) recordtest.Fault { return recordtest.TimedOut }, recordtest.ErrTimeout, ours.Record.Rev},
		{"answer lost", func(record.Store) recordtest.Fault { return recordtest.LostAnswer(nil) }, nil, ours.Record.Rev},
		{"answer lost and overtaken", func(s record.Store) recordtest.Fault {
			return recordtest.LostAnswer(overtaking(s, func() string { return ours.Record.Rev }))
		}, &record.Conflict{}, other.Record.Rev},
		{"overtaken", func(s record.Store) recordtest.Fault {
			return recordtest.Overtaken(overtaking(s, func() string { return "" }))
		}, &record.Conflict{}, other.Record.Rev},
	}
	for _, c := range cases {
		inner := openMemory(t)
		s := &recordtest.Faulty{Store: inner, Pick: recordtest.Once(recordtest.Putting("test"), c.fault(inner))}
		if err := s.Commit(t.Context(), record.Check(record.Key{Part: "p", Sort: "unmatched"}, "")); err != nil {
			t.Errorf("%s: an unmatched Commit = %v", c.name, err)
		}
		err := s.Commit(t.Context(), ours)
		lost := record.AsConflict(err) != nil && c.want != nil && record.AsConflict(c.want) != nil
		if !lost && !errors.Is(err, c.want) {
			t.Errorf("%s: Commit = %v, want %v", c.name, err, c.want)
		}
		got, err := s.Get(t.Context(), r.Key)
		if err != nil || got[0].Rev != c.rev {
			t.Errorf("%s: rev %q stands, %v, want %q", c.name, got[0].Rev, err, c.rev)
		}
		if err := s.Commit(t.Context(), record.Put(r, got[0].Rev)); err != nil {
			t.Errorf("%s: the next Commit = %v", c.name, err)
		}
	}
}

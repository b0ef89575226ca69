package recordtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/record"
)

// call is one call outside the contract.
type call struct {
	name string
	call func(context.Context, record.Store) error
}

// refused makes every call and expects the given error each time.
func refused(t *testing.T, s record.Store, want error, calls []call) {
	t.Helper()
	for _, c := range calls {
		if err := c.call(t.Context(), s); !errors.Is(err, want) {
			t.Errorf("%s = %v, want %v", c.name, err, want)
		}
	}
}

func misuse(t *testing.T, s record.Store) {
	k := key("p", "k")
	unkind := rec("p", "k", "x")
	unkind.Kind = ""
	tagged := func(tag record.Tag) record.Record {
		r := rec("p", "k", "x")
		r.Tags[1] = tag
		return r
	}
	early := rec("p", "k", "x")
	early.Due = time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)
	revless := record.Put(rec("p", "k", "x"), "")
	revless.Record.Rev = ""
	unmoved := record.Put(rec("p", "k", "x"), "")
	unmoved.Was = unmoved.Record.Rev

	calls := []call{
		{"get of a key twice", getting(k, key("p", "l"), k)},
		{"get of no part", getting(key("", "k"))},
		{"get of no sort", getting(key("p", ""))},
		{"get of broken UTF-8", getting(key("p", "\xff"))},
		{"get of NUL", getting(key("p\x00", "k"))},
		{"list of no part", listing("", "", 1)},
		{"list by 0", listing("p", "", 0)},
		{"list by -1", listing("p", "", -1)},
		{"index of place 0", indexing(0, "n", record.Entry{}, 1)},
		{"index of place 3", indexing(3, "n", record.Entry{}, 1)},
		{"index of no name", indexing(1, "", record.Entry{}, 1)},
		{"index by 0", indexing(1, "n", record.Entry{}, 0)},
		{"index after no key", indexing(1, "n", record.Entry{Order: "o"}, 1)},
		{"due by 0", dueing(time.Now(), record.Entry{}, 0)},
		{"due after no time", dueing(time.Now(), record.Entry{Order: "soon", Key: key("p", "k")}, 1)},
		{"due after no key", dueing(time.Now(), record.Entry{Order: record.DueOrder(time.Now())}, 1)},
		{"due at no time", dueing(time.Time{}, record.Entry{}, 1)},
		{"commit of a key twice", committing(record.Check(k, ""), record.Put(rec("p", "k", "x"), ""))},
		{"put of no kind", committing(record.Put(unkind, ""))},
		{"put of no key", committing(record.Put(rec("", "", "x"), ""))},
		{"put of a tag without name", committing(record.Put(tagged(record.Tag{Order: "o"}), ""))},
		{"put of a tag with NUL", committing(record.Put(tagged(record.Tag{Name: "n", Order: "\x00"}), ""))},
		{"put due before 1970", committing(record.Put(early, ""))},
		{"put of no rev", committing(revless)},
		{"put of the rev it replaces", committing(unmoved)},
		{"erase of nothing", committing(record.Erase(k, ""))},
		{"unknown operation", committing(record.Write{Op: 7, Record: record.Record{Key: k}})},
	}
	refused(t, s, record.ErrMisuse, calls)
	stands(t, s, record.Record{Key: k})
}

func tooLarge(t *testing.T, s record.Store) {
	var keys []record.Key
	var writes, big []record.Write
	for i := range record.MaxWrites + 1 {
		keys = append(keys, key("p", fmt.Sprint(i)))
		writes = append(writes, record.Put(rec("p", fmt.Sprint(i), "x"), ""))
		big = append(big, record.Put(rec("p", fmt.Sprint(i), strings.Repeat("x", 300<<10)), ""))
	}
	part, sort := strings.Repeat("p", record.MaxPartBytes+1), strings.Repeat("s", record.MaxSortBytes+1)
	tagged := rec("p", "k", "x")
	tagged.Tags[0] = record.Tag{Name: "n", Order: strings.Repeat("o", record.MaxSortBytes)}
	tagged.Part = strings.Repeat("p", record.MaxPlaceBytes-record.MaxSortBytes)

	refused(t, s, record.ErrTooLarge, []call{
		{"get of too many", getting(keys[:record.MaxReads+1]...)},
		{"get of a long part", getting(key(part, "k"))},
		{"get of a long sort", getting(key("p", sort))},
		{"list by too many", listing("p", "", record.MaxListLimit+1)},
		{"list after a long sort", listing("p", sort, 1)},
		{"index by too many", indexing(1, "n", record.Entry{}, record.MaxListLimit+1)},
		{"index of a long name", indexing(1, part, record.Entry{}, 1)},
		{"due by too many", dueing(time.Now(), record.Entry{}, record.MaxListLimit+1)},
		{"commit of too many", committing(writes...)},
		{"commit of too much", committing(big[:13]...)},
		{"put of too much", committing(record.Put(rec("p", "k", strings.Repeat("x", record.MaxRecordBytes)), ""))},
		{"put at too long a place", committing(record.Put(tagged, ""))},
	})
	if got := list(t, s, "p", 10); len(got) != 0 {
		t.Errorf("after refused commits there is %q", got)
	}
}

func largestAllowed(t *testing.T, s record.Store) {
	long := rec(strings.Repeat("p", record.MaxPartBytes), strings.Repeat("s", record.MaxSortBytes), "x")
	long = put(t, s, long, "")
	stands(t, s, long)
	if got := list(t, s, long.Part, 10); len(got) != 1 || got[0] != long.Sort {
		t.Errorf("List of the longest part = %d records", len(got))
	}
	tagged := rec("p", "k", "x")
	tagged.Tags[0] = record.Tag{Name: strings.Repeat("n", record.MaxPartBytes), Order: strings.Repeat("o", record.MaxSortBytes)}
	tagged.Part = strings.Repeat("p", record.MaxPlaceBytes-record.MaxSortBytes-1)
	tagged.Due = time.Unix(1, 0)
	commit(t, s, record.Put(tagged, ""))
	eventually(t, "Index of the longest place", "k", func() string { return index(t, s, 1, tagged.Tags[0].Name, 1) })
	eventually(t, "Due of the longest place", "k", func() string { return due(t, s, time.Unix(1, 0), 1) })

	full := rec("p", "full", "")
	full.Body = []byte(strings.Repeat("\xff", record.MaxRecordBytes-full.Size()))
	stands(t, s, put(t, s, full, ""))
	var writes []record.Write
	for i := range record.MaxCommitBytes / record.MaxRecordBytes {
		r := rec("p", fmt.Sprint(i), "")
		r.Body = []byte(strings.Repeat("x", record.MaxRecordBytes-r.Size()))
		writes = append(writes, record.Put(r, ""))
	}
	commit(t, s, writes...)
	stands(t, s, writes[len(writes)-1].Record)
}

func getting(keys ...record.Key) func(context.Context, record.Store) error {
	return func(ctx context.Context, s record.Store) error {
		_, err := s.Get(ctx, keys...)
		return err
	}
}

func listing(part, after string, limit int) func(context.Context, record.Store) error {
	return func(ctx context.Context, s record.Store) error {
		_, err := s.List(ctx, part, after, limit)
		return err
	}
}

func indexing(place int, name string, after record.Entry, limit int) func(context.Context, record.Store) error {
	return func(ctx context.Context, s record.Store) error {
		_, err := s.Index(ctx, place, name, after, limit)
		return err
	}
}

func dueing(before time.Time, after record.Entry, limit int) func(context.Context, record.Store) error {
	return func(ctx context.Context, s record.Store) error {
		_, err := s.Due(ctx, before, after, limit)
		return err
	}
}

func committing(writes ...record.Write) func(context.Context, record.Store) error {
	return func(ctx context.Context, s record.Store) error { return s.Commit(ctx, writes...) }
}

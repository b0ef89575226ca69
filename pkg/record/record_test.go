package record_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/record"
)

func rec(sort string) record.Record {
	return record.Record{Key: record.Key{Part: "p", Sort: sort}, Kind: "test"}
}

func TestPutMintsARevEachTime(t *testing.T) {
	t.Parallel()
	a, b := record.Put(rec("a"), "was"), record.Put(rec("a"), "was")
	if a.Record.Rev == "" || a.Record.Rev == b.Record.Rev || a.Was != "was" {
		t.Errorf("Put = %+v and %+v", a, b)
	}
}

func TestSizeCountsWhatIsStored(t *testing.T) {
	t.Parallel()
	r := rec("a")
	empty := r.Size()
	r.Body = make([]byte, 1000)
	r.Tags = [2]record.Tag{{Name: "12345", Order: "12345"}, {Name: "12345"}}
	if got := r.Size() - empty; got != 1015 {
		t.Errorf("Size grew by %d, want 1015", got)
	}
}

// at is a record that stands under a key at a rev.
func at(sort, rev string) record.Record {
	r := rec(sort)
	r.Rev = rev
	return r
}

func TestJudge(t *testing.T) {
	t.Parallel()
	put := func(sort, was, rev string) record.Write {
		return record.Write{Op: record.OpPut, Was: was, Record: at(sort, rev)}
	}
	erase := func(sort, was string) record.Write { return record.Erase(rec(sort).Key, was) }
	check := func(sort, was string) record.Write { return record.Check(rec(sort).Key, was) }
	cases := []struct {
		name   string
		writes []record.Write
		there  []record.Record
		want   string // the revs lost to, or "won"
	}{
		{"another stands", []record.Write{put("a", "", "new")}, []record.Record{at("a", "other")}, "a:other"},
		{"nothing stands", []record.Write{put("a", "old", "new")}, []record.Record{at("a", "")}, "a:"},
		{"ours stands", []record.Write{put("a", "old", "new")}, []record.Record{at("a", "new")}, "won"},
		{"erased already", []record.Write{erase("a", "old")}, []record.Record{at("a", "")}, "won"},
		{"another to erase", []record.Write{erase("a", "old")}, []record.Record{at("a", "other")}, "a:other"},
		{"checked in vain", []record.Write{check("a", "old")}, []record.Record{at("a", "")}, "a:"},
		{"two erased already", []record.Write{erase("a", "old"), erase("b", "old")},
			[]record.Record{at("a", ""), at("b", "")}, "a: b:"},
		{"ours among others", []record.Write{check("a", "old"), erase("b", "old"), put("c", "", "new")},
			[]record.Record{at("a", "moved"), at("b", ""), at("c", "new")}, "won"},
		{"all overtaken", []record.Write{put("a", "", "1"), put("b", "", "2")},
			[]record.Record{at("a", "x"), at("b", "y")}, "a:x b:y"},
		{"one held", []record.Write{put("a", "old", "1"), put("b", "", "2")},
			[]record.Record{at("a", "old"), at("b", "y")}, "b:y"},
		{"one unknown", []record.Write{put("a", "old", "1"), put("b", "", "2")}, []record.Record{at("b", "y")}, "b:y"},
	}
	for _, c := range cases {
		got := "won"
		if err := record.Judge(c.writes, c.there); err != nil {
			var lost []string
			for _, r := range record.AsConflict(fmt.Errorf("wrapped: %w", err)).Lost {
				lost = append(lost, r.Sort+":"+r.Rev)
			}
			got = strings.Join(lost, " ")
		}
		if got != c.want {
			t.Errorf("%s: Judge = %s, want %s", c.name, got, c.want)
		}
	}
}

func TestConflict(t *testing.T) {
	t.Parallel()
	c := &record.Conflict{Lost: []record.Record{at("a", "x"), at("b", "")}}
	if r, about := c.Winner(rec("b").Key); !about || r.Rev != "" {
		t.Errorf("Winner(b) = %v, %v", r, about)
	}
	if r, about := c.Winner(rec("c").Key); about || r.Rev != "" {
		t.Errorf("Winner(c) = %v, %v", r, about)
	}
	if got := c.Error(); got != "record: conflict at p/a" {
		t.Errorf("Error() = %s", got)
	}
	if record.AsConflict(errors.New("other")) != nil || record.AsConflict(nil) != nil {
		t.Error("AsConflict found one")
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	early, late := record.DueOrder(time.Unix(0, 0)), record.DueOrder(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	if len(early) != 19 || len(late) != 19 || early >= late {
		t.Errorf("DueOrder = %s and %s", early, late)
	}
	for nano, want := range map[int64]int64{0: 100, 1: 101, 999_999_999: 101} {
		if got := record.EraseSecond(time.Unix(100, nano)); got != want {
			t.Errorf("EraseSecond(100 s, %d ns) = %d, want %d", nano, got, want)
		}
	}
}

// TestValidateCommit has what recordtest cannot ask of every store cheaply: the very edges.
func TestValidateCommit(t *testing.T) {
	t.Parallel()
	full := record.Put(rec("a"), "")
	full.Record.Body = make([]byte, record.MaxRecordBytes-full.Record.Size())
	over := record.Put(rec("a"), "")
	over.Record.Body = make([]byte, len(full.Record.Body)+1)
	cases := []struct {
		name  string
		write record.Write
		want  error
	}{
		{"small", record.Put(rec("a"), ""), nil},
		{"full", full, nil},
		{"over", over, record.ErrTooLarge},
		{"no key", record.Check(record.Key{}, ""), record.ErrMisuse},
		{"longest part", record.Check(record.Key{Part: strings.Repeat("p", record.MaxPartBytes), Sort: "s"}, ""), nil},
		{"too long a part", record.Check(record.Key{Part: strings.Repeat("p", record.MaxPartBytes+1), Sort: "s"}, ""), record.ErrTooLarge},
		{"erase of nothing", record.Erase(rec("a").Key, ""), record.ErrMisuse},
	}
	for _, c := range cases {
		if err := record.ValidateCommit([]record.Write{c.write}); !errors.Is(err, c.want) {
			t.Errorf("%s: ValidateCommit = %v, want %v", c.name, err, c.want)
		}
	}
}

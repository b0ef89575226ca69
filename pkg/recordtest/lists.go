package recordtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/record"
)

// unsorted are sorts whose order by bytes differs from that of words, numbers and UTF-16.
var unsorted = []string{"b", "B", "a", "ab", "a b", "a\x01", "10", "9", "é", "e", "z", "\uffee", "\U0001F600", "~", "#"}

func listIsOrderedByBytes(t *testing.T, s record.Store) {
	for _, part := range []string{"p", "p#", "P", "pp"} {
		for _, sort := range unsorted {
			put(t, s, rec(part, sort, part), "")
		}
	}
	want := slices.Sorted(slices.Values(unsorted))
	for _, limit := range []int{1, 2, len(want) - 1, len(want), len(want) + 1, record.MaxListLimit} {
		if got := list(t, s, "p", limit); !slices.Equal(got, want) {
			t.Errorf("List by %d = %q, want %q", limit, got, want)
		}
	}
	for i := range want {
		page, err := s.List(t.Context(), "p", want[i], 100)
		if err != nil || len(page) != len(want)-i-1 {
			t.Errorf("List after %q = %d records, %v, want %d", want[i], len(page), err, len(want)-i-1)
		}
	}
	if got := list(t, s, "none", 10); len(got) != 0 {
		t.Errorf("List of an empty part = %q", got)
	}
}

func listReturnsUpToLimit(t *testing.T, s record.Store) {
	for i := range 5 {
		r := rec("p", fmt.Sprint(i), "body")
		r.Tags[1] = record.Tag{Name: "n", Order: fmt.Sprint(i)}
		put(t, s, r, "")
	}
	page, err := s.List(t.Context(), "p", "0", 3)
	if err != nil || len(page) != 3 {
		t.Fatalf("List = %d records, %v, want 3", len(page), err)
	}
	for _, r := range page {
		stands(t, s, r) // a listed record is whole
	}
	// A place that no record stands at is as good as any to begin after.
	if page, err := s.List(t.Context(), "p", "3x", 3); err != nil || len(page) != 1 {
		t.Errorf("List after no record = %d records, %v, want 1", len(page), err)
	}
}

func listOfBigRecords(t *testing.T, s record.Store) {
	for i := range 8 {
		put(t, s, rec("p", fmt.Sprint(i), strings.Repeat("x", 300_000)), "")
	}
	page, err := s.List(t.Context(), "p", "", 7)
	if err != nil || len(page) != 7 {
		t.Fatalf("List of big records = %d, %v, want 7", len(page), err)
	}
	if rest := list(t, s, "p", 100); len(rest) != 8 {
		t.Errorf("List of all big records = %d, want 8", len(rest))
	}
}

func listPagesWhileOthersWrite(t *testing.T, s record.Store) {
	doomed := map[string]record.Record{}
	for i := range 60 {
		r := put(t, s, rec("p", fmt.Sprintf("%02d", i), "x"), "")
		if i%3 == 0 {
			doomed[r.Sort] = r
		}
	}
	seen := map[string]int{}
	after := ""
	for n := 0; ; n++ {
		page, err := s.List(t.Context(), "p", after, 7)
		if err != nil {
			t.Fatalf("List = %v", err)
		}
		for _, r := range page {
			seen[r.Sort]++
		}
		if len(page) < 7 {
			break
		}
		after = page[len(page)-1].Sort
		for sort, r := range doomed { // one erased, and one new before and behind where we are
			commit(t, s, record.Erase(r.Key, r.Rev), record.Put(rec("p", fmt.Sprintf("0%d new", n), "x"), ""),
				record.Put(rec("p", fmt.Sprintf("9%d new", n), "x"), ""))
			delete(doomed, sort)
			break
		}
	}
	for i := range 60 {
		sort := fmt.Sprintf("%02d", i)
		if n := seen[sort]; n != 1 && (i%3 != 0 || n > 1) {
			t.Errorf("%s was seen %d times, want once", sort, n)
		}
	}
}

func indexIsOrdered(t *testing.T, s record.Store) {
	var want []string
	for place := 1; place <= 2; place++ {
		for i, order := range unsorted {
			// A sort that names its order, in parts that run the other way.
			r := rec(fmt.Sprintf("p%02d", len(unsorted)-i), fmt.Sprintf("%d:%x", place, order), "x")
			r.Tags[place-1] = record.Tag{Name: "n", Order: order}
			put(t, s, r, "")
		}
	}
	for _, order := range slices.Sorted(slices.Values(unsorted)) {
		want = append(want, fmt.Sprintf("1:%x", order))
	}
	other := rec("p", "of another name", "x")
	other.Tags = [2]record.Tag{{Name: "n2", Order: "a"}, {Name: "n#", Order: "a"}}
	put(t, s, other, "")

	for _, limit := range []int{1, 2, len(want), 1000} {
		eventually(t, fmt.Sprintf("Index by %d", limit), strings.Join(want, " "),
			func() string { return index(t, s, 1, "n", limit) })
	}
	eventually(t, "Index of place 2", strings.ReplaceAll(strings.Join(want, " "), "1:", "2:"),
		func() string { return index(t, s, 2, "n", 4) })
	eventually(t, "Index of another name", other.Sort, func() string { return index(t, s, 1, "n2", 4) })
	eventually(t, "Index of no name", "", func() string { return index(t, s, 2, "n2", 4) })
	page, err := s.Index(t.Context(), 1, "n", record.Entry{}, 1)
	if err != nil || len(page) != 1 || page[0].Order != "#" || page[0].Key != key("p01", "1:23") {
		t.Errorf("the first entry = %v, %v", page, err)
	}
}

func indexBreaksTies(t *testing.T, s record.Store) {
	var want []string
	for _, part := range []string{"q", "p", "p2"} {
		for _, sort := range []string{"b", "a", "ab"} {
			r := rec(part, part+sort, "x")
			r.Tags[0] = record.Tag{Name: "n", Order: "same"}
			r.Tags[1] = record.Tag{Name: "n"}
			put(t, s, r, "")
			want = append(want, r.Part+"/"+r.Sort)
		}
	}
	slices.SortFunc(want, func(a, b string) int {
		return strings.Compare(strings.Replace(a, "/", "\x00", 1), strings.Replace(b, "/", "\x00", 1))
	})
	for i, w := range want {
		want[i] = w[strings.Index(w, "/")+1:]
	}
	for place := 1; place <= 2; place++ {
		eventually(t, "Index of one order", strings.Join(want, " "), func() string { return index(t, s, place, "n", 2) })
	}
}

func indexFollowsTags(t *testing.T, s record.Store) {
	r := rec("p", "k", "x")
	expect := func(first, second, moved string) {
		t.Helper()
		eventually(t, "Index of first", first, func() string { return index(t, s, 1, "first", 5) })
		eventually(t, "Index of second", second, func() string { return index(t, s, 2, "second", 5) })
		eventually(t, "Index of moved", moved, func() string { return index(t, s, 1, "moved", 5) })
	}
	r.Tags = [2]record.Tag{{Name: "first", Order: "1"}, {Name: "second", Order: "2"}}
	now := put(t, s, r, "")
	expect("k", "k", "")
	r.Tags[0] = record.Tag{Name: "moved", Order: "1"}
	now = put(t, s, r, now.Rev)
	expect("", "k", "k")
	r.Tags[0] = record.Tag{Name: "moved", Order: "9"}
	now = put(t, s, r, now.Rev)
	eventually(t, "Order of moved", "9", func() string {
		page, err := s.Index(t.Context(), 1, "moved", record.Entry{}, 5)
		if err != nil || len(page) != 1 {
			return fmt.Sprint(page, err)
		}
		return page[0].Order
	})
	r.Tags = [2]record.Tag{{}, r.Tags[1]}
	now = put(t, s, r, now.Rev)
	expect("", "k", "")
	r.Tags = [2]record.Tag{}
	now = put(t, s, r, now.Rev)
	expect("", "", "")
	r.Tags = [2]record.Tag{{Name: "first", Order: "1"}, {Name: "second", Order: "2"}}
	now = put(t, s, r, now.Rev)
	expect("k", "k", "")
	commit(t, s, record.Erase(now.Key, now.Rev))
	expect("", "", "")
}

// due returns the sorts of what is due, in the order of names, since the shards have no common one.
func due(t *testing.T, s record.Store, before time.Time, limit int) string {
	t.Helper()
	entries, err := s.Due(t.Context(), before, record.Entry{}, limit)
	if err != nil {
		t.Fatalf("Due = %v", err)
	}
	var sorts []string
	for _, e := range entries {
		sorts = append(sorts, e.Key.Sort)
	}
	slices.Sort(sorts)
	return strings.Join(sorts, " ")
}

func dueFindsAll(t *testing.T, s record.Store) {
	base := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	var want []string
	for i := range 50 {
		r := rec(fmt.Sprintf("part%d", i), fmt.Sprintf("%02d", i), "x")
		r.Due = base.Add(time.Duration(i) * time.Second)
		put(t, s, r, "")
		want = append(want, r.Sort)
	}
	put(t, s, rec("p", "never", "x"), "")
	eventually(t, "Due of all", strings.Join(want, " "), func() string { return due(t, s, base.Add(time.Hour), 100) })
	if got := due(t, s, base.Add(19*time.Second), 100); got != strings.Join(want[:20], " ") {
		t.Errorf("Due at the 20th = %s", got)
	}
	if got := due(t, s, base.Add(-time.Microsecond), 100); got != "" {
		t.Errorf("Due before the first = %s, want none", got)
	}
	entries, err := s.Due(t.Context(), base, record.Entry{}, 100)
	if err != nil || len(entries) != 1 || entries[0] != (record.Entry{Key: key("part0", "00"), Order: record.DueOrder(base)}) {
		t.Errorf("Due at the first = %v, %v", entries, err)
	}
	// Who deals with what he gets, gets all, however small the limit.
	for seen := 0; ; {
		entries, err := s.Due(t.Context(), base.Add(time.Hour), record.Entry{}, 7)
		if err != nil || len(entries) > 7 {
			t.Fatalf("Due = %d entries, %v", len(entries), err)
		}
		if len(entries) == 0 && seen >= 50 {
			break
		}
		for _, e := range entries {
			if r := get(t, s, e.Key); !r.Due.IsZero() { // an index that lags names a record twice
				seen++
				r.Due = time.Time{}
				put(t, s, r, r.Rev)
			}
		}
	}
}

// dueGoesOn pages through what is due without dealing with any of it, some of it due at one instant.
func dueGoesOn(t *testing.T, s record.Store) {
	base := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	var want []string
	for i := range 40 {
		r := rec(fmt.Sprintf("part%d", i), fmt.Sprintf("%02d", i), "x")
		r.Due = base.Add(time.Duration(max(i, 10)/2) * time.Microsecond)
		put(t, s, r, "")
		want = append(want, r.Sort)
	}
	all := strings.Join(want, " ")
	eventually(t, "Due of all", all, func() string { return due(t, s, base.Add(time.Hour), 100) })
	for _, limit := range []int{12, 39, 40} {
		var seen []string
		for after := (record.Entry{}); ; {
			page, err := s.Due(t.Context(), base.Add(time.Hour), after, limit)
			if err != nil || len(page) > limit {
				t.Fatalf("Due of %d = %d entries, %v", limit, len(page), err)
			}
			if len(page) == 0 {
				break
			}
			after = page[len(page)-1]
			for _, e := range page {
				seen = append(seen, e.Key.Sort)
			}
		}
		if slices.Sort(seen); strings.Join(seen, " ") != all {
			t.Errorf("Due in pages of %d = %s, want each once", limit, seen)
		}
	}
	last := record.Entry{Key: key("part9", "09"), Order: record.DueOrder(base.Add(time.Hour))}
	if got, err := s.Due(t.Context(), base, last, 10); err != nil || len(got) > 0 {
		t.Errorf("Due after a later one = %v, %v, want none", got, err)
	}
}

func dueFollows(t *testing.T, s record.Store) {
	base := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	expect := func(early, late string) {
		t.Helper()
		eventually(t, "Due early", early, func() string { return due(t, s, base, 10) })
		eventually(t, "Due late", late, func() string { return due(t, s, base.Add(time.Hour), 10) })
	}
	r := rec("p", "k", "x")
	r.Due = base
	now := put(t, s, r, "")
	expect("k", "k")
	r.Due = base.Add(time.Minute)
	now = put(t, s, r, now.Rev)
	expect("", "k")
	r.Due = time.Time{}
	now = put(t, s, r, now.Rev)
	expect("", "")
	r.Due = base.Add(-time.Minute)
	now = put(t, s, r, now.Rev)
	expect("k", "k")
	commit(t, s, record.Erase(now.Key, now.Rev))
	expect("", "")
}

func eraseIsKept(t *testing.T, s record.Store) {
	r := rec("p", "k", "x")
	r.Erase = time.Now().Add(time.Hour).Truncate(time.Second)
	now := put(t, s, r, "")
	stands(t, s, now)
	if got := get(t, s, r.Key).Erase; !got.Equal(r.Erase) {
		t.Errorf("Erase = %v, want %v", got, r.Erase)
	}
	r.Erase = time.Time{}
	stands(t, s, put(t, s, r, now.Rev))
}

package recordtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/record"
)

func getAnswersInOrder(t *testing.T, s record.Store) {
	b := put(t, s, rec("p", "b", "B"), "")
	a := put(t, s, rec("p", "a", "A"), "")
	other := put(t, s, rec("q", "a", "other part"), "")
	want := []record.Record{b, {Key: key("p", "none")}, other, a, {Key: key("none", "a")}}
	got, err := s.Get(t.Context(), b.Key, key("p", "none"), other.Key, a.Key, key("none", "a"))
	if err != nil || len(got) != len(want) {
		t.Fatalf("Get of five = %d records, %v", len(got), err)
	}
	for i := range want {
		if !same(got[i], want[i]) {
			t.Errorf("Get: place %d has %s, want %s", i, show(got[i]), show(want[i]))
		}
	}
	if none, err := s.Get(t.Context()); err != nil || len(none) != 0 {
		t.Errorf("Get() = %v, %v, want nothing", none, err)
	}
	for n := range 20 {
		getAnswersInOrderOf(t, s, n, a.Key)
	}
	var keys []record.Key
	for i := range record.MaxReads {
		keys = append(keys, key("many", fmt.Sprint(i)))
	}
	keys[70] = a.Key
	got, err = s.Get(t.Context(), keys...)
	if err != nil || len(got) != len(keys) || !same(got[70], a) || got[71].Key != keys[71] || got[71].Rev != "" {
		t.Errorf("Get of %d keys = %d records, %v", len(keys), len(got), err)
	}
}

// getAnswersInOrderOf reads n keys, of which the present one is each of them in turn.
func getAnswersInOrderOf(t *testing.T, s record.Store, n int, present record.Key) {
	for at := range n {
		var keys []record.Key
		for i := range n {
			keys = append(keys, key("few", fmt.Sprint(i)))
		}
		keys[at] = present
		got, err := s.Get(t.Context(), keys...)
		if err != nil || len(got) != n {
			t.Fatalf("Get of %d keys = %d records, %v", n, len(got), err)
		}
		for i, r := range got {
			if r.Key != keys[i] || (r.Rev != "") != (i == at) {
				t.Errorf("Get of %d keys, of which %d is there: place %d has %s", n, at, i, show(r))
			}
		}
	}
}

func getReturnsWhatWasPut(t *testing.T, s record.Store) {
	full := record.Record{
		Key: key("päärt#1", "sört/\x01\U0001F600"), Kind: "a kind", Body: []byte("\x00\xff body"),
		Due:   time.Date(2026, 12, 1, 10, 20, 30, 123456789, time.FixedZone("east", 3600)),
		Tags:  [2]record.Tag{{Name: "näme", Order: "örder"}, {Name: "without order"}},
		Erase: time.Date(2027, 12, 1, 10, 20, 30, 1, time.UTC),
	}
	second := rec("p", "second tag only", "x")
	second.Tags[1] = record.Tag{Name: "n", Order: "o"}
	for _, r := range []record.Record{full, second, rec("p", "plain", "x"), rec("p", "empty", "")} {
		stands(t, s, put(t, s, r, ""))
	}
	bare := put(t, s, rec(full.Part, full.Sort, "bare"), get(t, s, full.Key).Rev)
	stands(t, s, bare) // what a put leaves out is gone
}

func getReturnsBigRecords(t *testing.T, s record.Store) {
	var keys []record.Key
	for i := range 12 {
		r := put(t, s, rec("p", fmt.Sprint(i), strings.Repeat(string(rune('a'+i)), 300_000)), "")
		keys = append(keys, r.Key)
	}
	got, err := s.Get(t.Context(), keys...)
	if err != nil {
		t.Fatalf("Get of big records = %v", err)
	}
	for i, r := range got {
		if len(r.Body) != 300_000 || r.Body[0] != byte('a'+i) {
			t.Errorf("Get: big record %d has %d bytes", i, len(r.Body))
		}
	}
}

// conditionCase is a write on a record that stands (at rev) or does not (rev "").
type conditionCase struct {
	name  string
	write func(rev string) record.Write
	there bool // whether the record stands
	after string
}

func conditionsWin(t *testing.T, s record.Store) {
	k := key("p", "k")
	cases := []conditionCase{
		{"create", func(string) record.Write { return record.Put(rec("p", "k", "new"), "") }, false, "new"},
		{"replace", func(rev string) record.Write { return record.Put(rec("p", "k", "new"), rev) }, true, "new"},
		{"erase", func(rev string) record.Write { return record.Erase(k, rev) }, true, ""},
		{"check", func(rev string) record.Write { return record.Check(k, rev) }, true, "old"},
		{"check absent", func(rev string) record.Write { return record.Check(k, rev) }, false, ""},
	}
	eachCondition(t, s, cases, func(c conditionCase, writes []record.Write, before record.Record) {
		if err := s.Commit(t.Context(), writes...); err != nil {
			t.Fatalf("%s = %v", c.name, err)
		}
		got := get(t, s, k)
		if string(got.Body) != c.after || (got.Rev == "") != (c.after == "") {
			t.Errorf("after %s: %s, want body %q", c.name, show(got), c.after)
		}
		if w := writes[0]; w.Op == record.OpPut && got.Rev != w.Record.Rev {
			t.Errorf("after %s: rev %q, want the minted %q", c.name, got.Rev, w.Record.Rev)
		} else if w.Op == record.OpCheck && got.Rev != before.Rev {
			t.Errorf("after %s: rev %q, want %q as before", c.name, got.Rev, before.Rev)
		}
	})
}

func conditionsLose(t *testing.T, s record.Store) {
	k := key("p", "k")
	stale := record.NewRev()
	cases := []conditionCase{
		{"create over one", func(string) record.Write { return record.Put(rec("p", "k", "new"), "") }, true, "old"},
		{"replace of another", func(string) record.Write { return record.Put(rec("p", "k", "new"), stale) }, true, "old"},
		{"replace of nothing", func(string) record.Write { return record.Put(rec("p", "k", "new"), stale) }, false, ""},
		{"erase of another", func(string) record.Write { return record.Erase(k, stale) }, true, "old"},
		{"check of another", func(string) record.Write { return record.Check(k, stale) }, true, "old"},
		{"check of nothing", func(string) record.Write { return record.Check(k, stale) }, false, ""},
		{"check absent of one", func(string) record.Write { return record.Check(k, "") }, true, "old"},
	}
	eachCondition(t, s, cases, func(c conditionCase, writes []record.Write, before record.Record) {
		winner, about := lose(t, s, writes...).Winner(k)
		if !about || !same(winner, before) {
			t.Errorf("%s: winner %s, want %s", c.name, show(winner), show(before))
		}
		stands(t, s, before)
	})
}

// eachCondition tries every case alone and together with a put of another record, on a record laid afresh.
func eachCondition(
	t *testing.T, s record.Store, cases []conditionCase, try func(conditionCase, []record.Write, record.Record),
) {
	t.Helper()
	k := key("p", "k")
	for _, c := range cases {
		for _, with := range []string{"", " with another"} {
			c := c
			c.name += with
			before := record.Record{Key: k}
			if got := get(t, s, k); got.Rev != "" {
				commit(t, s, record.Erase(k, got.Rev))
			}
			if c.there {
				before = rec("p", "k", "old")
				before.Tags[0] = record.Tag{Name: "n", Order: "o"}
				before = put(t, s, before, "")
			}
			writes := []record.Write{c.write(before.Rev)}
			if with != "" {
				writes = append(writes, record.Put(rec("p", "another "+c.name, "x"), ""))
			}
			try(c, writes, before)
		}
	}
}

func conflictNamesTheLosers(t *testing.T, s record.Store) {
	held := put(t, s, rec("p", "held", "held"), "")
	moved := put(t, s, rec("p", "moved", "first"), "")
	now := put(t, s, rec("p", "moved", "second"), moved.Rev)
	gone := put(t, s, rec("p", "gone", "gone"), "")
	commit(t, s, record.Erase(gone.Key, gone.Rev))
	want := map[record.Key]record.Record{now.Key: now, gone.Key: {Key: gone.Key}}

	c := lose(t, s, record.Put(rec("p", "held", "again"), held.Rev), record.Put(rec("p", "moved", "third"), moved.Rev),
		record.Check(gone.Key, gone.Rev), record.Put(rec("p", "new", "new"), ""))
	for _, r := range c.Lost {
		if w, ok := want[r.Key]; !ok || !same(r, w) {
			t.Errorf("Conflict has %s, want %s", show(r), show(w))
		}
	}
	if _, about := c.Winner(held.Key); about {
		t.Errorf("Conflict is about %s, whose condition held", held.Key)
	}
	// One loser among many must always be told apart, whichever it is.
	for _, loser := range []record.Write{record.Check(gone.Key, gone.Rev), record.Check(moved.Key, moved.Rev)} {
		c := lose(t, s, record.Put(rec("p", "new", "new"), ""), loser, record.Check(held.Key, held.Rev))
		if r, about := c.Winner(loser.Record.Key); !about || len(c.Lost) != 1 || !same(r, want[r.Key]) {
			t.Errorf("Conflict at %s = %v, want just that", loser.Record.Key, c.Lost)
		}
	}
	stands(t, s, held)
	stands(t, s, now)
	stands(t, s, record.Record{Key: key("p", "new")})
}

func revNeverComesBack(t *testing.T, s record.Store) {
	k := key("p", "k")
	old := put(t, s, rec("p", "k", "same"), "")
	commit(t, s, record.Erase(k, old.Rev))
	again := put(t, s, rec("p", "k", "same"), "")
	if again.Rev == old.Rev {
		t.Fatalf("the rev %q came back", old.Rev)
	}
	for _, w := range []record.Write{record.Put(rec("p", "k", "x"), old.Rev), record.Erase(k, old.Rev), record.Check(k, old.Rev)} {
		if winner, _ := lose(t, s, w).Winner(k); !same(winner, again) {
			t.Errorf("a write at an old rev lost to %s, want %s", show(winner), show(again))
		}
	}
	stands(t, s, again)
}

func commitIsAllOrNothing(t *testing.T, s record.Store) {
	standing := put(t, s, rec("p", "050", "standing"), "")
	var writes []record.Write
	for i := range record.MaxWrites {
		writes = append(writes, record.Put(rec("p", fmt.Sprintf("%03d", i), "x"), ""))
	}
	if winner, about := lose(t, s, writes...).Winner(standing.Key); !about || !same(winner, standing) {
		t.Errorf("winner = %s, want %s", show(winner), show(standing))
	}
	if got := list(t, s, "p", 1000); len(got) != 1 {
		t.Fatalf("after a lost Commit there are %d records, want 1", len(got))
	}
	writes[50] = record.Put(rec("p", "050", "x"), standing.Rev)
	commit(t, s, writes...)
	if got := list(t, s, "p", 1000); len(got) != record.MaxWrites {
		t.Fatalf("after a Commit of %d there are %d records", record.MaxWrites, len(got))
	}
	// Puts, erases and checks together.
	all, err := s.List(t.Context(), "p", "", 3)
	if err != nil || len(all) != 3 {
		t.Fatalf("List = %d records, %v", len(all), err)
	}
	commit(t, s, record.Erase(all[0].Key, all[0].Rev), record.Check(all[1].Key, all[1].Rev),
		record.Put(rec("p", "002", "put"), all[2].Rev), record.Check(key("q", "none"), ""))
	stands(t, s, record.Record{Key: all[0].Key})
	stands(t, s, all[1])
	if got := get(t, s, all[2].Key); string(got.Body) != "put" {
		t.Errorf("the put among others wrote %s", show(got))
	}
}

func commitOfNothing(t *testing.T, s record.Store) {
	if err := s.Commit(t.Context()); err != nil {
		t.Errorf("Commit() = %v, want nil", err)
	}
}

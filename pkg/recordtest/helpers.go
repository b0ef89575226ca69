package recordtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/record"
)

// patience is how long an index may lag behind before a test gives up.
const patience = 20 * time.Second

func key(part, sort string) record.Key { return record.Key{Part: part, Sort: sort} }

func rec(part, sort, body string) record.Record {
	return record.Record{Key: key(part, sort), Kind: "test", Body: []byte(body)}
}

// commit commits or ends the test.
func commit(t *testing.T, s record.Store, writes ...record.Write) {
	t.Helper()
	if err := s.Commit(t.Context(), writes...); err != nil {
		t.Fatalf("Commit(%s) = %v", writes[0].Record.Key, err)
	}
}

// put stores r over the revision was, and returns it as it now stands.
func put(t *testing.T, s record.Store, r record.Record, was string) record.Record {
	t.Helper()
	w := record.Put(r, was)
	commit(t, s, w)
	return w.Record
}

// get reads one record or ends the test.
func get(t *testing.T, s record.Store, k record.Key) record.Record {
	t.Helper()
	got, err := s.Get(t.Context(), k)
	if err != nil || len(got) != 1 {
		t.Fatalf("Get(%s) = %d records, %v", k, len(got), err)
	}
	return got[0]
}

// lose commits and ends the test unless that is a Conflict.
func lose(t *testing.T, s record.Store, writes ...record.Write) *record.Conflict {
	t.Helper()
	err := s.Commit(t.Context(), writes...)
	c := record.AsConflict(err)
	if c == nil {
		t.Fatalf("Commit(%s) = %v, want a conflict", writes[0].Record.Key, err)
	}
	if len(c.Lost) == 0 {
		t.Fatalf("Commit(%s) lost to nobody", writes[0].Record.Key)
	}
	return c
}

// same compares two records as far as a store keeps them.
func same(a, b record.Record) bool {
	if !a.Due.Truncate(time.Microsecond).Equal(b.Due.Truncate(time.Microsecond)) {
		return false
	}
	return a.Key == b.Key && a.Rev == b.Rev && a.Kind == b.Kind && string(a.Body) == string(b.Body) && a.Tags == b.Tags &&
		a.Erase.IsZero() == b.Erase.IsZero() && (a.Erase.IsZero() || record.EraseSecond(a.Erase) == record.EraseSecond(b.Erase))
}

// stands ends the test unless the store has just this record under its key.
func stands(t *testing.T, s record.Store, want record.Record) {
	t.Helper()
	if got := get(t, s, want.Key); !same(got, want) {
		t.Fatalf("Get(%s) = %s, want %s", want.Key, show(got), show(want))
	}
}

func show(r record.Record) string {
	body := string(r.Body)
	if len(body) > 40 {
		body = fmt.Sprintf("%s... (%d bytes)", body[:40], len(body))
	}
	return fmt.Sprintf("{%s rev %q kind %q body %q due %v tags %q erase %v}",
		r.Key, r.Rev, r.Kind, body, r.Due, r.Tags, r.Erase)
}

// eventually asks again and again until ask returns want, since an index may lag.
func eventually(t *testing.T, what, want string, ask func() string) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	giveUp := time.After(patience)
	for {
		got := ask()
		if got == want {
			return
		}
		select {
		case <-again.C:
		case <-giveUp:
			t.Fatalf("%s = %s, want %s", what, got, want)
		}
	}
}

// index pages through an index and returns its sorts in order.
func index(t *testing.T, s record.Store, place int, name string, limit int) string {
	t.Helper()
	var sorts []string
	var after record.Entry
	for {
		page, err := s.Index(t.Context(), place, name, after, limit)
		if err != nil {
			t.Fatalf("Index(%d, %q) = %v", place, name, err)
		}
		for _, e := range page {
			sorts = append(sorts, e.Key.Sort)
		}
		if len(page) < limit {
			return strings.Join(sorts, " ")
		}
		after = page[len(page)-1]
	}
}

// list pages through a part and returns its sorts in order.
func list(t *testing.T, s record.Store, part string, limit int) []string {
	t.Helper()
	var sorts []string
	after := ""
	for {
		page, err := s.List(t.Context(), part, after, limit)
		if err != nil {
			t.Fatalf("List(%s, %q) = %v", part, after, err)
		}
		for _, r := range page {
			sorts = append(sorts, r.Sort)
		}
		if len(page) < limit {
			return sorts
		}
		after = page[len(page)-1].Sort
	}
}

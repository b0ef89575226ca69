package recordtest

import (
	"testing"

	"github.com/mash-hub/mash/pkg/record"
)

// lostAnswer commits the very same writes again, as whoever missed the answer does.
func lostAnswer(t *testing.T, s record.Store) {
	create := record.Put(rec("p", "a", "created"), "")
	commit(t, s, create)
	commit(t, s, create)
	stands(t, s, create.Record)
	replace := record.Put(rec("p", "a", "replaced"), create.Record.Rev)
	commit(t, s, replace)
	commit(t, s, replace)
	stands(t, s, replace.Record)

	gone := put(t, s, rec("p", "gone", "x"), "")
	checked := put(t, s, rec("p", "checked", "x"), "")
	many := []record.Write{
		record.Erase(gone.Key, gone.Rev), record.Put(rec("p", "b", "new"), ""), record.Check(checked.Key, checked.Rev),
		record.Put(rec("p", "a", "again"), replace.Record.Rev),
	}
	commit(t, s, many...)
	commit(t, s, many...)
	// Also when what it checked or erased has gone on since: it was applied, and the puts show it.
	put(t, s, rec("p", "checked", "moved"), checked.Rev)
	put(t, s, rec("p", "gone", "back"), "")
	commit(t, s, many...)
	// Even one put that still stands shows it.
	overtaking := put(t, s, rec("p", "b", "overtaken"), many[1].Record.Rev)
	commit(t, s, many...)
	stands(t, s, overtaking)
	stands(t, s, many[3].Record)
}

// lostAnswerOvertaken repeats a try whose records have all been overwritten: then nothing shows that it was applied, and
// the caller hears who stands there now. A store that still knows may also say that it was applied.
func lostAnswerOvertaken(t *testing.T, s record.Store) {
	ours := record.Put(rec("p", "k", "ours"), "")
	commit(t, s, ours)
	theirs := put(t, s, rec("p", "k", "theirs"), ours.Record.Rev)
	if winner, _ := lose(t, s, ours).Winner(theirs.Key); !same(winner, theirs) {
		t.Errorf("winner = %s, want %s", show(winner), show(theirs))
	}
	stands(t, s, theirs)

	pair := []record.Write{record.Put(rec("p", "k", "pair"), theirs.Rev), record.Put(rec("p", "l", "pair"), "")}
	commit(t, s, pair...)
	var now []record.Record
	for _, w := range pair {
		now = append(now, put(t, s, rec("p", w.Record.Sort, "later"), w.Record.Rev))
	}
	for _, r := range lose(t, s, pair...).Lost {
		if !same(r, now[0]) && !same(r, now[1]) {
			t.Errorf("lost to %s, which does not stand", show(r))
		}
	}
	stands(t, s, now[0])
	stands(t, s, now[1])
}

func loneErase(t *testing.T, s record.Store) {
	r := put(t, s, rec("p", "k", "x"), "")
	erase := record.Erase(r.Key, r.Rev)
	commit(t, s, erase)
	commit(t, s, erase)
	commit(t, s, record.Erase(key("p", "never was"), record.NewRev()))
	// But one that finds another record leaves it alone.
	back := put(t, s, rec("p", "k", "back"), "")
	if winner, _ := lose(t, s, erase).Winner(r.Key); !same(winner, back) {
		t.Errorf("winner = %s, want %s", show(winner), show(back))
	}
	stands(t, s, back)
	// And among others it is a condition like any.
	c := lose(t, s, record.Erase(key("p", "none"), r.Rev), record.Put(rec("p", "new", "x"), ""))
	if winner, about := c.Winner(key("p", "none")); !about || winner.Rev != "" {
		t.Errorf("an erase among others lost to %s", show(winner))
	}
	stands(t, s, record.Record{Key: key("p", "new")})
}

package hub

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/record"
)

// HistoryFilter says which messages of the past a person wants to see; what is zero does not matter.
type HistoryFilter struct {
	Agent  string      // id of the agent that sent it
	Type   ma2h.Type   // ask, task or notify
	Status ma2h.Status // the outcome of an ask or task
	By     string      // who ended it: an actor, or "agent:" for any agent
	Text   string      // in the title, small and capital letters alike
	From   time.Time   // when it ended, or was told: not before,
	Until  time.Time   // and before
}

// HistoryPage is a part of the past, latest first.
type HistoryPage struct {
	Rows []Past

	// Next is where the next page begins: after what this one has, whatever has come since. It is empty at the end.
	Next string

	// SearchedTo is how far back the search came where it ended for having read enough; zero otherwise.
	SearchedTo time.Time
}

// Past is one message of the past.
type Past struct {
	Summary
	At time.Time // when it ended, or was told
	By string    // the attested actor who ended it; empty of a notify
}

// The reads that one page of the history may take: so many times a part of a list, and the messages in it.
const (
	maxHistoryReads = 6
	maxHistoryRows  = maxReadings
)

// History returns up to limit messages of the account that are over, and pass the filter, from cursor on: empty for the
// latest, else the Next of a page. It reads no more than a bounded part of the past at a time and says where it stopped. A
// cursor of no page of ours is a validation_error.
func (h *Hub) History(ctx context.Context, c *Caller, f HistoryFilter, cursor string, limit int) (*HistoryPage, error) {
	if err := personOnly(c); err != nil {
		return nil, err
	}
	after, err := historyEntry(cursor)
	if err != nil {
		return nil, err
	}
	if start := descending(f.Until); !f.Until.IsZero() && start > after.Order {
		after = record.Entry{Order: start, Key: stateKey("0")}
	}
	limit = min(limit, maxHistoryRows)
	w := walk{hub: h, lists: h.historyLists(c, f, after), size: record.MaxReads, at: after}
	if f == (HistoryFilter{Type: f.Type}) {
		w.size = limit + 1
	}
	page := &HistoryPage{Rows: []Past{}}
	for {
		last := w.at
		s, err := w.next(ctx)
		switch {
		case err != nil:
			return nil, err
		case s == nil && w.over(), s != nil && s.StatusAt.Before(f.From):
			return page, nil
		case s == nil:
			page.Next, page.SearchedTo = cursorOf(w.at), ascending(w.at.Order)
			return page, nil
		case !f.passes(s):
			continue
		case len(page.Rows) == limit:
			page.Next = cursorOf(last)
			return page, nil
		}
		page.Rows = append(page.Rows, Past{Summary: s.summary(c), At: s.StatusAt, By: s.EndedBy})
	}
}

// historyLists are the lists in which what passes the filter stands.
func (h *Hub) historyLists(c *Caller, f HistoryFilter, after record.Entry) []*walked {
	told := &walked{place: 1, name: "told#" + c.Account.Ref, after: after}
	done := &walked{place: 1, name: "done#" + c.Account.Ref, after: after}
	switch {
	case f.Agent != "":
		return []*walked{{place: 2, name: "done#" + h.AgentRef(c.Account.Ref, f.Agent), after: after}}
	case f.Type == ma2h.TypeNotify:
		return []*walked{told}
	case f.Type != "" || f.Status != "" || f.By != "":
		return []*walked{done}
	}
	return []*walked{told, done}
}

func (f *HistoryFilter) passes(s *State) bool {
	switch {
	case s.Deleted || s.Status == ma2h.StatusOpen:
		return false // it is so since it was listed
	case f.Agent != "" && s.AgentID != f.Agent, f.Type != "" && s.Type != f.Type:
		return false
	case s.Type == ma2h.TypeNotify && (f.Status != "" || f.By != ""):
		return false
	case f.Status != "" && s.Status != f.Status, f.By != "" && !endedBy(s, f.By):
		return false
	case !f.Until.IsZero() && !s.StatusAt.Before(f.Until):
		return false
	}
	return strings.Contains(strings.ToLower(s.Title), strings.ToLower(f.Text))
}

func endedBy(s *State, actor string) bool {
	return s.EndedBy == actor || actor == ma2h.AgentPrefix && strings.HasPrefix(s.EndedBy, actor)
}

// walked is one list on the way through it: what was read of it and not passed yet.
type walked struct {
	place   int
	name    string
	after   record.Entry
	entries []record.Entry
	states  []*State // nil where there is none any more
	ended   bool
}

// walk goes through lists of the same order as if they were one.
type walk struct {
	hub   *Hub
	lists []*walked
	size  int // entries a read
	reads int
	at    record.Entry // what was passed last
}

// next returns the next message of all lists; none at the end, or when enough was read.
func (w *walk) next(ctx context.Context) (*State, error) {
	for {
		var first *walked
		for _, l := range w.lists {
			if len(l.entries) == 0 && !l.ended {
				if w.reads == maxHistoryReads {
					return nil, nil
				}
				if err := w.read(ctx, l); err != nil {
					return nil, err
				}
			}
			if len(l.entries) > 0 && (first == nil || before(l.entries[0], first.entries[0])) {
				first = l
			}
		}
		if first == nil {
			return nil, nil
		}
		s := first.states[0]
		w.at = first.entries[0]
		first.states, first.entries = first.states[1:], first.entries[1:]
		if s != nil {
			return s, nil
		}
	}
}

// before says whether an entry comes before another one of the same order.
func before(a, b record.Entry) bool {
	if a.Order != b.Order {
		return a.Order < b.Order
	}
	return a.Key.Part < b.Key.Part
}

// over says whether all lists were gone through.
func (w *walk) over() bool {
	for _, l := range w.lists {
		if !l.ended || len(l.entries) > 0 {
			return false
		}
	}
	return true
}

// read reads on in a list.
func (w *walk) read(ctx context.Context, l *walked) error {
	w.reads++
	entries, err := w.hub.Store.Index(ctx, l.place, l.name, l.after, w.size)
	if err != nil {
		return fmt.Errorf("list %s: %w", l.name, err)
	}
	keys := make([]record.Key, len(entries))
	for i, e := range entries {
		keys[i] = e.Key
	}
	recs, err := w.hub.Store.Get(ctx, keys...)
	if err != nil {
		return fmt.Errorf("list %s: %w", l.name, err)
	}
	l.states = make([]*State, len(recs))
	for i, r := range recs {
		if r.Rev == "" {
			continue // the index may lag behind
		}
		l.states[i] = &State{}
		if err := Decode(r, l.states[i]); err != nil {
			return err
		}
	}
	if l.entries, l.ended = entries, len(entries) < w.size; !l.ended {
		l.after = entries[len(entries)-1]
	}
	return nil
}

// historyCursor is the form of a cursor: the order of an entry and the tail of its message, or of its directive behind d.
var historyCursor = regexp.MustCompile(`^([0-9]{19})\.(d\.)?([0-9a-z]{1,26})$`)

func historyEntry(cursor string) (record.Entry, error) {
	if cursor == "" {
		return record.Entry{}, nil
	}
	m := historyCursor.FindStringSubmatch(cursor)
	if m == nil {
		return record.Entry{}, ma2h.Errorf(ma2h.CodeValidationError, "That is no place in the history.")
	}
	return record.Entry{Order: m[1], Key: letterKey(m[2] != "", m[3], "state")}, nil
}

func cursorOf(e record.Entry) string {
	if e == (record.Entry{}) {
		return ""
	}
	if tail, directive := strings.CutPrefix(e.Key.Part, "d#"); directive {
		return e.Order + ".d." + tail
	}
	return e.Order + "." + strings.TrimPrefix(e.Key.Part, "m#")
}

// ascending is the time that descending wrote.
func ascending(order string) time.Time {
	n, err := strconv.ParseInt(order, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMicro(int64(9_000_000_000_000_000_000) - n).UTC()
}

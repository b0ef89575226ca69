package inbox

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// How many messages that wait are looked through, shown of those that are the visitor's to answer, and shown of others.
// What is shown at once is read at once: two records a message, a hundred in all.
const (
	maxWaiting = 500
	maxYours   = 50
	maxOthers  = 20
)

// fromQuery is how many of those rows come before the ones that the list shows.
const fromQuery = "from"

// waitingView is what waits, on a page of its own and beside a message.
type waitingView struct {
	Yours, Others, Nobody rowsView // to answer
	Count                 string   // of Yours, or empty when there is none
	Fixed                 bool     // the account has a default resolver list already
}

// rowsView is one list of it.
type rowsView struct {
	Rows    []row
	More    template.HTML // what it leaves out, or empty
	Next    string        // where those stand that come after these, or empty
	First   string        // where the first ones stand, unless these are they
	Compact bool          // no answers: the list beside a message is there to look around
}

// row is one message that waits.
type row struct {
	ID                   string
	Title                theirs
	Agent                theirs // attested
	Run                  run    // what the agent says
	Ago                  template.HTML
	Urgency              string // a key of the catalogue, or empty
	Fate                 fate
	Options              []option      // to answer with at once; none for what needs its page
	Editable, Declinable bool          // in own words, and not at all
	Unread               template.HTML // what they are to be read for on its page, or empty
	Open                 template.HTML // what its page is good for
	Who                  template.HTML // who may answer, when the visitor may not
	Current              bool          // the page shows this message
}

// waiting is what waits, current being the message that the page shows, and from how many of the visitor's own come before
// those that are listed.
func (v *visit) waiting(current string, from int) (*waitingView, error) {
	all, err := v.hub.Waiting(v.r.Context(), v.caller, maxWaiting+1)
	if err != nil {
		return nil, err
	}
	partly := len(all) > maxWaiting
	all = all[:min(len(all), maxWaiting)]
	slices.SortStableFunc(all, byUrgency)
	var yours, others, nobodys []hub.Summary
	for _, s := range all {
		switch {
		case s.MayResolve:
			yours = append(yours, s)
		case nobody(&s):
			nobodys = append(nobodys, s)
		default:
			others = append(others, s)
		}
	}
	view := &waitingView{Count: counted(len(yours), partly), Fixed: len(v.caller.Account.DefaultResolvers) > 0}
	from = min(from, max(len(yours)-1, 0)/maxYours*maxYours) // there are fewer by now
	if view.Yours, err = v.rows(yours[from:], maxYours, partly, current); err != nil {
		return nil, err
	}
	view.Yours.turn(v, from, len(yours), partly)
	if view.Others, err = v.rows(others, maxOthers, partly, current); err != nil {
		return nil, err
	}
	view.Nobody, err = v.rows(nobodys, maxOthers, partly, current)
	return view, err
}

// byUrgency puts first what is urgent, then what is of high priority; among the rest, what ends soonest, and then what
// is oldest.
func byUrgency(a, b hub.Summary) int {
	return cmp.Or(cmp.Compare(rank(a.Priority), rank(b.Priority)), byDeadline(a.ExpiresAt, b.ExpiresAt),
		a.AcceptedAt.Compare(b.AcceptedAt))
}

func rank(p ma2h.Priority) int {
	switch p {
	case "urgent":
		return 0
	case "high":
		return 1
	}
	return 2
}

// byDeadline puts what has no deadline last.
func byDeadline(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return -a.Compare(b)
	}
	return a.Compare(b)
}

// counted says how many there are, with a plus where not all were looked at.
func counted(n int, partly bool) string {
	switch {
	case n == 0:
		return ""
	case partly:
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}

// rows is the first of a list, up to limit.
func (v *visit) rows(list []hub.Summary, limit int, partly bool, current string) (rowsView, error) {
	view := rowsView{Compact: current != ""}
	if len(list) > limit {
		view.More = v.words.html("inbox.more", limit, counted(len(list), partly))
		list = list[:limit]
	}
	messages, err := v.hub.ReadAll(v.r.Context(), v.caller, list)
	if err != nil {
		return view, err
	}
	var others []string
	for _, m := range messages {
		if !m.MayResolve {
			others = append(others, m.Resolvers...)
		}
	}
	if err := v.meet(others); err != nil {
		return view, err
	}
	for _, m := range messages {
		if m.Response != nil {
			continue // it ended since it was listed
		}
		r := v.row(m)
		r.Current = r.ID == current
		view.Rows = append(view.Rows, r)
	}
	return view, nil
}

// turn says which part of a list of total the rows are, and where the others stand.
func (r *rowsView) turn(v *visit, from, total int, partly bool) {
	if r.Compact {
		return
	}
	if from > 0 {
		r.First = inboxPath
		r.More = v.words.html("inbox.part", from+1, min(from+maxYours, total), counted(total, partly))
	}
	if from+maxYours < total {
		r.Next = listPath(from + maxYours)
	}
}

// listPath is where the list stands without the first ones.
func listPath(from int) string {
	if from == 0 {
		return inboxPath
	}
	return inboxPath + "?" + fromQuery + "=" + strconv.Itoa(from)
}

// from is how many rows of the list the visitor has left behind: whole pages of them.
func (v *visit) from() int {
	n, err := strconv.Atoi(v.r.URL.Query().Get(fromQuery))
	if err != nil || n < 0 {
		return 0
	}
	return min(n, maxWaiting) / maxYours * maxYours
}

func (v *visit) row(m *hub.Reading) row {
	r := row{
		ID: m.ID, Title: v.title(m.Title), Agent: clean(m.AgentID), Run: v.runOf(m.RunID), Ago: v.clock.ago(m.AcceptedAt),
		Urgency: urgency(m.Priority), Fate: v.fate(m),
	}
	switch {
	case nobody(&m.Summary):
		return r
	case !m.MayResolve:
		r.Who = v.mayAnswer(&m.Summary)
		return r
	}
	if r.Options, r.Open = v.quick(m); len(r.Options) > 0 {
		r.Unread = v.unread(m, r.Options)
	}
	if q := m.Message.Request; q != nil {
		r.Declinable = q.Ignorable()
		r.Editable = len(r.Options) > 0 && q.Editable(versionOf(m))
	}
	return r
}

package inbox

import (
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// How many messages the lists of a page hold.
const (
	maxWaiting = 50
	maxTold    = 20
	maxEnded   = 10
)

// maxQuick is how many options a row offers; a longer choice is made on the message's own page.
const maxQuick = 4

// row is one message that waits.
type row struct {
	ID      string
	Title   theirs
	Agent   theirs // attested
	Run     run    // what the agent says
	Ago     template.HTML
	Urgency string // a key of the catalogue, or empty
	Fate    fate
	Options []option      // to answer with at once; none for what needs its page
	Open    template.HTML // what its page is good for
	Who     template.HTML // who may answer, when the visitor may not
	Nobody  bool          // may answer
	Current bool          // the page shows this message
}

// brief is one line of what was told, or has ended.
type brief struct {
	ID      string
	Title   theirs
	Agent   theirs
	When    template.HTML
	Urgency string
	Outcome string // a key of the catalogue, or empty
}

// rowsView is the list of what waits, on a page of its own and beside a message.
type rowsView struct {
	Rows    []row
	More    bool
	Fixed   bool // the account has a default resolver list already
	Compact bool // no answers: the list beside a message is there to look around
}

type listView struct {
	Waiting rowsView
	Told    []brief
	Ended   []brief
	BaseURL string
	Age     age
}

// age is when a page was made, and where to get it anew: nothing on it changes by itself.
type age struct {
	AsOf template.HTML
	Path string
}

func (v *visit) age(path string) age { return age{AsOf: v.clock.asOf(), Path: path} }

func (v *visit) list() error {
	waiting, err := v.waiting("")
	if err != nil {
		return err
	}
	view := listView{Waiting: waiting, BaseURL: v.hub.Settings.BaseURL, Age: v.age("/inbox")}
	told, err := v.hub.Told(v.r.Context(), v.caller, maxTold)
	if err != nil {
		return err
	}
	for _, s := range told {
		view.Told = append(view.Told, v.brief(&s))
	}
	ended, err := v.hub.Ended(v.r.Context(), v.caller, maxEnded)
	if err != nil {
		return err
	}
	for _, s := range ended {
		b := v.brief(&s)
		b.Outcome = "status." + string(s.Status)
		view.Ended = append(view.Ended, b)
	}
	p := v.page("inbox", "", view)
	p.count(waiting, v.words.plain("inbox.title"))
	if p.Notice, err = v.notice(); err != nil {
		return err
	}
	v.render(http.StatusOK, "list", p)
	return nil
}

// count puts the number of what waits in front of the tab's title.
func (p *page) count(waiting rowsView, title string) {
	p.Title = title + " · Mash"
	if n := len(waiting.Rows); n > 0 {
		p.Waiting = strconv.Itoa(n)
		if waiting.More {
			p.Waiting += "+"
		}
		p.Title = "(" + p.Waiting + ") " + p.Title
	}
}

// waiting is the list of what waits, current being the message that the page shows.
func (v *visit) waiting(current string) (rowsView, error) {
	list, err := v.hub.Questions(v.r.Context(), v.caller, maxWaiting)
	if err != nil {
		return rowsView{}, err
	}
	view := rowsView{More: len(list) == maxWaiting, Fixed: len(v.caller.Account.DefaultResolvers) > 0}
	for i := range list {
		r := v.row(&list[i])
		r.Current = r.ID == current
		view.Rows = append(view.Rows, r)
	}
	return view, nil
}

func (v *visit) row(m *hub.Reading) row {
	r := row{
		ID: m.ID, Title: v.title(m.Title), Agent: clean(m.AgentID), Run: v.runOf(m.RunID), Ago: v.clock.ago(m.AcceptedAt),
		Urgency: urgency(m.Priority), Fate: v.fate(m), Nobody: nobody(&m.Summary),
	}
	if !m.MayResolve {
		if !r.Nobody {
			r.Who = v.mayAnswer(&m.Summary)
		}
		return r
	}
	r.Options, r.Open = v.quick(m)
	return r
}

// quick returns what a message can be answered with from the list, and what its page is good for besides.
func (v *visit) quick(m *hub.Reading) (options []option, open template.HTML) {
	if m.Type == ma2h.TypeTask {
		return nil, v.words.html("row.task")
	}
	q := m.Message.Request
	if !q.Respondable() {
		return nil, v.words.html("row.decline")
	}
	if q.Mode == ma2h.ModeInput {
		return nil, v.words.counted("row.form", len(readFields(q.Schema, time.UTC)))
	}
	all := v.options(m)
	switch {
	case len(all) > maxQuick || alike(all):
		return nil, v.words.counted("row.options", len(all))
	case q.Editable(versionOf(m)):
		return all, v.words.html("row.other")
	}
	return all, ""
}

// alike says whether two options look so much the same that only their values tell them apart, which a row does not
// show.
func alike(options []option) bool {
	seen := map[string]bool{}
	for _, o := range options {
		look := strings.ToLower(string(o.Label))
		if seen[look] {
			return true
		}
		seen[look] = true
	}
	return false
}

func (v *visit) brief(s *hub.Summary) brief {
	return brief{
		ID: s.ID, Title: v.title(s.Title), Agent: clean(s.AgentID),
		When: v.clock.ago(s.AcceptedAt), Urgency: urgency(s.Priority),
	}
}

// notice says what the visitor has just done, as the address of the page tells and the hub confirms.
func (v *visit) notice() (*notice, error) {
	query := v.r.URL.Query()
	switch {
	case query.Has("done"):
		m, err := v.hub.Read(v.r.Context(), v.caller, query.Get("done"))
		if ma2h.AsError(err) != nil {
			return nil, nil
		}
		if err != nil || m.Response == nil {
			return nil, err
		}
		name := v.words.html("notice.see", v.title(m.Title).short(80))
		return &notice{Text: v.outcome(m), Name: name, Path: "/inbox/" + m.ID}, nil
	case query.Get("resolvers") == "on" && len(v.caller.Account.DefaultResolvers) > 0:
		return &notice{Text: v.words.html("notice.resolvers.on")}, nil
	case query.Get("resolvers") == "off" && len(v.caller.Account.DefaultResolvers) == 0:
		return &notice{Text: v.words.html("notice.resolvers.off")}, nil
	}
	return nil, nil
}

func (v *visit) title(s string) theirs { return clean(s).or(v.words.plain("untitled")) }

// urgency is the word for a priority that is not the usual one.
func urgency(p ma2h.Priority) string {
	switch p {
	case "urgent", "high", "low":
		return "priority." + string(p)
	}
	return ""
}

func versionOf(m *hub.Reading) ma2h.Version {
	version, _ := ma2h.ParseVersion(m.Message.Version) // it was accepted once
	return version
}

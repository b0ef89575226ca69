package inbox

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// maxHistory is how many messages a page of the history holds.
const maxHistory = 25

// The parameters of the history's address.
const (
	askText   = "q"
	askAgent  = "agent"
	askKind   = "kind"
	askEnd    = "outcome"
	askBy     = "by"
	askFrom   = "from"
	askUntil  = "until"
	askCursor = "after"
)

// What by can say besides an actor.
const (
	byAgents = "agents"
	byNobody = "nobody"
)

// historyRoutes are what is over.
func historyRoutes() []route {
	return []route{{http.MethodGet, "/history", (*visit).history, false}}
}

// historyView is a page of what is over.
type historyView struct {
	Days     []dayView
	Text     string
	From     string
	Until    string
	Wrong    map[string]template.HTML
	Selects  []selection
	Filtered template.HTML // what is asked for, in words, or empty
	Searched template.HTML // how far back was looked, where that was not the end
	Older    string        // where the next page is, or empty
	Newest   string        // where the first one is, of a later one
	Empty    template.HTML // says why there is nothing
}

// dayView is what ended on one day.
type dayView struct {
	Name template.HTML
	ID   string
	Rows []past
}

// past is one message that is over.
type past struct {
	brief
	Kind string // a key of the catalogue
}

// selection is a filter of which one value is chosen.
type selection struct {
	Name, Label string // Label is a key of the catalogue
	Options     []selectable
}

type selectable struct {
	Value  string
	Label  template.HTML
	Picked bool
}

func (v *visit) history() error {
	query := v.r.URL.Query()
	view := historyView{Text: query.Get(askText), From: query.Get(askFrom), Until: query.Get(askUntil), Wrong: map[string]template.HTML{}}
	var err error
	if view.Selects, err = v.selections(query); err != nil {
		return err
	}
	filter := v.historyFilter(query, &view)
	view.Filtered = v.filtered(&view)
	status := http.StatusOK
	if len(view.Wrong) > 0 {
		status = ma2h.CodeInvalidField.Status()
	} else if err := v.historyPage(&view, filter, query); err != nil {
		return err
	}
	v.render(status, "history", v.page("history", v.words.plain("history.title"), view))
	return nil
}

// historyFilter reads what is asked for. A value that no page of ours offers asks for nothing.
func (v *visit) historyFilter(query url.Values, view *historyView) hub.HistoryFilter {
	f := hub.HistoryFilter{Text: query.Get(askText)}
	picked := map[string]string{}
	for _, s := range view.Selects {
		for _, o := range s.Options {
			if o.Picked {
				picked[s.Name] = o.Value
			}
		}
	}
	f.Agent, f.Type, f.Status = picked[askAgent], ma2h.Type(picked[askKind]), ma2h.Status(picked[askEnd])
	switch by := picked[askBy]; by {
	case byAgents:
		f.By = ma2h.AgentPrefix
	case byNobody:
		f.By = ma2h.ActorDefaultOnExpire
	default:
		f.By = by
	}
	f.From = v.dayOf(askFrom, view.From, view)
	if f.Until = v.dayOf(askUntil, view.Until, view); !f.Until.IsZero() {
		f.Until = f.Until.AddDate(0, 0, 1)
	}
	return f
}

// dayOf reads a day, in the zone of the hub.
func (v *visit) dayOf(name, typed string, view *historyView) time.Time {
	if typed == "" {
		return time.Time{}
	}
	t, err := time.ParseInLocation(time.DateOnly, typed, v.clock.now.Location())
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		view.Wrong[name] = v.words.html("field.date")
		return time.Time{}
	}
	return t
}

// readPage reads the messages of a page of history. Those that are gone meanwhile are left out.
func (v *visit) readPage(page *hub.HistoryPage) ([]*hub.Reading, error) {
	var summaries []hub.Summary
	for _, p := range page.Rows {
		summaries = append(summaries, p.Summary)
	}
	return v.hub.ReadAll(v.r.Context(), v.caller, summaries)
}

// historyPage reads what passes the filter, and puts it under the days on which it ended.
func (v *visit) historyPage(view *historyView, f hub.HistoryFilter, query url.Values) error {
	page, err := v.hub.History(v.r.Context(), v.caller, f, query.Get(askCursor), maxHistory)
	if err != nil {
		return err
	}
	messages, err := v.readPage(page)
	if err != nil {
		return err
	}
	outcomes := map[string]*hub.Reading{}
	for _, m := range messages {
		outcomes[m.ID] = m
	}
	for _, p := range page.Rows {
		view.add(v, p, outcomes[p.ID])
	}
	view.Older, view.Newest = v.historyLinks(query, page)
	switch {
	case !page.SearchedTo.IsZero():
		view.Searched = v.words.html("history.searched", v.clock.at(page.SearchedTo))
	case len(page.Rows) > 0:
	case view.Filtered != "":
		view.Empty = v.words.html("history.none")
	case query.Get(askCursor) != "":
		view.Empty = v.words.html("history.end")
	default:
		view.Empty = v.words.html("history.empty")
	}
	return nil
}

func (view *historyView) add(v *visit, p hub.Past, m *hub.Reading) {
	row := past{brief: v.brief(&p.Summary), Kind: "kind." + string(p.Type)}
	row.When, row.Urgency = v.clock.time(p.At), ""
	if m != nil && m.Response != nil {
		row.Outcome = v.verdict(m)
	}
	name := v.clock.dayName(p.At)
	if n := len(view.Days); n == 0 || view.Days[n-1].Name != name {
		view.Days = append(view.Days, dayView{Name: name, ID: "day" + p.At.In(v.clock.now.Location()).Format("20060102")})
	}
	last := &view.Days[len(view.Days)-1]
	last.Rows = append(last.Rows, row)
}

// historyLinks are where the pages after this one, and the first one, are.
func (v *visit) historyLinks(query url.Values, page *hub.HistoryPage) (older, newest string) {
	kept := url.Values{}
	for _, name := range []string{askText, askAgent, askKind, askEnd, askBy, askFrom, askUntil} {
		if s := query.Get(name); s != "" {
			kept.Set(name, s)
		}
	}
	if query.Get(askCursor) != "" {
		newest = "/history?" + kept.Encode()
	}
	if page.Next != "" {
		kept.Set(askCursor, page.Next)
		older = "/history?" + kept.Encode()
	}
	return older, newest
}

// selections are the filters of which one value is chosen.
func (v *visit) selections(query url.Values) ([]selection, error) {
	agents, err := v.hub.Agents(v.r.Context(), v.caller)
	if err != nil {
		return nil, err
	}
	people, _, err := v.hub.People(v.r.Context(), v.caller)
	if err != nil {
		return nil, err
	}
	list := []selection{{Name: askAgent, Label: "filter.agent"}, {Name: askKind, Label: "filter.kind"},
		{Name: askEnd, Label: "filter.outcome"}, {Name: askBy, Label: "filter.by"}}
	for _, a := range agents {
		list[0].offer(a.ID, v.words.html("filter.is", clean(a.ID).short(maxLabel)))
	}
	for _, k := range []ma2h.Type{ma2h.TypeAsk, ma2h.TypeTask, ma2h.TypeNotify} {
		list[1].offer(string(k), v.words.html("kind."+string(k)))
	}
	for _, s := range []ma2h.Status{ma2h.StatusAnswered, ma2h.StatusDeclined, ma2h.StatusCompleted, ma2h.StatusDismissed,
		ma2h.StatusCancelled, ma2h.StatusExpired} {
		list[2].offer(string(s), v.words.html("ended."+string(s)))
	}
	for _, actor := range v.actors(people) {
		list[3].offer(actor, v.who(actor))
	}
	list[3].offer(byAgents, v.words.html("filter.by.agents"))
	list[3].offer(byNobody, v.words.html("filter.by.nobody"))
	for i := range list {
		list[i].choose(query.Get(list[i].Name))
	}
	return list, nil
}

// actors are the people of the account, the visitor first.
func (v *visit) actors(people []hub.PersonView) []string {
	actors := []string{v.caller.Actor()}
	for _, p := range people {
		if actor := ma2h.HumanPrefix + p.Name; !slices.Contains(actors, actor) {
			actors = append(actors, actor)
		}
	}
	return actors
}

func (s *selection) offer(value string, label template.HTML) {
	s.Options = append(s.Options, selectable{Value: value, Label: label})
}

func (s *selection) choose(value string) {
	for i := range s.Options {
		s.Options[i].Picked = value != "" && s.Options[i].Value == value
	}
}

// filtered says in words what is asked for.
func (v *visit) filtered(view *historyView) template.HTML {
	var parts []template.HTML
	if view.Text != "" {
		parts = append(parts, v.words.html("filter.text.is", clean(view.Text).short(60)))
	}
	for _, s := range view.Selects {
		for _, o := range s.Options {
			if o.Picked {
				parts = append(parts, v.words.html(s.Label+".is", o.Label))
			}
		}
	}
	for _, d := range []struct{ key, typed string }{{"filter.from.is", view.From}, {"filter.until.is", view.Until}} {
		if d.typed != "" {
			parts = append(parts, v.words.html(d.key, clean(d.typed).short(20)))
		}
	}
	return v.words.list(parts)
}

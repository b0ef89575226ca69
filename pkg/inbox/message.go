package inbox

import (
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// messageView is the page of one message, with the list of what waits beside it.
type messageView struct {
	Waiting *waitingView
	ID      string
	Kind    ma2h.Type
	Title   theirs
	From    way  // attested
	To      *way // of a message to another agent
	Run     run  // what the agent says, as are the claims
	Claims  []pair
	Asked   template.HTML
	Ago     template.HTML
	Urgency string
	May     template.HTML
	Nobody  bool
	Strange bool // nobody of the account may answer
	Fixed   bool
	Fate    fate
	Body    template.HTML
	Parts   []part
	Task    *taskView
	Answer  *answerView // nil when the visitor cannot answer
	Ended   *ended      // nil while it waits
	Events  []event

	Callback *callbackView
	Age      age
	Gone     template.HTML // how it ended, in short; empty while it waits
	Warning  template.HTML // why what was sent did not count, or empty
	Kept     []kept        // what was typed where nothing can be sent any more
}

// taskView is what a task wants done.
type taskView struct {
	Instructions template.HTML
	Verification template.HTML
	Checklist    []step
}

type step struct {
	Name string
	Text theirs
	Done bool
}

// steps lists a checklist; empty stands for an item that says nothing.
func steps(list []ma2h.ChecklistItem, empty string) []step {
	var out []step
	for i, item := range list {
		out = append(out, step{Name: stepName(i), Text: cleanLines(item.Text).or(empty), Done: item.Done})
	}
	return out
}

// answerView is the form of an answer, and what has been typed into it.
type answerView struct {
	Mode       string // options, input or task; empty where there is nothing but to decline
	Options    []option
	Near       bool // few options, which stay in sight while the page is read
	Short      bool // and short ones, two of which stand side by side on a phone
	Editable   bool
	Declinable bool
	Fields     []*field
	Problems   []problem
	Lists      bool // some have rows, whose buttons are not what the enter key presses
	Draft      draft
}

func (v *visit) message() error {
	m, err := v.hub.Read(v.r.Context(), v.caller, v.r.PathValue("id"))
	if err != nil {
		return err
	}
	v.see(m)
	return v.show(http.StatusOK, m, nil, "")
}

// see notes that a person has opened a message. A HEAD, or a browser that fetches ahead, is no person; and a note that
// fails is no reason not to show the page.
func (v *visit) see(m *hub.Reading) {
	ahead := v.r.Header.Get("Sec-Purpose") + v.r.Header.Get("Purpose")
	if v.r.Method != http.MethodGet || m.Mailbox != nil || strings.Contains(ahead, "prefetch") {
		return
	}
	if err := v.hub.See(v.r.Context(), v.caller, m); err != nil {
		v.in.config.Log.WarnContext(v.r.Context(), "seen not noted", "id", m.ID, "err", err)
	}
}

// show writes the page of a message. d is what has been typed, nil on a first look; warning, why that did not count.
func (v *visit) show(status int, m *hub.Reading, d *draft, warning template.HTML) error {
	waiting, err := v.waiting(m.ID, 0)
	if err != nil {
		return err
	}
	if m.Response == nil && m.Type != ma2h.TypeNotify {
		if err := v.meet(m.Resolvers); err != nil {
			return err
		}
	}
	view := v.messageView(m)
	view.Waiting, view.Fixed, view.Warning = waiting, waiting.Fixed, warning
	switch open := m.MayResolve && m.Response == nil; {
	case open && d == nil:
		view.Answer = v.answerView(m, v.draft(m, nil))
	case open:
		view.Answer = v.answerView(m, d)
	case d != nil:
		view.Kept = v.kept(d)
	}
	p := v.page("message", "", view)
	p.count(waiting, string(view.Title.short(60)))
	p.Live = v.liveAt("/inbox/" + m.ID)
	v.render(status, "message", p)
	return nil
}

func (v *visit) messageView(m *hub.Reading) *messageView {
	view := &messageView{
		ID: m.ID, Kind: m.Type, Title: v.title(m.Title), From: v.way(m.AgentID, m.Message.Agent.Session), To: v.wayTo(m), Run: v.runOf(m.RunID),
		Claims: v.claims(m), Asked: v.clock.at(m.AcceptedAt), Ago: v.clock.ago(m.AcceptedAt), Urgency: urgency(m.Priority),
		Parts: v.parts(m.Message.Context), Ended: v.ended(m), Events: v.events(m),
		Callback: v.callback(m), Age: v.age("/inbox/" + m.ID),
	}
	if m.Response != nil {
		view.Gone = v.words.html("live.ended", v.verdictOfAll(m), v.clock.ago(m.EndedAt))
	}
	if v.looksAgain() {
		return view // with what may differ; the rest is there already
	}
	if m.Message.Body != "" {
		view.Body = v.in.markdown.html(m.Message.Body)
	}
	if m.Response == nil && m.Type != ma2h.TypeNotify {
		view.May, view.Nobody, view.Fate = v.mayAnswer(&m.Summary), nobody(&m.Summary), v.fate(m)
		view.Strange = v.strange(&m.Summary)
	}
	if a := m.Message.Action; a != nil {
		view.Task = &taskView{Instructions: v.in.markdown.html(a.Instructions), Checklist: steps(a.Checklist, v.words.plain("option.empty"))}
		if a.Verification != "" {
			view.Task.Verification = v.in.markdown.html(a.Verification)
		}
	}
	return view
}

// claims is what the agent says of itself and nobody has proven.
func (v *visit) claims(m *hub.Reading) []pair {
	var out []pair
	add := func(name, value string) {
		if value != "" {
			out = append(out, pair{Name: clean(name), Value: &data{Kind: "text", Text: clean(value)}})
		}
	}
	a := m.Message.Agent
	add(v.words.plain("claim.run"), a.RunID)
	add(v.words.plain("claim.runtime"), a.Runtime)
	add(v.words.plain("claim.project"), a.Project)
	var labels []string
	for name := range a.Labels {
		labels = append(labels, name)
	}
	slices.Sort(labels)
	for _, name := range labels {
		add(name, a.Labels[name])
	}
	for _, tag := range m.Message.Tags {
		add(v.words.plain("claim.tag"), tag)
	}
	return out
}

func (v *visit) answerView(m *hub.Reading, d *draft) *answerView {
	a := &answerView{Draft: *d, Declinable: true}
	q := m.Message.Request
	switch {
	case m.Type == ma2h.TypeTask:
		a.Mode = "task"
		return a
	case q.Respondable() && q.Mode == ma2h.ModeInput:
		a.Mode = "input"
	case q.Respondable():
		a.Mode, a.Options, a.Editable = "options", v.options(m), q.Editable(versionOf(m))
		a.Near, a.Short = near(a.Options), short(a.Options)
	}
	a.Declinable = q.Ignorable()
	a.Fields, a.Problems = d.fields, problems(d.fields, "", v.words)
	a.Lists = anyList(d.fields)
	return a
}

package inbox

import (
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// How many messages the lists of what needs no answer hold.
const (
	maxTold  = 20
	maxEnded = 10
)

// brief is one line of what was told, or has ended.
type brief struct {
	ID      string
	Title   theirs
	Agent   theirs
	When    template.HTML
	Urgency string
	Outcome template.HTML // what was decided, and by whom; empty of what was told
	Gone    template.HTML // the same with when, for a row that still stands where somebody points at it
}

type listView struct {
	Waiting *waitingView
	Told    []brief
	Ended   []brief
	BaseURL string
	Try     tryView
	Age     age
}

// age is when a page was made, and where to get it anew: nothing on it changes by itself.
type age struct {
	AsOf template.HTML
	Path string
}

func (v *visit) age(path string) age { return age{AsOf: v.clock.asOf(), Path: path} }

func (v *visit) list() error { return v.showList(http.StatusOK, tryView{Name: suggestedAgent}) }

func (v *visit) showList(status int, try tryView) error {
	waiting, err := v.waiting("", v.from())
	if err != nil {
		return err
	}
	view := listView{Waiting: waiting, BaseURL: v.hub.Settings.BaseURL, Try: try, Age: v.age(listPath(v.from()))}
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
	if view.Ended, err = v.decided(ended); err != nil {
		return err
	}
	p := v.page("inbox", "", view)
	p.count(waiting, v.words.plain("inbox.title"))
	p.Live = v.liveAt(listPath(v.from()))
	if p.Notice, err = v.notice(); err != nil {
		return err
	}
	v.render(status, "list", p)
	return nil
}

// count puts the number of what waits for the visitor in front of the tab's title.
func (p *page) count(waiting *waitingView, title string) {
	p.Title, p.Waiting = title+" · Mash", waiting.Count
	if p.Waiting != "" {
		p.Title = "(" + p.Waiting + ") " + p.Title
	}
}

func (v *visit) brief(s *hub.Summary) brief {
	return brief{
		ID: s.ID, Title: v.title(s.Title), Agent: clean(s.AgentID),
		When: v.clock.ago(s.AcceptedAt), Urgency: urgency(s.Priority),
	}
}

// decided says of each what was decided, and when.
func (v *visit) decided(list []hub.Summary) ([]brief, error) {
	messages, err := v.hub.ReadAll(v.r.Context(), v.caller, list)
	var out []brief
	for _, m := range messages {
		b := v.brief(&m.Summary)
		b.When, b.Urgency, b.Outcome = v.clock.ago(m.EndedAt), "", v.verdict(m)
		if v.looksAgain() {
			b.Gone = v.words.html("live.ended", v.verdictOfAll(m), b.When)
		}
		out = append(out, b)
	}
	return out, err
}

// notice says what the visitor has just done, as the address of the page tells and the hub confirms.
func (v *visit) notice() (*notice, error) {
	query := v.r.URL.Query()
	switch {
	case v.before != "":
		return v.becameAnother(), nil
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
	case query.Get("resolvers") == "on" && slices.Contains(v.caller.Account.DefaultResolvers, v.caller.Actor()):
		return &notice{Text: v.words.html("notice.resolvers.on")}, nil
	case query.Get("resolvers") == "off" && len(v.caller.Account.DefaultResolvers) == 0:
		return &notice{Text: v.words.html("notice.resolvers.off")}, nil
	}
	for _, said := range []string{
		"resolvers=set", "password=set", "password=removed", "session=ended", "token=revoked", "did=removed", "did=uninvited",
		"mail=on", "mail=off",
		"joined=1",
	} {
		if name, value, _ := strings.Cut(said, "="); query.Get(name) == value {
			return &notice{Text: v.words.html("notice." + name + "." + value)}, nil
		}
	}
	return nil, nil
}

// becameAnother tells whoever was signed in as somebody else a moment ago: what they do from now on is in another name.
func (v *visit) becameAnother() *notice {
	if v.before == "" {
		return nil
	}
	return &notice{Text: v.words.html("notice.another", clean(v.caller.Person.ID), clean(v.before))}
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

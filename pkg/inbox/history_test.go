package inbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pasts are the titles of a page of the history, each with what became of it.
func (a *answer) pasts() []string {
	var out []string
	for _, list := range a.find("ul", "class", "pasts") {
		for n := range list.Descendants() {
			if n.Data == "li" {
				out = append(out, text(n))
			}
		}
	}
	return out
}

func TestHistoryShowsWhatIsOver(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	r.get("/history").is(http.StatusOK).says("Nothing is over yet.")
	answered := r.ask("Ship <b>it</b>?", `"mode":"confirm"`)
	r.reply(answered, url.Values{"do": {"option:0"}}).is(http.StatusSeeOther)
	r.send(`"type":"notify","title":"Built"`)
	r.send(`"type":"ask","title":"Soon?",` + inAnHour + `,"request":{"mode":"confirm","allowed_resolvers":["human:owner"]}`)
	secret := r.form(`{"properties":{"pin":{"type":"string","x-ma2h-sensitive":true}}}`)
	r.reply(secret, url.Values{"do": {"send"}, "f0": {"hush"}}).is(http.StatusSeeOther)
	p := r.get("/history").is(http.StatusOK)
	p.lacks("hush", "Soon?")
	want := []string{"14:20 deploybot/dev-team Question FormForm answered", "14:20 deploybot/dev-team Told Built",
		"14:20 deploybot/dev-team Question Ship <b>it</b>?Answered “Approve”"}
	if diff := cmp.Diff(want, p.pasts()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if len(p.find("a", "aria-current", "page")) != 1 {
		t.Error("the navigation does not say where this is")
	}
	r.pass(24 * time.Hour)
	p = r.get("/history")
	p.says("Yesterday")
	r.send(`"type":"notify","title":"Built anew"`)
	r.get("/history").says("Today", "Yesterday")
}

func TestHistoryIsFilteredByItsAddress(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for i, do := range []string{"option:0", "decline", "option:1"} {
		id := r.ask(fmt.Sprintf("Question %d", i), `"mode":"confirm"`)
		r.reply(id, url.Values{"do": {do}}).is(http.StatusSeeOther)
		r.pass(24 * time.Hour)
	}
	r.send(`"type":"notify","title":"Told question"`)
	for query, want := range map[string]int{
		"": 4, "?q=question+1": 1, "?q=QUESTION": 4, "?q=%3Cscript%3E": 0, "?kind=notify": 1, "?kind=ask&outcome=answered": 2,
		"?outcome=declined": 1, "?by=human%3Aowner": 3, "?by=agents": 0, "?by=nobody": 0, "?agent=deploybot%2Fdev-team": 4,
		"?from=2026-03-05": 3, "?until=2026-03-05": 2, "?from=2026-03-05&until=2026-03-05": 1, "?agent=unknown&kind=x": 4, "?outcome=answered&q=2": 1,
	} {
		p := r.get("/history" + query).is(http.StatusOK)
		calm(p)
		if got := p.pasts(); len(got) != want {
			t.Errorf("/history%s has %q, want %d", query, got, want)
		}
		if want == 0 {
			p.says("Nothing of the past is like that.")
		}
	}
	p := r.get("/history?kind=ask&q=question&from=2026-03-04")
	p.says("with “question” in the title", "from 2026-03-04 on")
	if got := attr(p.find("input", "name", "q")[0], "value"); got != "question" {
		t.Errorf("the page does not keep what is asked for: %q", got)
	}
	p = r.get("/history?from=soon&q=kept").is(http.StatusUnprocessableEntity)
	if len(p.find("p", "id", "from-wrong")) != 1 || attr(p.find("input", "name", "q")[0], "value") != "kept" {
		t.Error("what is wrong does not stand at the day, or what was typed is gone")
	}
	r.get("/history?after=nonsense").is(http.StatusBadRequest)
}

func TestHistoryHasPages(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for i := range 60 {
		r.send(fmt.Sprintf(`"type":"notify","title":"Told %02d"`, i))
	}
	var seen []string
	path := "/history?kind=notify"
	for page := 0; path != ""; page++ {
		p := r.get(path).is(http.StatusOK)
		for _, s := range p.pasts() {
			seen = append(seen, s[len(s)-2:])
		}
		r.send(`"type":"notify","title":"New"`)
		if newest := linkTo(p, "Newest"); (page > 0) != (newest == "/history?kind=notify") {
			t.Errorf("page %d leads to the newest at %q", page, newest)
		}
		path = linkTo(p, "Older")
	}
	if len(seen) != 60 || seen[0] != "59" || seen[59] != "00" {
		t.Errorf("the pages hold %v", seen)
	}
	for i := range 640 {
		r.send(fmt.Sprintf(`"type":"notify","title":"Hay %d"`, i))
	}
	p := r.get("/history?q=told+00").is(http.StatusOK)
	p.says("Searched back to", "there may be more before that")
	p = r.get(linkTo(p, "Search further back")).is(http.StatusOK)
	if got := p.pasts(); len(got) != 1 || !strings.Contains(got[0], "Told 00") {
		t.Errorf("further back there is %v", got)
	}
}

// linkTo is where the link with this text leads, or nothing.
func linkTo(p *answer, label string) string {
	for _, a := range p.find("a", "", "") {
		if text(a) == label {
			return attr(a, "href")
		}
	}
	return ""
}

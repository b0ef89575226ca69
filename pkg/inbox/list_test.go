package inbox_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/ma2h"
)

func TestEmptyInboxSaysHowToBegin(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	p := r.get("/inbox").is(http.StatusOK)
	p.says("Nothing waits for you", "the hub at "+r.server.URL, "mash agent add", "No agent has told you anything yet")
	if got := text(p.find("title", "", "")[0]); got != "Inbox · Mash" {
		t.Errorf("title = %q, want no count", got)
	}
}

func TestRowsSayWhatHappensIfNobodyAnswers(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	expires := func(d time.Duration) string { return fmt.Sprintf(`,"expires_at":%q`, ma2h.FormatTime(start.Add(d))) }
	ask := func(title, request, more string) {
		r.send(fmt.Sprintf(`"type":"ask","title":%q,"request":{"allowed_resolvers":["human:owner"],%s}%s`, title, request, more))
	}
	ask("first", `"mode":"select","options":[{"value":"hold","label":"Hold"},{"value":"go"}],"default_on_expire":"hold"`,
		expires(12*time.Minute+30*time.Second))
	r.pass(time.Minute)
	ask("second", `"mode":"confirm"`, expires(110*time.Second)+`,"priority":"urgent"`)
	ask("third", `"mode":"confirm"`, "")
	ask("fourth", `"mode":"input","schema":{"properties":{"a":{},"b":{}}},"default_on_expire":{"a":1}`, expires(5*time.Hour))
	ask("fifth", `"mode":"select","options":[{"value":"1"},{"value":"2"},{"value":"3"},{"value":"4"},{"value":"5"}]`, "")
	r.send(`"type":"task","title":"sixth","action":{"instructions":"Do it.","allowed_resolvers":["human:owner"]}` +
		expires(50*time.Hour))
	r.send(`"type":"ask","title":"seventh","request":{"mode":"confirm","allowed_resolvers":["human:alice","agent:bot"]}`)
	r.send(`"type":"notify","title":"told first"`)
	r.pass(time.Second)
	r.send(`"type":"notify","title":"told second","priority":"high"`)

	p := r.get("/inbox").is(http.StatusOK)
	want := [][]string{
		{"second", "Urgent · Expires in 48 s, without an answer", "Approve", "Deny"},
		{"first", "“Hold” in 11 min, if nobody answers", "1 min ago", "Hold", "go"},
		{"fourth", "Sends its default in 4 h", "Open form, 2 fields"},
		{"sixth", "Expires in 2 days", "Open task"},
		{"third", "Waits until you answer"},
		{"fifth", "Choose from 5 options"},
		{"seventh", "Only alice or agent bot may answer, and you are owner.", "Waits until somebody answers"},
	}
	rows := p.find("li", "class", "row")
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
	for i, texts := range want {
		for _, s := range append(texts, "deploybot/dev-team", "run_88") {
			if !strings.Contains(text(rows[i]), s) {
				t.Errorf("row %d = %q, want %q in it", i, text(rows[i]), s)
			}
		}
	}
	if strings.Contains(text(rows[6]), "Approve") {
		t.Error("a row offers an answer that the visitor may not give")
	}
	if got := text(p.find("title", "", "")[0]); got != "(6) Inbox · Mash" {
		t.Errorf("title = %q, want the count in it", got)
	}
	page := text(p.root)
	if strings.Index(page, "told second") > strings.Index(page, "told first") {
		t.Error("what was told is not newest first")
	}
}

func TestAnExpiredAskLeavesTheListAndShowsItsDefault(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.send(fmt.Sprintf(`"type":"ask","title":"Ship it?","expires_at":%q,"request":{"mode":"select",`+
		`"allowed_resolvers":["human:owner"],"options":[{"value":"hold","label":"Hold for review"}],"default_on_expire":"hold"}`,
		ma2h.FormatTime(start.Add(time.Minute))))
	r.get("/inbox/"+id).says("If nobody answers by 14:21 UTC, the answer is “Hold for review”.", "59 s left")
	r.pass(2 * time.Minute)
	r.get("/inbox").lacks("Ship it?")
	r.get("/inbox/" + id).is(http.StatusOK).says("Nobody answered by 14:21 UTC, so the answer is “Hold for review”")
	r.reply(id, map[string][]string{"do": {"option:0"}}).is(http.StatusConflict).says("your answer was not sent")
	r.get("/inbox").says("Lately decided", "“Hold for review”, as nobody answered")
}

func TestADefaultIsMarkedOnlyWithADeadline(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	const ask = `"type":"ask","title":"Q","request":{"mode":"confirm","allowed_resolvers":["human:owner"],"default_on_expire":"deny"}`
	id := r.send(ask)
	p := r.get("/inbox/" + id)
	p.says("It waits until somebody answers.")
	p.lacks("the answer if nobody answers")
	id = r.send(ask + fmt.Sprintf(`,"expires_at":%q`, ma2h.FormatTime(start.Add(time.Hour))))
	p = r.get("/inbox/" + id)
	p.lacks("It waits until somebody answers.")
	p.says("Deny the answer if nobody answers")
}

func TestLongRunsAreCut(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	const long, cut = "run_01jd8x5q2m9k7n3p4r6t", "run_01jd8x5q…"
	e, invalid := ma2h.ReadMessage([]byte(`{"ma2h_version":"0.6","type":"ask","created_at":"2026-03-04T14:20:00Z",` +
		`"idempotency_key":"long","agent":{"id":"deploybot/dev-team","run_id":"` + long + `"},"title":"Q","request":` +
		`{"mode":"confirm","allowed_resolvers":["human:owner"]}}`))
	if invalid != nil {
		t.Fatal(invalid)
	}
	s, err := r.hub.Submit(t.Context(), r.agent, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/inbox", "/inbox/" + s.Ack.ID} {
		p := r.get(path)
		if runs := p.find("span", "class", "run"); len(runs) == 0 || text(runs[0]) != cut || attr(runs[0], "title") != long {
			t.Errorf("on %s the run is not cut to %s with all of it in the title", path, cut)
		}
	}
	if claims := r.get("/inbox/"+s.Ack.ID).find("details", "class", "claims"); !strings.Contains(text(claims[0]), long) {
		t.Errorf("what the agent says of itself lacks %s", long)
	}
}

func TestPagesSayHowOldTheyAre(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Q", `"mode":"confirm"`)
	r.pass(start.Add(time.Minute).Sub(r.clock()))
	for _, path := range []string{"/inbox", "/inbox/" + id} {
		p := r.get(path)
		p.says("As of 14:21:07 UTC Reload")
		if links := p.find("a", "href", path); text(links[len(links)-1]) != "Reload" {
			t.Errorf("Reload does not lead back to %s", path)
		}
	}
	fresh := r.getIn(r.newBrowser(), r.newLink())
	if links := fresh.find("a", "href", "/inbox"); text(links[len(links)-1]) != "Reload" {
		t.Error("Reload on the page of a link does not lead to the inbox")
	}
}

func TestListStopsAtFifty(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for i := range 51 {
		r.ask(fmt.Sprintf("ask %d", i), `"mode":"confirm"`)
	}
	p := r.get("/inbox").is(http.StatusOK)
	p.says("These are the first 50 of 51.")
	if got := text(p.find("title", "", "")[0]); got != "(51) Inbox · Mash" {
		t.Errorf("title = %q, want (51)", got)
	}
	next := p.find("a", "href", "/inbox?from=50")
	if len(next) != 1 || text(next[0]) != "Show the next ones" || len(p.find("a", "class", "button")) < 1 {
		t.Fatal("nothing leads to the one that is left")
	}
	for path, want := range map[string]int{"/inbox?from=50": 51, "/inbox?from=5000": 51, "/inbox?from=99": 51, "/inbox?from=49": 1, "/inbox?from=x": 1, "/inbox?from=-1": 1} {
		p := r.get(path).is(http.StatusOK)
		first := p.find("li", "class", "row")[0]
		if !strings.Contains(text(first), fmt.Sprintf("ask %d", want-1)) {
			t.Errorf("%s begins with %q, want ask %d", path, text(first), want-1)
		}
		if want > 1 {
			p.says("These are 51 to 51 of 51.", "Back to the first ones").lacks("Show the next ones")
		}
	}
	second := r.get("/inbox?from=50")
	look := attr(second.find("body", "", "")[0], "data-look")
	if look != "/inbox?from=50&live=1" {
		t.Errorf("the second part looks again at %q", look)
	}
	tag := r.get(look).is(http.StatusOK).header.Get("ETag")
	r.do(r.browser, http.MethodGet, look, nil, map[string]string{"If-None-Match": tag}).is(http.StatusNotModified)
	r.send(`"type":"ask","title":"the last","priority":"urgent","request":{"mode":"confirm","allowed_resolvers":["human:owner"]}`)
	rows := r.get("/inbox").find("li", "class", "row")
	if len(rows) != 50 || !strings.Contains(text(rows[0]), "the last") {
		t.Errorf("%d rows, the first %q; want 50, and what is urgent first", len(rows), text(rows[0]))
	}
}

func TestLatelyDecidedSaysWhatAndByWhom(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	soon := fmt.Sprintf(`,"expires_at":%q`, ma2h.FormatTime(start.Add(time.Minute)))
	answers := []struct {
		request, do, want string
	}{
		{`"mode":"select","options":[{"value":"ship","label":"Ship it"},{"value":"hold"}]`, "option:0", "Answered “Ship it”"},
		{`"mode":"select","options":[{"value":"ship","label":"Ship it"},{"value":"hold"}]`, "option:1", "Answered “hold”"},
		{`"mode":"confirm","permissions":{"allow_edit":true}`, "other", "Answered “after lunch”"},
		{`"mode":"input","schema":{"properties":{"a":{"type":"string"}}}`, "send", "Form answered"},
		{`"mode":"confirm"`, "decline", "Declined"},
	}
	var want []string
	for i, a := range answers {
		r.pass(time.Second)
		id := r.ask(fmt.Sprintf("Q %d", i), a.request)
		r.reply(id, map[string][]string{"do": {a.do}, "other": {"after lunch"}}).is(http.StatusSeeOther)
		want = append(want, fmt.Sprintf("deploybot/dev-team just now Q %d %s", i, a.want))
	}
	r.pass(time.Second)
	id := r.send(`"type":"ask","title":"Q 5","request":{"mode":"confirm"}`)
	if _, err := r.hub.Cancel(t.Context(), r.agent, id); err != nil {
		t.Fatal(err)
	}
	want = append(want, "deploybot/dev-team just now Q 5 Withdrawn, by agent deploybot/dev-team")
	r.pass(time.Second)
	id = r.send(`"type":"task","title":"Q 6","action":{"instructions":"x","allowed_resolvers":["human:owner"]}` + soon)
	r.pass(time.Minute)
	r.get("/inbox/" + id) // settles it
	want = append(want, "deploybot/dev-team just now Q 6 Expired, not done")

	var got []string
	for li := range r.get("/inbox").find("section", "aria-labelledby", "ended")[0].Descendants() {
		if li.Data == "li" {
			got = append(got, text(li))
		}
	}
	slices.Reverse(got)
	for i := range got {
		got[i] = age.ReplaceAllString(got[i], "just now")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lately decided: -want +got\n%s", diff)
	}
}

var age = regexp.MustCompile(`\d+ (s|min) ago`)

func TestTheCountSaysWhenThereIsMore(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for range 501 {
		r.ask("Q", `"mode":"confirm"`)
	}
	p := r.get("/inbox")
	p.says("These are the first 50 of 500+.")
	if got := text(p.find("title", "", "")[0]); got != "(500+) Inbox · Mash" {
		t.Errorf("title = %q, want (500+)", got)
	}
}

func TestUrgentFirstThenWhatEndsSoonest(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for _, m := range []struct {
		title, priority string
		deadline        time.Duration
	}{
		{"low, soon", "low", time.Minute},
		{"old", "", 0},
		{"new", "normal", 0},
		{"later", "", time.Hour},
		{"high", "high", 0},
		{"high, later", "high", 2 * time.Hour},
		{"urgent", "urgent", 0},
		{"urgent, soon", "urgent", time.Hour},
	} {
		members := fmt.Sprintf(`"type":"ask","title":%q,"request":{"mode":"confirm","allowed_resolvers":["human:owner"]}`, m.title)
		if m.priority != "" {
			members += fmt.Sprintf(`,"priority":%q`, m.priority)
		}
		if m.deadline > 0 {
			members += fmt.Sprintf(`,"expires_at":%q`, ma2h.FormatTime(start.Add(m.deadline)))
		}
		r.send(members)
	}
	var got []string
	for _, h := range r.get("/inbox").find("h3", "", "") {
		got = append(got, text(h))
	}
	want := []string{"urgent, soon", "urgent", "high, later", "high", "low, soon", "later", "old", "new"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the order of the list: -want +got\n%s", diff)
	}
}

func TestOnlyWhatTheVisitorMayAnswerCounts(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	bobs := r.send(`"type":"ask","title":"For bob","request":{"mode":"confirm","allowed_resolvers":["human:bob"]}`)
	r.send(`"type":"ask","title":"For no one","request":{"mode":"confirm"}`)
	p := r.get("/inbox")
	p.says("Nothing waits for you", "Waiting for others", "Nobody may answer")
	p.lacks("mash agent add")
	if got := text(p.find("title", "", "")[0]); got != "Inbox · Mash" {
		t.Errorf("title = %q, want no count", got)
	}
	mine := r.ask("For me", `"mode":"confirm"`)
	p = r.get("/inbox")
	if got := text(p.find("span", "class", "count")[0]); got != "1" {
		t.Errorf("count = %s, want 1", got)
	}
	for heading, title := range map[string]string{"waiting": "For me", "others": "For bob", "nobody": "For no one"} {
		section := p.find("section", "aria-labelledby", heading)
		if len(section) != 1 || !strings.Contains(text(section[0]), title) {
			t.Errorf("%q does not stand under %s", title, heading)
		}
	}
	if got := len(p.find("button", "value", "option:0")); got != 1 {
		t.Errorf("%d rows can be approved, want 1", got)
	}
	r.get("/inbox/"+bobs).says("Only bob may answer, and you are owner.", "Waiting for others", "For me")
	r.get("/inbox/"+mine).says("Waiting for others", "For bob", "Nobody may answer", "For no one")
}

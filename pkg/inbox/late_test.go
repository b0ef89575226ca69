package inbox_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecondAnswerIsToldTheFirst(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	r.reply(id, url.Values{"do": {"option:1"}}).is(http.StatusSeeOther)
	r.pass(1)
	p := r.reply(id, url.Values{"do": {"option:0"}}).is(http.StatusConflict)
	p.says("your answer was not sent", "Answered “Deny” by you, 14:20 UTC")
	p.lacks("Your comment")
	if len(p.find("button", "name", "do")) != 0 {
		t.Error("the page of an ended ask has buttons")
	}
	if diff := cmp.Diff(outcome{Resolution: "answered", Value: `"deny"`}, r.outcome(id)); diff != "" {
		t.Errorf("the first answer did not stand: -want +got\n%s", diff)
	}
	task := r.send(`"type":"task","title":"T","action":{"instructions":"x","allowed_resolvers":["human:owner"]}`)
	r.reply(task, url.Values{"do": {"complete"}}).is(http.StatusSeeOther)
	r.reply(task, url.Values{"do": {"dismiss"}}).is(http.StatusConflict).says("Completed by you, 14:20 UTC")
}

func TestWhatWasTypedTooLateIsNotLost(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Ship it?", `"mode":"confirm","permissions":{"allow_edit":true}`)
	r.reply(id, url.Values{"do": {"option:1"}}).is(http.StatusSeeOther)
	typed := url.Values{"do": {"other"}, "comment": {"  <b>Mind</b>\r\nthe gap"}, "other": {"tomorrow"}}
	p := r.reply(id, typed).is(http.StatusConflict)
	kept := p.find("textarea", "readonly", "")
	if len(kept) != 2 || rawText(kept[0]) != "  <b>Mind</b>\nthe gap" || rawText(kept[1]) != "tomorrow" {
		t.Errorf("the page of a late answer does not hold what was typed: %s", render(p.root))
	}
	p.says("Your comment, which was not sent", "Your answer in your own words, which was not sent")

	bobs := r.send(`"type":"ask","title":"Q","request":{"mode":"confirm","allowed_resolvers":["human:bob"]}`)
	p = r.reply(bobs, url.Values{"do": {"option:0"}, "comment": {"kept"}}).is(http.StatusForbidden)
	p.says("nothing was sent", "Your comment, which was not sent", "kept")
}

func TestRacingAnswersHaveOneWinner(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	token := r.token("/settings")
	const racers = 16
	statuses := make(chan int, racers)
	for n := range racers {
		go func() {
			form := url.Values{"csrf": {token}, "do": {"option:0"}, "comment": {strconv.Itoa(n)}}
			statuses <- r.do(r.browser, http.MethodPost, "/inbox/"+id, form, nil).status
		}()
	}
	count := map[int]int{}
	for range racers {
		count[<-statuses]++
	}
	if want := map[int]int{http.StatusSeeOther: 1, http.StatusConflict: racers - 1}; !cmp.Equal(want, count) {
		t.Errorf("statuses = %v, want %v", count, want)
	}
}

func TestTheSameAnswerOfTheSamePersonTwiceIsOne(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	bob := r.joined("bob", "member", "")
	both := `"allowed_resolvers":["human:owner","human:bob"]`
	confirm := `"type":"ask","title":"T","request":{"mode":"confirm","permissions":{"allow_edit":true},` + both + `}`
	form := `"type":"ask","title":"T","request":{"mode":"input",` + both +
		`,"schema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","x-ma2h-sensitive":true}}}}`
	task := `"type":"task","title":"T","action":{"instructions":"x","checklist":[{"text":"one"},{"text":"two"}],` + both + `}`
	for what, c := range map[string]struct {
		message string
		first   url.Values
		other   url.Values
	}{
		"an option":       {confirm, url.Values{"do": {"option:0"}, "comment": {"Mind\r\nthe gap"}}, url.Values{"do": {"option:1"}, "comment": {"Mind\r\nthe gap"}}},
		"another comment": {confirm, url.Values{"do": {"option:0"}}, url.Values{"do": {"option:0"}, "comment": {"more"}}},
		"own words":       {confirm, url.Values{"do": {"other"}, "other": {"tomorrow"}}, url.Values{"do": {"other"}, "other": {"today"}}},
		"declining":       {confirm, url.Values{"do": {"decline"}}, url.Values{"do": {"option:0"}}},
		"a form":          {form, url.Values{"do": {"send"}, "f0": {"7"}, "f1": {"hush"}}, url.Values{"do": {"send"}, "f0": {"7"}, "f1": {"psst"}}},
		"JSON":            {form, url.Values{"do": {"json"}, "json": {"{ \"a\": 7 }"}}, url.Values{"do": {"json"}, "json": {"{"}}},
		"a task":          {task, url.Values{"do": {"complete"}, "step1": {"on"}}, url.Values{"do": {"complete"}, "step0": {"on"}}},
	} {
		id := r.send(c.message)
		done := "/inbox?done=" + id
		for range 2 {
			if to := r.reply(id, c.first).is(http.StatusSeeOther).header.Get("Location"); to != done {
				t.Errorf("%s: it leads to %s, want %s", what, to, done)
			}
		}
		was := r.outcome(id)
		r.reply(id, c.other).is(http.StatusConflict).says("your answer was not sent", "by you, 14:20 UTC")
		bob.reply(id, c.first).is(http.StatusConflict).says("your answer was not sent", "by owner, 14:20 UTC")
		if diff := cmp.Diff(was, r.outcome(id)); diff != "" {
			t.Errorf("%s: the first answer did not stand: -want +got\n%s", what, diff)
		}
	}
}

func TestAButtonThatIsPressedManyTimesAtOnceAnswersOnce(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	token := r.token("/settings")
	const presses = 16
	statuses := make(chan int, presses)
	for range presses {
		go func() {
			form := url.Values{"csrf": {token}, "do": {"option:0"}}
			statuses <- r.do(r.browser, http.MethodPost, "/inbox/"+id, form, nil).status
		}()
	}
	for range presses {
		if got := <-statuses; got != http.StatusSeeOther {
			t.Errorf("status = %d, want %d", got, http.StatusSeeOther)
		}
	}
	answered := 0
	for _, e := range r.story(id) {
		if strings.HasPrefix(e, "Answered") {
			answered++
		}
	}
	if answered != 1 {
		t.Errorf("the story has %d answers, want one: %q", answered, r.story(id))
	}
}

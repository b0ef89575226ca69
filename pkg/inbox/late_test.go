package inbox_test

import (
	"net/http"
	"net/url"
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
	for range racers {
		go func() {
			form := url.Values{"csrf": {token}, "do": {"option:0"}}
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

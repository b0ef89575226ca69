package inbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// outcome is what an answer must have become.
type outcome struct {
	Resolution ma2h.Status
	Value      string // JSON
	Edited     bool
	Comment    string
	Checklist  []ma2h.ChecklistItem
}

func (r *rig) outcome(id string) outcome {
	r.t.Helper()
	response := r.detail(id)
	if response == nil {
		return outcome{}
	}
	o := outcome{Resolution: response.Resolution}
	if d := response.Response; d != nil {
		o.Value, o.Edited, o.Comment, o.Checklist = string(d.Value), d.Edited, d.Comment, d.Checklist
		if d.Actor != "human:owner" {
			r.t.Errorf("actor = %q, want human:owner", d.Actor)
		}
	}
	return o
}

// given is what somebody answers, and what is to come of it.
type given struct {
	message string
	form    url.Values
	want    outcome
}

func answersOfEveryKind() map[string]given {
	const options = `"options":[{"value":"ship","label":"Ship"},{"value":"hold"}]`
	const task = `"type":"task","title":"Rotate","action":{"instructions":"Do it.","allowed_resolvers":["human:owner"],` +
		`"checklist":[{"text":"one","done":true},{"text":"two"}]}`
	ask := func(request string) string {
		return `"type":"ask","title":"Q","request":{"allowed_resolvers":["human:owner"],` + request + `}`
	}
	return map[string]given{
		"confirm": {ask(`"mode":"confirm"`), url.Values{"do": {"option:0"}}, outcome{Resolution: "answered", Value: `"approve"`}},
		"confirm in its own words": {
			ask(`"mode":"confirm","options":[{"value":"j"},{"value":"n"}]`), url.Values{"do": {"option:1"}},
			outcome{Resolution: "answered", Value: `"n"`},
		},
		"select with a comment of lines": {
			ask(`"mode":"select",` + options), url.Values{"do": {"option:1"}, "comment": {"a\r\nb <i>"}},
			outcome{Resolution: "answered", Value: `"hold"`, Comment: "a\nb <i>"},
		},
		"own words": {
			ask(`"mode":"select",` + options + `,"permissions":{"allow_edit":true}`),
			url.Values{"do": {"other"}, "other": {"hold, \"but\" only\r\nuntil noon"}},
			outcome{Resolution: "answered", Value: `"hold, \"but\" only\nuntil noon"`, Edited: true},
		},
		"own words that are an option": {
			ask(`"mode":"confirm","permissions":{"allow_edit":true}`), url.Values{"do": {"other"}, "other": {"deny"}},
			outcome{Resolution: "answered", Value: `"deny"`},
		},
		"decline": {
			ask(`"mode":"select",` + options), url.Values{"do": {"decline"}, "comment": {"Not mine."}},
			outcome{Resolution: "declined", Comment: "Not mine."},
		},
		"decline where nothing else is": {
			ask(`"mode":"confirm","permissions":{"allow_respond":false}`), url.Values{"do": {"decline"}},
			outcome{Resolution: "declined"},
		},
		"task": {
			task, url.Values{"do": {"complete"}, "step1": {"1"}, "comment": {"Done."}},
			outcome{
				Resolution: "completed", Comment: "Done.",
				Checklist: []ma2h.ChecklistItem{{Text: "one"}, {Text: "two", Done: true}},
			},
		},
		"task dismissed": {
			task, url.Values{"do": {"dismiss"}, "step0": {"1"}},
			outcome{Resolution: "dismissed", Checklist: []ma2h.ChecklistItem{{Text: "one", Done: true}, {Text: "two"}}},
		},
		"task without steps": {
			`"type":"task","title":"T","action":{"instructions":"x","allowed_resolvers":["human:owner"]}`,
			url.Values{"do": {"complete"}}, outcome{Resolution: "completed"},
		},
	}
}

func TestAnswersArriveAsTheyWereGiven(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for name, c := range answersOfEveryKind() {
		id := r.send(c.message)
		r.get("/inbox/" + id).is(http.StatusOK)
		p := r.reply(id, c.form)
		if p.status != http.StatusSeeOther || p.header.Get("Location") != "/inbox?done="+id {
			t.Errorf("%s: POST = %d to %q, want 303 to the list", name, p.status, p.header.Get("Location"))
			continue
		}
		if diff := cmp.Diff(c.want, r.outcome(id)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
		r.get("/inbox?done="+id).says("by you, 14:20 UTC", "See")
		r.get("/inbox/" + id).says("How it ended")
	}
}

func TestAnswersThatCannotBeTaken(t *testing.T) {
	t.Parallel()
	const options = `"options":[{"value":"ship"},{"value":"hold"}]`
	cases := map[string]struct {
		request string
		form    url.Values
		says    string
	}{
		"no button":             {`"mode":"confirm"`, url.Values{"comment": {"kept"}}, "Press one of the buttons"},
		"no such option":        {`"mode":"confirm"`, url.Values{"do": {"option:7"}, "comment": {"kept"}}, "Press one of the buttons"},
		"negative option":       {`"mode":"confirm"`, url.Values{"do": {"option:-1"}, "comment": {"kept"}}, "Press one of the buttons"},
		"own words not allowed": {`"mode":"select",` + options, url.Values{"do": {"other"}, "other": {"x"}, "comment": {"kept"}}, "none of the options"},
		"own words empty": {
			`"mode":"confirm","permissions":{"allow_edit":true}`, url.Values{"do": {"other"}, "comment": {"kept"}}, "This is needed",
		},
		"no answer wanted": {
			`"mode":"confirm","permissions":{"allow_respond":false}`, url.Values{"do": {"option:0"}, "comment": {"kept"}},
			"can only be declined",
		},
		"no declining": {
			`"mode":"confirm","permissions":{"allow_ignore":false}`, url.Values{"do": {"decline"}, "comment": {"kept"}},
			"cannot be declined",
		},
		"a task's verb":    {`"mode":"confirm"`, url.Values{"do": {"complete"}, "comment": {"kept"}}, "Press one of the buttons"},
		"a long comment":   {`"mode":"confirm"`, url.Values{"do": {"option:0"}, "comment": {"kept" + strings.Repeat("x", 70000)}}, "at most"},
		"JSON for options": {`"mode":"confirm"`, url.Values{"do": {"json"}, "json": {`{"a":1}`}, "comment": {"kept"}}, "Press one of the buttons"},
	}
	r := signedIn(t)
	for name, c := range cases {
		id := r.ask("Q", c.request)
		p := r.reply(id, c.form)
		if p.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: POST = %d, want 422: %s", name, p.status, text(p.root))
			continue
		}
		p.says(c.says, "kept")
		if r.detail(id) != nil {
			t.Errorf("%s: the ask has an outcome", name)
		}
	}
}

func TestEditIsOfferedFromVersion06On(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Q", `"mode":"confirm","permissions":{"allow_edit":true}`)
	if len(r.get("/inbox/"+id).find("textarea", "name", "other")) != 1 {
		t.Error("an ask of 0.6 that allows it offers no answer in own words")
	}
	e, invalid := ma2h.ReadMessage([]byte(`{"ma2h_version":"0.5","type":"ask","created_at":"2026-03-04T14:20:00Z",` +
		`"idempotency_key":"old","agent":{"id":"deploybot/dev-team","run_id":"r"},"title":"Q","request":{"mode":"confirm",` +
		`"allowed_resolvers":["human:owner"],"permissions":{"allow_edit":true}}}`))
	if invalid != nil {
		t.Fatal(invalid)
	}
	s, err := r.hub.Submit(t.Context(), r.agent, e)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.get("/inbox/"+s.Ack.ID).find("textarea", "name", "other")) != 0 {
		t.Error("an ask of 0.5 offers an answer in own words")
	}
}

func TestWithdrawnAskSaysByWhom(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	if _, err := r.hub.Cancel(t.Context(), r.agent, id); err != nil {
		t.Fatal(err)
	}
	r.get("/inbox/" + id).is(http.StatusOK).says("Withdrawn by agent deploybot/dev-team, 14:20 UTC")
}

func TestStoryOfAnAnswer(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	p := r.get("/inbox/" + id)
	p.says("So far", "Asked by agent deploybot/dev-team, 14:20 UTC")
	p.steps(2, 1)
	r.reply(id, url.Values{"do": {"option:0"}}).is(http.StatusSeeOther)
	r.get("/inbox/"+id).steps(1, 1)
	if _, err := r.hub.Pull(t.Context(), r.agent, id, hub.PullOptions{}); err != nil {
		t.Fatal(err)
	}
	p = r.get("/inbox/" + id)
	p.says("Delivered to the agent, 14:20 UTC", "Perhaps: the agent says that it has the answer")
	p.steps(0, 1)
	if _, err := r.hub.Acknowledge(t.Context(), r.agent, id, &ma2h.AckRequest{Note: "Thanks, \u202eon it."}); err != nil {
		t.Fatal(err)
	}
	p = r.get("/inbox/" + id)
	p.says("Delivered to the agent, 14:20 UTC", "Acknowledged by the agent, 14:20 UTC: “Thanks, \ufffdon it.”")
	p.steps(0, 0)
}

// steps holds the story to how many steps are still to come, and how many need not come.
func (a *answer) steps(todo, maybe int) {
	a.t.Helper()
	for class, want := range map[string]int{"todo": todo, "maybe": maybe} {
		if got := a.find("li", "class", class); len(got) != want {
			a.t.Errorf("%d steps are %s, want %d", len(got), class, want)
		}
	}
}

func TestLogsHoldNoContent(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Secret title", `"mode":"confirm","permissions":{"allow_edit":true}`)
	r.reply(id, url.Values{"do": {"other"}, "other": {"secret value"}, "comment": {"secret comment"}})
	r.reply(id, url.Values{"do": {"other"}, "other": {"secret value"}})
	if log := strings.ToLower(r.log.String()); strings.Contains(log, "secret") {
		t.Errorf("the log holds content: %s", log)
	}
}

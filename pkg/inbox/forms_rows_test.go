package inbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestRowsComeAndGoWithoutJavaScript(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.form(`{"properties":{"tags":{"type":"array","items":{"type":"string"},"maxItems":4},"note":{"type":"string"},` +
		`"people":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"mails":{"type":"array",` +
		`"items":{"type":"string","format":"email"}}},"required":["name"]}}}}`)
	s := open(t, r.get("/inbox/"+id))
	s.fill("tags/1", "one")
	s.fill("tags/2", "two")
	s.fill("note", "kept")
	s = open(t, s.press(r, id, "more:f0").is(http.StatusOK))
	if got := s.page.find("input", "autofocus", ""); len(got) == 0 {
		t.Error("the page has no inputs")
	}
	if n := s.control("tags/3"); !hasAttr(n, "autofocus") {
		t.Error("the page does not begin at the row that came")
	}
	s.fill("tags/3", "three")
	s = open(t, s.press(r, id, "more:f0").is(http.StatusOK))
	s.fill("tags/4", "four")
	if len(s.page.find("button", "value", "more:f0")) != 0 {
		t.Error("an array that is full can grow")
	}
	s = open(t, s.press(r, id, "less:f0.1").is(http.StatusOK))
	s.fill("people/1/name", "Ann")
	s.fill("people/1/mails/2", "ann@example.org")
	s = open(t, s.press(r, id, "more:f2").is(http.StatusOK))
	s.fill("people/2/name", "Bo")
	s = open(t, s.press(r, id, "more:f2.1.1").is(http.StatusOK))
	s.fill("people/2/mails/3", "bo@example.org")
	s = open(t, s.press(r, id, "less:f2.1.1.0").is(http.StatusOK))
	if r.detail(id) != nil {
		t.Fatal("a row more or less sent the answer")
	}
	s.press(r, id, "send").is(http.StatusSeeOther)
	want := `{"tags":["one","three","four"],"note":"kept","people":[{"name":"Ann","mails":["ann@example.org"]},` +
		`{"name":"Bo","mails":["bo@example.org"]}]}`
	if got := string(r.pulled(id)); got != want {
		t.Errorf("the agent gets\n%s, want\n%s", got, want)
	}
}

func TestTheEnterKeySendsAndTakesNoRowAway(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	p := r.get("/inbox/" + r.form(`{"properties":{"a":{"type":"array","items":{"type":"string"}}}}`))
	for n := range p.find("form", "id", "form")[0].Descendants() {
		if n.Data == "button" {
			if attr(n, "value") != "send" {
				t.Errorf("the first button of the form, which the enter key presses, does %q", attr(n, "value"))
			}
			break
		}
	}
}

func TestRowsOfASenderAreBounded(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	rows := `{"type":"integer"}`
	for range 4 {
		rows = `{"type":"object","properties":{"n":{"type":"array","minItems":1000000,"items":` + rows + `}}}`
	}
	id := r.form(`{"properties":{"a":` + rows + `}}`)
	if n := len(r.get("/inbox/"+id).is(http.StatusOK).find("input", "", "")); n > 3_000 {
		t.Errorf("a schema makes a page of %d controls", n)
	}
	form := url.Values{"do": {"more:f0.0"}}
	for i := range 50 {
		form.Set("f0.0", "1000000")
		form.Set(fmt.Sprintf("f0.0.%d.0", i), "1000000")
		form.Set(fmt.Sprintf("f0.0.%d.0.3.0", i), "-5")
	}
	if n := len(r.reply(id, form).is(http.StatusOK).find("input", "", "")); n > 3_000 {
		t.Errorf("a form makes a page of %d controls", n)
	}
	for _, do := range []string{"more:", "less:", "less:f0", "more:comment", "less:f0.0.99999999999999999999", "more:f9.9", "less:.-1"} {
		p := r.reply(id, url.Values{"do": {do}, "comment": {"kept"}})
		p.says("kept")
		if p.status != http.StatusOK && p.status != http.StatusUnprocessableEntity {
			t.Errorf("do=%s answers %d", do, p.status)
		}
	}
}

// deepSecrets is a form with secrets wherever there can be one.
const deepSecrets = `{"properties":{"o":{"type":"object","properties":{"pin":{"$ref":"#/$defs/pin"},"open":{"type":"string","maxLength":9}}},` +
	`"l":{"type":"array","items":{"type":"object","properties":{"key":{"type":"string","x-ma2h-sensitive":true},"n":{"type":"integer"}}}},` +
	`"odd":{"oneOf":[{"type":"object","properties":{"z":{"type":"string","x-ma2h-sensitive":true}}},{"type":"null"},{"type":"array"}]},` +
	`"yes":{"type":"boolean","x-ma2h-sensitive":true},"many":{"type":"array","items":{"enum":["red","blue"]},"x-ma2h-sensitive":true},` +
	`"whole":{"type":"object","x-ma2h-sensitive":true,"properties":{"w":{"type":"string"}}}},` +
	`"$defs":{"pin":{"type":"string","x-ma2h-sensitive":true,"not":{"const":"hush-no"}}}}`

func TestSecretsAreNeverShownHoweverDeep(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.form(deepSecrets)
	typed := url.Values{
		"f0.0": {"hush-1"}, "f0.1": {"plain"}, "f1": {"1"}, "f1.0.0": {"hush-2"}, "f1.0.1": {"7"}, "f2": {`{"z":"hush-3"}`},
		"f3": {"0"}, "f4": {"1"}, "f5.0": {"hush-4"},
	}
	quiet := func(p *answer) {
		t.Helper()
		if strings.Contains(p.body, "hush") {
			t.Errorf("a secret comes back: %s", p.body[strings.Index(p.body, "hush")-200:][:260])
		}
	}
	send := func(do string, with url.Values) *answer {
		form := url.Values{"do": {do}}
		for _, v := range []url.Values{typed, with} {
			for k, x := range v {
				form[k] = x
			}
		}
		return r.reply(id, form)
	}
	for do, with := range map[string]url.Values{
		"send": {"f0.1": {"much too long"}}, "more:f1": nil, "less:f1.0": nil, "other": nil,
		"json": {"json": {`{"o":{"pin":"hush-5","open":"plain"},"l":[{"key":"hush-6","n":"x"}],"odd":{"z":"hush-7"},"whole":{"w":"hush-8"}}`}},
	} {
		p := send(do, with)
		quiet(p)
		if !strings.Contains(p.body, `value="plain"`) && !strings.Contains(p.body, `value="much too long"`) {
			t.Errorf("after %s what is no secret is not kept", do)
		}
		for _, n := range p.find("fieldset", "id", "f3") {
			for in := range n.Descendants() {
				if hasAttr(in, "checked") {
					t.Errorf("after %s the page shows which choice was picked", do)
				}
			}
		}
		if do == "send" {
			p.says("A page never shows a secret: type it again.")
		}
	}
	quiet(send("send", url.Values{"f0.0": {"hush-no"}}).is(http.StatusUnprocessableEntity))
	quiet(send("json", url.Values{"json": {`{"o":{"pin":"hush-5"`}}).is(http.StatusUnprocessableEntity))
	send("send", nil).is(http.StatusSeeOther)
	want := `{"o":{"pin":"hush-1","open":"plain"},"l":[{"key":"hush-2","n":7}],"odd":{"z":"hush-3"},"yes":true,"many":["blue"],"whole":{"w":"hush-4"}}`
	if got := string(r.pulled(id)); got != want {
		t.Errorf("the agent gets\n%s, want\n%s", got, want)
	}
	for _, path := range []string{"/inbox/" + id, "/inbox", "/inbox?done=" + id} {
		quiet(r.get(path).is(http.StatusOK))
	}
	p := r.get("/inbox/" + id)
	p.says("plain", "kept back")
	if got := strings.Count(p.body, "kept back"); got < 5 {
		t.Errorf("%d secrets are kept back, want those of six fields", got)
	}
	p.lacks("many blue")
}

func TestAnswersAreShownAsTheFormNamedThem(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.form(`{"properties":{"c":{"title":"Country","oneOf":[{"const":"de","title":"Germany"},{"const":"uk","title":"Britain"}]},` +
		`"o":{"title":"Owner","type":"object","properties":{"n":{"title":"Full name","type":"string"}}},"yes":{"title":"Sure?","type":"boolean"}}}`)
	r.reply(id, url.Values{"do": {"send"}, "f0": {"1"}, "f1.0": {"Ann"}, "f2": {"0"}}).is(http.StatusSeeOther)
	r.get("/inbox/"+id).says("Country", "Britain (uk)", "Owner", "Full name", "Ann", "Sure?", "Yes")
}

//go:build browser

package realtime_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// formScenes are forms with more in them than fields: groups, rows, and what is wrong.
func formScenes() []scene {
	nested := func(s *server) string {
		return "/inbox/" + s.sampleAgent("bookkeeper").accepted(s.ask(sampleNested))
	}
	return []scene{
		{name: "form-nested", route: "/inbox/{id}", set: nested},
		{name: "form-nested-wrong", set: nested, act: func(w *window) {
			w.clickThrough(`.actions button[value="send"]`)
			w.see("what is wrong is said", `document.querySelector('.warning li a') !== null`)
		}},
		{name: "form-nested-more", set: nested, act: func(w *window) {
			w.clickThrough(`button[value="more:f3"]`)
			w.see("the new row has the focus", `document.activeElement.name === 'f3.2'`)
		}},
		{name: "form-hostile", set: func(s *server) string {
			return "/inbox/" + s.sampleAgent("mallory").accepted(s.ask(sampleHostile))
		}},
		{name: "form-answered", set: func(s *server) string {
			path := nested(s)
			s.signedIn().post(path, url.Values{"do": {"send"}, "f0": {"Ada Lovelace"}, "f1.0": {"St James’s Square 12"}, "f1.1": {"W1"},
				"f1.2.0": {"51.5"}, "f1.2.1": {"-0.13"}, "f2": {"1"}, "f3": {"2"}, "f3.0": {"net 30"}, "f3.1": {"VIP"},
				"f4": {"1"}, "f4.0.0": {"Charles"}, "f4.0.1": {"charles@example.org"}, "f5": {"4711-0815"}, "f6": {"0"}}).is(http.StatusSeeOther)
			return path
		}},
	}
}

// sampleNested makes an ask a form with groups and rows.
func sampleNested(d doc) {
	for _, e := range []edit{
		set("/title", "Who is the new customer?"), set("/agent/run_id", "import-7"), lasting,
		set("/body", "The order came by mail, and the CRM knows nobody of this name."), set("/request/mode", "input"),
		set("/request/schema", json.RawMessage(`{"type":"object","required":["name","address","language"],"properties":{
			"name":{"type":"string","title":"Name","minLength":3,"maxLength":80},
			"address":{"type":"object","title":"Address","required":["street","zip"],"properties":{
				"street":{"type":"string","title":"Street and number","maxLength":90},
				"zip":{"type":"string","title":"Postal code","pattern":"^[A-Z0-9 ]{2,8}$"},
				"place":{"type":"object","title":"Where that is","properties":{
					"lat":{"type":"number","title":"Latitude","minimum":-90,"maximum":90},"long":{"type":"number","title":"Longitude","minimum":-180,"maximum":180}}}}},
			"language":{"title":"Language","oneOf":[{"const":"de","title":"German"},{"const":"en","title":"English"},{"const":null,"title":"Not known"}]},
			"tags":{"type":"array","title":"Tags","items":{"type":"string","maxLength":20},"maxItems":5,"uniqueItems":true},
			"contacts":{"type":"array","title":"Contacts","items":{"type":"object","required":["name"],"properties":{
				"name":{"type":"string","title":"Name","maxLength":80},"mail":{"type":"string","format":"email","title":"E-mail"}}}},
			"account":{"type":"string","title":"Account number","x-ma2h-sensitive":true},
			"newsletter":{"type":"boolean","title":"Newsletter"},
			"since":{"type":"string","format":"date","title":"Customer since"}}}`)),
	} {
		e(d)
	}
}

// sampleHostile makes an ask a form that tries to break its page: deep, and with titles that are long, empty or turned round.
func sampleHostile(d doc) {
	deep := `{"type":"array","title":"Rows","items":{"type":"string","enum":["` + strings.Repeat("w", 300) + `","b"]}}`
	for range 12 {
		deep = `{"type":"object","title":"Level ` + strings.Repeat("x", 60) + `","properties":{"down":` + deep + `,"beside":{"type":"integer"}}}`
	}
	for _, e := range []edit{
		set("/title", "What "+strings.Repeat("long", 40)+" is this?"), lasting, set("/request/mode", "input"),
		set("/request/schema", json.RawMessage(`{"properties":{"a":{"type":"string","title":"`+strings.Repeat("W", 10_240)+`"},
			"b":{"type":"string","title":"\u202edlrow <b>","description":"`+strings.Repeat("word ", 400)+`"},"":{"type":"boolean","title":" "},
			"c":{"type":"string","pattern":"^`+strings.Repeat("[a-z]", 100)+`$"},"deep":`+deep+`}}`)),
	} {
		e(d)
	}
}

// contextScenes are messages with something attached.
func contextScenes() []scene {
	return []scene{
		{name: "message-attached", route: "/inbox/{id}", set: func(s *server) string {
			return "/inbox/" + s.sampleAgent("deploybot/dev-team").accepted(s.ask(sampleAttached))
		}},
		{name: "message-expired", set: func(s *server) string {
			id, _ := s.sampleAgent("ci").expiring(1, s.ask, set("/title", "Retry the flaky job?"))
			return "/inbox/" + id
		}},
		{name: "message-acknowledged", set: func(s *server) string {
			bot := s.sampleAgent("ci")
			id := bot.accepted(s.ask(lasting, set("/title", "Retry the flaky job?")))
			s.owner.answers(id, "approve")
			bot.pull(id, "").is(http.StatusOK)
			bot.ack(id, doc{"note": "Running again."}).is(http.StatusOK)
			return "/inbox/" + id
		}},
	}
}

func sampleAttached(d doc) {
	long := "@@ -1,40 +1,40 @@\n" + strings.Repeat("-old line of a generated file\n+new line of a generated file\n", 30)
	for _, e := range []edit{
		set("/title", "Merge the change of the retry policy?"), set("/agent/run_id", "run-91"), lasting,
		set("/body", "Two files change. The [review](https://git.example/pr/91) found nothing.\n\n| check | result |\n|---|---|\n| unit | 2,114 passed |\n"+
			"| load | p99 41 ms |\n\n```go\npolicy.Tries = 7\n```"),
		set("/context", []doc{
			{"kind": "text", "text": "diff --git a/retry.go b/retry.go\n--- a/retry.go\n+++ b/retry.go\n@@ -12,6 +12,7 @@ func DefaultRetry() Policy {\n" +
				" \treturn Policy{\n-\t\tTries: 5,\n+\t\tTries: 7, // a receiver that restarts takes up to a minute, and all of its pushes were lost\n+\t\tJitter: 0.2,\n \t}\n }"},
			{"kind": "data", "data": json.RawMessage(`[{"region":"eu-1","build":4126,"healthy":true},{"region":"us-1","build":4125,"healthy":true},{"region":"ap-1","build":4126,"healthy":false}]`)},
			{"kind": "data", "data": json.RawMessage(`{"service":"callbacks","limits":{"tries":7,"spacing":{"first":"1 s","factor":2.0,"longest":"60 s"}},
				"owners":["platform","on-call"],"dashboard":"https://graphs.example/d/callbacks","exact":9007199254740993}`)},
			{"kind": "text", "text": long},
			{"kind": "file", "file": doc{"uri": "https://files.example/run-91/trace.pdf", "name": "trace.pdf", "mime_type": "application/pdf"}},
		}),
	} {
		e(d)
	}
}

// historyScenes are what is over.
func historyScenes() []scene {
	return []scene{
		{name: "history", route: "/history", set: func(s *server) string {
			s.sampleDay()
			return "/history"
		}},
		{name: "history-filtered", set: func(s *server) string {
			s.sampleDay()
			return "/history?q=build&kind=ask"
		}},
		{name: "history-nothing", set: func(s *server) string {
			s.sampleDay()
			return "/history?outcome=dismissed&from=2026-01-01"
		}},
		{name: "history-wrong", set: func(*server) string { return "/history?from=soon" }},
		{name: "history-empty", set: func(*server) string { return "/history" }},
	}
}

// agentPath finds the page of an agent.
var agentPath = regexp.MustCompile(`/agents/[0-9a-z]{26}`)

// agentScenes are the account's agents.
func agentScenes() []scene {
	one := func(s *server) string {
		s.sampleDay()
		b := s.signedIn()
		path := s.sampleAgentPath(b, "deploybot/dev-team")
		b.post(path+"/hosts", url.Values{"host": {"deploybot.example"}, "proof": {"person"}}).is(http.StatusSeeOther)
		b.post(path+"/secrets", url.Values{"name": {"env:MASH_PUSH_SECRET"}, "from": {"day"}}).is(http.StatusOK)
		return path
	}
	return []scene{
		{name: "agents", route: "/agents", set: func(s *server) string {
			one(s)
			b := s.signedIn()
			gone := s.sampleAgentPath(b, "crm-clerk")
			b.post(gone+"/revoke", url.Values{}).is(http.StatusSeeOther)
			return "/agents"
		}},
		{name: "agents-empty", set: func(*server) string { return "/agents" }},
		{name: "agents-wrong", set: func(*server) string { return "/agents" }, act: func(w *window) {
			w.click("#id")
			w.press("what?\r")
			w.see("what is wrong is said", `document.querySelector('#id-wrong') !== null`)
		}},
		{name: "agent", route: "/agents/{ref}", set: one},
		{name: "agent-revoked", set: func(s *server) string {
			path := one(s)
			s.signedIn().post(path+"/revoke", url.Values{}).is(http.StatusSeeOther)
			return path
		}},
		{name: "agent-revoke", route: "/agents/{ref}/revoke", set: func(s *server) string { return one(s) + "/revoke" }},
		{name: "agent-token", set: one, act: func(w *window) {
			w.clickThrough(`form[action$="/rotate"] button`)
			w.see("the token is shown", `document.body.textContent.includes('export MASH_TOKEN=mash_')`)
		}},
	}
}

// sampleAgentPath is the page of the agent with this name.
func (s *server) sampleAgentPath(b *browser, name string) string {
	s.t.Helper()
	page := string(b.page("/agents").is(http.StatusOK).body)
	i := strings.Index(page, ">"+cmp.Or(s.samples[name], name)+"<")
	if i < 0 {
		s.t.Fatalf("no agent %s on the page", name)
	}
	paths := agentPath.FindAllString(page[:i], -1)
	return paths[len(paths)-1]
}

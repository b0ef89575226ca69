package inbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// resolves answers an ask as an agent.
func (r *rig) resolves(agent *hub.Caller, id, value string) {
	r.t.Helper()
	body := &ma2h.Resolve{Resolution: ma2h.StatusAnswered, Value: []byte(quoted(value))}
	if _, err := r.hub.Resolve(r.t.Context(), agent, id, "", body); err != nil {
		r.t.Fatal(err)
	}
}

func TestMailBetweenAgentsIsReadByPeople(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	r.get("/mail").is(http.StatusOK).says("Agents of this account may not write to each other.", "No agent has written to another yet.")
	planner := r.allowMail()
	r.get("/mail").lacks("may not write")
	mine, theirs := r.runs(r.agent, "night build"), r.runs(planner, "plans")
	id := r.writes(planner, theirs, "agent:deploybot/dev-team", "May I plan for Friday?")
	for _, path := range []string{"/mail", "/agents/" + r.agentRef("planner") + "/mail", "/agents/" + r.agentRef("deploybot/dev-team") + "/mail"} {
		p := r.get(path).is(http.StatusOK).says("planner → deploybot/dev-team", "Question", "May I plan for Friday?", "Waits in the mailbox")
		if len(p.find("a", "href", "/inbox/"+id)) != 1 {
			t.Errorf("%s does not lead to the message", path)
		}
	}
	r.get("/inbox").is(http.StatusOK).lacks("May I plan for Friday?")
	r.newAgent("spy")
	r.get("/agents/" + r.agentRef("spy") + "/mail").says("No agent has written to another yet.")
	p := r.get("/inbox/"+id).is(http.StatusOK).says("Only agent deploybot/dev-team may answer, and you are owner.", "session "+theirs,
		"Sent by agent planner to agent deploybot/dev-team, 14:20 UTC", "Still to come: agent deploybot/dev-team fetches it",
		"Still to come: agent planner fetches the answer")
	p.lacks("Nobody may answer", "so nobody but itself may")
	if len(p.find("button", "value", "option:0")) != 0 {
		t.Error("who is not asked can answer")
	}
	r.reply(id, url.Values{"do": {"option:0"}}).is(http.StatusForbidden)
	if m, err := r.hub.Read(t.Context(), r.owner, id); err != nil || !m.SeenAt.IsZero() || m.Mailbox == nil {
		t.Errorf("after a person looked at it the message is %+v, %v; want that nobody notes it", m, err)
	}

	r.pass(time.Minute)
	r.drained(r.agent, mine)
	r.get("/mail").says("Fetched just now, not acknowledged so far")
	r.resolves(r.agent, id, "approve")
	r.acks(mine, "Go ahead.", id)
	r.get("/mail").says("Acknowledged just now: “Go ahead.”", "Answered “Approve”, by agent deploybot/dev-team, just now")
	p = r.get("/inbox/"+id).says("Fetched by agent deploybot/dev-team, 14:21 UTC", "Acknowledged by agent deploybot/dev-team, 14:21 UTC: “Go ahead.”",
		"Answered “Approve” by agent deploybot/dev-team, 14:21 UTC", "Still to come: agent planner fetches the answer")
	calm(p)
	r.drained(planner, theirs)
	r.get("/inbox/" + id).says("The answer was fetched by agent planner, 14:21 UTC")
}

func TestMailThatCannotBeDeliveredSaysSo(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	planner := r.allowMail()
	mine := r.runs(r.agent, "night build")
	fetched := r.writes(planner, "", "agent:deploybot/dev-team#"+mine, "Fetched?")
	r.drained(r.agent, mine)
	waited := r.writes(planner, "", "agent:deploybot/dev-team#"+mine, "Waited?")
	r.post("/settings", "/agents/"+r.agentRef("deploybot/dev-team")+"/stop", url.Values{}).is(http.StatusSeeOther)
	r.get("/mail").says("Bounced just now: nobody had fetched it", "Bounced just now: it was fetched, and never acknowledged",
		"Never answered, as it could not reach anybody")
	r.get("/inbox/"+fetched).says("Bounced, as it was fetched and never acknowledged, 14:20 UTC", "Nobody could answer it any more, 14:20 UTC")
	r.get("/inbox/" + waited).says("Bounced, as its session ended and nobody had fetched it, 14:20 UTC").lacks("Still to come: agent deploybot")
}

func TestAPersonWhoIsListedAnswersMail(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	planner := r.allowMail()
	id, err := r.trySend(planner, `"type":"ask","title":"Friday?","to":"agent:deploybot/dev-team","request":{"mode":"confirm","allowed_resolvers":["human:owner"]}`)
	if err != nil {
		t.Fatal(err)
	}
	r.get("/inbox").lacks("Friday?")
	r.get("/inbox/" + id).says("You may answer.")
	r.reply(id, url.Values{"do": {"option:0"}}).is(http.StatusSeeOther)
	r.get("/inbox/" + id).says("Answered “Approve” by you, 14:20 UTC")
}

func TestMailHasParts(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	r.hub.Settings.PairPerMinute = 0
	planner, spy := r.allowMail(), r.newAgent("spy")
	for i := range 40 { // at the same instant, mostly
		r.writes(planner, "", "agent:deploybot/dev-team", fmt.Sprintf("Word %d.", i))
		if _, err := r.hub.Direct(t.Context(), r.owner, &ma2h.Directive{To: "agent:planner", Title: "No mail"}); err != nil {
			t.Fatal(err)
		}
		if i < 3 {
			r.writes(spy, "", "agent:planner", fmt.Sprintf("Whisper %d.", i))
		}
	}
	for at, want := range map[string]int{"/mail": 43, "/agents/" + r.agentRef("planner") + "/mail": 43, "/agents/" + r.agentRef("spy") + "/mail": 3} {
		seen := map[string]bool{}
		for path := at; path != ""; {
			p := r.get(path).is(http.StatusOK).lacks("No mail")
			path = ""
			for _, n := range p.find("a", "", "") {
				if id, ok := strings.CutPrefix(attr(n, "href"), "/inbox/msg_"); ok {
					if seen[id] {
						t.Errorf("%s stands in two parts of %s", id, at)
					}
					seen[id] = true
				}
				if text(n) == "Earlier" {
					path = attr(n, "href")
				}
			}
		}
		if len(seen) != want {
			t.Errorf("%s has %d messages, want %d", at, len(seen), want)
		}
	}
	r.get("/mail?after=nonsense").is(http.StatusBadRequest)
}

func TestNothingInMailWorksOnThePage(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	r.hub.Settings.PairPerMinute = 0
	planner := r.allowMail()
	sent := 0
	for _, s := range hostile {
		for _, members := range evil(s) {
			id, err := r.trySend(planner, `"to":"agent:deploybot/dev-team",`+members)
			if err != nil {
				continue
			}
			sent++
			calm(r.get("/inbox/" + id).is(http.StatusOK))
		}
		calm(r.get("/mail").is(http.StatusOK))
	}
	if sent < len(hostile) {
		t.Errorf("the hub took %d messages", sent)
	}
}

func TestOwnersDecideWhoWritesToWhom(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	planner := r.newAgent("planner")
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	r.get("/settings").says("They may not write to each other.")
	r.get(at).says("Every agent of the account may.", "But none of this account may write to another at all")
	p := r.post("/settings", "/settings/inter-agent", url.Values{"on": {"1"}}).is(http.StatusSeeOther)
	r.get(p.header.Get("Location")).says("They may write to each other.", "Agents of the account may write to each other now.")
	r.get(at).lacks("But none of this account")
	planner.Account = r.account()
	r.writes(planner, "", "agent:deploybot/dev-team", "One")

	p = r.post("/settings", at+"/senders", url.Values{"may": {"none"}}).is(http.StatusSeeOther)
	r.get(p.header.Get("Location")).says("It is decided which agents may write to it.", "No agent may.")
	refused := func(title string) {
		t.Helper()
		body := `"type":"notify","title":"` + title + `","to":"agent:deploybot/dev-team"`
		if _, err := r.trySend(planner, body); ma2h.AsError(err) == nil || ma2h.AsError(err).Code != ma2h.CodeUnknownDestination {
			t.Errorf("%s: mail to an agent that admits nobody is %v", title, err)
		}
	}
	refused("Two")
	r.post("/settings", at+"/senders", url.Values{"may": {"some"}, "sender": {"planner", "gone", "\u202ex"}}).is(http.StatusSeeOther)
	p = r.get(at).says("3 agents may.", "gone nobody of the account")
	calm(p)
	r.writes(planner, "", "agent:deploybot/dev-team", "Three")
	if err := r.hub.RevokeAgent(t.Context(), r.owner, "planner"); err != nil {
		t.Fatal(err)
	}
	r.get(at).says("planner revoked")
	r.post("/settings", at+"/senders", url.Values{"may": {"some"}, "sender": {strings.Repeat("x", 300)}}).is(http.StatusUnprocessableEntity).
		says("An agent's id has 1 to 256 bytes.")
	r.post("/settings", at+"/senders", url.Values{}).is(http.StatusSeeOther)
	r.get(at).says("3 agents may.")
	bob := r.joined("bob", "member", good)
	bob.get(at).says("3 agents may.", "gone nobody of the account").lacks("Change that")
	bob.get("/settings").says("They may write to each other.").lacks("Keep agents from writing")
	bob.post("/settings", at+"/senders", url.Values{"may": {"all"}}).is(http.StatusForbidden)
	bob.post("/settings", "/settings/inter-agent", url.Values{"on": {"0"}}).is(http.StatusForbidden)
	r.post("/settings", at+"/senders", url.Values{"may": {"all"}}).is(http.StatusSeeOther)
	r.get(at).says("Every agent of the account may.")
	r.post("/settings", "/settings/inter-agent", url.Values{"on": {"0"}}).is(http.StatusSeeOther)
	r.get("/settings").says("They may not write to each other.")
}

// floods writes from one agent to another until the hub refuses it.
func (r *rig) floods(h *hub.Hub, from *hub.Caller, to string) {
	r.t.Helper()
	for i := range 100 {
		e, invalid := ma2h.ReadMessage([]byte(fmt.Sprintf(`{"ma2h_version":"0.6","created_at":"2026-03-04T14:20:00Z","type":"notify",`+
			`"title":"Flood %d","agent":{"id":%q,"run_id":"r"},"to":"agent:%s"}`, i, from.Agent.ID, to)))
		if invalid != nil {
			r.t.Fatal(invalid)
		}
		_, err := h.Submit(r.t.Context(), from, e)
		if e := ma2h.AsError(err); e != nil && e.Code == ma2h.CodeRateLimited {
			return
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.t.Fatal("a hundred messages were none too many")
}

func TestPeopleSeeWhichPairWasLimited(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	r.hub.Settings.PairPerMinute = 60
	planner := r.allowMail()
	r.newAgent("spy")
	pages := []string{"/mail", "/agents/" + r.agentRef("planner"), "/agents/" + r.agentRef("deploybot/dev-team"), "/agents/" + r.agentRef("planner") + "/mail"}
	shows := func(ago string) {
		t.Helper()
		for _, path := range pages {
			r.get(path).says("Too much mail", "planner to deploybot/dev-team: more than 60 messages a minute, or too many at once. Last refused "+ago+".")
		}
	}
	r.get("/mail").lacks("Too much mail")
	r.floods(r.hub, planner, "deploybot/dev-team")
	shows("just now")
	r.get("/agents/" + r.agentRef("spy")).lacks("Too much mail")

	r.pass(30 * time.Second)
	r.floods(r.hub, planner, "deploybot/dev-team")
	again := hub.New(r.hub.Store, r.hub.Keys, still{}, still{}, still{}, r.hub.Settings) // another process
	again.Now = r.hub.Now
	r.floods(again, planner, "deploybot/dev-team")
	shows("30 s ago") // noted once a minute, whoever refuses it
	r.pass(31 * time.Second)
	r.floods(r.hub, planner, "deploybot/dev-team")
	shows("just now")
	r.pass(8 * 24 * time.Hour)
	r.get("/mail").lacks("Too much mail")
}

package inbox_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// runs begins a session of an agent with this label.
func (r *rig) runs(agent *hub.Caller, label string) string {
	r.t.Helper()
	made, err := r.hub.Register(r.t.Context(), agent, &ma2h.Register{Label: label})
	if err != nil {
		r.t.Fatal(err)
	}
	return made.Session.ID
}

// allowMail lets the agents of the account write to each other, and returns a second one.
func (r *rig) allowMail() *hub.Caller {
	r.t.Helper()
	if err := r.hub.SetInterAgent(r.t.Context(), r.owner, true); err != nil {
		r.t.Fatal(err)
	}
	r.owner.Account, r.agent.Account = r.account(), r.account()
	return r.newAgent("planner")
}

// writes sends an agent's ask to an address, under a session of its own or none, and returns its id.
func (r *rig) writes(agent *hub.Caller, session, to, title string) string {
	r.t.Helper()
	by := doc{"id": agent.Agent.ID, "run_id": "run_88"}
	if session != "" {
		by["session"] = session
	}
	body, err := json.Marshal(doc{
		"ma2h_version": "0.6", "type": "ask", "title": title, "created_at": "2026-03-04T14:20:00Z", "agent": by, "to": to,
		"idempotency_key": title,
		"request":         doc{"mode": "confirm"},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	e, invalid := ma2h.ReadMessage(body)
	if invalid != nil {
		r.t.Fatal(invalid)
	}
	r.pass(time.Millisecond) // so that messages have an order
	sent, err := r.hub.Submit(r.t.Context(), agent, e)
	if err != nil {
		r.t.Fatal(err)
	}
	return sent.Ack.ID
}

// doc is a JSON object.
type doc map[string]any

// drained is what a drain under a session returns.
func (r *rig) drained(agent *hub.Caller, session string) string {
	r.t.Helper()
	body, err := r.hub.Drain(r.t.Context(), agent, hub.DrainOptions{Session: session})
	if err != nil {
		r.t.Fatal(err)
	}
	return string(body)
}

func TestAnAgentsPageSaysWhetherItIsThere(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	r.get(at).is(http.StatusOK).says("Never seen yet", "No session lives.")
	r.get("/agents").says("Never seen yet").lacks("Online")
	first := r.runs(r.agent, "night build")
	r.pass(time.Second)
	r.runs(r.agent, "")
	r.pass(time.Minute)
	p := r.get(at).says("Online, seen 1 min ago", "night build", first, "A session without a label", "ends in 13 min unless it shows up")
	if got := len(p.find("a", "href", at+"/sessions/"+first+"/close")); got != 1 {
		t.Errorf("%d links lead to the close of a session, want 1", got)
	}
	r.get("/agents").says("Online, seen 1 min ago")
	r.pass(5 * time.Minute)
	r.get(at).says("Not online, last seen 6 min ago").lacks("Online, seen")
	r.get("/agents").says("Not online, last seen 6 min ago")
	r.pass(10 * time.Minute)
	p = r.get(at).says("No session lives.", "Ended lately", "Its lease ran out", "night build")
	if len(p.find("a", "href", at+"/sessions/"+first+"/close")) != 0 {
		t.Error("a session that has ended can be closed")
	}
}

func TestAStopSaysWhatItDoesAndDoesIt(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	planner := r.allowMail()
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	mine, theirs := r.runs(r.agent, "night build"), r.runs(planner, "plans")
	r.writes(planner, theirs, "agent:deploybot/dev-team#"+mine, "Friday?")
	if got := len(r.get(at).find("a", "href", at+"/stop")); got != 1 {
		t.Fatalf("%d links lead to the stop, want 1", got)
	}
	p := r.get(at+"/stop").is(http.StatusOK).says("Stop deploybot/dev-team?", "Its session closes.",
		"comes back to whoever sent it, as bounced", "It can begin no session until", "Its token stays good")
	calm(p)
	r.get(at).lacks("Stopped by")
	long := r.post("/settings", at+"/stop", url.Values{"reason": {strings.Repeat("ü", 600)}}).is(http.StatusUnprocessableEntity)
	if len(long.find("p", "id", "reason-wrong")) != 1 {
		t.Error("what is wrong with the reason does not stand at it")
	}
	p = r.post("/settings", at+"/stop", url.Values{"reason": {"It loops <b>again</b>"}}).is(http.StatusSeeOther)
	r.get(p.header.Get("Location")).says("The agent is stopped.", "Stopped by you, 14:20 UTC", "It loops <b>again</b>", "Closed by you",
		"Lift the stop")
	r.get("/agents").says("Stopped")
	if got := r.drained(planner, theirs); !strings.Contains(got, `"event":"bounced"`) || !strings.Contains(got, `"resolution":"cancelled"`) {
		t.Errorf("the sender's mailbox holds %s after the stop, want a receipt and the response", got)
	}
	if _, err := r.hub.Register(t.Context(), r.agent, &ma2h.Register{}); ma2h.AsError(err) == nil {
		t.Errorf("a stopped agent begins a session: %v", err)
	}
	if len(r.get(at).find("a", "href", at+"/stop")) != 0 {
		t.Error("an agent that is stopped, and in no session, can be stopped")
	}
	d, err := r.hub.AgentDetail(t.Context(), r.owner, "deploybot/dev-team")
	if err != nil || d.Stopped == nil || d.Stopped.By != "human:owner" || d.Stopped.Reason != "It loops <b>again</b>" || d.Stopped.At.IsZero() {
		t.Errorf("the detail of the agent says %+v, %v of its stop", d.Stopped, err)
	}
	p = r.post(at, at+"/lift", nil).is(http.StatusSeeOther)
	r.get(p.header.Get("Location")).says("The stop is lifted.").lacks("Stopped by")
	r.runs(r.agent, "again")
}

func TestTheCloseOfASessionSaysThatItStops(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	one, other := r.runs(r.agent, "one"), r.runs(r.agent, "other")
	p := r.get(at+"/sessions/"+one+"/close").is(http.StatusOK).says("Close this session of deploybot/dev-team?", one, "This stops the agent, too",
		"Its other session lives on")
	calm(p)
	p = r.post("/settings", at+"/sessions/"+one+"/close", nil).is(http.StatusSeeOther)
	r.get(p.header.Get("Location")).says("The session is closed.", "Stopped by you", "1 session that it had lives on.", "Closed by you")
	r.get(at+"/sessions/"+other+"/close").says("Close this session").lacks("This stops the agent", "Its other session")
	r.get(at+"/stop").says("Its session closes.", "It is stopped already")
	for _, method := range []string{http.MethodGet, http.MethodPost} { // the agent was faster
		if _, err := r.hub.CloseSession(t.Context(), r.agent, other); err != nil {
			t.Fatal(err)
		}
		p = r.do(r.browser, method, at+"/sessions/"+other+"/close", url.Values{"csrf": {r.token("/settings")}},
			map[string]string{"Sec-Fetch-Site": "same-origin"}).is(http.StatusSeeOther)
		r.get(p.header.Get("Location")).says("That session had ended already.", "Closed by the agent itself")
	}
	spy := r.newAgent("spy")
	r.get("/agents/" + r.agentRef("spy") + "/sessions/" + one + "/close").is(http.StatusNotFound)
	r.post("/settings", at+"/sessions/"+r.runs(spy, "")+"/close", nil).is(http.StatusNotFound)
}

func TestMembersStopAndLift(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	one := r.runs(r.agent, "one")
	bob := r.joined("bob", "member", good)
	bob.post("/settings", at+"/sessions/"+one+"/close", nil).is(http.StatusSeeOther)
	r.get(at).says("Stopped by bob", "Closed by bob")
	bob.post("/settings", at+"/stop", url.Values{"reason": {"r"}}).is(http.StatusSeeOther)
	r.post("/settings", at+"/lift", nil).is(http.StatusSeeOther)
	bob.post("/settings", at+"/stop", url.Values{"reason": {"for now"}}).is(http.StatusSeeOther)
	r.get(at).says("Stopped by bob", "for now")
	bob.post("/settings", at+"/lift", nil).is(http.StatusSeeOther)
	r.get(at).lacks("Stopped by")
}

func TestWhatASessionSaysOfItselfDoesNothingToThePage(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	for _, s := range hostile {
		if len(s) > 300 {
			continue
		}
		made, err := r.hub.Register(t.Context(), r.agent, &ma2h.Register{Label: s, RunID: s, Kind: s, Project: s})
		if err != nil {
			continue
		}
		calm(r.get(at).is(http.StatusOK))
		calm(r.get(at + "/sessions/" + made.Session.ID + "/close").is(http.StatusOK))
		if err := r.hub.StopAgent(t.Context(), r.owner, "deploybot/dev-team", s); err != nil {
			t.Fatal(err)
		}
		calm(r.get(at).is(http.StatusOK))
		if err := r.hub.LiftStop(t.Context(), r.owner, "deploybot/dev-team"); err != nil {
			t.Fatal(err)
		}
	}
}

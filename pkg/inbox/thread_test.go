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

// told is the path of the thread of the rig's own agent.
func (r *rig) told() string { return "/agents/" + r.agentRef("deploybot/dev-team") + "/told" }

// tells sends a directive by the page, which has to take it.
func (r *rig) tells(form url.Values) {
	r.t.Helper()
	r.pass(time.Millisecond) // so that directives have an order
	p := r.post("/settings", r.told(), form).is(http.StatusSeeOther)
	r.get(p.header.Get("Location")).is(http.StatusOK).says("It is in the agent’s mailbox.")
}

// latest are the ids of the directives in a part of the thread, in its order.
func (a *answer) latest() (ids []string) {
	for _, n := range a.find("a", "", "") {
		if _, id, ok := strings.Cut(attr(n, "href"), "/told/"); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// acks consumes an entry of the agent's mailbox.
func (r *rig) acks(session, note string, ids ...string) {
	r.t.Helper()
	if _, err := r.hub.AckMail(r.t.Context(), r.agent, session, &ma2h.InboxAckRequest{IDs: ids, Note: note}); err != nil {
		r.t.Fatal(err)
	}
}

func TestWhatAnAgentIsToldAndWhatBecomesOfIt(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	agent := "/agents/" + r.agentRef("deploybot/dev-team")
	r.get(r.told()).is(http.StatusOK).says("What people told deploybot/dev-team", "Nobody has told it anything yet.", "Never seen yet")
	r.tells(url.Values{"title": {"Not on Friday"}, "body": {"It is **the** release.\n<b>x</b>"}})
	p := r.get(r.told()).says("you, just now", "Not on Friday", "It is **the** release.", "<b>x</b>", "Waits in the mailbox")
	one := p.latest()[0]
	r.get(agent).says("Not on Friday", "Waits in the mailbox", "Tell it something")
	p = r.get(r.told()+"/"+one).is(http.StatusOK).says("It is the release.", "Sent by you, 14:20 UTC", "Still to come: the agent fetches it")
	calm(p)

	if got := r.drained(r.agent, ""); !strings.Contains(got, one) {
		t.Fatalf("the drain is %s", got)
	}
	r.pass(time.Minute)
	r.get(r.told()).says("Fetched 1 min ago, not acknowledged so far", "Online, seen 1 min ago")
	r.get(r.told()+"/"+one).says("Fetched by the agent, 14:20 UTC", "Still to come: the agent acknowledges it").lacks("the agent fetches it")
	r.acks("", "On <i>it</i>.", one)
	for _, path := range []string{r.told(), agent} {
		r.get(path).says("Acknowledged just now: “On <i>it</i>.”")
	}
	r.get(r.told() + "/" + one).says("Acknowledged by the agent, 14:21 UTC: “On <i>it</i>.”").lacks("Still to come")

	r.tells(url.Values{"title": {"Second"}, "holds": {"hour"}})
	p = r.get(r.told()).says("Waits in the mailbox, until 15:21 UTC")
	if got := p.latest(); len(got) != 2 || got[1] != one {
		t.Errorf("the thread lists %v, want the latest first", got)
	}
	r.pass(2 * time.Hour)
	r.get(r.told()).says("Expired 1 h ago: nobody had fetched it")
	r.get(r.told() + "/" + p.latest()[0]).says("Expired, as nobody had fetched it, 15:21 UTC")
}

func TestADirectiveForOneSession(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	if len(r.get(r.told()).find("select", "name", "session")) != 0 {
		t.Error("an agent without a session can be told something in one")
	}
	one := r.runs(r.agent, "night build")
	r.get(r.told()).says("its session “night build”, " + one)
	for _, title := range []string{"Never fetched", "Fetched"} {
		r.tells(url.Values{"title": {title}, "session": {one}})
		if title == "Never fetched" {
			r.tells(url.Values{"title": {"For all"}})
		}
	}
	r.get(r.told()).says("for session " + one)
	if _, err := r.hub.Drain(t.Context(), r.agent, hub.DrainOptions{Session: one, Max: 1}); err != nil {
		t.Fatal(err)
	}
	r.post("/settings", "/agents/"+r.agentRef("deploybot/dev-team")+"/stop", url.Values{}).is(http.StatusSeeOther)
	r.get(r.told()).says("Bounced just now: nobody had fetched it", "Bounced just now: it was fetched, and never acknowledged",
		"Waits in the mailbox", "Stopped by you")

	bad := r.post("/settings", r.told(), url.Values{"title": {"Late"}, "body": {"kept"}, "session": {one}, "holds": {"week"}})
	bad.is(http.StatusUnprocessableEntity).says("That session has ended")
	if attr(bad.find("input", "id", "title")[0], "value") != "Late" || text(bad.find("textarea", "id", "body")[0]) != "kept" {
		t.Error("what was typed is not kept")
	}
	bad = r.post("/settings", r.told(), url.Values{"title": {"  "}}).is(http.StatusUnprocessableEntity)
	if len(bad.find("p", "id", "title-wrong")) != 1 {
		t.Error("what is wrong with the title does not stand at it")
	}
	long := strings.Repeat("x", 300<<10)
	bad = r.post("/settings", r.told(), url.Values{"title": {"Long"}, "body": {long}}).is(http.StatusUnprocessableEntity)
	if len(bad.find("p", "id", "body-wrong")) != 1 {
		t.Error("what is wrong with the body does not stand at it")
	}
	if got := len(r.get(r.told()).latest()); got != 3 {
		t.Errorf("the thread has %d directives, want 3: nothing of what was refused", got)
	}
}

func TestAThreadHasParts(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for i := range 45 { // most of them at the same instant
		if i > 41 {
			r.pass(time.Second)
		}
		if _, err := r.hub.Direct(t.Context(), r.owner, &ma2h.Directive{
			To: "agent:deploybot/dev-team", Title: fmt.Sprintf("Word %d.", i), Body: strings.Repeat("long ", 1000),
		}); err != nil {
			t.Fatal(err)
		}
	}
	seen, path := map[string]bool{}, r.told()
	for parts := 1; path != ""; parts++ {
		p := r.get(path).is(http.StatusOK)
		if len(p.body) > 60_000 {
			t.Errorf("a part of %d long directives has %d bytes", len(p.latest()), len(p.body))
		}
		for _, id := range p.latest() {
			if seen[id] {
				t.Errorf("%s stands in two parts", id)
			}
			seen[id] = true
		}
		path = ""
		for _, n := range p.find("a", "class", "button") {
			if text(n) == "Earlier" {
				path = attr(n, "href")
			}
		}
		if (path == "") != (parts == 3) {
			t.Fatalf("part %d leads to %q", parts, path)
		}
	}
	if len(seen) != 45 {
		t.Errorf("the parts have %d directives, want 45", len(seen))
	}
	r.get(r.told() + "?after=nonsense").is(http.StatusBadRequest)
	r.get("/agents/"+r.agentRef("deploybot/dev-team")).says("Word 44.", "Word 42.").lacks("Word 41.")
}

func TestWhoTellsAnAgent(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	bob := r.joined("bob", "member", good)
	bob.tells(url.Values{"title": {"By a member"}})
	p := r.get(r.told()).says("bob, just now")
	spy := r.newAgent("spy")
	r.get("/agents/" + r.agentRef("spy") + "/told/" + p.latest()[0]).is(http.StatusNotFound)
	r.get("/agents/" + r.agentRef("spy") + "/told").says("Nobody has told it anything yet.")
	if err := r.hub.RevokeAgent(t.Context(), r.owner, spy.Agent.ID); err != nil {
		t.Fatal(err)
	}
	p = r.get("/agents/" + r.agentRef("spy") + "/told").says("It has no token any more.")
	if len(p.find("input", "name", "title")) != 0 {
		t.Error("who is revoked can be told something")
	}
	r.post("/settings", "/agents/"+r.agentRef("spy")+"/told", url.Values{"title": {"x"}}).is(http.StatusUnprocessableEntity)
}

func TestNothingThatIsToldWorksOnThePage(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	for _, s := range hostile {
		calm(r.post("/settings", r.told(), url.Values{"title": {s}, "body": {s}, "session": {s}}))
		r.post("/settings", r.told(), url.Values{"title": {"x" + s}, "body": {s}})
	}
	for path := r.told(); path != ""; {
		p := r.get(path)
		calm(p)
		path = ""
		for _, n := range p.find("a", "class", "button") {
			if text(n) == "Earlier" {
				path = attr(n, "href")
			}
		}
		for _, id := range p.latest() {
			calm(r.get(r.told() + "/" + id).is(http.StatusOK))
			r.drained(r.agent, "")
			r.acks("", "\u202e"+id, id)
		}
		calm(r.get(r.told()))
	}
}

func TestTheThreadLooksAgain(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	r.tells(url.Values{"title": {"One"}})
	one := r.get(r.told()).latest()[0]
	for _, path := range []string{r.told(), r.told() + "/" + one, "/agents/" + r.agentRef("deploybot/dev-team")} {
		status, tag := r.look(path+"?live=1", "")
		if status != http.StatusOK || tag == "" {
			t.Fatalf("%s is %d with the tag %q", path, status, tag)
		}
		r.pass(time.Second)
		if status, _ := r.look(path+"?live=1", tag); status != http.StatusNotModified {
			t.Errorf("%s, a second later, is %d, want 304", path, status)
		}
	}
	_, tag := r.look(r.told()+"?live=1", "")
	r.drained(r.agent, "")
	if status, _ := r.look(r.told()+"?live=1", tag); status != http.StatusOK {
		t.Errorf("the thread after a drain is %d, want 200", status)
	}
}

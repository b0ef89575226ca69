package inbox_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

// agentRef is what names the agent with this id in the addresses of pages.
func (r *rig) agentRef(id string) string { return r.hub.AgentRef(r.owner.Account.Ref, id) }

// codes are the blocks of a page that are there to be copied.
func (a *answer) codes() string {
	var b strings.Builder
	for _, n := range a.find("pre", "", "") {
		b.WriteString(rawTexts(n) + "\n")
	}
	return b.String()
}

func TestAnAgentIsAddedWithWhatItNeedsToAsk(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	p := r.post("/agents", "/agents", url.Values{"id": {"it's/new <b>"}}).is(http.StatusOK)
	calm(p)
	codes := p.codes()
	for _, want := range []string{"export MASH_URL=" + r.server.URL, "export MASH_TOKEN=mash_", "export MASH_PUSH_SECRET=mashs_",
		"mash ask 'Does this reach you?'", `curl -sS "$MASH_URL/v1/messages"`, `"it'\''s/new <b>"`, "package main", "client.New("} {
		if !strings.Contains(codes, want) {
			t.Errorf("the page does not hand over %q; it does\n%s", want, codes)
		}
	}
	p.says("only once")
	_, token, _ := strings.Cut(codes, "export MASH_TOKEN=")
	token, _, _ = strings.Cut(token, "\n")
	for _, path := range []string{"/agents", "/agents/" + r.agentRef("it's/new <b>")} {
		if p := r.get(path).is(http.StatusOK); strings.Contains(p.body, token) {
			t.Errorf("%s shows the token again", path)
		}
	}
	p = r.get("/agents")
	calm(p)
	p.says("it's/new <b>", "deploybot/dev-team", "sent nothing lately")
	for _, id := range []string{"", "deploybot/dev-team", "a?b", strings.Repeat("x", 300)} {
		p := r.post("/agents", "/agents", url.Values{"id": {id}}).is(http.StatusUnprocessableEntity)
		if len(p.find("p", "id", "id-wrong")) != 1 || attr(p.find("input", "id", "id")[0], "value") != id {
			t.Errorf("what is wrong with %.20q does not stand at it, or it is not kept", id)
		}
	}
}

func TestAgentsSayWhatTheySentLately(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	r.ask("Waiting?", `"mode":"confirm"`)
	id := r.ask("Over?", `"mode":"confirm"`)
	r.reply(id, url.Values{"do": {"option:0"}})
	r.pass(5 * time.Minute)
	r.get("/agents").says("sent something 5 min ago", "1 open")
	p := r.get("/agents/" + r.agentRef("deploybot/dev-team")).is(http.StatusOK)
	p.says("Waiting?", "Over?", "Answered “Approve”", "Made 5 min ago, the newest", "All that is over")
	if to := linkTo(p, "All that is over"); to != "/history?agent=deploybot%2Fdev-team" {
		t.Errorf("the history of the agent is at %q", to)
	}
}

func TestTokensOfAnAgentAreReplacedAndEnded(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	r.pass(time.Hour)
	p := r.post(at, at+"/rotate", nil).is(http.StatusOK)
	p.says("A new token for deploybot/dev-team", "only once")
	if !strings.Contains(p.codes(), "export MASH_TOKEN=mash_") {
		t.Error("the page does not show the new token")
	}
	r.get(at).says("Made just now, the newest", "Made 1 h ago, good until another one is made")
	r.get(at + "/revoke").is(http.StatusOK).says("Revoke deploybot/dev-team?")
	r.get(at).lacks("It has no token any more")
	p = r.post(at+"/revoke", at+"/revoke", nil).is(http.StatusSeeOther)
	r.get(p.header.Get("Location")).says("The agent is revoked.", "Revoked")
	p = r.get(at)
	p.says("It has no token any more", "Add it again")
	for _, deed := range []string{"/rotate", "/hosts", "/secrets"} {
		r.post(at, at+deed, url.Values{"host": {"a.example"}, "proof": {"person"}, "name": {"x"}}).is(http.StatusNotFound)
	}
	r.post(at, "/agents", url.Values{"id": {"deploybot/dev-team"}}).is(http.StatusOK).says("may send now")
}

// shown is a Prover for whom hosts show what they are said to.
type shown map[string]hub.Proof

func (shown) Host(typed string) (string, error) { return strings.ToLower(typed), nil }
func (shown) Vouched(string) bool               { return false }
func (s shown) Prove(_ context.Context, host string, proof hub.Proof, _ string) hub.Proven {
	return hub.Proven{Shown: s[host] == proof, Status: http.StatusOK}
}

func TestHostsOfAnAgentAreProven(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	r.hub.Prover = shown{"file.example": hub.ProofWellKnown, "dns.example": hub.ProofDNS}
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	p := r.get(at).is(http.StatusOK)
	p.says("No host is known to be its own.")
	if codes := p.codes(); !strings.Contains(codes, "mash-callback=") || !strings.Contains(codes, "/.well-known/mash-callback") || !strings.Contains(codes, "_mash-callback.HOST") {
		t.Errorf("the page does not say how a host is proven; it says\n%s", codes)
	}
	bind := func(host, proof string) *answer {
		return r.post(at, at+"/hosts", url.Values{"host": {host}, "proof": {proof}})
	}
	for _, wrong := range [][2]string{{"other.example", "well-known"}, {"file.example", "dns"}, {"file.example", "magic"}} {
		p := bind(wrong[0], wrong[1]).is(http.StatusUnprocessableEntity)
		if len(p.find("p", "id", "host-wrong")) != 1 || attr(p.find("input", "id", "host")[0], "value") != wrong[0] {
			t.Errorf("%v: what is wrong does not stand at the host, or it is not kept", wrong)
		}
	}
	for host, proof := range map[string]string{"File.example": "well-known", "dns.example": "dns", "mine.example": "person"} {
		r.get(bind(host, proof).is(http.StatusSeeOther).header.Get("Location")).says("The host is known to be the agent’s own.")
	}
	p = r.get(at)
	p.says("Shown by a file of the host, just now, checked by you", "Shown by a DNS record", "Vouched for just now, by you")
	p = r.post(at, at+"/hosts/unbind", url.Values{"host": {"mine.example"}}).is(http.StatusSeeOther)
	r.get(p.header.Get("Location")).says("The host is removed.")
	r.get(at).lacks("mine.example")
}

func TestWhatAnAgentIsToldIsPushedToAHostOfItsOwn(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	r.get(at).is(http.StatusOK).says("Nothing is pushed; the agent fetches what it is told.")
	hook := func(to, do string) *answer { return r.post(at, at+"/webhook", url.Values{"url": {to}, "do": {do}}) }
	const told = "https://mine.example/told?key=1"
	p := hook(told, "set").is(http.StatusUnprocessableEntity)
	if len(p.find("p", "id", "url-wrong")) != 1 || attr(p.find("input", "id", "url")[0], "value") != told {
		t.Error("what is wrong does not stand at the address, or it is not kept")
	}
	r.post(at, at+"/hosts", url.Values{"host": {"mine.example"}, "proof": {"person"}}).is(http.StatusSeeOther)
	r.get(hook(told, "set").is(http.StatusSeeOther).header.Get("Location")).
		says("What the agent is told is pushed from now on.", "Pushed to mine.example, set just now by you")
	r.post(at, at+"/hosts/unbind", url.Values{"host": {"mine.example"}}).is(http.StatusSeeOther)
	r.get(at).says("The host is not the agent’s own any more, so nothing goes there.")
	r.get(hook(told, "remove").is(http.StatusSeeOther).header.Get("Location")).says("is not pushed any more.", "Nothing is pushed;")
}

func TestSecretsOfAnAgentAreReplacedWithOverlap(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	r.get(at).says("env:MASH_PUSH_SECRET", "used now")
	p := r.post(at, at+"/secrets", url.Values{"name": {"env:MASH_PUSH_SECRET"}, "from": {"day"}}).is(http.StatusOK)
	p.says("The secret env:MASH_PUSH_SECRET", "used from 5 Mar, 14:20 UTC on")
	_, made, _ := strings.Cut(p.codes(), "mashs_")
	if made, _, _ = strings.Cut(made, "\n"); len(made) < 20 {
		t.Fatalf("the page does not show the secret: %s", p.codes())
	}
	p = r.get(at)
	p.says("used until 5 Mar, 14:20 UTC", "used from 5 Mar, 14:20 UTC on")
	if strings.Contains(p.body, made) {
		t.Error("the secret is shown again")
	}
	p = r.post(at, at+"/secrets", url.Values{"name": {"other"}, "value": {"hush-hush-hush"}, "from": {"now"}}).is(http.StatusOK)
	p.says("It is kept, and used from")
	bad := r.post(at, at+"/secrets", url.Values{"name": {"kept"}, "value": {"hush"}, "from": {"week"}}).is(http.StatusUnprocessableEntity)
	if len(bad.find("p", "id", "value-wrong")) != 1 || attr(bad.find("input", "id", "name")[0], "value") != "kept" {
		t.Error("what is wrong does not stand at the secret, or the name is not kept")
	}
	for _, p := range []*answer{p, bad, r.get(at)} {
		if strings.Contains(p.body, "hush") {
			t.Error("the page shows a secret that somebody typed")
		}
	}
	p = r.post(at, at+"/secrets/use", url.Values{"name": {"env:MASH_PUSH_SECRET"}}).is(http.StatusSeeOther)
	r.get(p.header.Get("Location")).says("The new secret is used from now on.")
	r.get(at).lacks("used until")
	p = r.post(at, at+"/secrets/remove", url.Values{"name": {"other"}}).is(http.StatusSeeOther)
	r.get(p.header.Get("Location")).says("The secret is removed.")
	r.post(at, at+"/secrets/remove", url.Values{"name": {"nothing"}}).is(http.StatusNotFound)
}

// agentDeeds are all deeds of the pages of agents.
var agentDeeds = []string{"/rotate", "/revoke", "/hosts", "/hosts/unbind", "/secrets", "/secrets/use", "/secrets/remove", "/webhook"}

func TestAgentsOfAnotherAccountAreUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	stranger, err := r.hub.EnsureAccount(t.Context(), "stranger")
	if err != nil {
		t.Fatal(err)
	}
	theirs := r.agentRef("deploybot/dev-team")
	r.owner = stranger
	r.signIn()
	r.get("/agents").is(http.StatusOK).lacks("deploybot/dev-team")
	for _, ref := range []string{theirs, strings.Repeat("0", 26), "x", "a#b"} {
		at := "/agents/" + url.PathEscape(ref)
		unknown := r.get("/agents/" + strings.Repeat("1", 26)).is(http.StatusNotFound)
		for _, path := range []string{"", "/revoke"} {
			if p := r.get(at + path).is(http.StatusNotFound); p.body != unknown.body {
				t.Errorf("GET %s%s answers otherwise than for an agent that is not there", at, path)
			}
		}
		for _, deed := range agentDeeds {
			form := url.Values{"host": {"a.example"}, "proof": {"person"}, "name": {"x"}}
			if p := r.post("/settings", at+deed, form).is(http.StatusNotFound); p.body != unknown.body {
				t.Errorf("POST %s%s answers otherwise than for an agent that is not there", at, deed)
			}
		}
	}
}

func TestMembersSeeAgentsAndChangeNone(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	r.hub.Prover = shown{}
	if _, err := r.hub.BindHost(t.Context(), r.owner, "deploybot/dev-team", "mine.example", hub.ProofPerson); err != nil {
		t.Fatal(err)
	}
	r = r.joined("bob", "member", good)
	for _, path := range []string{"/agents", at, at + "/revoke"} {
		p := r.get(path).is(http.StatusOK)
		p.says("deploybot/dev-team", "Only an owner of the account may add, change or revoke agents.")
		for _, f := range p.find("form", "", "") {
			if attr(f, "method") == "post" {
				t.Errorf("%s offers a member %s", path, render(f))
			}
		}
	}
	r.get(at).says("mine.example", "env:MASH_PUSH_SECRET")
	form := url.Values{"id": {"new"}, "host": {"a.example"}, "proof": {"person"}, "name": {"x"}}
	r.post("/settings", "/agents", form).is(http.StatusForbidden)
	for _, deed := range agentDeeds {
		r.post("/settings", at+deed, form).is(http.StatusForbidden)
	}
}

func TestPagesOfAgentsActOnNoGet(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	at := "/agents/" + r.agentRef("deploybot/dev-team")
	for _, deed := range agentDeeds {
		if deed != "/revoke" {
			r.get(at + deed).is(http.StatusMethodNotAllowed)
		}
		r.do(r.browser, http.MethodPost, at+deed, url.Values{"name": {"x"}}, nil).is(http.StatusForbidden)
	}
	before := text(r.get(at).root)
	r.get(at + "/revoke?do=1")
	r.get(at + "?did=unbound")
	if after := text(r.get(at).root); after != before {
		t.Error("a GET changed the agent")
	}
}

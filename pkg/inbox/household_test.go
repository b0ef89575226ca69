package inbox_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/mash-hub/mash/pkg/hub"
)

// visitor is the same inbox in another browser, of whom rig's methods then speak.
func (r *rig) visitor() *rig {
	v := &rig{t: r.t, hub: r.hub, owner: r.owner, agent: r.agent, log: r.log, server: r.server, now: r.now}
	v.browser = v.newBrowser()
	return v
}

// invite invites somebody by the page and returns the path of the link.
func (r *rig) invite(name, role string) string {
	r.t.Helper()
	p := r.post("/people", "/people/invitations", url.Values{"name": {name}, "role": {role}}).is(http.StatusOK)
	link := regexp.MustCompile(`/join/mashp_[0-9a-z_]+`).FindString(p.body)
	if link == "" {
		r.t.Fatalf("no link for %s on the page: %s", name, p.body)
	}
	return link
}

// joined is the browser of somebody who has accepted an invitation.
func (r *rig) joined(name, role, password string) *rig {
	r.t.Helper()
	link, v := r.invite(name, role), r.visitor()
	p := v.post(link, link, url.Values{"new": {password}}).is(http.StatusSeeOther)
	if to := p.header.Get("Location"); to != "/inbox?joined=1" {
		r.t.Errorf("joining leads to %q", to)
	}
	return v
}

const good = "stapler under moss"

func TestSomebodyJoinsByAnInvitationOnce(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	link := r.invite("bob", "member")
	r.get("/people").is(http.StatusOK).says("bob", "Invitations that are open").lacks(link)
	for range 2 { // who looks uses nothing up
		v := r.visitor()
		v.get(link).is(http.StatusOK).says("owner invites you", "human:bob", "Join as bob")
		if h := v.do(v.browser, http.MethodHead, link, nil, nil).is(http.StatusOK); h.body != "" {
			t.Error("HEAD has a body")
		}
		v.get("/inbox").is(http.StatusUnauthorized)
	}
	bob := r.visitor()
	bob.get(link)
	weak := bob.post(link, link, url.Values{"new": {"password123"}}).is(http.StatusUnprocessableEntity)
	weak.says("guessed first", "Join as bob")
	bob.post(link, link, url.Values{"new": {good}}).is(http.StatusSeeOther)
	bob.get("/inbox?joined=1").is(http.StatusOK).says("Welcome")
	r.visitor().get(link).is(http.StatusUnauthorized).says("This invitation is not open")
	late := r.visitor()
	late.get("/signin")
	late.post("/signin", link, nil).is(http.StatusUnauthorized).says("This invitation is not open")
	people := r.get("/people").says("bob", "a member, joined just now, invited by you", "Remove bob")
	people.lacks("Invitations that are open")
}

func TestAMemberAnswersWhatListsThemAndNothingMore(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	bob := r.joined("bob", "member", "")
	theirs := r.send(`"type":"ask","title":"For bob","request":{"mode":"confirm","allowed_resolvers":["human:bob"]}`)
	ours := r.ask("For the owner", `"mode":"confirm"`)
	bob.get("/inbox").says("For bob", "For the owner")
	bob.reply(theirs, url.Values{"do": {"option:0"}}).is(http.StatusSeeOther)
	if got := r.detail(theirs); got == nil || got.Response.Actor != "human:bob" {
		t.Errorf("the answer is %+v, want bob's", got)
	}
	bob.reply(ours, url.Values{"do": {"option:0"}}).is(http.StatusForbidden)
	page := bob.get("/people").is(http.StatusOK).says("owner", "An owner of the account invites")
	if len(page.find("form", "", "")) != 0 {
		t.Error("a member's page of people has forms that would refuse them")
	}
	bob.get("/settings").says("An owner of the account decides that", "You are bob, a member").lacks("Let me answer")
	r.send(`"type":"ask","title":"For nobody","request":{"mode":"confirm"}`)
	bob.get("/inbox").says("For nobody").lacks("Let me answer asks to come")
	for _, path := range []string{"/people/invitations", "/settings/default-resolvers", "/people/" + r.owner.Person.Ref + "/remove"} {
		bob.post("/settings", path, url.Values{"name": {"x"}, "role": {"member"}, "on": {"1"}}).is(http.StatusForbidden).says("For owners")
	}
}

func TestWhoIsRemovedIsOut(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	bob := r.joined("bob", "owner", good)
	bob.get("/inbox").is(http.StatusOK)
	ref := r.hub.PersonRef("bob")
	form := r.get("/people").find("form", "action", "/people/"+ref+"/remove")
	if len(form) != 1 {
		t.Fatal("no form removes bob")
	}
	r.post("/people", "/people/"+ref+"/remove", nil).is(http.StatusSeeOther)
	r.get("/people?did=removed").says("They are out").lacks("bob")
	bob.get("/inbox").is(http.StatusUnauthorized)
	bob.signInAs("bob", good).is(http.StatusUnauthorized)
	r.post("/people", "/people/"+ref+"/remove", nil).is(http.StatusNotFound)
	r.joined("bob", "member", "").get("/inbox").is(http.StatusOK)
}

func TestInvitationsAreRevokedAndNamesChecked(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	link := r.invite("bob", "member")
	forms := r.get("/people").find("form", "", "")
	var revoke string
	for _, f := range forms {
		if strings.HasSuffix(attr(f, "action"), "/revoke") {
			revoke = attr(f, "action")
		}
	}
	r.post("/people", revoke, nil).is(http.StatusSeeOther)
	r.visitor().get(link).is(http.StatusUnauthorized)
	if _, err := r.hub.EnsureAccount(t.Context(), "stranger"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"stranger": "taken", "owner": "taken", "two words": "leave out blanks", "": "needs a name"} {
		p := r.post("/people", "/people/invitations", url.Values{"name": {name}, "role": {"member"}}).is(http.StatusUnprocessableEntity)
		p.says(want)
		if got := attr(p.find("input", "id", "name")[0], "value"); got != name {
			t.Errorf("what was typed is %q now, want %q", got, name)
		}
	}
}

// signInAs sends the form of the page that signs in.
func (r *rig) signInAs(name, password string) *answer {
	r.t.Helper()
	return r.post("/signin", "/signin", url.Values{"name": {name}, "password": {password}})
}

func TestThePasswordSignsInAndTellsNobodyWhoIsWho(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	r.joined("bob", "member", good)
	v := r.visitor()
	wrong := v.signInAs("bob", "not the password").is(http.StatusUnauthorized).says("do not go together")
	unknown := v.signInAs("bob", "not the password either").is(http.StatusUnauthorized)
	nobody := v.signInAs("nob", "not the password").is(http.StatusUnauthorized)
	if wrong.body != unknown.body || strings.ReplaceAll(wrong.body, `"bob"`, `"nob"`) != nobody.body {
		t.Error("a wrong password and a name that nobody has get different pages")
	}
	p := v.signInAs("bob", good).is(http.StatusSeeOther)
	if p.header.Get("Location") != "/inbox" {
		t.Errorf("signing in leads to %q", p.header.Get("Location"))
	}
	v.get("/settings").is(http.StatusOK).says("You are bob", "by password", "this browser")
}

func TestSigningInLeadsToTheMessageAndNowhereElse(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	r.joined("bob", "member", good)
	v := r.visitor()
	page := v.get("/inbox/" + id).is(http.StatusUnauthorized)
	next := page.find("input", "name", "next")
	if len(next) != 1 || attr(next[0], "value") != "/inbox/"+id {
		t.Fatalf("the form does not lead on to the message")
	}
	for to, want := range map[string]string{
		"/inbox/" + id: "/inbox/" + id, "https://evil.example": "/inbox", "//evil.example": "/inbox", "/settings": "/inbox",
		`/\evil.example`: "/inbox", "/inbox/" + id + "/../../x": "/inbox",
	} {
		v := r.visitor()
		p := v.post("/signin", "/signin", url.Values{"name": {"bob"}, "password": {good}, "next": {to}}).is(http.StatusSeeOther)
		if got := p.header.Get("Location"); got != want {
			t.Errorf("next=%q leads to %q, want %q", to, got, want)
		}
	}
}

func TestGuessesWaitAndTheOwnBrowserDoesNot(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	bob := r.joined("bob", "member", good)
	bob.post("/settings", "/signout", nil).is(http.StatusSeeOther)
	v := r.visitor()
	for range 5 {
		v.signInAs("bob", "x").is(http.StatusUnauthorized)
	}
	late := v.signInAs("bob", good).is(http.StatusTooManyRequests).says("Too many tries", "15 s", "A link works at once")
	if late.header.Get("Retry-After") != "15" {
		t.Errorf("Retry-After = %q, want 15", late.header.Get("Retry-After"))
	}
	bob.signInAs("bob", good).is(http.StatusSeeOther)
}

func TestOneAddressTriesOnlySoOften(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	v := r.visitor()
	waits := 0
	for i := range 30 {
		if p := v.signInAs("name"+string(rune('a'+i)), "x"); p.status == http.StatusTooManyRequests {
			waits++
		}
	}
	if waits != 10 {
		t.Errorf("of 30 tries at as many names %d had to wait, want 10", waits)
	}
}

// TestWhoeverGuessesAtAnAddressKeepsNobodyElseThereOut: a household, or all behind one proxy, share an address.
func TestWhoeverGuessesAtAnAddressKeepsNobodyElseThereOut(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	bob := r.joined("bob", "member", good)
	bob.post("/settings", "/signout", nil).is(http.StatusSeeOther)
	link := r.invite("carol", "member")
	v := r.visitor()
	for i := 0; v.signInAs("name"+string(rune('a'+i)), "x").status != http.StatusTooManyRequests; i++ {
	}
	bob.signInAs("bob", "not it").is(http.StatusUnauthorized)
	bob.signInAs("bob", good).is(http.StatusSeeOther)
	bob.post("/settings", "/signout", nil).is(http.StatusSeeOther)
	bob.signInAs("owner", "x").is(http.StatusTooManyRequests) // where they were never signed in, they are a stranger
	carol := r.visitor()
	carol.get(link)
	carol.post(link, link, nil).is(http.StatusSeeOther)
	dead := r.visitor()
	dead.get("/signin")
	dead.post("/signin", link, nil).is(http.StatusTooManyRequests)
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	other := r.visitor()
	other.do(other.browser, http.MethodGet, r.newLink(), nil, map[string]string{
		"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
	}).is(http.StatusOK)
	page := r.get("/settings").says("Firefox on Linux", "this browser")
	end := actions(page, "/end")
	if len(end) != 1 {
		t.Fatalf("the page ends %d sessions, want the other one", len(end))
	}
	r.post("/settings", end[0], nil).is(http.StatusSeeOther)
	other.get("/inbox").is(http.StatusUnauthorized)
	r.get("/inbox").is(http.StatusOK)
	r.post("/settings", end[0], nil).is(http.StatusNotFound)

	third := r.visitor()
	third.signIn()
	third.post("/settings", "/settings/sign-out-everywhere", nil).is(http.StatusSeeOther)
	third.get("/inbox").is(http.StatusUnauthorized)
	r.get("/inbox").is(http.StatusUnauthorized)
}

// actions are where the forms of a page lead that end in suffix.
func actions(p *answer, suffix string) []string {
	var to []string
	for _, f := range p.find("form", "", "") {
		if a := attr(f, "action"); strings.HasSuffix(a, suffix) {
			to = append(to, a)
		}
	}
	return to
}

func TestEachSignInHasASessionOfItsOwnAndEndsTheOneBefore(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	u, err := url.Parse(r.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	kept := func() string {
		for _, c := range r.browser.Jar.Cookies(u) {
			if c.Name == r.cookieName() {
				return c.String()
			}
		}
		return ""
	}
	before := kept()
	r.signIn()
	if after := kept(); after == before || after == "" {
		t.Errorf("the session is %q after signing in again, and was %q", after, before)
	}
	r.do(r.newBrowser(), http.MethodGet, "/inbox", nil, map[string]string{"Cookie": before}).is(http.StatusUnauthorized)
}

func TestAPasswordIsSetChangedAndRemoved(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	other := r.visitor()
	other.signIn()
	set := func(form url.Values) *answer { return r.post("/settings", "/settings/password", form) }
	set(url.Values{"new": {"short"}, "do": {"set"}}).is(http.StatusUnprocessableEntity).says("at least 10 characters")
	set(url.Values{"new": {"owner2026owner"}, "do": {"set"}}).is(http.StatusUnprocessableEntity).says("little more than a name")
	set(url.Values{"new": {good}, "do": {"set"}}).is(http.StatusSeeOther)
	r.get("/settings?password=set").says("Your password is set", "You have one, set just now")
	other.get("/inbox").is(http.StatusUnauthorized)

	r.pass(hub.SessionFresh + time.Minute)
	r.get("/settings").says("The current one")
	wrong := set(url.Values{"current": {"x"}, "new": {"another fine thing"}, "do": {"set"}}).is(http.StatusUnprocessableEntity)
	wrong.says("not your current password")
	set(url.Values{"current": {good}, "new": {"another fine thing"}, "do": {"set"}}).is(http.StatusSeeOther)
	r.visitor().signInAs("owner", good).is(http.StatusUnauthorized)
	r.visitor().signInAs("owner", "another fine thing").is(http.StatusSeeOther)
	set(url.Values{"new": {""}, "do": {"remove"}}).is(http.StatusSeeOther)
	r.get("/settings?password=removed").says("You have no password any more")
	r.visitor().signInAs("owner", "another fine thing").is(http.StatusUnauthorized)
	r.pass(hub.SessionFresh + time.Minute)
	r.get("/settings").says("sign in with a new link first")
	set(url.Values{"new": {good}, "do": {"set"}}).is(http.StatusUnprocessableEntity).says("too long ago")
}

func TestTokensAreMadeShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	p := r.post("/settings", "/settings/tokens", url.Values{"name": {"laptop <i>"}}).is(http.StatusOK)
	token := regexp.MustCompile(`mashp_[0-9a-z_]+`).FindString(p.body)
	if token == "" {
		t.Fatal("the token is not shown")
	}
	page := r.get("/settings").says("laptop <i>").lacks(token)
	revoke := actions(page, "/revoke")
	if len(revoke) != 1 {
		t.Fatalf("%d tokens can be revoked, want 1", len(revoke))
	}
	r.post("/settings", revoke[0], nil).is(http.StatusSeeOther)
	r.post("/settings", revoke[0], nil).is(http.StatusNotFound)
	r.post("/settings", "/settings/tokens", url.Values{"name": {" "}}).is(http.StatusUnprocessableEntity).says("Give the token a name")
}

func TestTheDefaultListNamesPeopleOfTheAccountOnly(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	r.joined("bob", "member", "")
	if _, err := r.hub.EnsureAccount(t.Context(), "stranger"); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"choose": {"1"}, "who": {"human:bob", "human:stranger", "nonsense"}}
	r.post("/settings", "/settings/default-resolvers", form).is(http.StatusSeeOther)
	p := r.get("/settings?resolvers=set").says("They can be answered by bob")
	for _, box := range p.find("input", "name", "who") {
		_, checked := attrOf(box, "checked")
		if actor := attr(box, "value"); checked != (actor == "human:bob") {
			t.Errorf("the box of %s is %t", actor, checked)
		}
	}
}

func attrOf(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// TestALinkThatMakesOneAnotherSaysSo: the command at the hub's machine signs in the founder, whoever runs it.
func TestALinkThatMakesOneAnotherSaysSo(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	bob := r.joined("bob", "member", "")
	bob.get("/settings").lacks("mash link", "on the machine").says("only if an owner removes you", "by your password")
	r.get("/settings").says("mash link")
	again := bob.get(bob.newLink()).is(http.StatusOK)
	again.says("You are owner now", "bob was signed out in this browser")
	bob.get("/inbox").lacks("You are owner now")
	bob.get(bob.newLink()).is(http.StatusOK).lacks("You are owner now")
	r.visitor().get(r.newLink()).is(http.StatusOK).lacks("You are owner now")
}

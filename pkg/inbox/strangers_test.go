package inbox_test

import (
	"net/http"
	"net/url"
	"testing"
)

// TestAnAskToNobodyOfTheAccountSaysSo: on its page and in the list, until somebody has the name.
func TestAnAskToNobodyOfTheAccountSaysSo(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	const nobody, fix = "Nobody of this account is called bob.", "So nobody can answer this."
	id := r.send(`"type":"ask","title":"Q","request":{"mode":"confirm","allowed_resolvers":["human:bob"]}`)
	for _, page := range []string{"/inbox", "/inbox/" + id} {
		r.get(page).is(http.StatusOK).says("Only bob may answer, and you are owner. " + nobody)
	}
	p := r.get("/inbox/"+id).says(fix, "Invite somebody")
	if len(p.find("a", "href", "/people")) < 2 { // beside that of the menu
		t.Error("nothing leads to where people are invited")
	}
	either := r.send(`"type":"ask","title":"Q","request":{"mode":"confirm","allowed_resolvers":["human:owner","human:bob","agent:gone"]}`)
	r.get("/inbox/"+either).says("You or bob or agent gone may answer.", "Nobody of this account is called bob or agent gone.").lacks(fix)

	bob := r.joined("bob", "member", "")
	for _, page := range []string{"/inbox", "/inbox/" + id} {
		r.get(page).says("Only bob may answer").lacks("Nobody of this account")
	}
	bob.get("/inbox/" + id).says("You may answer").lacks("Nobody of this account")
	r.post("/people", "/people/"+bob.hub.PersonRef("bob")+"/remove", nil).is(http.StatusSeeOther)
	r.get("/inbox/"+id).says(nobody, fix)

	again := r.joined("bob", "member", "")
	again.reply(id, url.Values{"do": {"option:0"}}).is(http.StatusSeeOther)
	r.get("/inbox/" + id).lacks("Nobody of this account")
	lost := r.send(`"type":"ask","title":"L","request":{"mode":"confirm","allowed_resolvers":["human:carol"]}`)
	p = again.get("/inbox/"+lost).says("Nobody of this account is called carol.", fix)
	p.lacks("Invite somebody")
}

package inbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

// story is the timeline of a message as it is read, each step with its class.
func (r *rig) story(id string) []string {
	r.t.Helper()
	var out []string
	lists := r.get("/inbox/"+id).is(http.StatusOK).find("ol", "class", "events")
	for _, list := range lists {
		for n := range list.Descendants() {
			if n.Data == "li" {
				out = append(out, strings.TrimSpace(attr(n, "class")+" "+text(n)))
			}
		}
	}
	return out
}

const (
	asked     = "Asked by agent deploybot/dev-team, 14:20 UTC"
	seen      = "First opened by you, 14:20 UTC"
	toFetch   = "todo Still to come: the agent fetches the answer"
	perhaps   = "maybe Perhaps: the agent says that it has the answer"
	aForm     = `"mode":"input","schema":{"properties":{"a":{"type":"string"}}}`
	inAnHour  = `"expires_at":"2026-03-04T15:20:00Z"`
	missed    = "missed Nobody had opened it by then"
	delivered = "Delivered to the agent, 14:20 UTC"
)

func TestTheStoryOfWhatIsOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ members, want string }{
		"ask":           {`"type":"ask","title":"Q","request":{"mode":"confirm"}`, "todo Still to come: an answer"},
		"ask that ends": {`"type":"ask","title":"Q",` + inAnHour + `,"request":{"mode":"confirm"}`, "todo Still to come: an answer, by 15:20 UTC"},
		"ask with a default": {
			`"type":"ask","title":"Q",` + inAnHour + `,"request":{"mode":"confirm","default_on_expire":"deny"}`,
			"todo Still to come: an answer, or at 15:20 UTC “Deny” by itself",
		},
		"form with defaults": {
			`"type":"ask","title":"Q",` + inAnHour + `,"request":{` + aForm + `,"default_on_expire":{"a":"x"}}`,
			"todo Still to come: an answer, or at 15:20 UTC the defaults of the form by themselves",
		},
		"task": {`"type":"task","title":"Q","action":{"instructions":"Do."}`, "todo Still to come: done, or dismissed"},
	} {
		r := signedIn(t)
		if diff := cmp.Diff([]string{asked, seen, c.want, toFetch, perhaps}, r.story(r.send(c.members))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	r := signedIn(t)
	if got := r.story(r.send(`"type":"notify","title":"Told"`)); got != nil {
		t.Errorf("a notify has the story %v", got)
	}
}

func TestTheStoryOfEachOutcome(t *testing.T) {
	t.Parallel()
	ask := `"type":"ask","title":"Q",` + inAnHour + `,"request":{"allowed_resolvers":["human:owner"],`
	task := `"type":"task","title":"Q",` + inAnHour + `,"action":{"instructions":"Do.","allowed_resolvers":["human:owner"]}`
	answer := func(do string) func(*rig, string) {
		return func(r *rig, id string) {
			r.reply(id, url.Values{"do": {do}, "f0": {"x"}, "other": {"maybe"}}).is(http.StatusSeeOther)
		}
	}
	late := func(r *rig, _ string) { r.pass(2 * time.Hour) }
	for name, c := range map[string]struct {
		members string
		act     func(*rig, string)
		want    []string
	}{
		"option":       {ask + `"mode":"confirm"}`, answer("option:0"), []string{"Answered “Approve” by you, 14:20 UTC", toFetch, perhaps}},
		"in own words": {ask + `"mode":"confirm","permissions":{"allow_edit":true}}`, answer("other"), []string{"Answered in own words, “maybe”, by you, 14:20 UTC", toFetch, perhaps}},
		"form":         {ask + aForm + `}`, answer("send"), []string{"Answered by you, 14:20 UTC", toFetch, perhaps}},
		"declined":     {ask + `"mode":"confirm"}`, answer("decline"), []string{"Declined by you, 14:20 UTC", toFetch, perhaps}},
		"completed":    {task, answer("complete"), []string{"Completed by you, 14:20 UTC", toFetch, perhaps}},
		"dismissed":    {task, answer("dismiss"), []string{"Dismissed by you, 14:20 UTC", toFetch, perhaps}},
		"expired":      {ask + `"mode":"confirm"}`, late, []string{missed, "Expired without an answer, 15:20 UTC", toFetch, perhaps}},
		"expired, with a default": {
			ask + `"mode":"confirm","default_on_expire":"deny"}`, late,
			[]string{missed, "Nobody answered by 15:20 UTC, so the answer is “Deny”", toFetch, perhaps},
		},
		"expired task": {task, late, []string{missed, "Nobody had done it by 15:20 UTC, so it expired", toFetch, perhaps}},
		"expired, though opened": {ask + `"mode":"confirm"}`, func(r *rig, id string) { r.get("/inbox/" + id); late(r, id) },
			[]string{seen, "Expired without an answer, 15:20 UTC", toFetch, perhaps}},
		"withdrawn": {ask + `"mode":"confirm"}`, func(r *rig, id string) {
			if _, err := r.hub.Cancel(t.Context(), r.agent, id); err != nil {
				t.Error(err)
			}
		}, []string{"Withdrawn by agent deploybot/dev-team, 14:20 UTC", toFetch, perhaps}},
		"fetched": {ask + `"mode":"confirm"}`, func(r *rig, id string) { answer("option:1")(r, id); r.pulled(id) }, []string{"Answered “Deny” by you, 14:20 UTC", delivered, perhaps}},
		"acknowledged": {ask + `"mode":"confirm"}`, func(r *rig, id string) { answer("option:1")(r, id); r.pulled(id); r.acknowledged(id, "") },
			[]string{"Answered “Deny” by you, 14:20 UTC", delivered, "Acknowledged by the agent, 14:20 UTC"}},
		"acknowledged with a note": {ask + `"mode":"confirm"}`, func(r *rig, id string) { answer("option:1")(r, id); r.pulled(id); r.acknowledged(id, "On it.") },
			[]string{"Answered “Deny” by you, 14:20 UTC", delivered, "Acknowledged by the agent, 14:20 UTC: “On it.”"}},
		"never fetched": {ask + `"mode":"confirm"}`, func(r *rig, id string) { answer("option:1")(r, id); r.pass(31 * 24 * time.Hour); r.signIn() },
			[]string{"Answered “Deny” by you, 4 Mar, 14:20 UTC", "missed The agent never fetched it"}},
	} {
		r := signedIn(t)
		id := r.send(c.members)
		c.act(r, id)
		story := r.story(id)
		story[0] = strings.Replace(story[0], ", 4 Mar", "", 1) // of what was waited for
		if diff := cmp.Diff(append([]string{asked}, c.want...), story); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func (r *rig) acknowledged(id, note string) {
	r.t.Helper()
	if _, err := r.hub.Acknowledge(r.t.Context(), r.agent, id, &ma2h.AckRequest{Note: note}); err != nil {
		r.t.Fatal(err)
	}
}

func TestWhoOpensAPageIsSeenToHave(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	before, err := r.hub.Pull(t.Context(), r.agent, id, hub.PullOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seenAt := func() time.Time {
		m, err := r.hub.Read(t.Context(), r.owner, id)
		if err != nil {
			t.Fatal(err)
		}
		return m.SeenAt
	}
	r.do(r.browser, http.MethodHead, "/inbox/"+id, nil, nil)
	r.do(r.browser, http.MethodGet, "/inbox/"+id, nil, map[string]string{"Sec-Purpose": "prefetch;prerender"})
	r.getIn(r.newBrowser(), "/inbox/"+id)
	r.get("/inbox")
	r.reply(id, url.Values{"do": {"nothing"}})
	if at := seenAt(); !at.IsZero() {
		t.Fatalf("it was seen at %s, and nobody had opened it", at)
	}
	r.get("/inbox/" + id).says("First opened by you")
	first := seenAt()
	if first.IsZero() {
		t.Fatal("it was opened, and that is not noted")
	}
	r.pass(time.Hour)
	r.get("/inbox/" + id)
	if at := seenAt(); !at.Equal(first) {
		t.Errorf("a second look moves the first from %s to %s", first, at)
	}
	after, err := r.hub.Pull(t.Context(), r.agent, id, hub.PullOptions{})
	if err != nil || string(after) != string(before) {
		t.Errorf("the agent sees\n%s, %v, and before it was opened\n%s", after, err, before)
	}
	stranger, err := r.hub.EnsureAccount(t.Context(), "stranger")
	if err != nil {
		t.Fatal(err)
	}
	next := r.ask("Another?", `"mode":"confirm"`)
	m, err := r.hub.Read(t.Context(), r.owner, next)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.hub.See(t.Context(), stranger, m); ma2h.AsError(err) == nil || ma2h.AsError(err).Code != ma2h.CodeNotFound {
		t.Errorf("See by another account = %v, want not_found", err)
	}
}

func TestANoteThatWasSeenLosesToAnAnswer(t *testing.T) {
	t.Parallel()
	r := signedIn(t)
	id := r.ask("Ship it?", `"mode":"confirm"`)
	m, err := r.hub.Read(t.Context(), r.owner, id)
	if err != nil {
		t.Fatal(err)
	}
	stale := *r.owner
	if stale.Read, err = r.hub.Store.Get(t.Context(), r.hub.MessageKeys(id)...); err != nil {
		t.Fatal(err)
	}
	r.reply(id, url.Values{"do": {"option:0"}}).is(http.StatusSeeOther)
	if err := r.hub.See(t.Context(), &stale, m); err != nil {
		t.Errorf("See after the answer = %v, want nothing", err)
	}
	if got := r.outcome(id).Value; got != `"approve"` {
		t.Errorf("after See the answer is %s", got)
	}
}

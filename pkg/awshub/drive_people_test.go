package awshub_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
)

func (d *drive) me() {
	f := d.function(endpoint.Me)
	d.strangers(f, endpoint.Me, nil)
	for _, token := range []string{d.bot, d.alice} {
		d.must(f, "GET", "/v1/me", token, nil, http.StatusOK)
	}
}

func (d *drive) waiting() {
	f := d.function(endpoint.Waiting)
	d.strangers(f, endpoint.Waiting, nil)
	d.current("open")
	d.late("late")
	d.must(f, "GET", "/v1/waiting", d.alice, nil, http.StatusOK)
}

func (d *drive) read() {
	f := d.function(endpoint.Read)
	d.strangers(f, endpoint.Read, nil)
	for id, want := range map[string]int{
		"msg_" + strings.Repeat("a", ma2h.TailLength): http.StatusNotFound, d.old("old"): http.StatusGone,
		d.late("late"): http.StatusOK, d.current("open"): http.StatusOK,
	} {
		d.must(f, "GET", "/v1/waiting/"+id, d.alice, nil, want)
	}
	stranded, _ := d.stranded("stranded")
	d.must(f, "GET", "/v1/waiting/"+stranded, d.alice, nil, http.StatusOK)
}

func (d *drive) agentList() {
	f := d.function(endpoint.AgentList)
	d.strangers(f, endpoint.AgentList, nil)
	d.must(f, "GET", "/v1/agents", d.alice, nil, http.StatusOK)
}

func (d *drive) agentAdd() {
	f := d.function(endpoint.AgentAdd)
	d.strangers(f, endpoint.AgentAdd, doc{"id": "x"})
	d.must(f, "POST", "/v1/agents", d.alice, doc{"id": "x"}, http.StatusCreated)
	d.must(f, "POST", "/v1/agents", d.alice, doc{"id": "x"}, http.StatusUnprocessableEntity)
}

func (d *drive) agentRotate() {
	f := d.function(endpoint.AgentRotate)
	d.strangers(f, endpoint.AgentRotate, nil)
	d.must(f, "POST", "/v1/agents/bot/rotate", d.alice, nil, http.StatusCreated)
	d.must(f, "POST", "/v1/agents/nobody/rotate", d.alice, nil, http.StatusNotFound)
}

func (d *drive) agentRevoke() {
	f := d.function(endpoint.AgentRevoke)
	d.strangers(f, endpoint.AgentRevoke, nil)
	for range 2 {
		d.must(f, "DELETE", "/v1/agents/bot", d.alice, nil, http.StatusNoContent)
	}
	d.must(f, "DELETE", "/v1/agents/nobody", d.alice, nil, http.StatusNotFound)
}

func (d *drive) personList() {
	f := d.function(endpoint.PersonList)
	d.strangers(f, endpoint.PersonList, nil)
	d.invited("bob")
	d.must(f, "GET", "/v1/people", d.alice, nil, http.StatusOK)
}

func (d *drive) personInvite() {
	f := d.function(endpoint.PersonInvite)
	d.strangers(f, endpoint.PersonInvite, doc{"name": "bob"})
	d.must(f, "POST", "/v1/people", d.alice, doc{"name": "bob"}, http.StatusCreated)
	d.must(f, "POST", "/v1/people", d.alice, doc{"name": "alice"}, http.StatusUnprocessableEntity)
}

func (d *drive) personRemove() {
	f := d.function(endpoint.PersonRemove)
	d.strangers(f, endpoint.PersonRemove, nil)
	open := d.invited("carol")
	d.must(f, "DELETE", "/v1/people/"+open.ID, d.alice, nil, http.StatusNoContent)
	d.must(f, "DELETE", "/v1/people/"+d.joined("dora"), d.alice, nil, http.StatusNoContent)
	bob := d.joined("bob")
	if err := d.quiet.hub.SetDefaultResolvers(d.t.Context(), d.owner, []string{"human:bob"}); err != nil {
		d.t.Fatal(err)
	}
	d.must(f, "DELETE", "/v1/people/"+bob, d.alice, nil, http.StatusNoContent)
	d.must(f, "DELETE", "/v1/people/"+bob, d.alice, nil, http.StatusNotFound)
}

// invited is an open invitation, made unheard.
func (d *drive) invited(name string) *hub.NewInvitation {
	d.t.Helper()
	made, err := d.quiet.hub.Invite(d.t.Context(), d.owner, name, hub.RoleMember)
	if err != nil {
		d.t.Fatal(err)
	}
	return made
}

// joined is the ref of somebody who has joined, unheard.
func (d *drive) joined(name string) string {
	d.t.Helper()
	_, token, _ := strings.Cut(d.invited(name).URL, "/join/")
	i, err := auth.Invitation(d.t.Context(), d.quiet.hub, token)
	if err != nil {
		d.t.Fatal(err)
	}
	c, _, err := d.quiet.hub.AcceptInvitation(d.t.Context(), i, "", hub.Browser{})
	if err != nil {
		d.t.Fatal(err)
	}
	return c.Person.Ref
}

func (d *drive) settingsRead() {
	f := d.function(endpoint.SettingsRead)
	d.strangers(f, endpoint.SettingsRead, nil)
	d.must(f, "GET", "/v1/settings", d.alice, nil, http.StatusOK)
}

func (d *drive) settingsPut() {
	f := d.function(endpoint.SettingsPut)
	body := doc{"default_resolvers": []string{"human:alice"}}
	d.strangers(f, endpoint.SettingsPut, body)
	d.must(f, "PUT", "/v1/settings", d.alice, body, http.StatusNoContent)
}

func (d *drive) link() {
	f := d.function(endpoint.Link)
	d.strangers(f, endpoint.Link, nil)
	d.must(f, "POST", "/v1/links", d.alice, nil, http.StatusCreated)
}

// inbox signs in by a link and goes through every page, and what can be done on it.
func (d *drive) inbox() {
	h, err := d.config.Inbox(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	link, err := d.hub.NewLogin(d.t.Context(), d.owner, hub.LoginLink, time.Hour)
	if err != nil {
		d.t.Fatal(err)
	}
	d.answered("answered", confirm)
	old, late, current := d.old("old"), d.late("late"), d.current("open")
	stranded, _ := d.stranded("stranded")
	runs, left := d.waitedFor(), d.left()
	d.forgotten()
	d.limited(d.quiet.function(endpoint.Submit))
	other := "/agents/" + d.hub.AgentRef(d.owner.Account.Ref, "other")
	answer := url.Values{"do": {"option:0"}}
	_, joining, _ := strings.Cut(d.invited("carol").URL, "/join/")
	v, bot := &visitor{h: h}, "/agents/"+d.hub.AgentRef(d.owner.Account.Ref, "bot")
	d.goes(v, []step{
		{"GET", "/", nil, http.StatusSeeOther},
		{"GET", "/inbox", nil, http.StatusUnauthorized},
		{"GET", "/in/nonsense", nil, http.StatusUnauthorized},
		{"GET", "/v1/nowhere", nil, http.StatusNotFound},
		{"GET", "/in/" + link, nil, http.StatusOK},
		{"GET", "/in/" + link, nil, http.StatusSeeOther},
		{"GET", "/inbox/" + old, nil, http.StatusGone},
		{"GET", "/inbox/" + late, nil, http.StatusOK},
		{"GET", "/inbox/" + stranded, nil, http.StatusOK},
		{"GET", "/inbox/" + current, nil, http.StatusOK},
		{"POST", "/inbox/" + current, answer, http.StatusSeeOther},
		{"POST", "/inbox/" + current, url.Values{"do": {"option:1"}}, http.StatusConflict},
		{"GET", "/inbox?done=" + current, nil, http.StatusOK},
		{"GET", "/history", nil, http.StatusOK},
		{"GET", "/history?agent=bot", nil, http.StatusOK},
	})
	d.goes(v, ofAgents(bot, other, runs, left))
	d.goes(v, []step{
		{"GET", "/people", nil, http.StatusOK},
		{"POST", "/people/invitations", url.Values{"name": {"bob"}, "role": {"member"}}, http.StatusOK},
		{"GET", "/settings", nil, http.StatusOK},
		{"POST", "/settings/default-resolvers", url.Values{"on": {"1"}}, http.StatusSeeOther},
	})
	d.goes(&visitor{h: h}, []step{
		{"GET", "/join/" + joining, nil, http.StatusOK},
		{"POST", "/join/" + joining, url.Values{"new": {"stapler under moss"}}, http.StatusSeeOther},
		{"GET", "/settings", nil, http.StatusOK},
		{"POST", "/settings/password", url.Values{"do": {"remove"}}, http.StatusSeeOther},
		{"GET", "/settings", nil, http.StatusOK},
		{"POST", "/settings/password", url.Values{"new": {"stapler under moss"}}, http.StatusSeeOther},
	})
	d.carolSignsIn(h)
	d.goes(v, []step{
		{"POST", "/people/" + d.hub.PersonRef("carol") + "/remove", url.Values{}, http.StatusSeeOther},
		{"POST", "/signout", url.Values{}, http.StatusSeeOther},
	})
}

// ofAgents are the pages of agents: of bot, which has a session that runs, and of another, which was left a directive.
func ofAgents(bot, other, runs, left string) []step {
	return []step{
		{"GET", "/agents", nil, http.StatusOK},
		{"POST", "/agents", url.Values{"id": {"another"}}, http.StatusOK},
		{"GET", bot, nil, http.StatusOK},
		{"POST", bot + "/rotate", url.Values{}, http.StatusOK},
		{"POST", bot + "/hosts", url.Values{"host": {"bot.example"}, "proof": {"person"}}, http.StatusSeeOther},
		{"POST", bot + "/secrets", url.Values{"name": {"s"}}, http.StatusOK},
		{"POST", bot + "/webhook", url.Values{"url": {"https://bot.example/told"}}, http.StatusSeeOther},
		{"GET", "/mail", nil, http.StatusOK},
		{"GET", other + "/mail", nil, http.StatusOK},
		{"POST", bot + "/senders", url.Values{"may": {"some"}, "sender": {"other"}}, http.StatusSeeOther},
		{"POST", "/settings/inter-agent", url.Values{"on": {"1"}}, http.StatusSeeOther},
		{"GET", other + "/told", nil, http.StatusOK},
		{"GET", other + "/told/" + left, nil, http.StatusOK},
		{"POST", bot + "/told", url.Values{"title": {"x"}, "session": {runs}}, http.StatusSeeOther},
		{"GET", bot + "/stop", nil, http.StatusOK},
		{"GET", bot + "/sessions/" + runs + "/close", nil, http.StatusOK},
		{"POST", bot + "/sessions/" + runs + "/close", url.Values{}, http.StatusSeeOther},
		{"POST", bot + "/stop", url.Values{"reason": {"enough"}}, http.StatusSeeOther},
		{"POST", bot + "/lift", url.Values{}, http.StatusSeeOther},
		{"POST", bot + "/revoke", url.Values{}, http.StatusSeeOther},
	}
}

// carolSignsIn signs in with a password, at the second try.
func (d *drive) carolSignsIn(h http.Handler) {
	signIn := func(guess string, want int) step {
		return step{"POST", "/signin", url.Values{"name": {"carol"}, "password": {guess}}, want}
	}
	d.goes(&visitor{h: h}, []step{
		{"GET", "/signin", nil, http.StatusOK}, signIn("wrong", http.StatusUnauthorized),
		signIn("stapler under moss", http.StatusSeeOther),
	})
}

// step is something that a visitor does.
type step struct {
	method, path string
	form         url.Values
	want         int
}

func (d *drive) goes(v *visitor, steps []step) {
	d.t.Helper()
	for _, s := range steps {
		if w := v.visit(s.method, s.path, s.form); w.Code != s.want {
			d.t.Errorf("%s %s = %d, want %d", s.method, s.path, w.Code, s.want)
		}
	}
}

// visitor is a browser that is signed in once it has followed a link.
type visitor struct {
	h       http.Handler
	cookies []*http.Cookie
	csrf    string
}

var csrfField = regexp.MustCompile(`name="csrf" value="([0-9a-f]+)"`)

func (v *visitor) visit(method, path string, form url.Values) *httptest.ResponseRecorder {
	if form != nil {
		form.Set("csrf", v.csrf)
	}
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range v.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	v.h.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		v.cookies = slices.DeleteFunc(v.cookies, func(old *http.Cookie) bool { return old.Name == c.Name })
		v.cookies = append(v.cookies, c)
	}
	if m := csrfField.FindStringSubmatch(w.Body.String()); m != nil {
		v.csrf = m[1]
	}
	return w
}

package awshub_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"time"

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
	answer := url.Values{"do": {"option:0"}}
	v := &visitor{h: h}
	for _, step := range []struct {
		method, path string
		form         url.Values
		want         int
	}{
		{"GET", "/", nil, http.StatusSeeOther},
		{"GET", "/inbox", nil, http.StatusUnauthorized},
		{"GET", "/in/nonsense", nil, http.StatusUnauthorized},
		{"GET", "/v1/nowhere", nil, http.StatusNotFound},
		{"GET", "/in/" + link, nil, http.StatusOK},
		{"GET", "/in/" + link, nil, http.StatusSeeOther},
		{"GET", "/inbox/" + old, nil, http.StatusGone},
		{"GET", "/inbox/" + late, nil, http.StatusOK},
		{"GET", "/inbox/" + current, nil, http.StatusOK},
		{"POST", "/inbox/" + current, answer, http.StatusSeeOther},
		{"POST", "/inbox/" + current, answer, http.StatusConflict},
		{"GET", "/inbox?done=" + current, nil, http.StatusOK},
		{"GET", "/settings", nil, http.StatusOK},
		{"POST", "/settings/default-resolvers", url.Values{"on": {"1"}}, http.StatusSeeOther},
		{"POST", "/signout", url.Values{}, http.StatusSeeOther},
	} {
		if w := v.visit(step.method, step.path, step.form); w.Code != step.want {
			d.t.Errorf("%s %s = %d, want %d", step.method, step.path, w.Code, step.want)
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
	if cookies := w.Result().Cookies(); len(cookies) > 0 {
		v.cookies = cookies
	}
	if m := csrfField.FindStringSubmatch(w.Body.String()); m != nil {
		v.csrf = m[1]
	}
	return w
}

package awshub_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/mash-hub/mash/pkg/auth"
	"github.com/mash-hub/mash/pkg/awshub"
	"github.com/mash-hub/mash/pkg/endpoint"
	"github.com/mash-hub/mash/pkg/hub"
	"github.com/mash-hub/mash/pkg/ma2h"
	"github.com/mash-hub/mash/pkg/sfnclock"
)

// drives says how each function is driven.
func drives() map[endpoint.Name]func(*drive) {
	return map[endpoint.Name]func(*drive){
		endpoint.Discovery: open(endpoint.Discovery), endpoint.DiscoveryAlias: open(endpoint.DiscoveryAlias),
		endpoint.JWKS: open(endpoint.JWKS), endpoint.Healthz: open(endpoint.Healthz),
		endpoint.Submit: (*drive).submit, endpoint.Pull: (*drive).pull, endpoint.Cancel: (*drive).cancel,
		endpoint.Resolve: (*drive).resolve, endpoint.Ack: (*drive).ack,
		endpoint.Me: (*drive).me, endpoint.Waiting: (*drive).waiting, endpoint.Read: (*drive).read,
		endpoint.AgentList: (*drive).agentList, endpoint.AgentAdd: (*drive).agentAdd,
		endpoint.AgentRotate: (*drive).agentRotate, endpoint.AgentRevoke: (*drive).agentRevoke,
		endpoint.SettingsPut: (*drive).settingsPut, endpoint.Link: (*drive).link,
		endpoint.Inbox: (*drive).inbox, endpoint.Sweep: (*drive).sweep, endpoint.Outbox: (*drive).outbox,
		endpoint.Fire: (*drive).fire, endpoint.Deliver: (*drive).deliver,
	}
}

func open(name endpoint.Name) func(*drive) {
	return func(d *drive) { d.must(d.function(name), "GET", endpoint.Of(name).Path, "", nil, http.StatusOK) }
}

// submitted makes an ask that was submitted a while ago, and expires so long after that.
func (d *drive) submitted(key string, ago, lasts time.Duration, request doc) string {
	d.t.Helper()
	then := time.Now().Add(-ago)
	e := ask(key, request, then.Add(lasts))
	e["created_at"] = then.UTC().Format(time.RFC3339)
	body, err := json.Marshal(e)
	if err != nil {
		d.t.Fatal(err)
	}
	envelope, invalid := ma2h.ReadMessage(body)
	if invalid != nil {
		d.t.Fatal(invalid)
	}
	credential, invalid := auth.Parse(d.bot)
	if invalid != nil {
		d.t.Fatal(invalid)
	}
	caller, err := auth.For(d.hub).Caller(d.t.Context(), credential)
	if err != nil {
		d.t.Fatal(err)
	}
	s, err := d.hub.At(then, d.hub.Clockwork).Submit(d.t.Context(), caller, envelope)
	if err != nil {
		d.t.Fatal(err)
	}
	return s.Ack.ID
}

// current is an open ask. late is one that nobody has yet ended at its deadline, and old one whose deadline is so long ago
// that whoever looks at it ends it, then closes its track, and then deletes it.
func (d *drive) current(key string) string {
	return d.submitted(key, time.Minute, 24*time.Hour, confirm)
}
func (d *drive) late(key string) string {
	return d.submitted(key, time.Hour, time.Minute, d.pushed())
}
func (d *drive) old(key string) string {
	return d.submitted(key, 100*24*time.Hour, time.Hour, confirm)
}

// answered is an ask that alice has answered.
func (d *drive) answered(key string, request doc) string {
	d.t.Helper()
	id := d.submitted(key, time.Minute, 24*time.Hour, request)
	d.quiet.must(d.quiet.function(endpoint.Resolve), "POST", messagePath(id, "/resolve"), d.alice, approve, http.StatusOK)
	return id
}

var approve = doc{"resolution": "answered", "value": "approve"}

// pushed is the request of an ask whose answer is pushed.
func (d *drive) pushed() doc {
	return doc{"mode": "confirm", "allowed_resolvers": []string{"human:alice", "agent:bot"}, "callback": doc{
		"mode": "push", "url": d.receiver.URL + "/cb", "auth": doc{"scheme": "hmac", "secret_ref": hub.PushSecretRef},
	}}
}

// strangers sends a request as nobody, and as an agent and a person whom nobody knows, and as who is of the wrong kind.
func (d *drive) strangers(f lambda.Handler, name endpoint.Name, body any) {
	d.t.Helper()
	e := endpoint.Of(name)
	token := func(prefix string) string {
		return hub.NewToken(prefix, strings.Repeat("a", hub.AccountRefLength), strings.Repeat("a", ma2h.TailLength))
	}
	for _, t := range []string{"", "nonsense", token(hub.AgentTokenPrefix), token(hub.PersonTokenPrefix)} {
		if r := d.send(f, e.Method, fill(e), t, body); r.status != http.StatusUnauthorized {
			d.t.Errorf("%s with the token %q = %d %s", name, t, r.status, r.body)
		}
	}
	wrong := map[endpoint.Caller]string{endpoint.Agent: d.alice, endpoint.Person: d.bot}[e.Caller]
	if wrong == "" {
		return
	}
	if r := d.send(f, e.Method, fill(e), wrong, body); r.status != http.StatusForbidden && r.status != http.StatusNotFound {
		d.t.Errorf("%s with a token of the wrong kind = %d %s", name, r.status, r.body)
	}
}

func (d *drive) submit() {
	f := d.function(endpoint.Submit)
	send := func(body any, want int) { d.must(f, "POST", "/v1/messages", d.bot, body, want) }
	d.strangers(f, endpoint.Submit, ask("k", confirm, time.Time{}))
	first := ask("k", confirm, time.Time{})
	send(first, http.StatusAccepted)
	send(first, http.StatusAccepted)
	send(ask("k", doc{"mode": "confirm"}, time.Time{}), http.StatusConflict)
	send(ask("p", d.pushed(), time.Time{}), http.StatusAccepted)
	send(doc{"type": "ask"}, http.StatusBadRequest)
	for key, submit := range map[string]func(string) string{"late": d.late, "old": d.old} {
		submit(key)
		d.send(f, "POST", "/v1/messages", d.bot, ask(key, confirm, time.Time{}))
	}
}

// states drives a function with messages in every state.
func (d *drive) states(f lambda.Handler, method, tail, token string, body any) {
	d.t.Helper()
	for _, id := range []string{
		"msg_" + strings.Repeat("a", ma2h.TailLength), "nonsense", d.old("old"), d.late("late"), d.current("open"),
		d.answered("answered", confirm),
	} {
		for range 2 {
			if r := d.send(f, method, messagePath(id, tail), token, body); r.status >= http.StatusInternalServerError {
				d.t.Errorf("%s %s = %d %s", method, messagePath(id, tail), r.status, r.body)
			}
		}
	}
}

func (d *drive) pull() {
	f := d.function(endpoint.Pull)
	d.strangers(f, endpoint.Pull, nil)
	d.states(f, "GET", "?wait=0.3", d.bot, nil)
}

func (d *drive) cancel() {
	f := d.function(endpoint.Cancel)
	d.strangers(f, endpoint.Cancel, nil)
	d.states(f, "POST", "/cancel", d.bot, nil)
}

func (d *drive) resolve() {
	f := d.function(endpoint.Resolve)
	d.strangers(f, endpoint.Resolve, approve)
	d.states(f, "POST", "/resolve", d.alice, approve)
	id := d.submitted("agents", time.Minute, time.Hour, d.pushed())
	d.must(f, "POST", messagePath(id, "/resolve"), d.bot, approve, http.StatusOK)
	d.must(f, "POST", messagePath(id, "/resolve"), d.bot, approve, http.StatusConflict)
}

func (d *drive) ack() {
	f := d.function(endpoint.Ack)
	body := doc{"resolution_id": "res_" + strings.Repeat("a", 2*ma2h.TailLength)}
	d.strangers(f, endpoint.Ack, body)
	d.states(f, "POST", "/ack", d.bot, body)
	id := d.answered("acked", confirm)
	got := d.quiet.must(d.quiet.function(endpoint.Pull), "GET", messagePath(id, ""), d.bot, nil, http.StatusOK)
	response, _ := got["response"].(map[string]any)
	for range 2 {
		d.must(f, "POST", messagePath(id, "/ack"), d.bot, doc{"resolution_id": response["resolution_id"]}, http.StatusOK)
	}
}

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

// owed is an ask whose answer is to be pushed.
func (d *drive) owed() string { return d.answered("owed", d.pushed()) }

func (d *drive) sweep() {
	d.old("old")
	d.late("late")
	d.owed()
	sweep := d.sweeper()
	for end := time.Now().Add(patience); ; {
		if _, err := sweep(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
		if got, _ := d.receiver.attempts(); len(got) >= 2 { // of what was late, and of what was owed
			return
		}
		if time.Now().After(end) {
			d.t.Fatal("the sweep pushes nothing")
		}
	}
}

// outbox brings a record for each kind of timer, and one that has none.
func (d *drive) outbox() {
	batch, err := d.config.Outbox(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	var records []string
	for _, id := range []string{
		d.submitted("soon", time.Minute, time.Hour, d.pushed()), d.owed(), d.current("open"),
	} {
		records = append(records, d.image(id))
	}
	out, err := lambda.NewHandler(batch).Invoke(d.t.Context(), []byte(`{"Records":[`+strings.Join(records, ",")+`]}`))
	if err != nil || string(out) != `{"batchItemFailures":[]}` {
		d.t.Errorf("outbox = %s, %v", out, err)
	}
}

// image is the stream's record of a message's state as it stands.
func (d *drive) image(id string) string {
	d.t.Helper()
	key, _ := hub.StateKey(id)
	recs, err := d.hub.Store.Get(d.t.Context(), key)
	if err != nil {
		d.t.Fatal(err)
	}
	r := recs[0]
	text := func(s string) doc { return doc{"S": s} }
	b, err := json.Marshal(doc{"eventID": id, "eventName": "MODIFY", "dynamodb": doc{
		"SequenceNumber": "1", "NewImage": doc{
			"pk": text(r.Part), "sk": text(r.Sort), "rev": text(r.Rev), "kind": text(r.Kind), "body": text(string(r.Body)),
			"due": text(fmt.Sprintf("%019d", r.Due.UnixMicro())),
		}}})
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

func (d *drive) fire() { d.execute(d.config.Firer(d.t.Context())) }

func (d *drive) deliver() {
	d.execute(d.config.Deliverer(d.t.Context()))
	if got, _ := d.receiver.attempts(); len(got) == 0 {
		d.t.Error("nothing was pushed")
	}
}

// execute calls what an execution calls, for messages in every state.
func (d *drive) execute(f awshub.Execution, err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
	for _, id := range []string{
		"msg_" + strings.Repeat("a", ma2h.TailLength), d.old("old"), d.late("late"), d.current("open"), d.owed(),
	} {
		key, _ := hub.StateKey(id)
		in := sfnclock.Input{Key: sfnclock.Key(key), At: sfnclock.Timestamp(time.Now())}
		if _, err := f(d.t.Context(), in); err != nil {
			d.t.Errorf("execution for %s: %v", id, err)
		}
	}
}
